"""No remedy changes back what a question changes; where the cluster or the pod is like that by itself it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from tests.builders import Data, hard, hosts, node, pod, pods_on, soft, taint
from tests.world.clusters import budget, deployment

ZONES = [node("n0", zone="a"), node("n1", zone="b", taints=[taint("x")]), *pods_on({"n0": 1})]
"""One pod in zone a; none fits zone b, which holds the minimum."""

RACKS = [node("n0", rack="a"), node("n1", rack="b", taints=[taint("x")]), *pods_on({"n0": 1})]


class Pair(NamedTuple):
    """What is changed, and the remedy that would change it back."""

    objects: Sequence[Data]
    pod: Data
    itself: tuple[Sequence[Data], Data]
    """The cluster and the pod as they are once changed."""
    remedy: str
    edits: tuple[str, ...] = ()
    set: tuple[str, ...] = ()


def of_node(before: Data, after: Data, edit: str, remedy: str, **spec: Any) -> Pair:
    return Pair([before], pod(**spec), ([after], pod(**spec)), remedy, (edit,))


def of_pod(before: Data, after: Data, setting: str, remedy: str, objects: Sequence[Data] = ZONES) -> Pair:
    return Pair(objects, before, (objects, after), remedy, set=(setting,))


POOL = {"pool": "gpu"}
PAIRS: dict[str, Pair] = {
    "a cordon": of_node(node("n0"), node("n0", unschedulable=True), "cordon n0", "--uncordon n0"),
    "a drain": of_node(node("n0"), node("n0", unschedulable=True), "drain n0", "--uncordon n0"),
    "a cordon of what is cordoned": of_node(
        node("n0", unschedulable=True), node("n0", unschedulable=True), "cordon n0", "--uncordon n0"
    ),
    "a cordon by labels": of_node(
        node("n0", pool="gpu"), node("n0", pool="gpu", unschedulable=True), "cordon pool=gpu", "--uncordon n0"
    ),
    "a taint": of_node(
        node("n0"), node("n0", taints=[taint("x")]), "taint n0=x:NoSchedule", "--taint 'n0 x:NoSchedule-'"
    ),
    "a label taken off": of_node(
        node("n0", pool="gpu"), node("n0"), "label n0 pool-", "--label 'n0 pool=gpu'", nodeSelector=POOL
    ),
    "another value of a label": of_node(
        node("n0"), node("n0", pool="cpu"), "label n0 pool=cpu", "--label 'n0 pool=gpu'", nodeSelector=POOL
    ),
    "a constraint that all workloads get": Pair(
        RACKS, pod(), (RACKS, pod(constraints=[hard("rack")])), "--set maxSkew[rack]=2", ("spread rack:1",)
    ),
    "the action of that constraint": Pair(
        RACKS,
        pod(),
        (RACKS, pod(constraints=[hard("rack")])),
        "--set whenUnsatisfiable[rack]=ScheduleAnyway",
        ("spread rack:1",),
    ),
    "maxSkew": of_pod(
        pod(constraints=[hard(max_skew=5)]), pod(constraints=[hard()]), "maxSkew=1", "--set maxSkew[zone]=2"
    ),
    "maxSkew by the constraint's position": of_pod(
        pod(constraints=[hard(max_skew=5)]), pod(constraints=[hard()]), "maxSkew[0]=1", "--set maxSkew[zone]=2"
    ),
    "minDomains": of_pod(
        pod(constraints=[hard()]),
        pod(constraints=[hard(minDomains=3)]),
        "minDomains=3",
        "--set minDomains[zone]=2",
        [node("n0", zone="a"), node("n1", zone="b"), *pods_on({"n0": 1, "n1": 1})],
    ),
    "minDomains, which a soft constraint has none of": of_pod(
        pod(constraints=[hard()]),
        pod(constraints=[hard(minDomains=3)]),
        "minDomains=3",
        "--set minDomains[zone]=null --set whenUnsatisfiable[zone]=ScheduleAnyway",
        [node("n0", zone="a"), node("n1", zone="b"), *pods_on({"n0": 1, "n1": 1})],
    ),
    "whenUnsatisfiable": of_pod(
        pod(constraints=[soft()]),
        pod(constraints=[hard()]),
        "whenUnsatisfiable=DoNotSchedule",
        "--set whenUnsatisfiable[zone]=ScheduleAnyway",
    ),
    "nodeTaintsPolicy": of_pod(
        pod(constraints=[hard(nodeTaintsPolicy="Honor")]),
        pod(constraints=[hard(nodeTaintsPolicy="Ignore")]),
        "nodeTaintsPolicy=Ignore",
        "--set nodeTaintsPolicy[zone]=Honor",
    ),
    "nodeAffinityPolicy": of_pod(
        pod(constraints=[hard(nodeAffinityPolicy="Honor")], nodeSelector={"zone": "a"}),
        pod(constraints=[hard(nodeAffinityPolicy="Ignore")], nodeSelector={"zone": "a"}),
        "nodeAffinityPolicy=Ignore",
        "--set nodeAffinityPolicy[zone]=Honor",
    ),
    "requests": of_pod(pod(), pod(requests={"cpu": "64"}), "cpu=64", "--set cpu=8", [node("n0")]),
    "a node selector": of_pod(
        pod(), pod(nodeSelector=POOL), "nodeSelector[pool]=gpu", "--set nodeSelector[pool]=null", [node("n0")]
    ),
}


def offered(objects: Sequence[Data], asked: Data, edits: Sequence[str] = (), settings: Sequence[str] = ()) -> list[str]:
    """The options of each suggestion, and of those that would do as well."""
    report = kubespread.explain(Snapshot.from_objects(objects).edited(*edits), asked, set=settings, fix=True)
    assert report.advice is not None
    return [option for each in report.advice.enough for option in (" ".join(each.options), *each.alternatives)]


@pytest.mark.parametrize("case", PAIRS)
def test_what_is_asked_is_not_changed_back(case: str) -> None:
    pair = PAIRS[case]
    by_itself, asked = offered(*pair.itself), offered(pair.objects, pair.pod, pair.edits, pair.set)
    assert pair.remedy in by_itself
    assert [option for option in asked if pair.remedy in option] == []
    assert asked == [option for option in by_itself if option in asked]


def test_explain_without_fix_does_not_change_it_back_either() -> None:
    snapshot, asked = Snapshot.from_objects(ZONES), pod(constraints=[hard(max_skew=5)])
    advice = kubespread.explain(snapshot, asked, set=["maxSkew=1"]).advice
    assert advice is not None
    assert [each.change for each in advice.enough] == ["A nodeTaintsPolicy Honor", "A ScheduleAnyway"]


def test_pending_does_not_change_a_constraint_back_that_one_workload_gets() -> None:
    nodes = [node("n0", zone="a", cpu="2"), node("n1", zone="b", cpu="1", taints=[taint("x")])]
    spread = Snapshot.from_objects([*nodes, *deployment("web", ("n0", None))]).edited("spread deploy/web=zone:1")
    (group,) = kubespread.pending(spread).groups
    assert group.change is not None
    assert group.change.options == ("--set nodeTaintsPolicy[zone]=Honor",)


def test_a_budget_that_is_asked_about_stays_as_it_is() -> None:
    objects = [*hosts("a", "b", "c"), *deployment("web", ("n0", "n1")), budget("web", maxUnavailable=1)]
    for edit in ("budget web:maxUnavailable=0", "budget deploy/web:maxUnavailable=0"):
        asked = Snapshot.from_objects(objects).edited(edit)
        (row,) = kubespread.removable(asked, ["n0"]).rows
        assert (row.alone, row.remedy) == (False, None), edit
    itself = Snapshot.from_objects([*objects[:-1], budget("web", maxUnavailable=0)])
    (row,) = kubespread.removable(itself, ["n0"]).rows
    assert (row.alone, row.remedy) == (False, "--budget default/web:maxUnavailable=1")
