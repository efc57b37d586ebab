"""PodTopologySpread's own score table: the normalized score of every node.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/podtopologyspread/scoring_test.go (1.34 and later),
TestPodTopologySpreadScore (28 cases), all taken.

Not applicable: BenchmarkTestPodTopologySpreadScore (3 cases) has no outcome.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.kube.well_known import HOSTNAME
from tests.builders import owner, pod
from tests.suites.tables import ask_alone, asking, in_nodes, nodes, pods, scores, should

Data = dict[str, Any]
FOO = {"foo": ""}
SYSTEM: Data = {"defaultingType": "System"}

AB_X = nodes("node-a zone=zone1 hostname", "node-b zone=zone1 hostname", "node-x zone=zone2 hostname")
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
            "foo bar", should("zone", on="", matchLabelKeys=["foo"]), should(HOSTNAME, on="", matchLabelKeys=["bar"])
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
