"""Clusters that `survive`, `removable` and `upgrade` answered wrongly: the exit code and the answer, as they must be."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import FIXTURES, run

CASES = FIXTURES / "cases"
AWS, GKE = CASES / "everyday" / "aws12-clean.json.gz", CASES / "everyday" / "gke-nogpu.json.gz"
PROMO, FULL = CASES / "everyday" / "promo-only.json.gz", CASES / "everyday" / "aws12.json.gz"
BUDGET, FORCED = CASES / "judgment" / "3" / "c.json", CASES / "judgment" / "14" / "c.json"
LAST, SOFT = CASES / "judgment" / "14" / "d.json", CASES / "judgment" / "11" / "c.json"
DB = CASES / "judgment" / "16" / "z.json"

ANSWERS: dict[str, tuple[list[object], int, str, str]] = {
    "a StatefulSet that stays short in every zone": (
        ["survive", "-n", "payments", "--fail-on", "pending", "-S", AWS],
        1,
        "no",
        "none of 3 zones can be lost: losing any zone leaves 1 pod pending once the nodes are deleted",
    ),
    "45 of 60 nodes, which are evicted only once they are deleted": (
        ["survive", "-A", "--key", "cloud.google.com/gke-nodepool", "--fail-on", "any", "-S", GKE],
        1,
        "no",
        "none of 3 gke-nodepools can be lost: losing gke-nodepool default-pool or highmem leaves up to 40 pods pending "
        "once the nodes are deleted",
    ),
    "a StatefulSet pinned to the zone": (
        ["survive", "-A", "--fail-on", "short", "-S", DB],
        1,
        "no",
        "2 of 3 zones can be lost: losing zone a stops StatefulSet/db: 0 of 2 ready, also once the nodes are deleted",
    ),
    "without --fail-on the exit code is 0": (
        ["survive", "-A", "-S", DB],
        0,
        "no",
        "2 of 3 zones can be lost: losing zone a stops StatefulSet/db: 0 of 2 ready, also once the nodes are deleted",
    ),
    "a pod of another workload that waited is not the node's": (
        ["removable", "ip-10-0-28-205.eu-west-1.compute.internal", "-S", FULL],
        0,
        "yes",
        "1 of 1 node can go alone: ip-10-0-28-205.eu-west-1.compute.internal",
    ),
    "a drain that breaks a budget by preemption": (["removable", "a1", "-S", BUDGET], 1, "no", "none of 1 node can go"),
    "empty nodes that only a preferred constraint counts": (
        ["removable", "-S", SOFT],
        0,
        "yes",
        "4 of 4 nodes can go alone, 2 together: cordon this 1, drain it; then this 1: a2, b1",
    ),
    "a budget behind the last node of a zone": (["removable", "a1", "-S", LAST], 1, "no", "none of 1 node can go"),
    "pods that waited before an upgrade": (
        ["upgrade", "eks.amazonaws.com/nodegroup=general", "-S", PROMO],
        0,
        "yes",
        "8 of 8 nodes replaced",
    ),
    "an upgrade that breaks a budget by preemption": (
        ["upgrade", "a1", "-S", BUDGET],
        1,
        "no",
        "1 of 1 node replaced, against 1 disruption budget",
    ),
    "an upgrade that is only forced through": (
        ["upgrade", "pool=blue", "-S", FORCED],
        1,
        "no",
        "0 of 2 nodes replaced: blocked at a1",
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_the_answer_and_the_exit_code(case: str) -> None:
    arguments, code, verdict, answer = ANSWERS[case]
    result = run(*map(str, arguments), "-q", "-o", "json")
    report = json.loads(result.out)
    assert (result.code, report["verdict"], report["answer"][0]) == (code, verdict, answer)


SAID: dict[str, tuple[list[object], str]] = {
    "whom forcing it loses": (
        ["upgrade", "pool=blue", "-S", FORCED],
        "with --force it gets through, and default/debug is lost for good",
    ),
    "which pods go on waiting": (
        ["upgrade", "eks.amazonaws.com/nodegroup=general", "-S", PROMO],
        "1 of shop/Deployment/promo pending as before: 0/12 nodes are available: 4 node(s) had untolerated taint "
        "{spot: true}, 8 node(s) didn't match pod topology spread constraints.",
    ),
    "which budget is broken": (
        ["upgrade", "a1", "-S", BUDGET],
        "default/lo-5d6-0 is preempted though the disruption budget default/lo does not allow it",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_what_else_is_said(case: str) -> None:
    arguments, said = SAID[case]
    assert said in json.loads(run(*map(str, arguments), "-q", "-o", "json").out)["answer"]
