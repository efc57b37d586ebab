"""PodTopologySpread in a whole scheduler, as kube-scheduler's integration tests ask it.

Source: kubernetes/kubernetes, test/integration/scheduler/filters/filters_test.go, TestPodTopologySpreadFilter (20
cases), and test/integration/scheduler/scoring/priorities_test.go, TestPodTopologySpreadScoring (7) and
TestDefaultPodTopologySpreadScoring (3 steps), all taken. The pods go through admission and the default profile, the
scoring tables through one whose only score is this plugin's.

The tables name the nodes of which one is taken; where they are those that fit, all of them are compared.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kubespread
from kubespread.kube.well_known import ZONE
from tests.builders import owner, pod
from tests.suites.tables import asking, best, in_nodes, must, nodes, pods, scored_by, should

Data = dict[str, Any]
Case = tuple[list[Data], list[Data], Data, str]

FOO = {"foo": ""}
TWO_BY_TWO = nodes(
    "node-0 zone=zone-0 node", "node-1 zone=zone-0 node", "node-2 zone=zone-1 node", "node-3 zone=zone-1 node"
)
WITH_FOO = nodes(
    "node-1 zone=zone-1 node foo",
    "node-2 zone=zone-1 node foo",
    "node-3 zone=zone-2 node",
    "node-4 zone=zone-2 node foo",
)
THIRD_TAINTED = nodes(
    "node-1 zone=zone-1 node foo",
    "node-2 zone=zone-1 node foo",
    "node-3 zone=zone-2 node tainted",
    "node-4 zone=zone-2 node foo",
)
SECOND_TAINTED = nodes(
    "node-1 zone=zone-1 node foo",
    "node-2 zone=zone-1 node foo tainted",
    "node-3 zone=zone-2 node",
    "node-4 zone=zone-2 node foo",
)
ONE_EACH = pods("node-1 foo", "node-2 foo", "node-3 foo", "node-4 foo")
AS_2_2_1 = pods("node-1 foo x2", "node-2 foo x2", "node-3 foo")
NOT_NODE_0 = in_nodes("node", "NotIn", "node-0")
NO_LABEL_KEYS = "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false"

FILTERED: dict[str, Case] = {
    "place pod on a 1/1/0/1 cluster with MaxSkew=1, node-2 is the only fit": (
        TWO_BY_TWO,
        pods("node-0 foo", "node-1 foo", "node-3 foo"),
        asking("foo", must("node")),
        "node-2",
    ),
    "place pod on a 2/0/0/1 cluster with MaxSkew=2, node-{1,2,3} are good fits": (
        TWO_BY_TWO,
        pods("node-0 foo x2", "node-3 foo"),
        asking("foo", must("node", 2)),
        "node-1 node-2 node-3",
    ),
    "pod is required to be placed on zone0, so only node-1 fits": (
        TWO_BY_TWO,
        pods("node-0 foo", "node-3 foo"),
        asking("foo", must("node"), affinity=in_nodes("zone", "In", "zone-0")),
        "node-1",
    ),
    "two constraints: pod can only be placed to zone-1/node-2": (
        TWO_BY_TWO,
        pods("node-0 foo", "node-1 foo", "node-3 foo x2"),
        asking("foo", must("zone"), must("node")),
        "node-2",
    ),
    "pod cannot be placed onto any node": (
        TWO_BY_TWO,
        AS_2_2_1,
        asking("foo", must("zone"), must("node"), affinity=NOT_NODE_0),
        "",
    ),
    "pods spread across nodes as 2/2/1, maxSkew is 2, and the number of domains < minDomains, then the third node fits": (
        TWO_BY_TWO,
        AS_2_2_1,
        asking("foo", must("node", 2, minDomains=4), affinity=NOT_NODE_0),
        "node-3",
    ),
    "pods spread across nodes as 2/2/1, maxSkew is 2, and the number of domains > minDomains, then the all nodes fit": (
        TWO_BY_TWO,
        AS_2_2_1,
        asking("foo", must("node", 2, minDomains=2), affinity=NOT_NODE_0),
        "node-1 node-2 node-3",
    ),
    "pods spread across zone as 2/1, maxSkew is 2 and the number of domains < minDomains, then the third and fourth nodes fit": (
        TWO_BY_TWO,
        pods("node-0 foo", "node-1 foo", "node-2 foo"),
        asking("foo", must("zone", 2, minDomains=3)),
        "node-2 node-3",
    ),
    "pods spread across zone as 2/1, maxSkew is 2 and the number of domains < minDomains, then the all nodes fit": (
        TWO_BY_TWO,
        pods("node-1 foo", "node-2 foo", "node-3 foo"),
        asking("foo", must("zone", 2, minDomains=1)),
        "node-0 node-1 node-2 node-3",
    ),
    "NodeAffinityPolicy honored with labelSelectors, pods spread across zone as 2/1": (
        WITH_FOO,
        ONE_EACH,
        asking("foo", must("zone"), nodeSelector=FOO),
        "node-4",
    ),
    "NodeAffinityPolicy ignored with nodeAffinity, pods spread across zone as 1/~2~": (
        WITH_FOO,
        pods("node-1 foo", "node-3 foo", "node-4 foo"),
        asking("foo", must("zone", nodeAffinityPolicy="Ignore"), affinity=in_nodes("foo", "In", "")),
        "node-1 node-2",
    ),
    "NodeTaintsPolicy honored, pods spread across zone as 2/1": (
        THIRD_TAINTED,
        ONE_EACH,
        asking("foo", must("zone", nodeTaintsPolicy="Honor")),
        "node-4",
    ),
    "NodeTaintsPolicy ignored, pods spread across zone as 2/2": (
        THIRD_TAINTED,
        ONE_EACH,
        asking("foo", must("zone")),
        "node-1 node-2 node-4",
    ),
    "two node inclusion Constraints, zone: honor/ignore, node: honor/ignore": (
        SECOND_TAINTED,
        ONE_EACH,
        asking("foo", must("zone"), must("node"), nodeSelector=FOO),
        "node-4",
    ),
    "two node inclusion Constraints, zone: ignore/ignore, node: honor/honor": (
        SECOND_TAINTED,
        ONE_EACH,
        asking(
            "foo", must("zone", nodeAffinityPolicy="Ignore"), must("node", nodeTaintsPolicy="Honor"), nodeSelector=FOO
        ),
        "node-1 node-4",
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector isn't empty, pods spread across zone as 0/1": (
        TWO_BY_TWO,
        pods("node-0 foo", "node-1 foo", "node-2 foo bar"),
        asking("foo bar", must("zone", matchLabelKeys=["bar"])),
        "node-0 node-1",
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector is empty, pods spread across zone as 2/1": (
        TWO_BY_TWO,
        pods("node-0 foo", "node-1 foo", "node-2 foo"),
        asking("foo", must("zone", on="", matchLabelKeys=["foo"])),
        "node-2 node-3",
    ),
}


def ask(case: Case, **scheduler: Any) -> kubespread.ExplainReport:
    cluster, existing, candidate, _ = case
    snapshot = kubespread.Snapshot.from_objects([*cluster, *existing])
    return kubespread.explain(snapshot, candidate, kubespread.Scheduler(**scheduler))


@pytest.mark.parametrize("name", FILTERED)
def test_nodes_that_fit(name: str) -> None:
    case = FILTERED[name]
    assert sorted(ask(case).feasible) == case[-1].split()


def test_feature_gate_disabled_two_node_inclusion_constraints() -> None:
    """The case without the gate, which cannot be switched off since 1.33."""
    case = FILTERED["two node inclusion Constraints, zone: honor/ignore, node: honor/ignore"]
    report = ask(case, kube_version="1.32", feature_gates="NodeInclusionPolicyInPodTopologySpread=false")
    assert report.feasible == ("node-4",)


def test_match_label_keys_ignored_when_feature_gate_disabled() -> None:
    """The case without the gate: pods spread across zone as 2/1."""
    case = FILTERED[
        "matchLabelKeys ANDed with LabelSelector when LabelSelector isn't empty, pods spread across zone as 0/1"
    ]
    assert sorted(ask(case, feature_gates=NO_LABEL_KEYS).feasible) == ["node-2", "node-3"]


def test_high_priority_pod_can_preempt_others() -> None:
    """One of three nodes is taken once pods on it are gone."""
    candidate = asking("foo", must("zone"), must("node"), affinity=NOT_NODE_0, priority=100)
    snapshot = kubespread.Snapshot.from_objects([*TWO_BY_TWO, *AS_2_2_1, candidate])
    report = kubespread.explain(snapshot, "pod/p", preemption=True)
    assert report.preemption is not None
    assert report.preemption.node in {"node-1", "node-2", "node-3"}


FIRST_TAINTED = nodes(
    "node-0 zone=zone-0 node tainted", "node-1 zone=zone-0 node", "node-2 zone=zone-1 node", "node-3 zone=zone-1 node"
)
AS_1_2_3 = pods("node-1 foo bar", "node-2 foo x2", "node-3 foo bar x2", "node-3 foo")
PREFERRED: dict[str, Case] = {
    "place pod on a ~0~/1/2/3 cluster with MaxSkew=1, node-1 is the preferred fit": (
        FIRST_TAINTED,
        pods("node-1 foo", "node-2 foo x2", "node-3 foo x3"),
        asking("foo", should("node")),
        "node-1",
    ),
    "combined with hardSpread constraint on a ~4~/0/1/2 cluster": (
        FIRST_TAINTED,
        pods("node-0 foo x4", "node-2 foo", "node-3 foo x2"),
        asking("foo", should("node"), must("zone")),
        "node-2",
    ),
    "soft constraint with two node inclusion Constraints, zone: honor/ignore, node: honor/ignore": (
        nodes(
            "node-1 zone=zone-1 node foo",
            "node-2 zone=zone-1 node foo avoided",
            "node-3 zone=zone-2 node foo",
            "node-4 zone=zone-2 node",
        ),
        pods("node-1 foo", "node-2 foo x2", "node-4 foo"),
        asking("foo", should("zone"), should("node"), nodeSelector=FOO),
        "node-3",
    ),
    "soft constraint with two node inclusion Constraints, zone: ignore/ignore, node: honor/honor": (
        nodes(
            "node-1 zone=zone-1 node foo",
            "node-2 zone=zone-1 node foo avoided",
            "node-3 zone=zone-2 node foo",
            "node-4 zone=zone-2 node",
        ),
        pods("node-1 foo", "node-2 foo x2", "node-4 foo"),
        asking(
            "foo",
            should("zone", nodeAffinityPolicy="Ignore"),
            should("node", nodeTaintsPolicy="Honor"),
            nodeSelector=FOO,
        ),
        "node-3",
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector isn't empty, node-2 is the preferred fit": (
        FIRST_TAINTED,
        AS_1_2_3,
        asking("foo bar", should("node", matchLabelKeys=["bar"])),
        "node-2",
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector is empty, node-1 is the preferred fit": (
        FIRST_TAINTED,
        pods("node-1 foo", "node-2 foo x2", "node-3 foo x3"),
        asking("foo", should("node", on="", matchLabelKeys=["foo"])),
        "node-1",
    ),
}


@pytest.mark.parametrize("name", PREFERRED)
def test_the_node_that_is_taken(name: str) -> None:
    case = PREFERRED[name]
    report = ask(case, config=scored_by("PodTopologySpread"))
    assert best(report) == case[-1].split()


def test_match_label_keys_ignored_when_feature_gate_disabled_node_1_is_the_preferred_fit() -> None:
    case = PREFERRED[
        "matchLabelKeys ANDed with LabelSelector when LabelSelector isn't empty, node-2 is the preferred fit"
    ]
    assert best(ask(case, config=scored_by("PodTopologySpread"), feature_gates=NO_LABEL_KEYS)) == ["node-1"]


def test_system_defaults_spread_the_pods_of_a_service() -> None:
    """TestDefaultPodTopologySpreadScoring: of 3, 12 and 27 pods each zone gets as many, on 300 nodes in 3 zones."""
    cluster = nodes(*(f"node-{number} hostname {ZONE}=zone-{number % 3}" for number in range(300)))
    zones = {node["metadata"]["name"]: node["metadata"]["labels"][ZONE] for node in cluster}
    service = owner("Service", "test-service", {"service": "test-service"}, api_version="v1")
    snapshot = kubespread.Snapshot.from_objects([*cluster, service])
    config = scored_by("PodTopologySpread")
    report = kubespread.simulate(
        snapshot, pod("p", labels={"service": "test-service"}), 27, kubespread.Scheduler(config=config)
    )
    placed = [zones[placement.node] for placement in report.placements]
    in_each = {count: sorted(Counter(placed[:count]).values()) for count in (3, 12, 27)}
    assert in_each == {3: [1, 1, 1], 12: [4, 4, 4], 27: [9, 9, 9]}
