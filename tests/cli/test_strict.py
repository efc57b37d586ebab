"""``--strict``: an answer that lacks something of the cluster is none, whatever is asked."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import FIXTURES, run

CASES = FIXTURES / "cases"
DUMP = str(CASES / "everyday" / "readme-np.json.gz")
WORKLOADS = str(CASES / "everyday" / "wl.json.gz")
NO_CLAIMS = str(CASES / "adversarial" / "7" / "nopvc.json")

LACKING = {
    "removable, without budgets": (["removable", "-S", DUMP], "PodDisruptionBudget"),
    "rebalance, without budgets": (["rebalance", "-A", "-S", WORKLOADS], "PodDisruptionBudget"),
    "survive, without claims": (["survive", "-A", "-S", WORKLOADS], "PersistentVolumeClaim"),
    "survive, without claims of a small cluster": (["survive", "-A", "-S", NO_CLAIMS], "PersistentVolumeClaim"),
    "audit, without claims": (["audit", "-A", "-S", NO_CLAIMS], "PersistentVolumeClaim"),
    "check, without claims": (["check", "-A", "-S", NO_CLAIMS], "PersistentVolumeClaim"),
}


@pytest.mark.parametrize("case", LACKING)
def test_what_is_missing_is_named_and_ends_in_3(case: str) -> None:
    words, kind = LACKING[case]
    strict = run(*words, "--strict", "-o", "json")
    gaps = json.loads(strict.out)["gaps"]
    assert (strict.code, [gap for gap in gaps if gap.startswith(f"no {kind} objects")] != []) == (3, True)
