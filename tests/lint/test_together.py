"""Remedies of one workload that only help together."""

from __future__ import annotations

from pathlib import Path

import kubespread
from tests.builders import hard
from tests.lint.test_engine import web

CLUSTER = kubespread.load(Path(__file__).parents[2] / "fixtures" / "lint" / "cluster.yaml")
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
    assert (ghost.code, "with the other remedies" in (ghost.remedy.outcome or "")) == ("KS101", False)


def test_a_remedy_that_the_others_do_not_need_stays_as_severe_as_it_is() -> None:
    """A selector that misses its own pods keeps none of them away."""
    manifest = web(hard(f"{ZONE}s"), hard(f"{HOSTNAME}s"), hard(ZONE, match={"app": "other"}), replicas=6)
    findings = kubespread.check(CLUSTER, manifest).findings
    told = {finding.code: (finding.remedy.outcome or "").partition("; ")[2] for finding in findings}
    assert told == {"KS201": "with the other remedies 6 of 6 replicas fit", "KS101": ""}
