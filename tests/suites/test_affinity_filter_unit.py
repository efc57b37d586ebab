"""InterPodAffinity's own filter tables: which nodes pass, and why the others do not.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/interpodaffinity/filtering_test.go (since 1.32),
TestRequiredAffinitySingleNode (26 cases) and TestRequiredAffinityMultipleNodes (18), all taken. The namespace of pods
that have none there is ``default`` here. Names that are sentences of their own are shortened, with dots at the start.

TestPreFilterDisabled, where Filter reads a state that nobody wrote, is taken as well.

Not applicable, 1 case: TestPreFilterStateClone copies an internal structure.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.affinity_terms import (
    AFFINITY,
    ANTI_AFFINITY,
    BAD_VALUE,
    EXISTING,
    TEAMS,
    away,
    matching,
    namespace,
    near,
    term,
)
from tests.suites.tables import NEVER, ask_alone, asking, nodes, pods, reasons

Data = dict[str, Any]
Expected = dict[str, tuple[str, str]] | None
"""The nodes that are rejected; None where the plugin skips the pod."""

SCANNED, S1 = "service=securityscan", "security=S1"
IN_SCANNED = ("service", "In", "securityscan", "value2")
IN_ANTIVIRUS = ("service", "In", "antivirusscan", "value2")
NOT_IN_SCANNED = ("service", "NotIn", "securityscan", "value2")
ONE = nodes("node1 region=r1 zone=z11")
A_POD = pods(f"node1 {SCANNED}")
TEAM_1 = matching(("team", "In", "team1"))


def exists(key: str, topology_key: str) -> Data:
    return term(topology_key, (key, "Exists"))


def anded(value: str) -> Data:
    """Two terms of several expressions each, the second over that value of ``service``."""
    return near(
        term("region", ("service", "Exists"), ("wrongkey", "DoesNotExist")),
        term("region", ("service", "In", value), ("service", "NotIn", "WrongValue")),
    )


def parsing(key: str) -> Expected:
    return {"node1": (NEVER, f"parsing pod: requiredAffinityTerms: {BAD_VALUE.format(key=key)}")}


SINGLE_NODE: dict[str, tuple[list[Data], Data, Expected]] = {
    "A pod that has no required pod affinity scheduling rules can schedule onto a node with no existing pods": (
        [],
        asking(""),
        None,
    ),
    "satisfies with requiredDuringSchedulingIgnoredDuringExecution in PodAffinity using In operator that matches the existing pod": (
        A_POD,
        asking(S1, affinity=near(term("region", IN_SCANNED))),
        {},
    ),
    "satisfies the pod with requiredDuringSchedulingIgnoredDuringExecution in PodAffinity using not in operator in labelSelector that matches the existing pod": (
        A_POD,
        asking(S1, affinity=near(term("region", ("service", "NotIn", "securityscan3", "value3")))),
        {},
    ),
    "Does not satisfy the PodAffinity with labelSelector because of diff Namespace": (
        pods(f"node1 {SCANNED} @ns"),
        asking(S1, affinity=near(term("", IN_SCANNED, namespaces=["DiffNameSpace"]))),
        {"node1": AFFINITY},
    ),
    "Doesn't satisfy the PodAffinity because of unmatching labelSelector with the existing pod": (
        A_POD,
        asking(SCANNED, affinity=near(term("", IN_ANTIVIRUS))),
        {"node1": AFFINITY},
    ),
    "satisfies the PodAffinity with different label Operators in multiple RequiredDuringSchedulingIgnoredDuringExecution": (
        A_POD,
        asking(S1, affinity=anded("securityscan")),
        {},
    ),
    "The labelSelector requirements(items of matchExpressions) are ANDed, the pod cannot schedule onto the node because one of the matchExpression item don't match.": (
        A_POD,
        asking(S1, affinity=anded("securityscan2")),
        {"node1": AFFINITY},
    ),
    "satisfies the PodAffinity and PodAntiAffinity with the existing pod": (
        A_POD,
        asking(S1, affinity={**near(term("region", IN_SCANNED)), **away(term("node", IN_ANTIVIRUS))}),
        {},
    ),
    "satisfies the PodAffinity and PodAntiAffinity and PodAntiAffinity symmetry with the existing pod": (
        pods(f"node1 {SCANNED}", affinity=away(term("node", IN_ANTIVIRUS))),
        asking(S1, affinity={**near(term("region", IN_SCANNED)), **away(term("node", IN_ANTIVIRUS))}),
        {},
    ),
    "satisfies the PodAffinity but doesn't satisfy the PodAntiAffinity with the existing pod": (
        A_POD,
        asking(S1, affinity={**near(term("region", IN_SCANNED)), **away(term("zone", IN_SCANNED))}),
        {"node1": ANTI_AFFINITY},
    ),
    "satisfies the PodAffinity and PodAntiAffinity but doesn't satisfy PodAntiAffinity symmetry with the existing pod": (
        pods(f"node1 {SCANNED}", affinity=away(term("zone", IN_SCANNED))),
        asking(SCANNED, affinity={**near(term("region", IN_SCANNED)), **away(term("node", IN_ANTIVIRUS))}),
        {"node1": EXISTING},
    ),
    "pod matches its own Label in PodAffinity and that matches the existing pod Labels": (
        pods(f"node2 {SCANNED}"),
        asking(SCANNED, affinity=near(term("region", NOT_IN_SCANNED))),
        {"node1": AFFINITY},
    ),
    "verify that PodAntiAffinity from existing pod is respected when pod has no AntiAffinity constraints. doesn't satisfy PodAntiAffinity symmetry with the existing pod": (
        pods(f"node1 {SCANNED}", affinity=away(term("zone", IN_SCANNED))),
        asking(SCANNED),
        {"node1": EXISTING},
    ),
    "verify that PodAntiAffinity from existing pod is respected when pod has no AntiAffinity constraints. satisfy PodAntiAffinity symmetry with the existing pod": (
        pods(f"node1 {SCANNED}", affinity=away(term("zone", NOT_IN_SCANNED))),
        asking(SCANNED),
        None,
    ),
    "satisfies the PodAntiAffinity with existing pod but doesn't satisfy PodAntiAffinity symmetry with incoming pod": (
        pods(f"node1 {S1}", affinity=away(exists("security", "zone"))),
        asking(SCANNED, affinity=away(exists("service", "region"), exists("security", "region"))),
        {"node1": ANTI_AFFINITY},
    ),
    "PodAntiAffinity symmetry check a1: incoming pod and existing pod partially match each other on AffinityTerms": (
        pods(f"node1 {S1}", affinity=away(exists("security", "zone"))),
        asking(SCANNED, affinity=away(exists("service", "zone"), exists("security", "zone"))),
        {"node1": ANTI_AFFINITY},
    ),
    "PodAntiAffinity symmetry check a2: incoming pod and existing pod partially match each other on AffinityTerms": (
        pods(f"node1 {SCANNED}", affinity=away(exists("service", "zone"), exists("security", "zone"))),
        asking(S1, affinity=away(exists("security", "zone"))),
        {"node1": EXISTING},
    ),
    "PodAntiAffinity symmetry check b1: incoming pod and existing pod partially match each other on AffinityTerms": (
        pods("node1 def xyz", affinity=away(exists("abc", "zone"), exists("def", "zone"))),
        asking("abc xyz", affinity=away(exists("abc", "zone"), exists("def", "zone"))),
        {"node1": ANTI_AFFINITY},
    ),
    "PodAntiAffinity symmetry check b2: incoming pod and existing pod partially match each other on AffinityTerms": (
        pods("node1 abc xyz", affinity=away(exists("abc", "zone"), exists("def", "zone"))),
        asking("def xyz", affinity=away(exists("abc", "zone"), exists("def", "zone"))),
        {"node1": ANTI_AFFINITY},
    ),
    "PodAffinity fails PreFilter with an invalid affinity label syntax": (
        [],
        asking(
            SCANNED, affinity=near(term("region", ("service", "In", "{{.bad-value.}}")), term("node", IN_ANTIVIRUS))
        ),
        parsing("service"),
    ),
    "PodAntiAffinity fails PreFilter with an invalid antiaffinity label syntax": (
        [],
        asking(
            SCANNED,
            affinity=near(term("region", ("service", "In", "foo")), term("node", ("service", "In", "{{.bad-value.}}"))),
        ),
        parsing("service"),
    ),
    "affinity with NamespaceSelector": (
        pods(f"node1 {SCANNED} @subteam1.team1"),
        asking(S1, affinity=near(term("region", IN_SCANNED, namespaceSelector=TEAM_1))),
        {},
    ),
    "affinity with non-matching NamespaceSelector": (
        pods(f"node1 {SCANNED} @subteam1.team2"),
        asking(S1, affinity=near(term("region", IN_SCANNED, namespaceSelector=TEAM_1))),
        {"node1": AFFINITY},
    ),
    "anti-affinity with matching NamespaceSelector": (
        pods(f"node1 {SCANNED} @subteam2.team1"),
        asking(S1, affinity=away(term("zone", IN_SCANNED, namespaceSelector=TEAM_1)), namespace="subteam1.team1"),
        {"node1": ANTI_AFFINITY},
    ),
    "anti-affinity with matching all NamespaceSelector": (
        pods(f"node1 {SCANNED} @subteam2.team1"),
        asking(S1, affinity=away(term("zone", IN_SCANNED, namespaceSelector={})), namespace="subteam1.team1"),
        {"node1": ANTI_AFFINITY},
    ),
    "anti-affinity with non-matching NamespaceSelector": (
        pods(f"node1 {SCANNED} @subteam1.team2"),
        asking(S1, affinity=away(term("zone", IN_SCANNED, namespaceSelector=TEAM_1)), namespace="subteam1.team1"),
        {},
    ),
}

REGIONS_1_2_3 = nodes("node1 region=China", "node2 region=China az=az1", "node3 region=India")
REGIONS_A_B_C = nodes("nodeA region=China", "nodeB region=China az=az1", "nodeC region=India")
A_B = nodes("nodeA region=r1 zone=z1 hostname=nodeA", "nodeB region=r1 zone=z2 hostname=nodeB")
A_B_IN_ONE_ZONE = nodes("nodeA region=r1 zone=z1 hostname=nodeA", "nodeB region=r1 zone=z1 hostname=nodeB")
BAR, ABC, SCAN = ("foo", "In", "bar"), ("foo", "In", "abc"), ("service", "In", "securityscan")
A_COLLECTION = near(term("zone", BAR), term("zone", SCAN))
NOWHERE, EVERY_KEY = "invalid-node-label", "foo bar"
FOO_BAR_INVALID = away(exists("foo", NOWHERE), exists("bar", "zone"))
FOO_BAR_VALID = away(exists("foo", "region"), exists("bar", "zone"))

MULTIPLE_NODES: dict[str, tuple[list[Data], list[Data], Data, Expected]] = {
    "A pod can be scheduled onto all the nodes that have the same topology key & label value with one of them has an existing pod that matches the affinity rules": (
        REGIONS_1_2_3,
        pods("node1 foo=bar"),
        asking("", affinity=near(term("region", BAR))),
        {"node3": AFFINITY},
    ),
    "The affinity rule is to schedule all of the pods of this collection to the same zone. The first pod of the collection should not be blocked": (
        nodes("nodeA zone=az1 hostname=h1", "nodeB zone=az2 hostname=h2"),
        pods("nodeA foo=bar"),
        asking("foo=bar service=securityscan", affinity=A_COLLECTION),
        {},
    ),
    "The first pod of the collection can only be scheduled on nodes labelled with the requested topology keys": (
        nodes("nodeA zoneLabel=az1 hostname=h1", "nodeB zoneLabel=az2 hostname=h2"),
        pods("nodeA foo=bar"),
        asking("foo=bar service=securityscan", affinity=A_COLLECTION),
        {"nodeA": AFFINITY, "nodeB": AFFINITY},
    ),
    "NodeA and nodeB have same topologyKey and label value. The pod can not be scheduled onto nodeA and nodeB.": (
        nodes("nodeA region=r1 hostname=nodeA", "nodeB region=r1 hostname=nodeB"),
        pods("nodeA foo=abc"),
        asking("", affinity=away(term("region", ABC))),
        {"nodeA": ANTI_AFFINITY, "nodeB": ANTI_AFFINITY},
    ),
    "This test ensures that anti-affinity matches a pod when any term of the anti-affinity rule matches a pod.": (
        A_B,
        pods("nodeA foo=abc service=securityscan"),
        asking("", affinity=away(term("region", ABC), term("zone", SCAN))),
        {"nodeA": ANTI_AFFINITY, "nodeB": ANTI_AFFINITY},
    ),
    "... The pod can not be scheduled onto nodeA and nodeB but can be scheduled onto nodeC": (
        REGIONS_A_B_C,
        pods("nodeA foo=abc"),
        asking("", affinity=away(term("region", ABC))),
        {"nodeA": ANTI_AFFINITY, "nodeB": ANTI_AFFINITY},
    ),
    "... but can be scheduled onto nodeC (NodeC has an existing pod that match the inter pod affinity rule but in different namespace)": (
        [*REGIONS_A_B_C, namespace("NS1")],
        pods("nodeA foo=bar @NS1") + pods("nodeC @NS2", affinity=away(term("region", ("foo", "In", "123")))),
        asking("foo=123", affinity=away(term("region", BAR)), namespace="NS1"),
        {"nodeA": ANTI_AFFINITY, "nodeB": ANTI_AFFINITY},
    ),
    "Test existing pod's anti-affinity: if an existing pod has a term with invalid topologyKey, labelSelector of the term is firstly checked, and then topologyKey": (
        A_B_IN_ONE_ZONE,
        pods("nodeA", affinity=away(exists("foo", NOWHERE))),
        asking("foo"),
        None,
    ),
    "Test incoming pod's anti-affinity: even if labelSelector matches, we still check if topologyKey matches": (
        A_B_IN_ONE_ZONE,
        pods("nodeA foo"),
        asking("", affinity=away(exists("foo", NOWHERE))),
        {},
    ),
    "Test existing pod's anti-affinity: incoming pod wouldn't considered as a fit as it violates each existingPod's terms on all nodes": (
        A_B,
        pods("nodeA", affinity=away(exists("foo", "zone"))) + pods("nodeA", affinity=away(exists("bar", "region"))),
        asking(EVERY_KEY),
        {"nodeA": EXISTING, "nodeB": EXISTING},
    ),
    "Test incoming pod's anti-affinity: incoming pod wouldn't considered as a fit as it at least violates one anti-affinity rule of existingPod": (
        A_B,
        pods("nodeA foo", "nodeB bar"),
        asking("", affinity=away(exists("foo", "zone"), exists("bar", "region"))),
        {"nodeA": ANTI_AFFINITY, "nodeB": ANTI_AFFINITY},
    ),
    "Test existing pod's anti-affinity: only when labelSelector and topologyKey both match - case when one term has invalid topologyKey": (
        A_B,
        pods("nodeA", affinity=FOO_BAR_INVALID),
        asking(EVERY_KEY),
        {"nodeA": EXISTING},
    ),
    "Test incoming pod's anti-affinity: only when labelSelector and topologyKey both match - case when one term has invalid topologyKey": (
        A_B,
        pods("nodeA foo bar"),
        asking("", affinity=FOO_BAR_INVALID),
        {"nodeA": ANTI_AFFINITY},
    ),
    "Test existing pod's anti-affinity: only when labelSelector and topologyKey both match - case when all terms have valid topologyKey": (
        A_B,
        pods("nodeA", affinity=FOO_BAR_VALID),
        asking(EVERY_KEY),
        {"nodeA": EXISTING, "nodeB": EXISTING},
    ),
    "Test incoming pod's anti-affinity: only when labelSelector and topologyKey both match - case when all terms have valid topologyKey": (
        A_B,
        pods("nodeA foo bar"),
        asking("", affinity=FOO_BAR_VALID),
        {"nodeA": ANTI_AFFINITY, "nodeB": ANTI_AFFINITY},
    ),
    "Test existing pod's anti-affinity: existingPod on nodeA and nodeB has at least one anti-affinity term matches incoming pod, so incoming pod can only be scheduled to nodeC": (
        A_B + nodes("nodeC region=r1 zone=z3 hostname=nodeC"),
        pods("nodeA", affinity=away(exists("foo", "zone"), exists("labelA", "zone")))
        + pods("nodeB", affinity=away(exists("bar", "zone"), exists("labelB", "zone"))),
        asking(EVERY_KEY),
        {"nodeA": EXISTING, "nodeB": EXISTING},
    ),
    "Test incoming pod's affinity: firstly check if all affinityTerms match, and then check if all topologyKeys match": (
        A_B_IN_ONE_ZONE,
        pods("nodeA foo bar"),
        asking("", affinity=near(exists("foo", "region"), exists("bar", "zone"))),
        {},
    ),
    "Test incoming pod's affinity: firstly check if all affinityTerms match, and then check if all topologyKeys match, and the match logic should be satisfied on the same pod": (
        A_B,
        pods("nodeA foo", "nodeB bar"),
        asking("", affinity=near(exists("foo", "region"), exists("bar", "zone"))),
        {"nodeA": AFFINITY, "nodeB": AFFINITY},
    ),
}


def rejected(objects: list[Data], candidate: Data) -> Expected:
    report = ask_alone("InterPodAffinity", objects, candidate)
    return reasons(report) if "InterPodAffinity" in report.filter_plugins else None


@pytest.mark.parametrize("case", SINGLE_NODE)
def test_required_affinity_on_a_single_node(case: str) -> None:
    existing, candidate, expected = SINGLE_NODE[case]
    assert rejected([*ONE, *TEAMS, *existing], candidate) == expected


@pytest.mark.parametrize("case", MULTIPLE_NODES)
def test_required_affinity_on_multiple_nodes(case: str) -> None:
    cluster, existing, candidate, expected = MULTIPLE_NODES[case]
    assert rejected([*cluster, *existing], candidate) == expected


def test_pre_filter_disabled() -> None:
    report = ask_alone("InterPodAffinity", ONE, asking(""), points=("filter",))
    wanted = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    assert report.message == f'running "InterPodAffinity" filter plugin: {wanted}'
