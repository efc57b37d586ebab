"""Hard constraints: which nodes are domains, what counts, and which nodes are rejected why."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import hard, node, pod, pods_on, taint
from tests.scheduler.asking import ask, fits, with_args

Data = dict[str, Any]

TAINTED_B = [node("n0", zone="a"), node("n1", zone="b", taints=[taint("gpu")]), node("n2", zone="a")]


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
