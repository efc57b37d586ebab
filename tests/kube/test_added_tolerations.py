"""Tolerations that admission adds, and what they change."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.kube.admission.added_tolerations import merged, tolerate_for_a_while
from kubespread.kube.api.core import Pod, PodSpec, Toleration
from tests.builders import Data, hard, node, pod, taint


def for_a_while(key: str) -> Data:
    return {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


NOT_READY, UNREACHABLE = for_a_while("not-ready"), for_a_while("unreachable")

ADDED: dict[str, tuple[list[Data], list[Data]]] = {
    "both": ([], [NOT_READY, UNREACHABLE]),
    "everything is tolerated": ([{"operator": "Exists"}], []),
    "everything of another effect": ([{"operator": "Exists", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
    "one of them, in vain": (
        [{"key": "node.kubernetes.io/unreachable", "value": "x", "effect": "NoExecute"}],
        [NOT_READY],
    ),
    "one of them, of any effect": ([{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}], [UNREACHABLE]),
}


def tolerations(given: list[Data]) -> list[Toleration]:
    return msgspec.convert(given, list[Toleration])


@pytest.mark.parametrize("case", ADDED)
def test_what_is_tolerated_for_a_while(case: str) -> None:
    given, added = ADDED[case]
    made = Pod(spec=PodSpec(tolerations=tolerations(given)))
    tolerate_for_a_while(made)
    assert made.spec.tolerations == tolerations([*given, *added])


EXISTS = {"key": "a", "operator": "Exists"}
MERGED: dict[str, tuple[list[Data], list[Data], list[Data]]] = {
    "different ones": ([{"key": "a"}], [{"key": "b"}], [{"key": "a"}, {"key": "b"}]),
    "the same": ([EXISTS], [EXISTS], [EXISTS]),
    "a later one that covers more": ([{**EXISTS, "effect": "NoSchedule"}], [EXISTS], [EXISTS]),
    "an earlier one that covers more": ([EXISTS], [{**EXISTS, "effect": "NoSchedule"}], [EXISTS]),
    "any time instead of some": (
        [NOT_READY, UNREACHABLE],
        [{**NOT_READY, "tolerationSeconds": None}],
        [UNREACHABLE, {**NOT_READY, "tolerationSeconds": None}],
    ),
    "less time": ([{**NOT_READY, "tolerationSeconds": 10}], [NOT_READY], [NOT_READY]),
    "a value that Exists covers": ([{"key": "a", "operator": "Equal", "value": "x"}], [EXISTS], [EXISTS]),
    "equal values, the operator left out": (
        [{"key": "a", "value": "x", "effect": "NoSchedule"}],
        [{"key": "a", "value": "x"}],
        [{"key": "a", "value": "x", "effect": "NoSchedule"}, {"key": "a", "value": "x"}],
    ),
}


@pytest.mark.parametrize("case", MERGED)
def test_tolerations_of_a_runtime_class_replace_what_they_cover(case: str) -> None:
    first, second, together = MERGED[case]
    assert merged(tolerations(first), tolerations(second)) == tolerations(together)


ZONES = [
    node("a", zone="a", taints=[taint("node.kubernetes.io/unreachable", "NoExecute")]),
    node("b", zone="b"),
    node("c", zone="c"),
]


def placed(candidate: Data, **how: Any) -> list[int]:
    report = kubespread.simulate(kubespread.Snapshot.from_objects(ZONES), candidate, 8, kubespread.Scheduler(**how))
    counts = Counter(placement.node for placement in report.placements)
    return [counts[name] for name in "abc"]


def test_unreachable_nodes_count_where_taints_are_honored() -> None:
    candidate = pod(constraints=[hard(nodeTaintsPolicy="Honor")])
    assert sorted(placed(candidate)) == [2, 3, 3]
    assert placed(candidate, default_toleration_seconds=False) == [0, 4, 4]


def test_a_stored_pod_has_them_already() -> None:
    stored = pod(constraints=[hard(nodeTaintsPolicy="Honor")])
    stored["metadata"]["uid"] = "u-1"
    assert placed(stored) == [0, 4, 4]
