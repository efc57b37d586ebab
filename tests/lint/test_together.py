"""Remedies of one workload that only help together."""

from __future__ import annotations

from pathlib import Path

import kubespread
from tests.builders import hard, soft
from tests.lint.test_engine import web

LINT = Path(__file__).parents[2] / "fixtures" / "lint"
CLUSTER = kubespread.load(LINT / "cluster.yaml")
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def test_two_keys_that_no_node_has_are_both_in_the_way() -> None:
    manifest = web(hard(f"{ZONE}s"), hard(f"{HOSTNAME}s"), replicas=6)
    first, second = kubespread.check(CLUSTER, manifest).findings
    assert [first.remedy.outcome, second.remedy.outcome] == [
        "0 of 6 replicas fit: a 0 · b 0 · c 0; with the other remedies 6 of 6 replicas fit",
        "0 of 6 replicas fit: a1 0 · a2 0 · b1 0 · b2 0 · c1 0 · c2 0; with the other remedies 6 of 6 replicas fit",
    ]
    assert kubespread.simulate(CLUSTER, web(hard(ZONE), hard(HOSTNAME), replicas=6)).placed == 6


def test_a_remedy_that_is_enough_alone_says_nothing_of_the_others() -> None:
    manifest = web(hard(f"{ZONE}s"), hard(HOSTNAME, match={"app": "other"}), replicas=6)
    ghost, key = kubespread.check(CLUSTER, manifest).findings
    assert (key.code, key.remedy.outcome) == ("KS201", "6 of 6 replicas fit: a 2 · b 2 · c 2")
    assert (ghost.code, (ghost.remedy.outcome or "").partition("; ")[2]) == (
        "KS101",
        "with the other remedies 6 of 6 replicas fit",
    )


def test_a_remedy_says_what_holds_back_what_it_mends() -> None:
    """The pods are spread once the selector is right, and zone c is closed to them."""
    closed = kubespread.load(LINT / "KS203" / "cluster.yaml")
    manifest = str(LINT / "KS101" / "bad.yaml")
    warning, error = kubespread.check(closed, manifest).findings
    assert (warning.code, warning.severity, warning.remedy.outcome) == (
        "KS203",
        "warning",
        "6 of 6 replicas fit: a 2 · b 4 · c 0",
    )
    assert (error.code, error.remedy.outcome) == (
        "KS101",
        "2 of 6 replicas fit: a 1 · b 1 · c 0; with the other remedies 6 of 6 replicas fit",
    )


def test_only_what_keeps_replicas_from_running_becomes_an_error() -> None:
    manifest = web(hard(f"{ZONE}s"), hard(f"{HOSTNAME}s"), soft("rack"), replicas=6)
    findings = kubespread.check(CLUSTER, manifest).findings
    assert [(finding.code, finding.level) for finding in findings] == [
        ("KS201", "error"),
        ("KS201", "error"),
        ("KS201", "warning"),
    ]
