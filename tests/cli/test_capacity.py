"""``kubespread capacity``: exit codes, streams and the schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import FIXTURES, ROOT, run

SHOP = str(FIXTURES / "clusters" / "shop.yaml")
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "capacity-report.json").read_text()))

CODES: dict[str, tuple[list[str], int, str]] = {
    "totals are an answer": ([], 0, ""),
    "some fit": (["--request", "cpu=1"], 0, ""),
    "none fits": (["--request", "cpu=64"], 1, ""),
    "after a change": (["--request", "cpu=1", "--cordon", "a1", "--by", "hostname"], 0, ""),
    "a request that is none": (
        ["--request", "cpu=many"],
        2,
        "error: invalid request cpu=many: quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'\n",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("capacity", "-S", SHOP, "-q", *arguments)
    assert (result.code, result.err) == (code, err)


def test_json_is_what_the_schema_says() -> None:
    report = run("capacity", "-S", SHOP, "--request", "cpu=2,memory=4Gi", "-o", "json").report_of(SCHEMA)
    assert (report["kind"], report["request"], report["fits"]) == ("CapacityReport", {"cpu": "2", "memory": "4Gi"}, 6)


def test_in_a_pipe_the_conclusion_stands_on_standard_error() -> None:
    result = run("capacity", "-S", SHOP, "--request", "cpu=2,memory=4Gi")
    assert result.out.startswith("RESOURCE ")
    assert result.err.splitlines() == [
        "cpu stranded: 4.5 on 6 nodes in pieces too small for one more pod",
        "memory stranded: 21Gi on 6 nodes in pieces too small for one more pod",
        "6 pods of cpu 2, memory 4Gi fit: a 2, b 2, c 2",
    ]
