"""``kubespread removable``: exit codes, streams and the schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import FIXTURES, ROOT, run

FLEET = str(FIXTURES / "clusters" / "fleet.yaml")
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "removable-report.json").read_text()))

CODES: dict[str, tuple[list[str], int, str]] = {
    "some node can go": ([], 0, ""),
    "one that is named cannot": (["c1"], 1, ""),
    "it can where kubectl may evict its pods": (["c1", "--force"], 0, ""),
    "it can after a change": (["a2", "--scale", "deploy/api=3"], 0, ""),
    "a node that is not there": (
        ["a9"],
        2,
        'error: nodes "a9" not found; there are a1, a2, b1, b2, b3, c1, c2, gpu-1\n',
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("removable", *arguments, "-S", FLEET, "-q")
    assert (result.code, result.err) == (code, err)


def test_json_is_what_the_schema_says() -> None:
    report = run("removable", "zone=a", "-S", FLEET, "-o", "json").report_of(SCHEMA)
    assert (report["kind"], report["together"]["nodes"]) == ("RemovableReport", ["gpu-1", "a1"])


def test_in_a_pipe_notes_and_conclusion_stand_on_standard_error() -> None:
    result = run("removable", "-S", FLEET)
    assert result.out.startswith("NODE ")
    assert (
        result.err.splitlines()[-1]
        == "3 of 8 nodes can go alone, 3 together: cordon and drain b3, gpu-1, a1 (cordon a whole group first)"
    )
