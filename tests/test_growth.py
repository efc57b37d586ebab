"""What there may be many of takes at most as much longer as there are more of it, in calls of functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.errors import UsageError
from tests.builders import Data, hosts, owned_by, pod
from tests.property.workloads_on_nodes import scenario
from tests.questions.test_report import autoscaled
from tests.world.clusters import deployment

FEW, MANY, SLACK = 60, 240, 1.5


def _steps(number: int) -> object:
    """They are all checked before the first of them is played."""
    steps = ["cordon n0", "uncordon n0"] * (5 * number)
    with pytest.raises(UsageError) as refused:
        kubespread.plan(Snapshot.from_objects(hosts("a", "b")), scenario(*steps, "cordon missing"))
    return refused


def _namespaces(number: int) -> object:
    """In each of them a pod that keeps away from others of all namespaces of a team."""
    objects = hosts("a", "b", "c")
    for each in range(number):
        name, team = f"team-{each}", {"team": str(each % 7)}
        term = {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {"app": "other"}},
            "namespaceSelector": {"matchLabels": team},
        }
        away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        made = pod("web-1", f"n{each % 3}", labels={"app": "web"}, affinity=away)
        made["metadata"] |= {"namespace": name, "ownerReferences": owned_by("ReplicaSet", "web")}
        objects += [made, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": team}}]
    return kubespread.audit(Snapshot.from_objects(objects))


def _maximum(number: int) -> object:
    objects: list[Data] = [*hosts("a", "b"), *deployment("web", ("n0", "n1")), autoscaled("web", 1_000 * number)]
    return kubespread.report(Snapshot.from_objects(objects))


ASKED = {
    "steps of a scenario": _steps,
    "workloads that keep away from others": _namespaces,
    "the maximum of an autoscaler": _maximum,
}


@pytest.mark.parametrize("what", ASKED)
def test_many_take_no_longer_each_than_few(what: str) -> None:
    ask = ASKED[what]
    # What is imported and kept the first time is not counted.
    ask(2)
    few, many = (_calls(ask, number) for number in (FEW, MANY))
    assert many <= SLACK * few * MANY / FEW


def _calls(ask: Callable[[int], object], number: int) -> int:
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        ask(number)
    finally:
        sys.setprofile(None)
    return calls
