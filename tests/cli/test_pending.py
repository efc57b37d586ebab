"""``kubespread pending``: exit codes, streams and schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import FIXTURES, ROOT, run

STUCK = str(FIXTURES / "clusters" / "stuck.yaml")
SHOP = str(FIXTURES / "clusters" / "shop.yaml")
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "pending-report.json").read_text()))

CODES: dict[str, tuple[list[str], int, str]] = {
    "something is stuck": (["-A", "-S", STUCK, "-q"], 1, ""),
    "nothing is stuck": (["-A", "-S", SHOP, "-q"], 0, ""),
    "a namespace that is not there": (
        ["-n", "shp", "-S", STUCK],
        2,
        'error: no workloads in namespace shp, did you mean "shop"?\n',
    ),
    "labels that nobody has": (
        ["-A", "-l", "app=x", "-S", STUCK],
        2,
        "error: no workloads with the labels app=x in the cluster\n",
    ),
    "a selector that is none": (
        ["-l", "a b", "-S", STUCK],
        2,
        "error: invalid selector 'a b': expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found 'a b'\n",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("pending", *arguments)
    assert (result.code, result.err) == (code, err)


def test_json_is_what_the_schema_says() -> None:
    report = run("pending", "-A", "-S", STUCK, "-q", "-o", "json").report_of(SCHEMA)
    assert [(group["cause"], len(group["pods"])) for group in report["groups"]] == [
        ("filtered", 6),
        ("filtered", 3),
        ("refused", 1),
        ("gated", 1),
        ("fits", 1),
    ]


def test_names_are_the_pods() -> None:
    result = run("pending", "-n", "shop", "-S", STUCK, "-q", "-o", "name")
    assert result.out.splitlines()[:2] == ["shop/api-5d6-2", "shop/api-5d6-3"]


def test_a_terminal_has_the_change_below_its_cause() -> None:
    for width in (80, 180):
        shown = run("pending", "-n", "shop", "-S", STUCK, "-q", env={"NO_COLOR": "1"}, terminal=width).out
        assert "    set nodeTaintsPolicy[zone]=Honor   frees 6" in shown.splitlines()
        assert shown.splitlines()[0] == "No: 12 pods pending for 5 causes; 2 changes free 9 of them"
