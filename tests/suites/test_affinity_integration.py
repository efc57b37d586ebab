"""InterPodAffinity in a whole scheduler, as kube-scheduler's integration tests ask it.

Source: kubernetes/kubernetes, test/integration/scheduler/filters/filters_test.go, TestInterPodAffinity (20 cases) and
TestInterPodAffinityWithNamespaceSelector (2), and test/integration/scheduler/scoring/priorities_test.go,
TestPodAffinityScoring (6), all taken. The pods go through admission and the default profile, the scoring table through
one whose only score is this plugin's.

The first table says only whether a pod is scheduled.
"""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import pod
from tests.suites.affinity_terms import avoids, away, matching, namespace, near, prefers, term
from tests.suites.tables import best, labels, nodes, pods, scored_by

Data = dict[str, Any]
Case = tuple[list[Data], Data, bool]

SCANNED, S1 = "service=securityscan", "security=S1"
IN_SCANNED = ("service", "In", "securityscan", "value2")
IN_ANTIVIRUS = ("service", "In", "antivirusscan", "value2")
NOT_IN_SCANNED = ("service", "NotIn", "securityscan", "value2")
NAMESPACES = [namespace("ns1", team="team1"), namespace("ns2", team="team1"), namespace("ns3", team="team2")]
A_POD = pods(f"testnode-0 {SCANNED} @ns1")
WITH_FOO = ("foo", "Exists")
ONE_GIGABYTE = {"memory": "1G"}


def asking(own: str, *, to: str = "ns1", requests: Data | None = None, **spec: Any) -> Data:
    return pod("incoming", labels=labels(*own.split()), namespace=to, requests=requests, **spec)


def anded(value: str) -> Data:
    """Two terms of several expressions each, the second over that value of ``service``."""
    return near(
        term("region", ("service", "Exists"), ("wrongkey", "DoesNotExist")),
        term("region", ("service", "In", value), ("service", "NotIn", "WrongValue")),
    )


def filling(own: str) -> list[Data]:
    """A pod that takes all the memory of anothernode-0."""
    return [pod("filling", "anothernode-0", labels=labels(*own.split()), namespace="ns1", requests=ONE_GIGABYTE)]


SCHEDULED: dict[str, Case] = {
    "validates that a pod with an invalid podAffinity is rejected because of the LabelSelectorRequirement is invalid": (
        [],
        asking(S1, affinity=near(term("region", ("security", "DoesNotExist")))),
        False,
    ),
    "validates that Inter-pod-Affinity is respected if not matching": (
        [],
        asking(S1, affinity=near(term("region", ("security", "In", "securityscan")))),
        False,
    ),
    "validates that InterPodAffinity is respected if matching. ... using In operator that matches the existing pod": (
        A_POD,
        asking(S1, affinity=near(term("region", IN_SCANNED))),
        True,
    ),
    "validates that InterPodAffinity is respected if matching. ... using not in operator in labelSelector that matches the existing pod": (
        A_POD,
        asking(S1, affinity=near(term("region", ("service", "NotIn", "securityscan3", "value3")))),
        True,
    ),
    "validates that inter-pod-affinity is respected when pods have different Namespaces": (
        pods(f"testnode-0 {SCANNED} @ns2"),
        asking(S1, affinity=near(term("region", IN_SCANNED, namespaces=["diff-namespace"]))),
        False,
    ),
    "Doesn't satisfy the PodAffinity because of unmatching labelSelector with the existing pod": (
        A_POD,
        asking(SCANNED, affinity=near(term("region", IN_ANTIVIRUS))),
        False,
    ),
    "validates that InterPodAffinity is respected if matching with multiple affinities in multiple RequiredDuringSchedulingIgnoredDuringExecution": (
        A_POD,
        asking(S1, affinity=anded("securityscan")),
        True,
    ),
    "The labelSelector requirements(items of matchExpressions) are ANDed, the pod cannot schedule onto the node because one of the matchExpression items doesn't match.": (
        A_POD,
        asking(S1, affinity=anded("securityscan2")),
        False,
    ),
    "validates that InterPod Affinity and AntiAffinity is respected if matching": (
        A_POD,
        asking(S1, affinity={**near(term("region", IN_SCANNED)), **away(term("node", IN_ANTIVIRUS))}),
        True,
    ),
    "satisfies the PodAffinity and PodAntiAffinity and PodAntiAffinity symmetry with the existing pod": (
        pods(f"testnode-0 {SCANNED} @ns1", affinity=away(term("node", IN_ANTIVIRUS))),
        asking(S1, affinity={**near(term("region", IN_SCANNED)), **away(term("node", IN_ANTIVIRUS))}),
        True,
    ),
    "satisfies the PodAffinity but doesn't satisfies the PodAntiAffinity with the existing pod": (
        A_POD,
        asking(S1, affinity={**near(term("region", IN_SCANNED)), **away(term("zone", IN_SCANNED))}),
        False,
    ),
    "satisfies the PodAffinity and PodAntiAffinity but doesn't satisfies PodAntiAffinity symmetry with the existing pod": (
        pods(f"testnode-0 {SCANNED} @ns1", affinity=away(term("zone", ("service", "In", "securityscan", "value3")))),
        asking(SCANNED, affinity={**near(term("region", IN_SCANNED)), **away(term("node", IN_ANTIVIRUS))}),
        False,
    ),
    "pod matches its own Label in PodAffinity and that matches the existing pod Labels": (
        pods(f"machine2 {SCANNED} @ns1"),
        asking(SCANNED, affinity=near(term("region", NOT_IN_SCANNED))),
        False,
    ),
    "Verify that PodAntiAffinity of an existing pod is respected when PodAntiAffinity symmetry is not satisfied with the existing pod": (
        pods(f"testnode-0 {SCANNED} @ns1", affinity=away(term("zone", IN_SCANNED))),
        asking(SCANNED),
        False,
    ),
    "Verify that PodAntiAffinity from existing pod is respected when pod statisfies PodAntiAffinity symmetry with the existing pod": (
        pods(f"testnode-0 {SCANNED} @ns1", affinity=away(term("zone", NOT_IN_SCANNED))),
        asking(SCANNED),
        True,
    ),
    "nodes[0] and nodes[1] have same topologyKey and label value. ... The new pod can not be scheduled onto either of the two nodes.": (
        pods("testnode-0 foo=abc @ns1"),
        asking("", nodeSelector={"region": "r1"}, affinity=away(term("region", ("foo", "In", "abc")))),
        False,
    ),
    "anti affinity: matchLabelKeys is merged into LabelSelector with In operator (feature flag: enabled)": (
        pods("testnode-0 foo bar=fuga @ns1", "testnode-0 foo bar=hoge @ns1"),
        asking("foo bar=a", affinity=away(term("zone", WITH_FOO, matchLabelKeys=["bar"]))),
        True,
    ),
    "anti affinity: mismatchLabelKeys is merged into LabelSelector with NotIn operator (feature flag: enabled)": (
        pods("testnode-0 foo bar=a @ns1 x2"),
        asking("foo bar=a", affinity=away(term("zone", WITH_FOO, mismatchLabelKeys=["bar"]))),
        True,
    ),
    "affinity: matchLabelKeys is merged into LabelSelector with In operator (feature flag: enabled)": (
        filling("foo bar=a") + pods("testnode-0 foo bar=hoge @ns1", "testnode-0 foo bar=fuga @ns1"),
        asking("foo bar=a", requests=ONE_GIGABYTE, affinity=near(term("node", WITH_FOO, matchLabelKeys=["bar"]))),
        False,
    ),
    "affinity: mismatchLabelKeys is merged into LabelSelector with NotIn operator (feature flag: enabled)": (
        filling("foo bar=fuga") + pods("testnode-0 foo bar=a @ns1 x2"),
        asking("foo bar=a", requests=ONE_GIGABYTE, affinity=near(term("node", WITH_FOO, mismatchLabelKeys=["bar"]))),
        False,
    ),
}


def of_memory(amount: str, *made: Data) -> list[Data]:
    """The nodes with so much memory to give."""
    return [{**node, "status": {"allocatable": {**node["status"]["allocatable"], "memory": amount}}} for node in made]


TWO = of_memory("1G", *nodes("testnode-0 region=r1 zone=z11 node=n1", "anothernode-0 region=r1 zone=z11 node=n2"))


@pytest.mark.parametrize("case", SCHEDULED)
def test_inter_pod_affinity(case: str) -> None:
    existing, candidate, expected = SCHEDULED[case]
    snapshot = kubespread.Snapshot.from_objects([*TWO, *NAMESPACES, *existing])
    assert kubespread.explain(snapshot, candidate).schedulable == expected


@pytest.mark.parametrize(
    ("of", "expected"), [("ns2", True), ("ns3", False)], ids=["MatchingNamespaces", "MismatchingNamespaces"]
)
def test_namespace_selector(of: str, expected: bool) -> None:
    cluster = nodes("testnode-0 region=r1 zone=z11", "testnode-1 region=r1 zone=z11")
    snapshot = kubespread.Snapshot.from_objects([*cluster, *NAMESPACES, *pods(f"testnode-0 {SCANNED} @{of}")])
    wanted = term("region", ("service", "In", "securityscan"), namespaceSelector=matching(("team", "In", "team1")))
    assert kubespread.explain(snapshot, asking("", affinity=near(wanted))).schedulable == expected


KEY = "node-topologykey"
TWELVE = nodes(
    *(f"node{number} {KEY}=topologyvalue{(number - 1) % 5}" for number in range(1, 11)), "other-node1", "other-node2"
)
TWO_NODES = nodes(f"node1 {KEY}=topologyvalue0", f"node2 {KEY}=topologyvalue1")
SIX = nodes(*(f"node{number} {KEY}=topologyvalue{(number - 1) % 3}" for number in range(1, 7)))
ATTRACTOR = pods("node1 service=S1 @ns1")
IN_S1_S3 = ("service", "In", "S1", "S3")
WEAKER = (10, term(KEY, ("bar", "In", "hoge")))

SCORED: dict[str, tuple[list[Data], list[Data], Data, list[str]]] = {
    "pod affinity": (TWELVE, ATTRACTOR, asking("", affinity=prefers((50, term(KEY, IN_S1_S3)))), ["node1", "node6"]),
    "pod affinity with namespace selector": (
        TWELVE,
        ATTRACTOR,
        asking("", to="ns2", affinity=prefers((50, term(KEY, IN_S1_S3, namespaceSelector={})))),
        ["node1", "node6"],
    ),
    "anti affinity: matchLabelKeys is merged into LabelSelector with In operator (feature flag: enabled)": (
        TWO_NODES,
        pods("node1 foo bar=fuga @ns1", "node2 foo bar=a @ns1"),
        asking("foo bar=a", affinity=avoids((50, term(KEY, WITH_FOO, matchLabelKeys=["bar"])))),
        ["node1"],
    ),
    "anti affinity: mismatchLabelKeys is merged into LabelSelector with NotIn operator (feature flag: enabled)": (
        TWO_NODES,
        pods("node1 foo bar=fuga @ns1", "node2 foo bar=a @ns1"),
        asking("foo bar=a", affinity=avoids((50, term(KEY, WITH_FOO, mismatchLabelKeys=["bar"])))),
        ["node2"],
    ),
    "affinity: matchLabelKeys is merged into LabelSelector with In operator (feature flag: enabled)": (
        SIX,
        pods("node1 foo bar=hoge @ns1", "node2 foo bar=hoge @ns1", "node3 foo bar=a @ns1"),
        asking("foo bar=a", affinity=prefers((50, term(KEY, WITH_FOO, matchLabelKeys=["bar"])), WEAKER)),
        ["node3", "node6"],
    ),
    "affinity: mismatchLabelKeys is merged into LabelSelector with NotIn operator (feature flag: enabled)": (
        SIX,
        pods("node1 foo bar=a @ns1", "node2 foo bar=a @ns1", "node3 foo bar=hoge @ns1"),
        asking("foo bar=a", affinity=prefers((50, term(KEY, WITH_FOO, mismatchLabelKeys=["bar"])), WEAKER)),
        ["node3", "node6"],
    ),
}


@pytest.mark.parametrize("case", SCORED)
def test_pod_affinity_scoring(case: str) -> None:
    cluster, existing, candidate, expected = SCORED[case]
    snapshot = kubespread.Snapshot.from_objects(
        [*cluster, namespace("ns1", team="team1"), namespace("ns2", team="team1"), *existing]
    )
    report = kubespread.explain(snapshot, candidate, kubespread.Scheduler(config=scored_by("InterPodAffinity")))
    assert sorted(best(report)) == expected
