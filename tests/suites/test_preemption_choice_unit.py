"""DefaultPreemption's choice of a node, and who may preempt at all.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go (1.36),
TestSelectBestCandidate (9 cases), TestPodEligibleToPreemptOthers (5) and TestPreempt (8): 18 of 22 taken. The two cases
without a node have one here, full, since kube-scheduler asks no preemption in an empty cluster.

Not applicable, 4 cases of TestPreempt, those with scheduler extenders: they are not modeled.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.preemption_pods import (
    Found,
    candidates,
    found,
    preempt,
    preemption_nodes,
    preemption_pod,
    preemption_pods,
)
from tests.suites.tables import must

Data = dict[str, Any]

BEST: dict[str, tuple[str, tuple[str, ...], set[str]]] = {
    "a pod that fits on both nodes when lower priority pods are preempted": (
        "p high large",
        ("p1 node1 mid large @1", "p2 node2 mid large @1"),
        {"node1", "node2"},
    ),
    "node with min highest priority pod is picked": (
        "p high verylarge",
        (
            "p1.1 node1 mid medium @1",
            "p1.2 node1 mid large @1",
            "p2.1 node2 mid medium @1",
            "p2.2 node2 low medium @1",
            "p3.1 node3 low medium @1",
            "p3.2 node3 low medium @1",
        ),
        {"node3"},
    ),
    "when highest priorities are the same, minimum sum of priorities is picked": (
        "p high verylarge",
        (
            "p1.1 node1 mid medium @1",
            "p1.2 node1 mid large @1",
            "p2.1 node2 mid large @1",
            "p2.2 node2 low medium @1",
            "p3.1 node3 mid medium @1",
            "p3.2 node3 mid medium @1",
        ),
        {"node2"},
    ),
    "when highest priority and sum are the same, minimum number of pods is picked": (
        "p high verylarge",
        (
            "p1.1 node1 mid small @1",
            "p1.2 node1 neg small @1",
            "p1.3 node1 mid small @1",
            "p1.4 node1 neg small @1",
            "p2.1 node2 mid large @1",
            "p2.2 node2 neg medium @1",
            "p3.1 node3 mid medium @1",
            "p3.2 node3 neg small @1",
            "p3.3 node3 low small @1",
        ),
        {"node2"},
    ),
    "sum of adjusted priorities is considered": (
        "p high verylarge",
        (
            "p1.1 node1 mid small @1",
            "p1.2 node1 neg small @1",
            "p1.3 node1 neg small @1",
            "p2.1 node2 mid large @1",
            "p2.2 node2 neg medium @1",
            "p3.1 node3 mid medium @1",
            "p3.2 node3 neg small @1",
            "p3.3 node3 low small @1",
        ),
        {"node2"},
    ),
    "non-overlapping lowest high priority, sum priorities, and number of pods": (
        "p veryhigh verylarge",
        (
            "p1.1 node1 mid small @1",
            "p1.2 node1 low small @1",
            "p1.3 node1 low small @1",
            "p2.1 node2 high large @1",
            "p3.1 node3 mid medium @1",
            "p3.2 node3 low small @1",
            "p3.3 node3 low small @1",
            "p3.4 node3 low medium @1",
            "p4.1 node4 mid medium @1",
            "p4.2 node4 mid small @1",
            "p4.3 node4 mid small @1",
            "p4.4 node4 neg small @1",
        ),
        {"node1"},
    ),
    "same priority, same number of victims, different start time for each node's pod": (
        "p high verylarge",
        (
            "p1.1 node1 mid medium @2",
            "p1.2 node1 mid medium @2",
            "p2.1 node2 mid medium @3",
            "p2.2 node2 mid medium @3",
            "p3.1 node3 mid medium @1",
            "p3.2 node3 mid medium @1",
        ),
        {"node2"},
    ),
    "same priority, same number of victims, different start time for all pods": (
        "p high verylarge",
        (
            "p1.1 node1 mid medium @4",
            "p1.2 node1 mid medium @2",
            "p2.1 node2 mid medium @5",
            "p2.2 node2 mid medium @1",
            "p3.1 node3 mid medium @3",
            "p3.2 node3 mid medium @6",
        ),
        {"node3"},
    ),
    "different priority, same number of victims, different start time for all pods": (
        "p high verylarge",
        (
            "p1.1 node1 low medium @4",
            "p1.2 node1 mid medium @2",
            "p2.1 node2 mid medium @6",
            "p2.2 node2 low medium @1",
            "p3.1 node3 low medium @3",
            "p3.2 node3 mid medium @5",
        ),
        {"node2"},
    ),
}


@pytest.mark.parametrize("case", BEST)
def test_the_best_candidate(case: str) -> None:
    line, others, expected = BEST[case]
    nodes = preemption_nodes(*sorted({other.split()[1] for other in others}))
    asked, pods = preemption_pod(line), preemption_pods(*others)
    # Every node is a candidate, so that there is a choice.
    assert set(candidates(nodes, pods, asked)) == {node["metadata"]["name"] for node in nodes}
    answer = found(preempt([*nodes, *pods], asked))
    assert answer is not None
    assert answer[0] in expected


def victim(*, preempted: bool) -> Data:
    """A pod of little importance that is on its way out, told so by kube-scheduler or not."""
    made = preemption_pod("p1 node1 low large")
    made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if preempted:
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        made["status"]["conditions"] = [condition]
    return made


NOMINATED = {**preemption_pod("p high large"), "status": {"nominatedNodeName": "node1"}}
TAINTED = [{**each, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}} for each in preemption_nodes("node1")]
FULL = [*preemption_nodes("node1"), preemption_pod("p1 node1 high large")]
NO_VICTIMS = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."

# Where the pod may preempt, what its try ends with tells that there was one.
ELIGIBLE: dict[str, tuple[list[Data], Data, str]] = {
    "Pod with nominated node": (
        [*TAINTED, victim(preempted=False)],
        NOMINATED,
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    ),
    "Pod without nominated node": (FULL, preemption_pod("p high large"), NO_VICTIMS),
    "Pod with 'PreemptNever' preemption policy": (
        FULL,
        preemption_pod("p high large", preemptionPolicy="Never"),
        "preemption: not eligible due to preemptionPolicy=Never.",
    ),
    "preemption victim pod terminating, as indicated by the dedicated DisruptionTarget condition": (
        [*preemption_nodes("node1"), victim(preempted=True)],
        NOMINATED,
        "preemption: not eligible due to a terminating pod on the nominated node.",
    ),
}


@pytest.mark.parametrize("case", ELIGIBLE)
def test_who_may_preempt(case: str) -> None:
    objects, preemptor, tail = ELIGIBLE[case]
    report = preempt([*objects, preemptor], "pod/p")
    assert report.preemption is not None
    assert (report.preemption.node, report.preemption.tail) == (None, tail)


# The case "non-victim Pods terminating".
def test_a_pod_that_leaves_for_another_reason_does_not_bar_preemption() -> None:
    report = preempt([*preemption_nodes("node1"), victim(preempted=False), NOMINATED], "pod/p")
    assert found(report) == ("node1", {"p1"}, 0)


SEVERAL = ("p1.1 node1 low small", "p1.2 node1 low small", "p2.1 node2 high large", "p3.1 node3 mid medium")
THREE = ("node1", "node2", "node3")

WHOLE: dict[str, tuple[tuple[str, ...], Data, tuple[str, ...], Found | None]] = {
    "basic preemption logic": (
        THREE,
        preemption_pod("p high verylarge", preemptionPolicy="PreemptLowerPriority"),
        SEVERAL,
        ("node1", {"p1.1", "p1.2"}, 0),
    ),
    "preemption for topology spread constraints": (
        ("node-a/zone1", "node-b/zone1", "node-x/zone2"),
        preemption_pod("p high foo", topologySpreadConstraints=[must("zone"), must("hostname")]),
        (
            "p-a1 node-a high foo",
            "p-a2 node-a high foo",
            "p-b1 node-b low foo",
            "p-x1 node-x high foo",
            "p-x2 node-x high foo",
        ),
        ("node-b", {"p-b1"}, 0),
    ),
    "no preempting in pod": (THREE, preemption_pod("p high verylarge", preemptionPolicy="Never"), SEVERAL, None),
    "PreemptionPolicy is nil": (THREE, preemption_pod("p high verylarge"), SEVERAL, ("node1", {"p1.1", "p1.2"}, 0)),
}


@pytest.mark.parametrize("case", WHOLE)
def test_a_whole_preemption(case: str) -> None:
    names, preemptor, others, expected = WHOLE[case]
    assert found(preempt([*preemption_nodes(*names), *preemption_pods(*others)], preemptor)) == expected
