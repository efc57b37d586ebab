"""DefaultPreemption's dry runs: the victims on every node, and the budgets they break.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go (1.36),
TestDryRunPreemption, 19 cases, 11 taken. The table tries every node; here every node is asked about with the others
cordoned.

Not applicable, 8 cases. A filter made for the test decides in 4: "a pod that does not fit on any node", "a pod that
fits with no preemption", "a pod that fits on one node with no preemption", "get Unschedulable in the preemption phase
when the filter plugins filtering the nodes". A seeded random start decides in 4, which kubespread replaces by the first
node by name: the two cases in which DefaultPreemptionArgs limits candidates to 2, "preemption offset across multiple
scheduling cycles and wrap around", "preemption looks past numCandidates until a non-PDB violating node is found".

TestCustomSelection (9 cases) and TestCustomOrdering (2) replace functions of the plugin, TestPreEnqueue (7) is about
evictions that are not done yet: not applicable.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.preemption_pods import budget, candidates, preemption_nodes, preemption_pod, preemption_pods
from tests.suites.tables import must

Data = dict[str, Any]
Candidates = dict[str, tuple[set[str], int]]

LARGE = preemption_pod("p high large")
VERY_LARGE = preemption_pod("p high verylarge")
AVOIDS_FOO = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchExpressions": [{"key": "foo", "operator": "Exists"}]}, "topologyKey": "hostname"}
        ]
    }
}
PAIR = ("p1.1 node1 mid medium app=foo", "p1.2 node1 mid medium app=foo")

TABLE: dict[str, tuple[tuple[str, ...], Data, list[Data], Candidates]] = {
    "a pod that fits on both nodes when lower priority pods are preempted": (
        ("node1", "node2"),
        LARGE,
        preemption_pods("p1 node1 mid large", "p2 node2 mid large"),
        {"node1": ({"p1"}, 0), "node2": ({"p2"}, 0)},
    ),
    "a pod that would fit on the nodes, but other pods running are higher priority, no preemption would happen": (
        ("node1", "node2"),
        preemption_pod("p low large"),
        preemption_pods("p1 node1 mid large", "p2 node2 mid large"),
        {},
    ),
    "medium priority pod is preempted, but lower priority one stays as it is small": (
        ("node1", "node2"),
        LARGE,
        preemption_pods("p1.1 node1 low small", "p1.2 node1 mid large", "p2 node2 mid large"),
        {"node1": ({"p1.2"}, 0), "node2": ({"p2"}, 0)},
    ),
    "mixed priority pods are preempted": (
        ("node1", "node2"),
        LARGE,
        preemption_pods(
            "p1.1 node1 mid small",
            "p1.2 node1 low small",
            "p1.3 node1 mid medium",
            "p1.4 node1 high small",
            "p2 node2 high large",
        ),
        {"node1": ({"p1.2", "p1.3"}, 0)},
    ),
    "mixed priority pods are preempted, pick later StartTime one when priorities are equal": (
        ("node1", "node2"),
        LARGE,
        preemption_pods(
            "p1.1 node1 low small @5",
            "p1.2 node1 low small @4",
            "p1.3 node1 mid medium @3",
            "p1.4 node1 high small @2",
            "p2 node2 high large @1",
        ),
        {"node1": ({"p1.1", "p1.3"}, 0)},
    ),
    "pod with anti-affinity is preempted": (
        ("node1", "node2"),
        preemption_pod("p high small foo"),
        [
            preemption_pod("p1.1 node1 low small foo", affinity=AVOIDS_FOO),
            *preemption_pods("p1.2 node1 mid small", "p1.3 node1 high small", "p2 node2 high small"),
        ],
        {"node1": ({"p1.1"}, 0)},
    ),
    "preemption to resolve pod topology spread filter failure": (
        ("node-a/zone1", "node-b/zone1", "node-x/zone2"),
        preemption_pod("p high foo", topologySpreadConstraints=[must("zone"), must("hostname")]),
        preemption_pods(
            "pod-a1 node-a mid foo",
            "pod-a2 node-a low foo",
            "pod-b1 node-b low foo",
            "pod-x1 node-x high foo",
            "pod-x2 node-x high foo",
        ),
        {"node-a": ({"pod-a2"}, 0), "node-b": ({"pod-b1"}, 0)},
    ),
    "preemption with violation of same pdb": (
        ("node1",),
        VERY_LARGE,
        [*preemption_pods(*PAIR), budget(1, "app=foo")],
        {"node1": ({"p1.1", "p1.2"}, 1)},
    ),
    "preemption with violation of the pdb, the victim doesn't belong to DisruptedPods": (
        ("node1",),
        VERY_LARGE,
        [*preemption_pods(*PAIR), budget(1, "app=foo", disrupted=("p2",))],
        {"node1": ({"p1.1", "p1.2"}, 1)},
    ),
    "preemption with violation of the pdb, the victim belongs to DisruptedPods": (
        ("node1",),
        VERY_LARGE,
        [*preemption_pods(*PAIR), budget(1, "app=foo", disrupted=("p1.2",))],
        {"node1": ({"p1.1", "p1.2"}, 0)},
    ),
    "the victim which belongs to DisruptedPods is treated as 'nonViolating'": (
        ("node1",),
        VERY_LARGE,
        [*preemption_pods(*PAIR, "p1.3 node1 mid medium app=foo"), budget(1, "app=foo", disrupted=("p1.3",))],
        {"node1": ({"p1.1", "p1.2", "p1.3"}, 1)},
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_victims_of_every_node(case: str) -> None:
    names, preemptor, others, expected = TABLE[case]
    assert candidates(preemption_nodes(*names), others, preemptor) == expected
