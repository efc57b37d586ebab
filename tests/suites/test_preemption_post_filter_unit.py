"""What DefaultPreemption's PostFilter answers: the nominated node, or why there is none.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go (1.36),
TestPostFilter, 18 cases, 9 taken. The table sets by hand what the filters said of every node; here they say it. So
where a pod asks for more than the node has and the table calls that resolvable, a pod that stays takes the room; where
it calls a node unresolvable, the node is tainted; where nothing is known of a node, the pod asks for another by name.

Not applicable, 9 cases: an extender decides in 1 and a plugin made for the test in 2, neither is modeled; 6 are
about pod groups under gates that are alpha and not modeled (TopologyAwareWorkloadScheduling, WorkloadAwarePreemption).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.node_terms import required
from tests.suites.preemption_pods import budget, found, preempt, preemption_nodes, preemption_pod, preemption_pods

Data = dict[str, Any]

LABEL = "test.kubernetes.io/is-violating-pdb"
VIOLATING, KEEPING = f"{LABEL}=violating", f"{LABEL}=non-violating"


def for_one_pod(*names: str) -> list[Data]:
    """Nodes of which each has room for one pod."""
    return preemption_nodes(*names, pods=1)


def tainted(nodes: list[Data]) -> list[Data]:
    return [{**node, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}} for node in nodes]


NOMINATED: dict[str, tuple[Data, list[Data], str]] = {
    "pod with higher priority can be made schedulable": (
        preemption_pod("p high"),
        [*for_one_pod("node1"), preemption_pod("p1 node1")],
        "node1",
    ),
    "pod can be made schedulable on one node": (
        preemption_pod("p mid"),
        [*for_one_pod("node1", "node2"), *preemption_pods("p1 node1 high", "p2 node2 low")],
        "node2",
    ),
    "pod can be made schedulable on minHighestPriority node": (
        preemption_pod("p veryhigh"),
        [
            *for_one_pod("node1", "node2"),
            *preemption_pods(f"p1 node1 high {KEEPING}", f"p2 node1 low {VIOLATING}", f"p3 node2 mid {VIOLATING}"),
            budget(0, VIOLATING, name="violating-pdb"),
            budget(2**31 - 1, KEEPING, name="non-violating-pdb"),
        ],
        "node2",
    ),
}


@pytest.mark.parametrize("case", NOMINATED)
def test_a_node_is_nominated(case: str) -> None:
    preemptor, objects, expected = NOMINATED[case]
    answer = found(preempt(objects, preemptor))
    assert answer is not None
    assert answer[0] == expected


WITH_400M = preemption_nodes("node1", "node2", milli=400, memory=1000)
STAYING = ("s1 node1 high medium", "s2 node2 high medium")
ELSEWHERE = {"affinity": {"nodeAffinity": required("metadata.name In node2")}}

TEXTS: dict[str, tuple[Data, list[Data], str]] = {
    "pod with tied priority is still unschedulable": (
        preemption_pod("p"),
        [*for_one_pod("node1"), preemption_pod("p1 node1")],
        "0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    ),
    "preemption should respect filteredNodesStatuses": (
        preemption_pod("p high"),
        [*tainted(for_one_pod("node1")), preemption_pod("p1 node1")],
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    ),
    "preemption should respect absent NodeToStatusReader entry meaning UnschedulableAndUnresolvable": (
        preemption_pod("p high", **ELSEWHERE),
        [*for_one_pod("node1"), preemption_pod("p1 node1")],
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    ),
    "no candidate nodes found, no enough resource after removing low priority pods": (
        preemption_pod("p high large"),
        [*WITH_400M, *preemption_pods("p1 node1", "p2 node2", *STAYING)],
        "0/2 nodes are available: 2 Insufficient cpu.",
    ),
    "no candidate nodes found with mixed reasons, no lower priority pod and no enough CPU resource": (
        preemption_pod("p high large"),
        [
            *for_one_pod("node1", "node3"),
            *WITH_400M[1:],
            *preemption_pods("p1 node1 high", "p2 node2", "p3 node3 high", STAYING[1]),
        ],
        "0/3 nodes are available: 1 Insufficient cpu, 2 No preemption victims found for incoming pod.",
    ),
    "2 UnschedulableAndUnresolvable nodes and 2 nodes don't have enough CPU resource": (
        preemption_pod("p high large"),
        [
            *WITH_400M,
            *tainted(preemption_nodes("node3", "node4", milli=400, memory=1000)),
            *preemption_pods("p1 node1", "p2 node2", *STAYING),
        ],
        "0/4 nodes are available: 2 Insufficient cpu, 2 Preemption is not helpful for scheduling.",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_why_no_node_is_nominated(case: str) -> None:
    preemptor, objects, expected = TEXTS[case]
    preemption = preempt(objects, preemptor).preemption
    assert preemption is not None
    assert (preemption.node, preemption.tail) == (None, f"preemption: {expected}")
