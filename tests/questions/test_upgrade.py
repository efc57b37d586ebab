"""Nodes replaced batch by batch: in which order, where budgets stop it, and what is found to help."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.controllers.disruption import SEVERAL_BUDGETS
from kubespread.errors import UsageError
from kubespread.kube.quantity import parse
from kubespread.kube.taint import DrainFlags
from kubespread.questions.plan import PlanReport
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.upgrade.answer import UpgradePool
from kubespread.questions.worlds import world_of
from kubespread.reports.outcome import REFUSALS
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import Data, hard, hosts, node, pod
from tests.world.clusters import budget, daemon_set, deployment, gone_to_sleep, stateful_set, unready

ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}
NEEDS = "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs {} healthy pods and has {} currently"


def upgraded(objects: list[Data], nodes: str = ZONE, **options: Any) -> PlanReport:
    return kubespread.upgrade(Snapshot.from_objects(objects), nodes, **options)


def lines(report: PlanReport) -> list[str]:
    """``n0 -> n0-1: 1 evicted, 1 placed, 0 pending``, then what blocks it, what waits and what would help."""
    told = []
    for step in report.steps:
        evicted = sum(gone.why == "evicted" for gone in step.pods_gone)
        counts = f"{evicted} evicted, {step.placed} placed, {step.pending} pending"
        told.append(f"{step.name.removeprefix('replace ')} -> {', '.join(step.nodes.joined)}: {counts}")
    told += [f"! {trouble.subject}: {trouble.why}" for trouble in report.whole.get(*REFUSALS)]
    told += [f"? {trouble.count} of {trouble.subject}" for trouble in report.whole.get("pending")]
    return [*told, *(f"try {remedy}" for remedy in report.remedies)]


def named(obj: Data, name: str) -> Data:
    return {**obj, "metadata": {**obj["metadata"], "name": name}}


SPREAD = {"topologySpreadConstraints": [hard(ZONE, match=WEB)]}
CASES: dict[str, tuple[list[Data], dict[str, Any], list[str]]] = {
    "one after another, each replaced by a copy with a fresh name": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1"))],
        {},
        ["n0 -> n0-1: 1 evicted, 1 placed, 0 pending", "n1 -> n1-1: 2 evicted, 2 placed, 0 pending"],
    ),
    "replacements of a batch join before it goes as far as the surge allows": (
        [*hosts("a", "a", "b", "b"), *deployment("web", ("n0",))],
        {"surge": 1, "batch": 2},
        [
            "n0, n1 -> n0-1, n1-1: 1 evicted, 1 placed, 0 pending",
            "n2, n3 -> n2-1, n3-1: 1 evicted, 1 placed, 0 pending",
        ],
    ),
    "a surge larger than the batch is always that much ahead": (
        hosts("a", "a", "b"),
        {"surge": 2},
        [
            "n0 -> n0-1, n1-1: 0 evicted, 0 placed, 0 pending",
            "n1 -> n2-1: 0 evicted, 0 placed, 0 pending",
            "n2 -> : 0 evicted, 0 placed, 0 pending",
        ],
    ),
    "daemons come to the new nodes and go with the old ones": (
        [*hosts("a"), *daemon_set("agent", ("n0",))],
        {},
        ["n0 -> n0-1: 0 evicted, 1 placed, 0 pending"],
    ),
    "a budget that allows none blocks it, one more replica frees it": (
        [*hosts("a", "b", "c"), *deployment("web", ("n0", "n1", "n2"), spec=SPREAD), budget("web", minAvailable=3)],
        {},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            f"! default/web-a: {NEEDS.format(3, 3)}",
            "try --scale default/Deployment/web=4",
            "try --budget default/web:maxUnavailable=1",
        ],
    ),
    "budgets that allow none of several workloads, none of which is enough alone": (
        [
            *hosts("a", "b", "c"),
            *deployment("web", ("n0", "n1")),
            *deployment("db", ("n1", "n2")),
            budget("web", maxUnavailable=0),
            budget("db", maxUnavailable=0),
        ],
        {},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            f"! default/web-a: {NEEDS.format(2, 2)}",
            "try --budget default/db:maxUnavailable=1 --budget default/web:maxUnavailable=1",
        ],
    ),
    "several budgets protect the same pods, one is enough": (
        [
            *hosts("a", "b"),
            *deployment("web", ("n0", "n1")),
            budget("web", minAvailable=1),
            named(budget("web", maxUnavailable=1), "web-too"),
        ],
        {},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            f"! default/web-a: {SEVERAL_BUDGETS}",
            "try --budget default/web-too:none",
        ],
    ),
    "of several budgets that of most pods stays, and lets one go": (
        [
            *hosts("a", "b"),
            *deployment("web", ("n0", "n1")),
            *deployment("db", ("n1",)),
            budget("web", maxUnavailable=1),
            {**budget("all", maxUnavailable=0), "spec": {"selector": {}, "maxUnavailable": 0}},
        ],
        {},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            f"! default/web-a: {SEVERAL_BUDGETS}",
            "try --budget default/all:maxUnavailable=1 --budget default/web:none",
        ],
    ),
    "a budget over pods without a controller, which have no scale": (
        [*hosts("a"), pod("bare", "n0", labels=WEB), budget("web", minAvailable=1)],
        {"force": True},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            f"! default/bare: {NEEDS.format(1, 1)}",
            "try --budget default/web:minAvailable=0 (default/bare is lost for good)",
        ],
    ),
    "a pod that is not ready already uses up what one may be": (
        [*hosts("a", "b"), *unready(deployment("web", ("n0", "n0", "n1")), "web-c"), budget("web", maxUnavailable=1)],
        {"nodes": "n0"},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            f"! default/web-a: {NEEDS.format(2, 2)}",
            f"! default/web-b: {NEEDS.format(2, 2)}",
            "try --budget default/web:minAvailable=1",
        ],
    ),
    "a pod without another node holds a budget up, a surge frees it": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="6"), budget("web", maxUnavailable=1)],
        {},
        ["n0 -> n0-1: 1 evicted, 1 placed, 0 pending", "n1 -> n1-1: 1 evicted, 1 placed, 0 pending"],
    ),
    "two at a time leave a budget no node to go to, smaller batches and a surge do": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="6"), budget("web", maxUnavailable=1)],
        {"batch": 2},
        [
            "n0, n1 -> : 1 evicted, 0 placed, 1 pending",
            f"! default/web-b: {NEEDS.format(1, 1)}",
            "? 1 of default/Deployment/web",
            "try --batch 1",
            "try --surge 1",
            "try --add-node n0",
        ],
    ),
    "an uncordoned node elsewhere frees it": (
        [
            *hosts("a", "b"),
            gone_to_sleep(node("spare", cpu="8")),
            *deployment("web", ("n0", "n1"), cpu="6"),
            budget("web", maxUnavailable=1),
        ],
        {"batch": 2},
        [
            "n0, n1 -> : 1 evicted, 0 placed, 1 pending",
            f"! default/web-b: {NEEDS.format(1, 1)}",
            "? 1 of default/Deployment/web",
            "try --batch 1",
            "try --surge 1",
            "try --add-node n0",
            "try --uncordon spare",
        ],
    ),
    "kubectl refuses pods without a controller": (
        [*hosts("a"), pod("bare", "n0")],
        {},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            "! default/bare: cannot delete Pods that declare no controller (use --force to override)",
            "try --force (default/bare is lost for good)",
        ],
    ),
    "pods without a controller go where that is forced": (
        [*hosts("a"), pod("bare", "n0")],
        {"force": True},
        ["n0 -> n0-1: 1 evicted, 0 placed, 0 pending"],
    ),
    "kubectl refuses daemons where they are not to be ignored": (
        [*hosts("a"), *daemon_set("agent", ("n0",))],
        {"ignore_daemonsets": False},
        [
            "n0 -> : 0 evicted, 0 placed, 0 pending",
            "! default/agent-n0: cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)",
            "try --ignore-daemonsets",
        ],
    ),
    "pods that find no node do not hold it up, and wait in the end": (
        [*hosts("a", "b"), *deployment("web", ("n0",), spec={"nodeSelector": {"kubernetes.io/hostname": "n0"}})],
        {},
        [
            "n0 -> n0-1: 1 evicted, 0 placed, 1 pending",
            "n1 -> n1-1: 0 evicted, 0 placed, 1 pending",
            "? 1 of default/Deployment/web",
        ],
    ),
    "ordinals come back under their names": (
        [*hosts("a", "b"), *stateful_set("db", ("n0", "n1"))],
        {},
        ["n0 -> n0-1: 1 evicted, 1 placed, 0 pending", "n1 -> n1-1: 2 evicted, 2 placed, 0 pending"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_how_a_pool_is_replaced(case: str) -> None:
    objects, options, expected = CASES[case]
    assert lines(upgraded(objects, **options)) == expected


def test_a_node_that_was_cordoned_is_replaced_by_one_that_is_not() -> None:
    cordoned = gone_to_sleep(hosts("a", "b")[0])
    report = upgraded([cordoned, hosts("a", "b")[1], *deployment("web", ("n1",))])
    assert lines(report) == ["n0 -> n0-1: 0 evicted, 0 placed, 0 pending", "n1 -> n1-1: 1 evicted, 1 placed, 0 pending"]


@pytest.mark.parametrize("options", [{}, {"surge": 1}, {"batch": 2}])
def test_what_is_named_as_a_remedy_gets_through_when_it_is_asked_for(options: dict[str, int]) -> None:
    objects = [*hosts("a", "b", "c"), *deployment("web", ("n0", "n1", "n2")), budget("web", minAvailable=3)]
    snapshot = Snapshot.from_objects(objects)
    first = kubespread.upgrade(snapshot, ZONE, **options)  # type: ignore[arg-type]  # the keywords are a typed dict's
    scales = [str(each).removeprefix("--") for each in first.remedies if each.options.startswith("--scale")]
    assert scales
    again = kubespread.upgrade(snapshot.edited(scales[0]), ZONE, **options)  # type: ignore[arg-type]  # as above
    assert (again.blocked_steps, again.pending) == ((), 0)


def test_names_that_no_node_has_are_refused() -> None:
    with pytest.raises(UsageError, match="no node has pool=x"):
        upgraded([node("n0", pool="blue")], "pool=x")


@pytest.mark.parametrize(
    ("options", "said"), [({"batch": 0}, "batch must be at least 1"), ({"surge": -1}, "surge must be at least 0")]
)
def test_numbers_that_mean_nothing_are_refused(options: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        upgraded(hosts("a"), ZONE, **options)


def test_a_batch_says_how_many_pods_the_nodes_hold_where_some_came_or_went() -> None:
    daemons = daemon_set("agent", ("n0", "n1"))
    report = upgraded([*hosts("a", "b"), *daemons, *deployment("web", ("n0", "n1"))])
    held = [{each.node: each.pods for each in step.nodes.loads} for step in report.steps]
    assert held == [{"n0-1": 1, "n1": 3}, {"n0-1": 3, "n1-1": 1}]


TIED = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
TWO = [*hosts("a", "b"), *deployment("web", ("n1",)), *deployment("tied", ("n1",), spec=TIED)]
for each in TWO:
    if each["kind"] == "Deployment":
        each["metadata"]["labels"] = {"app": each["metadata"]["name"]}


TYPE = "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        pytest.param("", [("n0-1", "a", "8", None), ("n1-1", "b", "8", None)], id="copies"),
        pytest.param("9x16", [("n0-1", "a", "9", None), ("n1-1", "b", "9", None)], id="another size"),
        pytest.param(
            f"2x8@{TYPE}=m5.large",
            [("n0-1", "a", "2", "m5.large"), ("n1-1", "b", "2", "m5.large")],
            id="another instance type",
        ),
        pytest.param(
            "big",
            [("big-1", "a", "16", None), ("big-2", "b", "16", None)],
            id="like another node, in the zone of the old one",
        ),
        pytest.param("n0", [("n0-1", "a", "8", None), ("n0-2", "b", "8", None)], id="like one that is replaced itself"),
        pytest.param(
            f"big@{ZONE}=c", [("big-1", "c", "16", None), ("big-2", "c", "16", None)], id="in a zone that is named"
        ),
    ],
)
def test_new_nodes_may_be_of_another_kind(to: str, expected: list[tuple[str, str, str, str | None]]) -> None:
    big = node("big", zone="c", cpu="16")
    # Only the two with the label are replaced.
    objects = [*hosts("a", "b"), big, *deployment("web", ("n0", "n1"))]
    for each in objects[:2]:
        each["metadata"]["labels"]["pool"] = "old"
    snapshot = Snapshot.from_objects(objects)
    report = kubespread.upgrade(snapshot, "pool=old", to=to)
    world = world_of(snapshot, Scheduler())
    pool = UpgradePool(world, ["n0", "n1"], 0, DrainFlags(), to)
    assert pool.replace_batch(world, 1)
    assert pool.replace_batch(world, 1)
    nodes = {each.metadata.name: each for each in world.living.nodes.objects}
    assert (report.verdict, report.stand_ins) == ("yes", pool.replaces)
    assert list(pool.replaces.values()) == ["n0", "n1"]
    assert [
        (
            name,
            nodes[name].metadata.labels[ZONE],
            str(parse(nodes[name].status.allocatable["cpu"])),
            nodes[name].metadata.labels.get(TYPE),
        )
        for name in pool.replaces
    ] == expected


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("gone", 'nodes "gone" not found'),
        ("0x4", "expected CPUs and GiB as in 8x16"),
        ("n0:3", "invalid --to"),
        ("n0@zone", "KEY=VALUE"),
    ],
)
def test_new_nodes_of_no_kind_are_an_error(to: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        upgraded(TWO, "n1", to=to)


def test_smaller_nodes_leave_pods_pending() -> None:
    report = upgraded([*hosts("a"), *deployment("web", ("n0", "n0", "n0"), cpu="1")], "n0", to="2x8", remedies=False)
    assert (report.verdict, report.pending) == ("no", 1)
