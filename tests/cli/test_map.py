"""``kubespread map``: exit codes, streams and the schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import CLUSTER, FIXTURES, POD, ROOT, run

SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "topology-map.json").read_text()))
SHOP = str(FIXTURES / "clusters" / "shop.yaml")

CODES: dict[str, tuple[list[str], int, str]] = {
    "the cluster": (["-S", SHOP], 0, ""),
    "a workload of the cluster": (["deploy/web", "-S", SHOP], 0, ""),
    "a manifest": ([POD, "-S", CLUSTER], 0, ""),
    "a namespace of nobody": (
        ["-n", "shop", "-S", SHOP],
        2,
        "error: -n/--namespace is for a WORKLOAD: name one, or leave it out\n",
    ),
    "a namespace of an edit": (
        ["-n", "shop", "--scale", "deploy/web=1", "-S", SHOP, "-q"],
        2,
        'error: deployments.apps "web" not found in namespace shop; there is one in namespace default\n',
    ),
    "a workload that is not there": (
        ["deploy/wob", "-S", SHOP],
        2,
        'error: deployments.apps "wob" not found in namespace default; there are api, web\n',
    ),
    "two readers of standard input": (
        ["-", "-S", "-"],
        2,
        "error: standard input can be read only once: WORKLOAD and -S/--snapshot both ask for it\n",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("map", *arguments, *(["-o", "json"] if not code else []))
    assert (result.code, result.err) == (code, err)
    if not code:
        assert result.report_of(SCHEMA)["kind"] == "TopologyMap"


def test_on_a_terminal_it_is_drawn_by_skew_where_there_is_a_workload_and_by_load_else() -> None:
    whole, web = (run("map", *what, "-S", SHOP, terminal=80).out for what in ([], ["deploy/web"]))
    assert ("cpu 31%" in whole, "●" in whole) == (True, False)
    assert "●" in web


def test_in_a_pipe_the_answer_is_said_beside_the_columns() -> None:
    result = run("map", "-S", SHOP)
    assert result.err == "6 nodes: cpu 31%, memory 6%, pods 10% requested; fullest a2, cpu 37%\n"
    assert result.out.splitlines()[0].split() == ["ZONE", "NODE", "RUNNING", "CPU", "MEMORY", "PODS", "CLOSED"]
