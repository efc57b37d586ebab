"""Hard constraints: which nodes are domains, what counts, and which nodes are rejected why."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import hard, node, pod, pods_on, soft, taint
from tests.scheduler.asking import MISSING, SKEWED, ask, fits, reasons, with_args

Data = dict[str, Any]

ZONES_A_A_B = [node("n0", zone="a"), node("n1", zone="a"), node("n2", zone="b")]
ZONE_RACK = [
    node("n0", zone="a", rack="r1"),
    node("n1", zone="b", rack="r2"),
    node("n2", zone="a"),
    node("n3", rack="r1"),
]
EMPTY_ZONE = [node("n0", zone="a"), node("n1", zone=""), node("n2")]
TAINTED_B = [node("n0", zone="a"), node("n1", zone="b", taints=[taint("gpu")]), node("n2", zone="a")]

CASES: dict[str, tuple[list[Data], Data, dict[str, str]]] = {
    "no pods anywhere: everything fits": (ZONES_A_A_B, pod(constraints=[hard()]), {}),
    "the fuller zone is rejected": (
        ZONES_A_A_B + pods_on({"n0": 1, "n1": 1, "n2": 1}),
        pod(constraints=[hard()]),
        {"n0": SKEWED, "n1": SKEWED},
    ),
    "a larger maxSkew admits it": (
        ZONES_A_A_B + pods_on({"n0": 1, "n1": 1, "n2": 1}),
        pod(constraints=[hard(max_skew=2)]),
        {},
    ),
    "a pod that misses its own selector adds nothing": (
        ZONES_A_A_B + pods_on({"n0": 1, "n1": 1, "n2": 1}),
        pod(labels={}, constraints=[hard()]),
        {},
    ),
    "all keys: a node lacking one hard key counts for none of them": (
        ZONE_RACK + pods_on({"n0": 1, "n2": 2}),
        pod(constraints=[hard("zone"), hard("rack")]),
        {"n0": SKEWED, "n2": SKEWED, "n3": MISSING},
    ),
    "all keys: the first failing constraint decides the reason": (
        ZONE_RACK + pods_on({"n0": 1, "n2": 2}),
        pod(constraints=[hard("rack"), hard("zone")]),
        {"n0": SKEWED, "n2": MISSING, "n3": SKEWED},
    ),
    "the empty value is a domain": (
        EMPTY_ZONE + pods_on({"n0": 1}),
        pod(constraints=[hard()]),
        {"n0": SKEWED, "n2": MISSING},
    ),
    "a null selector counts nothing and still needs the key": (
        EMPTY_ZONE + pods_on({"n0": 5}),
        pod(constraints=[hard(labelSelector=None)]),
        {"n2": MISSING},
    ),
    "an empty selector counts nothing": (
        EMPTY_ZONE + pods_on({"n0": 2}),
        pod(constraints=[hard(labelSelector={})]),
        {"n2": MISSING},
    ),
    "an Exists selector counts what the empty one does not": (
        [*EMPTY_ZONE[:2], *pods_on({"n0": 2})],
        pod(constraints=[hard(labelSelector={"matchExpressions": [{"key": "foo", "operator": "Exists"}]})]),
        {"n0": SKEWED},
    ),
    "a soft constraint's key is not required": (
        [node("n0", zone="a", rack="r1"), node("n1", zone="b"), *pods_on({"n0": 1, "n1": 1})],
        pod(constraints=[hard("zone"), soft("rack")]),
        {},
    ),
    "a hostname value shared by two nodes is one domain": (
        [node("n0", host="h"), node("n1", host="h"), node("n2", host="k"), *pods_on({"n0": 2})],
        pod(constraints=[hard("host")]),
        {"n0": SKEWED, "n1": SKEWED},
    ),
    "a tainted zone holds the minimum down by default": (
        TAINTED_B + pods_on({"n0": 1}),
        pod(constraints=[hard()]),
        {"n0": SKEWED, "n1": "node(s) had untolerated taint(s)", "n2": SKEWED},
    ),
    "nodeTaintsPolicy Honor leaves it out": (
        TAINTED_B + pods_on({"n0": 1}),
        pod(constraints=[hard(nodeTaintsPolicy="Honor")]),
        {"n1": "node(s) had untolerated taint(s)"},
    ),
    "a PreferNoSchedule taint does not leave a zone out": (
        [node("n0", zone="a"), node("n1", zone="b", taints=[taint("gpu", "PreferNoSchedule")]), *pods_on({"n0": 1})],
        pod(constraints=[hard(nodeTaintsPolicy="Honor")]),
        {"n0": SKEWED},
    ),
    "a cordon without its taint does not leave a zone out": (
        [node("n0", zone="a"), node("n1", zone="b", unschedulable=True), *pods_on({"n0": 1})],
        pod(constraints=[hard(nodeTaintsPolicy="Honor")]),
        {"n0": SKEWED, "n1": "node(s) were unschedulable"},
    ),
    "each constraint has its own policies": (
        [
            node("n0", zone="a", rack="r1"),
            node("n1", zone="b", rack="r2", taints=[taint("gpu")]),
            node("n2", zone="a", rack="r3"),
            *pods_on({"n0": 1}),
        ],
        pod(constraints=[hard("zone", nodeTaintsPolicy="Honor"), hard("rack")]),
        {"n0": SKEWED, "n1": "node(s) had untolerated taint(s)"},
    ),
    "node affinity leaves a zone out by default": (
        [*ZONES_A_A_B, *pods_on({"n0": 1, "n1": 1})],
        pod(constraints=[hard()], nodeSelector={"zone": "a"}),
        {"n2": "node(s) didn't match Pod's node affinity/selector"},
    ),
    "nodeAffinityPolicy Ignore keeps it in": (
        [*ZONES_A_A_B, *pods_on({"n0": 1, "n1": 1})],
        pod(constraints=[hard(nodeAffinityPolicy="Ignore")], nodeSelector={"zone": "a"}),
        {"n0": SKEWED, "n1": SKEWED, "n2": "node(s) didn't match Pod's node affinity/selector"},
    ),
    "minDomains reached: the minimum is the least count": (
        [*ZONES_A_A_B, *pods_on({"n0": 1, "n2": 1})],
        pod(constraints=[hard(minDomains=2)]),
        {},
    ),
    "minDomains not reached: the minimum is 0": (
        [*ZONES_A_A_B, *pods_on({"n0": 1, "n2": 1})],
        pod(constraints=[hard(minDomains=3)]),
        {"n0": SKEWED, "n1": SKEWED, "n2": SKEWED},
    ),
    "minDomains counts domains after the policies": (
        [*TAINTED_B, node("n3", zone="c"), *pods_on({"n0": 1, "n3": 1})],
        pod(constraints=[hard(minDomains=3, nodeTaintsPolicy="Honor")]),
        {"n0": SKEWED, "n1": "node(s) had untolerated taint(s)", "n2": SKEWED, "n3": SKEWED},
    ),
    "one domain alone always fits": ([node("n0", zone="a"), *pods_on({"n0": 9})], pod(constraints=[hard()]), {}),
    "all nodes excluded: spreading itself rejects nothing": (
        [*ZONES_A_A_B, *pods_on({"n0": 3})],
        pod(constraints=[hard()], nodeSelector={"zone": "z"}),
        dict.fromkeys(("n0", "n1", "n2"), "node(s) didn't match Pod's node affinity/selector"),
    ),
    "other namespaces, terminating and finished pods do not count": (
        [
            *ZONES_A_A_B[1:],
            pod("p1", "n1", namespace="other"),
            {**pod("p2", "n1"), "metadata": {**pod("p2")["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            {**pod("p3", "n1"), "status": {"phase": "Succeeded"}},
            {**pod("p4", "n1"), "status": {"phase": "Failed"}},
            pod("p5", "gone"),
            pod("p6"),
        ],
        pod(constraints=[hard()]),
        {},
    ),
    "matchLabelKeys narrows the count to the pod's own revision": (
        [*ZONES_A_A_B[1:], *pods_on({"n1": 2}, labels={"foo": "bar", "rev": "1"})],
        pod(labels={"foo": "bar", "rev": "2"}, constraints=[hard(matchLabelKeys=["rev"])]),
        {},
    ),
    "matchLabelKeys the pod lacks are dropped": (
        [*ZONES_A_A_B[1:], *pods_on({"n1": 2}, labels={"foo": "bar", "rev": "1"})],
        pod(constraints=[hard(matchLabelKeys=["rev"])]),
        {"n1": SKEWED},
    ),
    "an empty selector with matchLabelKeys counts the pods that share the label": (
        [*ZONES_A_A_B[1:], *pods_on({"n1": 1})],
        pod(constraints=[hard(labelSelector={}, matchLabelKeys=["foo"])]),
        {"n1": SKEWED},
    ),
    "one soft and one hard constraint on one key are both in force": (
        [*ZONES_A_A_B[1:], *pods_on({"n1": 1})],
        pod(constraints=[soft(), hard()]),
        {"n1": SKEWED},
    ),
    "a topology key nobody has rejects everything": (
        ZONES_A_A_B,
        pod(constraints=[hard("not/a/label key!")]),
        dict.fromkeys(("n0", "n1", "n2"), MISSING),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_hard_constraints(case: str) -> None:
    objects, candidate, expected = CASES[case]
    assert reasons(ask(objects, candidate)) == expected


def test_the_numbers_of_every_constraint_are_reported() -> None:
    report = ask(
        [node("n0", zone="a"), node("n1", zone="b"), node("n2"), *pods_on({"n0": 3, "n1": 1})],
        pod(constraints=[hard(max_skew=2)]),
    )
    numbers = {
        entry.name: (
            row.domain,
            row.matching,
            row.self_match,
            row.global_minimum,
            row.skew,
            row.max_skew,
            row.satisfied,
            row.reason,
        )
        for entry in report.nodes
        for row in entry.constraints
    }
    assert numbers == {
        "n0": ("a", 3, 1, 1, 3, 2, False, "skew 3 exceeds maxSkew 2"),
        "n1": ("b", 1, 1, 1, 1, 2, True, None),
        "n2": (None, None, 1, 1, None, 2, False, "the node has no label zone"),
    }


def test_domains_say_which_of_their_nodes_count() -> None:
    report = ask(
        TAINTED_B + pods_on({"n0": 1, "n1": 4}), pod(constraints=[hard(nodeTaintsPolicy="Honor", minDomains=1)])
    )
    (constraint,) = report.constraints
    assert [(domain.value, domain.matching, domain.nodes, domain.eligible_nodes) for domain in constraint.domains] == [
        ("a", 1, 2, 2),
        ("b", 0, 1, 0),
    ]
    assert (
        constraint.selector,
        constraint.source,
        constraint.node_taints_policy,
        constraint.min_domains,
        constraint.global_minimum,
    ) == ("foo=bar", "pod", "Honor", 1, 1)


def test_added_affinity_is_invisible_to_the_policies() -> None:
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    config = with_args(
        "NodeAffinity", addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    )
    nodes = [node("n0", zone="a"), node("n1", zone="b"), node("n2", zone="a"), node("n3", zone="b")]
    report = ask([*nodes, *pods_on({"n0": 1})], pod(constraints=[hard()]), config)
    assert (fits(report), report.message) == (
        [],
        "0/4 nodes are available: 2 node(s) didn't match pod topology spread constraints, "
        "2 node(s) didn't match scheduler-enforced node affinity.",
    )


@pytest.mark.parametrize("min_domains", [0, -1])
def test_a_stored_pod_without_least_domains_and_a_key_nobody_has(min_domains: int) -> None:
    """The API server refuses it today; a pod that an older one stored is judged all the same."""
    stored = pod("web", constraints=[hard("nope", minDomains=min_domains)])
    snapshot = kubespread.Snapshot.from_objects([node("n0", zone="a"), stored])
    report = kubespread.explain(snapshot, "pod/web")
    assert [row.verdict.reasons for row in report.nodes] == [
        ("node(s) didn't match pod topology spread constraints (missing required label)",)
    ]
