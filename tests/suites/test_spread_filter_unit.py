"""PodTopologySpread's own filter tables: which nodes pass.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/podtopologyspread/filtering_test.go (1.34 and later),
TestSingleConstraint (23 cases) and TestMultipleConstraints (13 cases), all taken. The tables ask the plugin without
NodeAffinity and TaintToleration, and so does this suite. Two cases there share a name; they are told apart here.

TestPreFilterDisabled, where Filter reads a state that nobody wrote, is taken as well.

Not applicable, 6 cases: TestPodTopoSignatures (3) is about batches of pods whose signatures kube-scheduler compares, and
BenchmarkFilter (3) measures; neither has an outcome.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.tables import FITS, NEVER, NO, ask_alone, asking, in_nodes, must, nodes, pods, verdicts

Data = dict[str, Any]
Case = tuple[list[Data], list[Data], Data, dict[str, str]]

AB_XY = nodes("node-a zone=zone1 node", "node-b zone=zone1 node", "node-x zone=zone2 node", "node-y zone=zone2 node")
ABC = nodes("node-a node", "node-b node", "node-c node")
ABX_WITH_FOO = nodes("node-a node foo", "node-b node foo", "node-x node foo", "node-y node")
ABX_WITH_FOO_IN_ZONES = nodes(
    "node-a zone=zone1 node foo", "node-b zone=zone1 node foo", "node-x zone=zone2 node foo", "node-y zone=zone2 node"
)
AXY_WITH_FOO_Y_TAINTED = nodes(
    "node-a zone=zone1 node foo",
    "node-b zone=zone1 node",
    "node-x zone=zone2 node foo",
    "node-y zone=zone2 node foo tainted",
)
Y_TAINTED = nodes("node-a node foo", "node-b node foo", "node-x node foo", "node-y node tainted")
ONE_EACH_ON_ABY = pods("node-a foo", "node-b foo", "node-y foo")
FOO = {"foo": ""}
ALL_FOUR = {FITS: "node-a node-b node-x node-y"}


SINGLE: dict[str, Case] = {
    "no existing pods": (AB_XY, [], asking("foo", must("zone")), ALL_FOUR),
    "no existing pods, incoming pod doesn't match itself": (AB_XY, [], asking("foo", must("zone", on="bar")), ALL_FOUR),
    "existing pods in a different namespace do not count": (
        AB_XY,
        pods("node-a foo @ns1", "node-a foo @ns2", "node-x foo", "node-y foo"),
        asking("foo", must("zone")),
        {FITS: "node-a node-b", NO: "node-x node-y"},
    ),
    "existing pods do not match null selector": (
        AB_XY,
        pods("node-x foo", "node-y foo"),
        asking("foo", must("zone", on=None)),
        ALL_FOUR,
    ),
    "pods spread across zones as 3/3, all nodes fit": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x3"),
        asking("foo", must("zone")),
        ALL_FOUR,
    ),
    "pods spread across zones as 1/2 due to absence of label 'zone' on node-b": (
        nodes("node-a zone=zone1 node", "node-b zon=zone1 node", "node-x zone=zone2 node", "node-y zone=zone2 node"),
        pods("node-a foo", "node-b foo", "node-x foo", "node-y foo"),
        asking("foo", must("zone")),
        {FITS: "node-a", NEVER: "node-b", NO: "node-x node-y"},
    ),
    "pod cannot be scheduled as all nodes don't have label 'rack'": (
        nodes("node-a zone=zone1 node", "node-x zone=zone2 node"),
        [],
        asking("foo", must("rack")),
        {NEVER: "node-a node-x"},
    ),
    "pods spread across nodes as 2/1/0/3, only node-x fits": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x3"),
        asking("foo", must("node")),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "pods spread across nodes as 2/1/0/3, maxSkew is 2, node-b and node-x fit": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x3"),
        asking("foo", must("node", 2)),
        {NO: "node-a node-y", FITS: "node-b node-x"},
    ),
    "pods spread across nodes as 2/1/0/3, but pod doesn't match itself": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x3"),
        asking("bar", must("node")),
        {NO: "node-a node-y", FITS: "node-b node-x"},
    ),
    "incoming pod has nodeAffinity, pods spread as 2/~1~/~0~/3, hence node-a fits": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x3"),
        asking("foo", must("node"), affinity=in_nodes("node", "In", "node-a", "node-y")),
        {FITS: "node-a node-b node-x", NO: "node-y"},
    ),
    "terminating Pods should be excluded": (
        nodes("node-a node", "node-b node"),
        pods("node-a foo terminating", "node-b foo"),
        asking("foo", must("node")),
        {FITS: "node-a", NO: "node-b"},
    ),
    "incoming pod has nodeAffinity, pods spread as 0/~2~/0/1, hence node-a fits": (
        AB_XY,
        pods("node-b foo x2", "node-y foo"),
        asking("foo", must("zone"), affinity=in_nodes("node", "NotIn", "node-b")),
        {FITS: "node-a node-b", NO: "node-x node-y"},
    ),
    "pods spread across nodes as 2/2/1, maxSkew is 2, and the number of domains < minDomains, then the third node fits": (
        ABC,
        pods("node-a foo x2", "node-b foo x2", "node-c foo"),
        asking("foo", must("node", 2, minDomains=4)),
        {NO: "node-a node-b", FITS: "node-c"},
    ),
    "pods spread across nodes as 2/2/1, maxSkew is 2, and the number of domains > minDomains, then the all nodes fit": (
        ABC,
        pods("node-a foo x2", "node-b foo x2", "node-c foo"),
        asking("foo", must("node", 2, minDomains=2)),
        {FITS: "node-a node-b node-c"},
    ),
    "pods spread across zone as 2/1, maxSkew is 2 and the number of domains < minDomains, then the third and fourth nodes fit": (
        AB_XY,
        ONE_EACH_ON_ABY,
        asking("foo", must("zone", 2, minDomains=3)),
        {NO: "node-a node-b", FITS: "node-x node-y"},
    ),
    "pods spread across zone as 2/1, maxSkew is 2 and the number of domains > minDomains, then the all nodes fit": (
        AB_XY,
        ONE_EACH_ON_ABY,
        asking("foo", must("zone", 2, minDomains=1)),
        ALL_FOUR,
    ),
    "NodeAffinityPolicy honored with labelSelectors": (
        ABX_WITH_FOO,
        ONE_EACH_ON_ABY,
        asking("foo", must("node"), nodeSelector=FOO),
        {NO: "node-a node-b", FITS: "node-x node-y"},
    ),
    "NodeAffinityPolicy ignored with labelSelectors, the first of that name": (
        ABX_WITH_FOO,
        ONE_EACH_ON_ABY,
        asking("foo", must("node", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "NodeAffinityPolicy honored with nodeAffinity": (
        ABX_WITH_FOO,
        ONE_EACH_ON_ABY,
        asking("foo", must("node"), affinity=in_nodes("foo", "In", "")),
        {NO: "node-a node-b", FITS: "node-x node-y"},
    ),
    "NodeAffinityPolicy ignored with labelSelectors, the second, which has nodeAffinity": (
        ABX_WITH_FOO,
        ONE_EACH_ON_ABY,
        asking("foo", must("node", nodeAffinityPolicy="Ignore"), affinity=in_nodes("foo", "In", "")),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "NodeTaintsPolicy honored": (
        Y_TAINTED,
        ONE_EACH_ON_ABY,
        asking("foo", must("node", nodeTaintsPolicy="Honor")),
        {NO: "node-a node-b", FITS: "node-x node-y"},
    ),
    "NodeTaintsPolicy ignored": (
        Y_TAINTED,
        ONE_EACH_ON_ABY,
        asking("foo", must("node")),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
}

MULTIPLE: dict[str, Case] = {
    "two Constraints on zone and node, spreads = [3/3, 2/1/0/3]": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x3"),
        asking("foo", must("zone"), must("node")),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "two Constraints on zone and node, spreads = [3/4, 2/1/0/4]": (
        AB_XY,
        pods("node-a foo x2", "node-b foo", "node-y foo x4"),
        asking("foo", must("zone"), must("node")),
        {NO: "node-a node-b node-x node-y"},
    ),
    "Constraints hold different labelSelectors, spreads = [1/0, 1/0/0/1]": (
        AB_XY,
        pods("node-a foo", "node-y bar"),
        asking("foo bar", must("zone"), must("node", on="bar")),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "Constraints hold different labelSelectors, spreads = [1/0, 0/0/1/1]": (
        AB_XY,
        pods("node-a foo", "node-x bar", "node-y bar"),
        asking("foo bar", must("zone"), must("node", on="bar")),
        {NO: "node-a node-b node-x node-y"},
    ),
    "Constraints hold different labelSelectors, spreads = [2/3, 1/0/0/1]": (
        AB_XY,
        pods("node-a foo", "node-a foo bar", "node-y foo x2", "node-y foo bar"),
        asking("foo bar", must("zone"), must("node", on="bar")),
        {NO: "node-a node-x node-y", FITS: "node-b"},
    ),
    "Constraints hold different labelSelectors but pod doesn't match itself on 'zone' constraint": (
        AB_XY,
        pods("node-a foo", "node-x bar", "node-y bar"),
        asking("bar", must("zone"), must("node", on="bar")),
        {FITS: "node-a node-b", NO: "node-x node-y"},
    ),
    "two Constraints on zone and node, absence of label 'node' on node-x, spreads = [1/1, 1/0/0/1]": (
        nodes("node-a zone=zone1 node", "node-b zone=zone1 node", "node-x zone=zone2", "node-y zone=zone2 node"),
        pods("node-a foo", "node-y foo"),
        asking("foo", must("zone"), must("node")),
        {NO: "node-a node-y", FITS: "node-b", NEVER: "node-x"},
    ),
    "two node inclusion Constraints, zone: honor/ignore, node: ignore/ignore": (
        ABX_WITH_FOO_IN_ZONES,
        ONE_EACH_ON_ABY,
        asking("foo", must("zone"), must("node", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "two node inclusion Constraints, zone: honor/honor, node: honor/ignore": (
        nodes(
            "node-a zone=zone1 node foo",
            "node-b zone=zone1 node foo",
            "node-x zone=zone2 node foo",
            "node-y zone=zone2 node tainted",
        ),
        ONE_EACH_ON_ABY,
        asking("foo", must("zone", nodeTaintsPolicy="Honor"), must("node")),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "two node inclusion Constraints, zone: honor/ignore, node: honor/ignore": (
        AXY_WITH_FOO_Y_TAINTED,
        ONE_EACH_ON_ABY,
        asking("foo", must("zone"), must("node"), nodeSelector=FOO),
        {NO: "node-a node-y", FITS: "node-b node-x"},
    ),
    "two node inclusion Constraints, zone: honor/honor, node: ignore/ignore": (
        AXY_WITH_FOO_Y_TAINTED,
        ONE_EACH_ON_ABY,
        asking(
            "foo", must("zone", nodeTaintsPolicy="Honor"), must("node", nodeAffinityPolicy="Ignore"), nodeSelector=FOO
        ),
        {NO: "node-a node-b node-y", FITS: "node-x"},
    ),
    "two Constraints on zone, spreads = [3/3, 2/1]": (
        AB_XY,
        pods("node-a foo bar", "node-a foo", "node-b foo bar", "node-y foo x2", "node-y foo bar"),
        asking("foo bar", must("zone", on="bar"), must("zone")),
        {NO: "node-a node-b", FITS: "node-x node-y"},
    ),
    "two Constraints on zone, spreads = [3/4, 2/1]": (
        AB_XY,
        pods("node-a foo bar", "node-a foo", "node-b foo bar", "node-y foo x3", "node-y foo bar"),
        asking("foo bar", must("zone", on="bar"), must("zone")),
        {NO: "node-a node-b node-x node-y"},
    ),
}


@pytest.mark.parametrize("case", SINGLE)
def test_single_constraint(case: str) -> None:
    cluster, existing, candidate, expected = SINGLE[case]
    assert verdicts(ask_alone("PodTopologySpread", [*cluster, *existing], candidate)) == expected


@pytest.mark.parametrize("case", MULTIPLE)
def test_multiple_constraints(case: str) -> None:
    cluster, existing, candidate, expected = MULTIPLE[case]
    assert verdicts(ask_alone("PodTopologySpread", [*cluster, *existing], candidate)) == expected


def test_pre_filter_disabled() -> None:
    report = ask_alone("PodTopologySpread", AB_XY, asking("foo", must("zone")), points=("filter",))
    assert report.message is not None
    assert report.message.startswith('running "PodTopologySpread" filter plugin: ')
    assert report.message.endswith("not found")
