"""Tolerations that admission adds, and what they change."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.kube.admission.plugins import add_default_tolerations, merge_tolerations, tolerate_extended_resources
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


def container(name: str, requests: Data) -> Data:
    return {"name": name, "resources": {"requests": requests}}


def tolerations(given: list[Data]) -> list[Toleration]:
    return msgspec.convert(given, list[Toleration])


@pytest.mark.parametrize("case", ADDED)
def test_what_is_tolerated_for_a_while(case: str) -> None:
    given, added = ADDED[case]
    made = Pod(spec=PodSpec(tolerations=tolerations(given)))
    add_default_tolerations(made)
    assert made.spec.tolerations == tolerations([*given, *added])


GPU, TPU = ({"key": f"example.com/{name}", "operator": "Exists", "effect": "NoSchedule"} for name in ("gpu", "tpu"))
FOR_RESOURCES: dict[str, tuple[Data, list[Data]]] = {
    "one of a container and one of an init container, by name": (
        {
            "initContainers": [container("i", {"example.com/tpu": "1"})],
            "containers": [container("c", {"example.com/gpu": "1"})],
        },
        [GPU, TPU],
    ),
    "nothing but what every node has": ({"containers": [container("c", {"cpu": "1", "hugepages-2Mi": "2Mi"})]}, []),
    "what Kubernetes names itself": ({"containers": [container("c", {"pods.kubernetes.io/gpu": "1"})]}, []),
    "it is tolerated already, in the same words": (
        {"containers": [container("c", {"example.com/gpu": "1"})], "tolerations": [GPU]},
        [],
    ),
    "it is tolerated already, in others": (
        {"containers": [container("c", {"example.com/gpu": "1"})], "tolerations": [{"operator": "Exists"}]},
        [GPU],
    ),
    "only a limit": ({"containers": [{"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}}]}, []),
}


@pytest.mark.parametrize("case", FOR_RESOURCES)
def test_what_is_tolerated_for_extended_resources(case: str) -> None:
    spec, added = FOR_RESOURCES[case]
    made = Pod(spec=msgspec.convert(spec, PodSpec))
    tolerate_extended_resources(made)
    assert made.spec.tolerations == tolerations([*spec.get("tolerations", []), *added])


GPU_NODES = [node("cpu"), node("gpu", taints=[taint("example.com/gpu", value="present")])]
GPU_NODES[1]["status"]["allocatable"]["example.com/gpu"] = "2"
ASKING = container("c", {"example.com/gpu": "1"}) | {"image": "x"}
ASKING["resources"]["limits"] = ASKING["resources"]["requests"]
GAP = (
    "ExtendedResourceToleration: whether pods that request example.com/gpu are given a toleration of the nodes' taint "
    "example.com/gpu, as on GKE; KUBESPREAD_EXTENDED_RESOURCE_TOLERATION=true applies it"
)
IN_A_CLUSTER: dict[str, tuple[Data, bool, tuple[list[str], list[str]]]] = {
    "the plugin is off, which is a gap": ({}, False, ([], [GAP])),
    "the plugin is on": ({}, True, (["gpu"], [])),
    "the pod tolerates it itself": ({"tolerations": [GPU]}, False, (["gpu"], [])),
}


@pytest.mark.parametrize("case", IN_A_CLUSTER)
def test_pods_that_ask_for_devices_where_nodes_are_kept_for_them(case: str) -> None:
    spec, is_on, expected = IN_A_CLUSTER[case]
    asking = pod(**spec)
    asking["spec"]["containers"] = [ASKING]
    scheduler = kubespread.Scheduler(extended_resource_toleration=is_on)
    report = kubespread.explain(kubespread.Snapshot.from_objects(GPU_NODES), asking, scheduler)
    gaps = [gap for gap in report.gaps if gap.startswith("Extended")]
    assert (list(report.feasible), gaps) == expected


def test_of_a_pod_that_is_there_already_it_is_known() -> None:
    stored = pod()
    stored["spec"]["containers"], stored["metadata"]["uid"] = [ASKING], "u"
    snapshot = kubespread.Snapshot.from_objects([*GPU_NODES, stored])
    gaps = kubespread.explain(snapshot, f"pod/{stored['metadata']['name']}").gaps
    assert [gap for gap in gaps if gap.startswith("Extended")] == []


def test_other_taints_are_no_gap() -> None:
    asking = pod()
    asking["spec"]["containers"] = [ASKING]
    kept = deepcopy(GPU_NODES)
    kept[1]["spec"]["taints"] = [taint("example.com/gpu", "NoExecute"), taint("team")]
    gaps = kubespread.explain(kubespread.Snapshot.from_objects(kept), asking).gaps
    assert [gap for gap in gaps if gap.startswith("Extended")] == []


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
    assert merge_tolerations(tolerations(first), tolerations(second)) == tolerations(together)


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
