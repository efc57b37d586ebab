"""What PodTopologySpread counts once a pod comes or goes, as preemption pretends they do.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/podtopologyspread/filtering_test.go (1.34 and later),
TestPreFilterStateAddPod (16 cases) and TestPreFilterStateRemovePod (9), all taken. The tables compare the plugin's
state, of which the count of each domain and their minimum are compared here.
"""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.versions import LATEST
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.plugin import SpreadState
from kubespread.scheduler.profile.profile import framework
from tests.suites.tables import asking, in_nodes, must, nodes, pods, profile_of

Data = dict[str, Any]
Counts = dict[str, int]
Case = tuple[list[Data], Data, str, list[Counts]]

AB_XY = nodes("node-a zone=zone1 node", "node-b zone=zone1 node", "node-x zone=zone2 node", "node-y zone=zone2 node")
AB_X = AB_XY[:3]
A_X = [AB_XY[0], AB_XY[2]]

FOO_ON_ZONE, FOO_ON_NODE = asking("foo", must("zone")), asking("foo", must("node"))
FOO_ON_BOTH = asking("foo", must("zone"), must("node"))
FOO_AND_BAR = asking("foo bar", must("zone"), must("node", on="bar"))
NOT_BAR = asking("foo", must("zone"), affinity=in_nodes("foo", "NotIn", "bar"))
TOLERATING = asking("foo", must("zone"), tolerations=[{"key": "node.kubernetes.io/unschedulable"}])
A_WITH_BAR = nodes("node-a zone=zone1 node foo=bar", "node-b zone=zone2 node foo")
A_TAINTED = nodes("node-a zone=zone1 node tainted", "node-b zone=zone2 node")
ONE_ON_EACH = pods("node-a foo zone=zone1", "node-b foo zone=zone2")
# NodeInclusionPolicyInPodTopologySpread, which the tables switch, cannot be switched off since 1.33.
GATE_OFF = ("1.32", "NodeInclusionPolicyInPodTopologySpread=false")

ADDED: dict[str, Case] = {
    "node a and b both impact current min match": (AB_XY[:2], FOO_ON_NODE, "node-a foo", [{"node-a": 1, "node-b": 0}]),
    "only node a impacts current min match": (
        AB_XY[:2] + pods("node-b foo"),
        FOO_ON_NODE,
        "node-a foo",
        [{"node-a": 1, "node-b": 1}],
    ),
    "add a pod in a different namespace doesn't change topologyKeyToMinPodsMap": (
        AB_XY[:2] + pods("node-b foo"),
        FOO_ON_NODE,
        "node-a foo @ns1",
        [{"node-a": 0, "node-b": 1}],
    ),
    "add pod on non-critical node won't trigger re-calculation": (
        AB_XY[:2] + pods("node-b foo"),
        FOO_ON_NODE,
        "node-b foo",
        [{"node-a": 0, "node-b": 2}],
    ),
    "node a and x both impact topologyKeyToMinPodsMap on zone and node": (
        A_X,
        FOO_ON_BOTH,
        "node-a foo",
        [{"zone1": 1, "zone2": 0}, {"node-a": 1, "node-x": 0}],
    ),
    "only node a impacts topologyKeyToMinPodsMap on zone and node": (
        A_X + pods("node-x foo"),
        FOO_ON_BOTH,
        "node-a foo",
        [{"zone1": 1, "zone2": 1}, {"node-a": 1, "node-x": 1}],
    ),
    "node a impacts topologyKeyToMinPodsMap on node, node x impacts topologyKeyToMinPodsMap on zone": (
        AB_X + pods("node-b foo x2", "node-x foo"),
        FOO_ON_BOTH,
        "node-a foo",
        [{"zone1": 3, "zone2": 1}, {"node-a": 1, "node-b": 2, "node-x": 1}],
    ),
    "Constraints hold different labelSelectors, node a impacts topologyKeyToMinPodsMap on zone": (
        AB_X + pods("node-b foo bar", "node-x foo bar", "node-x bar"),
        FOO_AND_BAR,
        "node-a foo",
        [{"zone1": 2, "zone2": 1}, {"node-a": 0, "node-b": 1, "node-x": 2}],
    ),
    "Constraints hold different labelSelectors, node a impacts topologyKeyToMinPodsMap on both zone and node": (
        AB_X + pods("node-b bar", "node-x foo bar", "node-x bar"),
        FOO_AND_BAR,
        "node-a foo bar",
        [{"zone1": 1, "zone2": 1}, {"node-a": 1, "node-b": 1, "node-x": 2}],
    ),
    "add a pod when scheduling node affinity unmatched pod with NodeInclusionPolicy disabled": (
        A_WITH_BAR + ONE_ON_EACH,
        NOT_BAR,
        "node-a foo zone=zone1",
        [{"zone2": 1}],
    ),
    "add a pod when scheduling node affinity unmatched pod with NodeInclusionPolicy enabled": (
        A_WITH_BAR + ONE_ON_EACH,
        NOT_BAR,
        "node-a foo zone=zone1",
        [{"zone2": 1}],
    ),
    "add a pod when scheduling node affinity matched pod with NodeInclusionPolicy disabled": (
        A_WITH_BAR + ONE_ON_EACH,
        FOO_ON_ZONE,
        "node-b foo zone=zone2",
        [{"zone1": 1, "zone2": 2}],
    ),
    "add a pod when scheduling node affinity matched pod with NodeInclusionPolicy enabled": (
        A_WITH_BAR + ONE_ON_EACH,
        FOO_ON_ZONE,
        "node-b foo zone=zone2",
        [{"zone1": 1, "zone2": 2}],
    ),
    "add a label selector not matched pod when with NodeInclusionPolicy enabled": (
        A_WITH_BAR + ONE_ON_EACH,
        FOO_ON_ZONE,
        "node-b zone=zone2",
        [{"zone1": 1, "zone2": 1}],
    ),
    "add a pod when scheduling taint untolerated pod with NodeInclusionPolicy disabled": (
        A_TAINTED + ONE_ON_EACH,
        FOO_ON_ZONE,
        "node-b foo zone=zone2",
        [{"zone1": 1, "zone2": 2}],
    ),
    "add a pod when scheduling taint tolerated pod with NodeInclusionPolicy enabled": (
        A_TAINTED + ONE_ON_EACH,
        TOLERATING,
        "node-b foo zone=zone2",
        [{"zone1": 1, "zone2": 2}],
    ),
}

# The last four cases name a pod to remove that their index overrides: it is the first one that is removed, from the
# node that they give.
REMOVED: dict[str, Case] = {
    "one spreadConstraint on zone, topologyKeyToMinPodsMap unchanged": (
        AB_X + pods("node-a foo", "node-b foo", "node-x foo"),
        FOO_ON_ZONE,
        "node-a foo",
        [{"zone1": 1, "zone2": 1}],
    ),
    "one spreadConstraint on node, topologyKeyToMinPodsMap changed": (
        AB_XY + pods("node-a foo", "node-b foo", "node-x foo", "node-y foo"),
        FOO_ON_ZONE,
        "node-a foo",
        [{"zone1": 1, "zone2": 2}],
    ),
    "delete an irrelevant pod won't help": (
        AB_XY + pods("node-a bar", "node-a foo", "node-b foo", "node-x foo", "node-y foo"),
        FOO_ON_ZONE,
        "node-a bar",
        [{"zone1": 2, "zone2": 2}],
    ),
    "delete a non-existing pod won't help": (
        AB_XY + pods("node-a foo", "node-b foo", "node-x foo", "node-y foo"),
        FOO_ON_ZONE,
        "node-a bar",
        [{"zone1": 2, "zone2": 2}],
    ),
    "two spreadConstraints": (
        AB_X + pods("node-a foo x2", "node-b foo", "node-x foo x2"),
        FOO_ON_BOTH,
        "node-x foo",
        [{"zone1": 3, "zone2": 1}, {"node-a": 2, "node-b": 1, "node-x": 1}],
    ),
    "remove a pod when scheduling node affinity unmatched pod with NodeInclusionPolicy disabled": (
        A_WITH_BAR + ONE_ON_EACH,
        NOT_BAR,
        "node-a foo zone=zone1",
        [{"zone2": 1}],
    ),
    "remove a pod when scheduling node affinity unmatched pod with NodeInclusionPolicy enabled": (
        A_WITH_BAR + ONE_ON_EACH,
        NOT_BAR,
        "node-a foo zone=zone1",
        [{"zone2": 1}],
    ),
    "remove a pod when scheduling node affinity matched pod with NodeInclusionPolicy disabled": (
        A_WITH_BAR + ONE_ON_EACH,
        FOO_ON_ZONE,
        "node-b foo zone=zone1",
        [{"zone1": 1, "zone2": 0}],
    ),
    "remove a pod when scheduling node affinity matched pod with NodeInclusionPolicy enabled": (
        A_WITH_BAR + ONE_ON_EACH,
        FOO_ON_ZONE,
        "node-b foo zone=zone1",
        [{"zone1": 1, "zone2": 0}],
    ),
}


def after_a_dry_run(case: Case, by: int, *, policies: bool) -> list[tuple[Counts, int]]:
    """The domains and the minimum of each hard constraint once a pod is pretended to come (``by`` 1) or go (-1)."""
    objects, candidate, moved, _ = case
    snapshot = kubespread.Snapshot.from_objects([*objects, candidate])
    (visitor,) = kubespread.Snapshot.from_objects(pods(moved)).pods
    version, gates = (None, None) if policies else GATE_OFF
    config = profile_of("PodTopologySpread", {"defaultingType": "List"})
    scheduler = kubespread.Scheduler(config=config, kube_version=version, feature_gates=gates)
    profile = scheduler.profile_for("default-scheduler", scheduler.release(str(LATEST)))
    cluster = Cluster.of(snapshot.nodes, snapshot.pods, snapshot.objects)
    (asked,) = (pod for pod in snapshot.pods if pod.metadata.name == "p")
    state = framework(profile).prepare(cluster, asked).states["PodTopologySpread"]
    assert isinstance(state, SpreadState)
    state.pretend(cluster.kinds.number_of(visitor), cluster.nodes.index[visitor.spec.node_name], by)
    return [
        (
            {
                value: count
                for value, count, counts in zip(
                    each.column.values, each.counts.tolist(), each.is_domain.tolist(), strict=True
                )
                if counts
            },
            each.global_minimum,
        )
        for each in state.hard
    ]


@pytest.mark.parametrize("case", ADDED)
def test_a_pod_is_added(case: str) -> None:
    found = after_a_dry_run(ADDED[case], 1, policies="disabled" not in case)
    assert found == [(counts, min(counts.values())) for counts in ADDED[case][-1]]


@pytest.mark.parametrize("case", REMOVED)
def test_a_pod_is_removed(case: str) -> None:
    found = after_a_dry_run(REMOVED[case], -1, policies="disabled" not in case)
    assert found == [(counts, min(counts.values())) for counts in REMOVED[case][-1]]
