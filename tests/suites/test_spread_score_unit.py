"""PodTopologySpread's own score tables: the normalized score of every node, and what goes into it.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/podtopologyspread/scoring_test.go (1.34 and later),
TestPreScoreSkip (2 cases), TestPreScoreStateEmptyNodes (12) and TestPodTopologySpreadScore (28), all taken. Of
TestPreScoreStateEmptyNodes, which compares the plugin's state, the constraints, the domains and how many there are
(the tables give the logarithm of that), and the nodes that are not compared are taken.

Not applicable: BenchmarkTestPodTopologySpreadScore (3 cases) has no outcome.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kubespread
from kubespread.kube.versions import LATEST
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.plugin import SpreadState
from tests.builders import owned_by, owner, pod
from tests.suites.tables import ask_alone, asking, in_nodes, must, nodes, pods, profile_of, scores, should

Data = dict[str, Any]
FOO = {"foo": ""}
LIST: Data = {"defaultingType": "List"}
SYSTEM: Data = {"defaultingType": "System"}


def by_default(*constraints: tuple[int, str, str]) -> Data:
    fields = ("maxSkew", "topologyKey", "whenUnsatisfiable")
    return {**LIST, "defaultConstraints": [dict(zip(fields, each, strict=True)) for each in constraints]}


def of_replica_set(name: str, candidate: Data) -> Data:
    return {**candidate, "metadata": {**candidate["metadata"], "ownerReferences": owned_by("ReplicaSet", name)}}


def replica_set(name: str, key: str) -> Data:
    return owner("ReplicaSet", name, {"matchExpressions": [{"key": key, "operator": "Exists"}]})


SKIPPED: dict[str, tuple[Data, list[Data], Data]] = {
    "the pod doesn't have soft topology spread Constraints": (
        LIST,
        nodes("node-a hostname", "node-b hostname"),
        pod("p", labels={}),
    ),
    "default constraints and a replicaset that doesn't match": (
        by_default((2, "planet", "ScheduleAnyway")),
        [*nodes("node-a planet=mars"), replica_set("rs1", "tar")],
        of_replica_set("rs2", pod("p", labels={"foo": "bar", "baz": "sup"})),
    ),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_the_pod_is_skipped(case: str) -> None:
    args, objects, candidate = SKIPPED[case]
    assert scores(ask_alone("PodTopologySpread", objects, candidate, args), "PodTopologySpread") == {}


AB_X = nodes("node-a zone=zone1 hostname", "node-b zone=zone1 hostname", "node-x zone=zone2 hostname")
AB_X_WITH_FOO = nodes("node-a zone=zone1 foo hostname", "node-b zone=zone1 foo hostname", "node-x zone=zone2 hostname")
X_TAINTED = nodes(
    "node-a zone=zone1 foo hostname", "node-b zone=zone1 foo hostname", "node-x zone=zone2 hostname tainted"
)
TAR = pod("p", labels={"foo": "tar", "baz": "sup"})
TWO_ZONES = [("zone", "bar", {"zone1", "zone2"}, 2)]
Soft = tuple[str, str, set[str], int]
"""Topology key, selector, the domains counted, how many domains weigh. Of hostnames none are counted beforehand."""

PREPARED: dict[str, tuple[Data, list[Data], Data, list[Soft], set[str]]] = {
    "normal case": (
        LIST,
        AB_X,
        asking("foo", should("zone"), should(HOSTNAME)),
        [("zone", "foo", {"zone1", "zone2"}, 2), (HOSTNAME, "foo", set(), 3)],
        set(),
    ),
    "null selector": (
        LIST,
        AB_X,
        asking("foo", should("zone", on=None)),
        [("zone", "<none>", {"zone1", "zone2"}, 2)],
        set(),
    ),
    "node-x doesn't have label zone": (
        LIST,
        nodes("node-a zone=zone1 hostname", "node-b zone=zone1 hostname", "node-x hostname"),
        asking("foo", should("zone"), should(HOSTNAME, on="bar")),
        [("zone", "foo", {"zone1"}, 1), (HOSTNAME, "bar", set(), 2)],
        {"node-x"},
    ),
    "system default constraints and a replicaset": (
        SYSTEM,
        [
            *nodes(
                f"node-a hostname {ZONE}=mars", f"node-b hostname {ZONE}=mars", "node-c hostname", "node-d hostname"
            ),
            replica_set("rs1", "foo"),
        ],
        of_replica_set("rs1", TAR),
        [(HOSTNAME, "foo", set(), 4), (ZONE, "foo", {"mars", ""}, 2)],
        set(),
    ),
    "default constraints and a replicaset": (
        by_default((1, HOSTNAME, "ScheduleAnyway"), (2, "rack", "DoNotSchedule"), (2, "planet", "ScheduleAnyway")),
        [*nodes("node-a rack=rack1 hostname planet=mars"), replica_set("rs1", "foo")],
        of_replica_set("rs1", TAR),
        [(HOSTNAME, "foo", set(), 1), ("planet", "foo", {"mars"}, 1)],
        set(),
    ),
    "default constraints and a replicaset, but pod has constraints": (
        by_default((2, "galaxy", "ScheduleAnyway")),
        [*nodes("node-a planet=mars galaxy=andromeda"), replica_set("rs1", "foo")],
        of_replica_set("rs1", asking("foo=bar baz=sup", must("zone", on="bar"), should("planet", 2, on="baz=sup"))),
        [("planet", "baz=sup", {"mars"}, 1)],
        set(),
    ),
    "NodeAffinityPolicy honored with labelSelectors": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar"), nodeSelector=FOO),
        TWO_ZONES,
        set(),
    ),
    "NodeAffinityPolicy ignored with labelSelectors": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        TWO_ZONES,
        set(),
    ),
    "NodeAffinityPolicy honored with nodeAffinity": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar"), affinity=in_nodes("foo", "In", "")),
        TWO_ZONES,
        set(),
    ),
    "NodeAffinityPolicy ignored with nodeAffinity": (
        LIST,
        AB_X_WITH_FOO,
        asking("foo", should("zone", on="bar", nodeAffinityPolicy="Ignore"), affinity=in_nodes("foo", "In", "")),
        TWO_ZONES,
        set(),
    ),
    "NodeTaintsPolicy honored": (
        LIST,
        X_TAINTED,
        asking("foo", should("zone", on="bar", nodeTaintsPolicy="Honor")),
        TWO_ZONES,
        set(),
    ),
    "NodeTaintsPolicy ignored": (LIST, X_TAINTED, asking("foo", should("zone", on="bar")), TWO_ZONES, set()),
}


@pytest.mark.parametrize("case", PREPARED)
def test_what_goes_into_the_score(case: str) -> None:
    """All nodes are feasible here, also those that another constraint or plugin would keep the pod off."""
    args, objects, candidate, expected, ignored = PREPARED[case]
    snapshot = kubespread.Snapshot.from_objects([*objects, candidate])
    profile = kubespread.Scheduler(config=profile_of("PodTopologySpread", args)).profile_for(
        "default-scheduler", LATEST
    )
    cluster = Cluster.of(snapshot.nodes, snapshot.pods, snapshot.objects)
    (found,) = snapshot.pods
    state = framework(profile).prepare(cluster, found).states["PodTopologySpread"]
    assert isinstance(state, SpreadState)
    assert state.soft is not None
    scored = state.soft.scored(np.ones(len(cluster), dtype=np.bool_))
    assert [
        (
            each.constraint.topology_key,
            str(each.constraint.selector),
            set() if each.is_hostname else domains(each.column.values, each.column.codes[scored].tolist()),
            each.size(scored),
        )
        for each in state.soft.counted
    ] == expected
    assert {
        name for name, is_scored in zip(cluster.nodes.names, scored.tolist(), strict=True) if not is_scored
    } == ignored


def domains(values: tuple[str, ...], codes: list[int]) -> set[str]:
    """The domain of a node without the label is the empty one."""
    return {values[code] if code >= 0 else "" for code in codes}


A_D = nodes("node-a hostname", "node-b hostname", "node-c hostname", "node-d hostname")
AB_CD = nodes(
    "node-a zone=zone1 hostname",
    "node-b zone=zone1 hostname",
    "node-c zone=zone2 hostname",
    "node-d zone=zone2 hostname",
)
AB_XY = [*AB_X, *nodes("node-y zone=zone2 hostname")]
ABC = nodes("node-a node", "node-b node", "node-c node")
ABC_WITH_FOO = nodes("node-a node foo", "node-b node foo", "node-c node")
C_TAINTED = nodes("node-a node", "node-b node", "node-c node tainted")
AS_2_1_0_3 = pods("node-a foo x2", "node-b foo", "node-d foo x3")
AS_4_3_2_1 = pods("node-a foo x4", "node-b foo x3", "node-c foo x2", "node-d foo")
AS_4_2_1_3 = pods("node-a foo x4", "node-b foo x2", "node-x foo", "node-y foo x3")
AS_2_1_1 = pods("node-a foo x2", "node-b foo", "node-c foo")
FOO_AND_BAR = asking("foo bar", should("zone"), should(HOSTNAME, on="bar"))
BY_HOSTNAME = asking("foo", should(HOSTNAME))

SCORED: dict[str, tuple[list[Data], list[Data], Data, dict[str, int]]] = {
    "one constraint on node, no existing pods": (A_D[:2], [], BY_HOSTNAME, {"node-a": 100, "node-b": 100}),
    "one constraint on node, only one node is candidate": (
        nodes("node-a hostname", "node-b hostname failed"),
        pods("node-a foo x2", "node-b foo"),
        BY_HOSTNAME,
        {"node-a": 100},
    ),
    "one constraint on node, all nodes have the same number of matching pods": (
        A_D[:2],
        pods("node-a foo", "node-b foo"),
        BY_HOSTNAME,
        {"node-a": 100, "node-b": 100},
    ),
    "one constraint on node, all 4 nodes are candidates": (
        A_D,
        AS_2_1_0_3,
        BY_HOSTNAME,
        {"node-a": 20, "node-b": 60, "node-c": 100, "node-d": 0},
    ),
    "one constraint on node, null selector": (
        A_D,
        AS_2_1_0_3,
        asking("foo", should(HOSTNAME, on=None)),
        {"node-a": 100, "node-b": 100, "node-c": 100, "node-d": 100},
    ),
    "one constraint on node, all 4 nodes are candidates, maxSkew=2": (
        A_D,
        AS_2_1_0_3,
        asking("foo", should(HOSTNAME, 2)),
        {"node-a": 33, "node-b": 66, "node-c": 100, "node-d": 16},
    ),
    "one constraint on node, all 4 nodes are candidates, maxSkew=3": (
        A_D,
        AS_4_3_2_1,
        asking("foo", should(HOSTNAME, 3)),
        {"node-a": 44, "node-b": 66, "node-c": 77, "node-d": 100},
    ),
    "system defaulting, nodes don't have zone, pods match service": (
        A_D,
        [*AS_4_3_2_1, owner("Service", "svc", FOO, api_version="v1")],
        pod("p", labels=FOO),
        {"node-a": 44, "node-b": 66, "node-c": 77, "node-d": 100},
    ),
    "one constraint on node, 3 out of 4 nodes are candidates": (
        nodes("node-a hostname", "node-b hostname", "node-x hostname", "node-y hostname failed"),
        AS_4_2_1_3,
        BY_HOSTNAME,
        {"node-a": 33, "node-b": 83, "node-x": 100},
    ),
    "one constraint on node, 3 out of 4 nodes are candidates, one node doesn't match topology key": (
        nodes("node-a hostname", "node-b n=node-b", "node-x hostname", "node-y hostname failed"),
        AS_4_2_1_3,
        BY_HOSTNAME,
        {"node-a": 16, "node-b": 0, "node-x": 100},
    ),
    "one constraint on zone, 3 out of 4 nodes are candidates": (
        [*AB_X, *nodes("node-y zone=zone2 hostname failed")],
        AS_4_2_1_3,
        asking("foo", should("zone")),
        {"node-a": 75, "node-b": 75, "node-x": 100},
    ),
    "two Constraints on zone and node, 2 out of 4 nodes are candidates": (
        nodes(
            "node-a zone=zone1 hostname",
            "node-x zone=zone2 hostname",
            "node-b zone=zone1 hostname failed",
            "node-y zone=zone2 hostname failed",
        ),
        pods("node-a foo x2", "node-b foo", "node-x foo x2", "node-y foo x4"),
        asking("foo", should("zone"), should(HOSTNAME)),
        {"node-a": 100, "node-x": 63},
    ),
    "two Constraints on zone, 2 out of 4 nodes are candidates": (
        nodes("node-a zone=zone1", "node-x zone=zone2", "node-b zone=zone1 failed", "node-y zone=zone2 failed"),
        pods("node-a foo bar", "node-a foo", "node-b foo bar", "node-y foo x2", "node-y foo bar"),
        asking("foo bar", should("zone"), should("zone", on="bar")),
        {"node-a": 85, "node-x": 100},
    ),
    "two Constraints on zone and node, with different labelSelectors": (
        AB_XY,
        pods("node-a foo", "node-b foo bar", "node-y foo", "node-y bar"),
        FOO_AND_BAR,
        {"node-a": 60, "node-b": 20, "node-x": 100, "node-y": 60},
    ),
    "two Constraints on zone and node, with different labelSelectors, some nodes have 0 pods": (
        AB_XY,
        pods("node-b bar", "node-x foo", "node-y foo bar"),
        FOO_AND_BAR,
        {"node-a": 100, "node-b": 60, "node-x": 40, "node-y": 0},
    ),
    "two Constraints on zone and node, with different labelSelectors, 3 out of 4 nodes are candidates": (
        [*AB_X, *nodes("node-y zone=zone2 hostname failed")],
        pods("node-a foo", "node-b foo bar", "node-y foo", "node-y bar"),
        FOO_AND_BAR,
        {"node-a": 50, "node-b": 25, "node-x": 100},
    ),
    "existing pods in a different namespace do not count": (
        A_D[:2],
        pods("node-a foo @ns1", "node-a foo", "node-b foo x2"),
        BY_HOSTNAME,
        {"node-a": 100, "node-b": 33},
    ),
    "terminating Pods should be excluded": (
        A_D[:2],
        pods("node-a foo terminating", "node-b foo"),
        BY_HOSTNAME,
        {"node-a": 100, "node-b": 0},
    ),
    "minDomains has no effect when ScheduleAnyway": (
        ABC,
        pods("node-a foo x2", "node-b foo x2", "node-c foo"),
        asking("foo", should("node", 2, minDomains=10)),
        {"node-a": 75, "node-b": 75, "node-c": 100},
    ),
    "NodeAffinityPolicy honoed with labelSelectors": (
        ABC_WITH_FOO,
        AS_2_1_1,
        asking("foo", should("node"), nodeSelector=FOO),
        {"node-a": 0, "node-b": 33, "node-c": 100},
    ),
    "NodeAffinityPolicy ignored with labelSelectors": (
        ABC_WITH_FOO,
        AS_2_1_1,
        asking("foo", should("node", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        {"node-a": 66, "node-b": 100, "node-c": 100},
    ),
    "NodeAffinityPolicy honoed with nodeAffinity": (
        ABC_WITH_FOO,
        AS_2_1_1,
        asking("foo", should("node"), affinity=in_nodes("foo", "In", "")),
        {"node-a": 0, "node-b": 33, "node-c": 100},
    ),
    "NodeAffinityPolicy ignored with nodeAffinity": (
        ABC_WITH_FOO,
        AS_2_1_1,
        asking("foo", should("node", nodeAffinityPolicy="Ignore"), affinity=in_nodes("foo", "In", "")),
        {"node-a": 66, "node-b": 100, "node-c": 100},
    ),
    "NodeTaintsPolicy honored": (
        C_TAINTED,
        AS_2_1_1,
        asking("foo", should("node", nodeTaintsPolicy="Honor")),
        {"node-a": 0, "node-b": 33, "node-c": 100},
    ),
    "NodeTaintsPolicy ignored": (
        C_TAINTED,
        AS_2_1_1,
        asking("foo", should("node")),
        {"node-a": 66, "node-b": 100, "node-c": 100},
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector is empty": (
        AB_CD,
        pods("node-a foo", "node-b foo bar", "node-c foo", "node-c bar"),
        asking(
            "foo bar",
            should("zone", on="", matchLabelKeys=["foo"]),
            should(HOSTNAME, on="", matchLabelKeys=["bar"]),
        ),
        {"node-a": 60, "node-b": 20, "node-c": 60, "node-d": 100},
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector isn't empty": (
        AB_CD,
        pods("node-a foo", "node-b foo bar baz", "node-c foo", "node-c bar", "node-c bar baz"),
        asking("foo bar baz", should("zone"), should(HOSTNAME, on="bar", matchLabelKeys=["baz"])),
        {"node-a": 60, "node-b": 20, "node-c": 60, "node-d": 100},
    ),
}


@pytest.mark.parametrize("case", SCORED)
def test_scores(case: str) -> None:
    cluster, existing, candidate, expected = SCORED[case]
    report = ask_alone("PodTopologySpread", [*cluster, *existing], candidate, SYSTEM)
    assert scores(report, "PodTopologySpread") == expected


def test_match_label_keys_ignored_when_feature_gate_disabled() -> None:
    """The remaining case of TestPodTopologySpreadScore."""
    report = ask_alone(
        "PodTopologySpread",
        AB_CD + pods("node-a foo", "node-b foo bar", "node-c foo", "node-c bar"),
        asking(
            "foo bar baz", should("zone", matchLabelKeys=["baz"]), should(HOSTNAME, on="bar", matchLabelKeys=["baz"])
        ),
        SYSTEM,
        feature_gates="MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false",
    )
    expected = {"node-a": 60, "node-b": 20, "node-c": 60, "node-d": 100}
    assert scores(report, "PodTopologySpread") == expected
