"""What PodTopologySpread counts before it filters: the pods of each domain.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/podtopologyspread/filtering_test.go, TestPreFilterState
(36 cases: those of 1.34 and later, and one about minDomains that stood there before), all taken. The table compares the
plugin's state. What of it has an outcome is compared here: the count of each domain, their minimum, the constraints in
force with their selectors, and whether the plugin skips the pod.
"""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import owner, pod
from tests.suites.tables import ask_alone, asking, in_nodes, must, nodes, pods, should

Data = dict[str, Any]
Counts = dict[str, int]

AB_XY = nodes("node-a zone=zone1 node", "node-b zone=zone1 node", "node-x zone=zone2 node", "node-y zone=zone2 node")
AB_Y = [AB_XY[0], AB_XY[1], AB_XY[3]]
ABC = nodes("node-a node foo", "node-b node foo", "node-c node bar")
C_TAINTED = nodes("node-a node", "node-b node", "node-c node bar tainted")
IN_TWO_ZONES = pods("node-a foo x2", "node-b foo", "node-y foo x2")
WITH_VALUE = pods("node-a foo=a x2", "node-b foo=a", "node-y foo=a x2")
WITH_BAR = pods("node-a bar", "node-b bar x2", "node-c")
SEVEN = pods("node-a foo x2", "node-b foo", "node-y foo x4")
FOO = {"foo": ""}
LIST: Data = {"defaultingType": "List"}
# The release in which a gate could be switched off last, or the one that is asked otherwise, and the gates.
NO_POLICIES = ("1.32", "NodeInclusionPolicyInPodTopologySpread=false")
NO_LABEL_KEYS = (None, "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false")


def by_default(*constraints: tuple[int, str, str]) -> Data:
    fields = ("maxSkew", "topologyKey", "whenUnsatisfiable")
    return {**LIST, "defaultConstraints": [dict(zip(fields, each, strict=True)) for each in constraints]}


def service(**its_labels: str) -> Data:
    return owner("Service", "svc", its_labels, api_version="v1")


ZONES_3_4 = {"zone1": 3, "zone2": 4}
STATE: dict[str, tuple[list[Data], Data, list[Counts]]] = {
    "clean cluster with one spreadConstraint": (
        AB_XY,
        asking("foo", must("zone", 5, on="foo=bar")),
        [{"zone1": 0, "zone2": 0}],
    ),
    "normal case with one spreadConstraint": (
        AB_XY + IN_TWO_ZONES,
        asking("foo", must("zone")),
        [{"zone1": 3, "zone2": 2}],
    ),
    "normal case with null label selector": (
        AB_XY + IN_TWO_ZONES,
        asking("foo", must("zone", on=None)),
        [{"zone1": 0, "zone2": 0}],
    ),
    "normal case with one spreadConstraint, on a 3-zone cluster": (
        [*AB_XY, *nodes("node-o zone=zone3 node", "node-p zone=zone3 node"), *IN_TWO_ZONES],
        asking("foo", must("zone")),
        [{"zone1": 3, "zone2": 2, "zone3": 0}],
    ),
    "namespace mismatch doesn't count": (
        AB_XY + pods("node-a foo", "node-a foo @ns1", "node-b foo", "node-y foo @ns2", "node-y foo"),
        asking("foo", must("zone")),
        [{"zone1": 2, "zone2": 1}],
    ),
    "normal case with two spreadConstraints": (
        AB_XY + SEVEN,
        asking("foo", must("zone"), must("node")),
        [ZONES_3_4, {"node-a": 2, "node-b": 1, "node-x": 0, "node-y": 4}],
    ),
    "soft spreadConstraints should be bypassed": (
        AB_Y + SEVEN,
        asking("foo", should("zone"), must("zone"), should("node"), must("node")),
        [ZONES_3_4, {"node-a": 2, "node-b": 1, "node-y": 4}],
    ),
    "different labelSelectors - simple version": (
        AB_Y + pods("node-a foo", "node-b bar"),
        asking("foo bar", must("zone"), must("node", on="bar")),
        [{"zone1": 1, "zone2": 0}, {"node-a": 0, "node-b": 1, "node-y": 0}],
    ),
    "different labelSelectors - complex pods": (
        AB_Y + pods("node-a foo", "node-a foo bar", "node-b foo", "node-y foo x2", "node-y foo bar x2"),
        asking("foo bar", must("zone"), must("node", on="bar")),
        [ZONES_3_4, {"node-a": 1, "node-b": 0, "node-y": 2}],
    ),
    "two spreadConstraints, and with podAffinity": (
        AB_XY + SEVEN,
        asking("foo", must("zone"), must("node"), affinity=in_nodes("node", "NotIn", "node-x")),
        [ZONES_3_4, {"node-a": 2, "node-b": 1, "node-y": 4}],
    ),
    "TpKeyToDomainsNum is calculated when MinDomains is enabled": (
        AB_XY + SEVEN,
        asking("foo", must("zone"), must("node")),
        [ZONES_3_4, {"node-a": 2, "node-b": 1, "node-x": 0, "node-y": 4}],
    ),
    "NodeAffinityPolicy honored with labelSelectors": (
        ABC + WITH_BAR,
        asking("foo", must("node", on="bar"), nodeSelector=FOO),
        [{"node-a": 1, "node-b": 2}],
    ),
    "NodeAffinityPolicy ignored with labelSelectors": (
        ABC + WITH_BAR,
        asking("foo", must("node", on="bar", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        [{"node-a": 1, "node-b": 2, "node-c": 0}],
    ),
    "NodeAffinityPolicy honored with nodeAffinity": (
        ABC + WITH_BAR,
        asking("foo", must("node", on="bar"), affinity=in_nodes("foo", "In", "")),
        [{"node-a": 1, "node-b": 2}],
    ),
    "NodeAffinityPolicy ignored with nodeAffinity": (
        ABC + WITH_BAR,
        asking("foo", must("node", on="bar", nodeAffinityPolicy="Ignore"), affinity=in_nodes("foo", "In", "")),
        [{"node-a": 1, "node-b": 2, "node-c": 0}],
    ),
    "NodeTaintsPolicy ignored": (
        C_TAINTED + WITH_BAR,
        asking("foo", must("node", on="bar")),
        [{"node-a": 1, "node-b": 2, "node-c": 0}],
    ),
    "NodeTaintsPolicy honored": (
        C_TAINTED + WITH_BAR,
        asking("foo", must("node", on="bar", nodeTaintsPolicy="Honor")),
        [{"node-a": 1, "node-b": 2}],
    ),
    "NodeTaintsPolicy honored with tolerated taints": (
        C_TAINTED + WITH_BAR,
        asking(
            "foo",
            must("node", on="bar", nodeTaintsPolicy="Honor"),
            tolerations=[{"key": "node.kubernetes.io/unschedulable"}],
        ),
        [{"node-a": 1, "node-b": 2, "node-c": 0}],
    ),
    "two node inclusion Constraints, zone: honor/ignore, node: ignore/ignore": (
        nodes("node-a zone=zone1 node foo", "node-b zone=zone1 node", "node-x zone=zone2 node foo")
        + pods("node-b foo x2", "node-x foo"),
        asking("foo", must("zone"), must("node", nodeAffinityPolicy="Ignore"), nodeSelector=FOO),
        [{"zone1": 0, "zone2": 1}, {"node-a": 0, "node-b": 2, "node-x": 1}],
    ),
    "two node inclusion Constraints, zone: honor/honor, node: honor/ignore": (
        nodes("node-a zone=zone1 node foo", "node-b zone=zone1 node tainted", "node-x zone=zone2 node foo")
        + pods("node-b foo x2", "node-x foo"),
        asking("foo", must("zone", nodeTaintsPolicy="Honor"), must("node")),
        [{"zone1": 0, "zone2": 1}, {"node-a": 0, "node-b": 2, "node-x": 1}],
    ),
    "two node inclusion Constraints, zone: honor/ignore, node: honor/ignore": (
        nodes(
            "node-a zone=zone1 node",
            "node-b zone=zone1 node foo tainted",
            "node-x zone=zone2 node foo",
            "node-y zone=zone2 node",
        )
        + pods("node-a foo x2", "node-x foo", "node-y foo"),
        asking("foo", must("zone"), must("node"), nodeSelector=FOO),
        [{"zone1": 0, "zone2": 1}, {"node-b": 0, "node-x": 1}],
    ),
    "two node inclusion Constraints, zone: ignore/ignore, node: honor/honor": (
        nodes(
            "node-a zone=zone1 node",
            "node-b zone=zone1 node foo tainted",
            "node-x zone=zone2 node foo",
            "node-y zone=zone2 node foo",
        )
        + pods("node-a foo x2", "node-x foo x2", "node-y foo"),
        asking(
            "foo", must("zone", nodeAffinityPolicy="Ignore"), must("node", nodeTaintsPolicy="Honor"), nodeSelector=FOO
        ),
        [{"zone1": 2, "zone2": 3}, {"node-x": 2, "node-y": 1}],
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector isn't empty": (
        AB_XY + pods("node-a foo", "node-a foo bar=a", "node-b foo", "node-y foo bar=a", "node-y bar"),
        asking("foo bar=a", must("zone", matchLabelKeys=["bar"])),
        [{"zone1": 1, "zone2": 1}],
    ),
    "matchLabelKeys ANDed with LabelSelector when LabelSelector is empty": (
        AB_XY + WITH_VALUE,
        asking("foo=a", must("zone", on="", matchLabelKeys=["foo"])),
        [{"zone1": 3, "zone2": 2}],
    ),
    "key in matchLabelKeys is ignored when LabelSelector is nil when feature gate enabled": (
        AB_XY + WITH_VALUE,
        asking("foo", must("zone", on=None, matchLabelKeys=["bar"])),
        [{"zone1": 0, "zone2": 0}],
    ),
    "key in matchLabelKeys is ignored when it isn't exist in pod.labels": (
        AB_XY + WITH_VALUE,
        asking("foo", must("zone", matchLabelKeys=["bar"])),
        [{"zone1": 3, "zone2": 2}],
    ),
    "two spreadConstraints with the same topologyKey": (
        AB_XY + pods("node-a foo bar", "node-b foo", "node-x bar", "node-y foo bar", "node-y bar"),
        asking("foo bar", must("zone"), must("zone", on="bar")),
        [{"zone1": 2, "zone2": 1}, {"zone1": 1, "zone2": 3}],
    ),
}

GATED: dict[str, tuple[tuple[str | None, str], list[Data], Data, list[Counts]]] = {
    "feature gate disabled with NodeAffinityPolicy": (
        NO_POLICIES,
        ABC + WITH_BAR,
        asking("foo", must("node", on="bar"), nodeSelector=FOO),
        [{"node-a": 1, "node-b": 2}],
    ),
    "feature gate disabled with NodeTaintsPolicy": (
        NO_POLICIES,
        C_TAINTED + WITH_BAR,
        asking("foo", must("node", on="bar")),
        [{"node-a": 1, "node-b": 2, "node-c": 0}],
    ),
    "matchLabelKeys ignored when feature gate disabled": (
        NO_LABEL_KEYS,
        AB_XY + IN_TWO_ZONES,
        asking("foo bar", must("zone", matchLabelKeys=["bar"])),
        [{"zone1": 3, "zone2": 2}],
    ),
    "no pod is matched when LabelSelector is nil when feature gate disabled": (
        NO_LABEL_KEYS,
        AB_XY + WITH_VALUE,
        asking("foo", must("zone", on=None, matchLabelKeys=["bar"])),
        [{"zone1": 0, "zone2": 0}],
    ),
}

Declared = tuple[str, int, str]
DEFAULTS: dict[str, tuple[Data, list[Data], Data, list[Declared]]] = {
    "default constraints and a service": (
        by_default((3, "node", "DoNotSchedule"), (2, "node", "ScheduleAnyway"), (5, "rack", "DoNotSchedule")),
        [service(foo="bar")],
        pod("p", labels={"foo": "bar", "baz": "kar"}),
        [("node", 3, "foo=bar"), ("rack", 5, "foo=bar")],
    ),
    "default constraints and a service that doesn't match": (
        by_default((3, "node", "DoNotSchedule")),
        [service(baz="kep")],
        pod("p", labels={"foo": "bar"}),
        [],
    ),
    "default constraints and a service, but pod has constraints": (
        by_default((2, "node", "DoNotSchedule")),
        [service(foo="bar")],
        asking("foo=bar baz=tar", must("zone", on="baz=tar"), should("planet", 2, on="fot=rok")),
        [("zone", 1, "baz=tar")],
    ),
    "default soft constraints and a service": (
        by_default((2, "node", "ScheduleAnyway")),
        [service(foo="bar")],
        pod("p", labels={"foo": "bar"}),
        [],
    ),
    "skip if not specified": (LIST, nodes("node-a zone=zone1 node"), pod("p", labels=FOO), []),
}


def counted(report: kubespread.ExplainReport) -> list[Counts]:
    """The domains of each hard constraint."""
    return [
        {domain.value: domain.matching for domain in constraint.domains if domain.eligible_nodes}
        for constraint in report.constraints
        if constraint.is_hard
    ]


def minima(report: kubespread.ExplainReport) -> list[int | None]:
    return [constraint.global_minimum for constraint in report.constraints if constraint.is_hard]


@pytest.mark.parametrize("case", STATE)
def test_what_is_counted(case: str) -> None:
    objects, candidate, expected = STATE[case]
    report = ask_alone("PodTopologySpread", objects, candidate, LIST)
    assert counted(report) == expected
    assert minima(report) == [min(counts.values()) for counts in expected]


@pytest.mark.parametrize("case", GATED)
def test_what_is_counted_with_a_gate_off(case: str) -> None:
    (version, gates), objects, candidate, expected = GATED[case]
    report = ask_alone("PodTopologySpread", objects, candidate, LIST, kube_version=version, feature_gates=gates)
    assert counted(report) == expected
    assert minima(report) == [min(counts.values()) for counts in expected]


@pytest.mark.parametrize("case", DEFAULTS)
def test_constraints_in_force(case: str) -> None:
    """Without nodes there are no domains; without a hard constraint the plugin skips the pod."""
    args, objects, candidate, expected = DEFAULTS[case]
    report = ask_alone("PodTopologySpread", objects, candidate, args)
    declared = [(each.topology_key, each.max_skew, each.selector) for each in report.constraints if each.is_hard]
    assert declared == expected
    assert counted(report) == [{} for _ in expected]
