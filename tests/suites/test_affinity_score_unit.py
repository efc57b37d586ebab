"""InterPodAffinity's own score tables: the normalized score of every node.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/interpodaffinity/scoring_test.go (1.34 and later),
TestPreferredAffinity (26 cases) and TestPreferredAffinityWithHardPodAffinitySymmetricWeight (5), all taken. The
namespace of pods that have none there is ``default`` here. Two pairs of cases share a name; they are told apart here.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.suites.affinity_terms import BAD_VALUE, TEAMS, avoids, matching, near, prefers, term
from tests.suites.tables import ask_alone, asking, nodes, pods, scores

Data = dict[str, Any]
Case = tuple[list[Data], list[Data], Data, dict[str, int]]

S1, S2 = "security=S1", "security=S2"
IN_S1, IN_S2 = ("security", "In", "S1"), ("security", "In", "S2")
THREE = nodes("node1 region=China", "node2 region=India", "node3 az=az1")
TWO_REGIONS = nodes("node1 region=China", "node2 region=India")
FIVE = nodes(
    "node1 region=China", "node2 region=India", "node3 region=China", "node4 region=China", "node5 region=India"
)
STAY_WITH_S1 = prefers((5, term("region", IN_S1)))
STAY_WITH_S2 = prefers((6, term("region", IN_S2)))
DIFFERENT_OPERATORS = prefers(
    (8, term("region", ("security", "NotIn", "S1"), IN_S2)),
    (2, term("region", ("security", "Exists"), ("wrongkey", "DoesNotExist"))),
)
HARD = near(
    term("region", ("security", "In", "S1", "value2")),
    term("region", ("security", "Exists"), ("wrongkey", "DoesNotExist")),
)
AWAY_FROM_S1 = avoids((5, term("az", IN_S1)))
AWAY_FROM_S2 = avoids((5, term("az", IN_S2)))
BOTH = {**prefers((8, term("region", IN_S1))), **AWAY_FROM_S2}
IN_TEAM_1 = {"namespaces": ["subteam2.team2"], "namespaceSelector": matching(("team", "In", "team1"))}
NEAR_TEAM_1 = prefers((5, term("region", IN_S1, **IN_TEAM_1)))
AWAY_FROM_TEAM_1 = avoids((5, term("region", IN_S1, **IN_TEAM_1)))
OF_TWO_TEAMS = pods(f"node1 {S1} @subteam1.team1 x2", f"node1 {S1} @subteam1.team2", f"node2 {S1} @subteam2.team1")
NAMED_TOO = pods(f"node1 {S1} @subteam1.team1 x2", f"node1 {S1} @subteam2.team2", f"node2 {S1} @subteam2.team1")

PREFERRED: dict[str, Case] = {
    "all nodes are same priority as Affinity is nil": (THREE, [], asking(S1), {}),
    "Affinity: pod that matches topology key & pods in nodes will get high score comparing to others which doesn't match either pods in nodes or in topology key": (
        THREE,
        pods(f"node1 {S1}", f"node2 {S2}", f"node3 {S1}"),
        asking(S1, affinity=STAY_WITH_S1),
        {"node1": 100, "node2": 0, "node3": 0},
    ),
    "All the nodes that have the same topology key & label value with one of them has an existing pod that match the affinity rules, have the same score": (
        nodes("node1 region=China", "node2 region=China az=az1", "node3 region=India"),
        pods(f"node1 {S1}"),
        asking("", affinity=STAY_WITH_S1),
        {"node1": 100, "node2": 100, "node3": 0},
    ),
    "Affinity: nodes in one region has more matching pods comparing to other region, so the region which has more matches will get high score": (
        FIVE,
        pods(f"node1 {S2} x2", f"node2 {S2}", f"node3 {S2}", f"node4 {S2}", f"node5 {S2}"),
        asking(S1, affinity=STAY_WITH_S2),
        {"node1": 100, "node2": 0, "node3": 100, "node4": 100, "node5": 0},
    ),
    "Affinity: different Label operators and values for pod affinity scheduling preference, including some match failures": (
        THREE,
        pods(f"node1 {S1}", f"node2 {S2}", f"node3 {S1}"),
        asking(S1, affinity=DIFFERENT_OPERATORS),
        {"node1": 20, "node2": 100, "node3": 0},
    ),
    "Affinity symmetry: considered only the preferredDuringSchedulingIgnoredDuringExecution in pod affinity symmetry": (
        THREE,
        pods(f"node1 {S1}", affinity=STAY_WITH_S1) + pods(f"node2 {S2}", affinity=STAY_WITH_S2),
        asking(S2),
        {"node1": 0, "node2": 100, "node3": 0},
    ),
    "Affinity symmetry with namespace selector": (
        THREE,
        pods(f"node1 {S1}", affinity=NEAR_TEAM_1) + pods(f"node2 {S2}", affinity=STAY_WITH_S2),
        asking(S1, namespace="subteam1.team1"),
        {"node1": 100, "node2": 0, "node3": 0},
    ),
    "AntiAffinity symmetry with namespace selector": (
        THREE,
        pods(f"node1 {S1}", affinity=AWAY_FROM_TEAM_1) + pods(f"node2 {S2}", affinity=STAY_WITH_S2),
        asking(S1, namespace="subteam1.team1"),
        {"node1": 0, "node2": 100, "node3": 100},
    ),
    "Affinity symmetry: considered RequiredDuringSchedulingIgnoredDuringExecution in pod affinity symmetry": (
        THREE,
        pods(f"node1 {S1}", f"node2 {S2}", affinity=HARD),
        asking(S1),
        {"node1": 100, "node2": 100, "node3": 0},
    ),
    "Anti Affinity: pod that does not match existing pods in node will get high score": (
        nodes("node1 az=az1", "node2 region=China"),
        pods(f"node1 {S1}", f"node2 {S2}"),
        asking(S1, affinity=AWAY_FROM_S1),
        {"node1": 0, "node2": 100},
    ),
    "Anti Affinity: pod that does not match topology key & match the pods in nodes will get higher score comparing to others": (
        nodes("node1 az=az1", "node2 region=China"),
        pods(f"node1 {S1}", f"node2 {S1}"),
        asking(S1, affinity=AWAY_FROM_S1),
        {"node1": 0, "node2": 100},
    ),
    "Anti Affinity: one node has more matching pods comparing to other node, so the node which has more unmatches will get high score": (
        nodes("node1 az=az1", "node2 region=India"),
        pods(f"node1 {S1} x2", f"node2 {S2}"),
        asking(S1, affinity=AWAY_FROM_S1),
        {"node1": 0, "node2": 100},
    ),
    "Anti Affinity symmetry: the existing pods in node which has anti affinity match will get high score": (
        nodes("node1 az=az1", "node2 az=az2"),
        pods(f"node1 {S1}", affinity=AWAY_FROM_S2) + pods(f"node2 {S2}", affinity=AWAY_FROM_S1),
        asking(S2),
        {"node1": 0, "node2": 100},
    ),
    "Affinity and Anti Affinity: considered only preferredDuringSchedulingIgnoredDuringExecution in both pod affinity & anti affinity": (
        nodes("node1 region=China", "node2 az=az1"),
        pods(f"node1 {S1}", f"node2 {S1}"),
        asking(S1, affinity=BOTH),
        {"node1": 100, "node2": 0},
    ),
    "Affinity and Anti Affinity: considering both affinity and anti-affinity, the pod to schedule and existing pods have the same labels": (
        [*nodes("node1 region=China az=az1"), *FIVE[1:]],
        pods(f"node1 {S1} x2", f"node2 {S1}", f"node3 {S1} x2", f"node4 {S1}", f"node5 {S1}"),
        asking(S1, affinity=BOTH),
        {"node1": 100, "node2": 0, "node3": 100, "node4": 100, "node5": 0},
    ),
    "Affinity and Anti Affinity and symmetry: considered only preferredDuringSchedulingIgnoredDuringExecution in both pod affinity & anti affinity & symmetry": (
        nodes("node1 region=China", "node2 az=az1", "node3 region=India", "node4 az=az2"),
        pods(f"node1 {S1}", f"node2 {S2}") + pods("node3", affinity=BOTH) + pods("node4", affinity=AWAY_FROM_S1),
        asking(S1, affinity=BOTH),
        {"node1": 100, "node2": 0, "node3": 100, "node4": 0},
    ),
    "Avoid panic when partial nodes in a topology don't have pods with affinity": (
        nodes("node1 region=China", "node2 region=China"),
        pods(f"node1 {S1}") + pods("node2", affinity=BOTH),
        asking(S1),
        {"node1": 0, "node2": 0},
    ),
    "Affinity with pods matching NamespaceSelector": (
        TWO_REGIONS,
        OF_TWO_TEAMS,
        asking(S1, affinity=NEAR_TEAM_1, namespace="subteam1.team1"),
        {"node1": 100, "node2": 0},
    ),
    "Affinity with pods matching both NamespaceSelector and Namespaces fields": (
        TWO_REGIONS,
        NAMED_TOO,
        asking(S1, affinity=NEAR_TEAM_1, namespace="subteam1.team1"),
        {"node1": 100, "node2": 0},
    ),
    "Affinity with pods matching NamespaceSelector, the second, which is anti-affinity": (
        TWO_REGIONS,
        OF_TWO_TEAMS,
        asking(S1, affinity=AWAY_FROM_TEAM_1, namespace="subteam1.team1"),
        {"node1": 0, "node2": 100},
    ),
    "Affinity with pods matching both NamespaceSelector and Namespaces fields, the second, which is anti-affinity": (
        TWO_REGIONS,
        NAMED_TOO,
        asking(S1, affinity=AWAY_FROM_TEAM_1, namespace="subteam1.team1"),
        {"node1": 0, "node2": 100},
    ),
    "Do not ignore preferred terms of existing pods": (
        TWO_REGIONS,
        pods(f"node1 {S1}", affinity=BOTH) + pods(f"node2 {S2}", affinity=STAY_WITH_S2),
        asking(S2),
        {"node1": 0, "node2": 100},
    ),
    "No nodes to score": ([], [], asking(S2), {}),
}


@pytest.mark.parametrize("case", PREFERRED)
def test_preferred_affinity(case: str) -> None:
    """A pod that the plugin skips has no scores."""
    cluster, existing, candidate, expected = PREFERRED[case]
    report = ask_alone("InterPodAffinity", [*cluster, *TEAMS, *existing], candidate)
    assert scores(report, "InterPodAffinity") == expected


def test_ignore_preferred_terms_of_existing_pods() -> None:
    cluster, existing, candidate, _ = PREFERRED["Do not ignore preferred terms of existing pods"]
    args = {"ignorePreferredTermsOfExistingPods": True}
    report = ask_alone("InterPodAffinity", [*cluster, *TEAMS, *existing], candidate, args)
    assert scores(report, "InterPodAffinity") == {}


INVALID = {
    "invalid Affinity fails PreScore": (
        prefers((8, term("region", ("security", "In", "{{.bad-value.}}")))),
        "preferredAffinityTerms",
    ),
    "invalid AntiAffinity fails PreScore": (
        avoids((5, term("az", ("security", "In", "{{.bad-value.}}")))),
        "preferredAntiAffinityTerms",
    ),
}


@pytest.mark.parametrize("case", INVALID)
def test_a_malformed_term_fails_pre_score(case: str) -> None:
    """Its PreFilter would reject the pod before, which a profile can switch off."""
    affinity, terms = INVALID[case]
    report = ask_alone(
        "InterPodAffinity",
        nodes("node1 region=China", "node2 region=China"),
        asking("", affinity=affinity),
        points=("preScore", "score"),
    )
    parsing = f"{terms}: {BAD_VALUE.format(key='security')}"
    assert report.message == f'running PreScore plugin "InterPodAffinity": failed to parse pod: {parsing}'
    assert not report.schedulable


SERVICE_S1 = "service=S1"
HARD_AFFINITY = near(
    term(
        "region",
        ("service", "In", "S1"),
        namespaces=["default", "subteam2.team2"],
        namespaceSelector=matching(("team", "In", "team1")),
    )
)
WEIGHED: dict[str, tuple[int, str, dict[str, int]]] = {
    "with default weight": (1, "default", {"node1": 100, "node2": 100, "node3": 0}),
    "with zero weight": (0, "default", {}),
    "with no matching namespace": (1, "subteam1.team2", {}),
    "with matching NamespaceSelector": (1, "subteam1.team1", {"node1": 100, "node2": 100, "node3": 0}),
    "with matching Namespaces": (1, "subteam2.team2", {"node1": 100, "node2": 100, "node3": 0}),
}


@pytest.mark.parametrize("case", WEIGHED)
def test_hard_pod_affinity_weight(case: str) -> None:
    weight, own_namespace, expected = WEIGHED[case]
    existing = pods("node1", "node2", affinity=HARD_AFFINITY)
    candidate = asking(SERVICE_S1, namespace=own_namespace)
    args = {"hardPodAffinityWeight": weight}
    report = ask_alone("InterPodAffinity", [*THREE, *TEAMS, *existing], candidate, args)
    assert scores(report, "InterPodAffinity") == expected
