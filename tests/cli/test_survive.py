"""``kubespread survive`` and ``kubespread upgrade``: exit codes, streams and schemas."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import CLUSTER, FIXTURES, ROOT, run

LOST = str(FIXTURES / "clusters" / "zone-lost-min-domains.yaml")
DB = str(FIXTURES / "cases" / "judgment" / "16" / "z.json")
BLOCKED = str(FIXTURES / "clusters" / "upgrade-blocked.yaml")
SURVIVE, PLAN = (
    Draft202012Validator(json.loads((ROOT / "docs" / "schema" / f"{name}-report.json").read_text()))
    for name in ("survive", "plan")
)
SKEWED = (
    "zone-a: 3 pods pending (Deployment/api, Deployment/web): 0/6 nodes are available: 2 node(s) had untolerated "
    "taint(s), 4 node(s) didn't match pod topology spread constraints"
)

CODES: dict[str, tuple[list[str], int, str]] = {
    "a no ends with 1": (["survive", "-S", LOST, "-q"], 1, ""),
    "pods that stay pending, where that is to fail": (
        ["survive", "-S", LOST, "-q", "--fail-on", "pending"],
        1,
        f"requirement not met: --fail-on pending: losing {SKEWED}\n",
    ),
    "degraded workloads, where that is to fail": (
        ["survive", "-S", LOST, "-q", "--fail-on", "short", "--fail-on", "lost"],
        1,
        "requirement not met: --fail-on short: losing zone-a: 2 workloads degraded (at worst Deployment/web 4 of 6 ready)\n",
    ),
    "pods that nobody makes again, where that is to fail": (
        ["survive", "-S", CLUSTER, "-q", "--fail-on", "lost", "--key", "zone"],
        1,
        "requirement not met: --fail-on lost: losing zoneA: 2 pods lost for good (Pod/mypod-1, Pod/mypod-2)\n",
    ),
    "nothing of what is to fail": (["survive", "-S", LOST, "-q", "--fail-on", "lost"], 0, ""),
    "anything": (
        ["survive", "-S", LOST, "-q", "--fail-on", "any"],
        1,
        f"requirement not met: --fail-on any: losing {SKEWED}\n",
    ),
    "pods that wait only once the Node objects are deleted": (
        ["survive", "-A", "-S", DB, "-q", "--fail-on", "pending", "--nodes-deleted"],
        1,
        "requirement not met: --fail-on pending: losing zone a: 1 pod pending (StatefulSet/db): 0/2 nodes are available: "
        "2 node(s) didn't match Pod's node affinity/selector\n",
    ),
    "a namespace without workloads": (
        ["survive", "-S", LOST, "-n", "shop"],
        2,
        "error: no workloads in namespace shop; there is default\n",
    ),
    "an upgrade that is blocked": (["upgrade", "pool=blue", "-S", BLOCKED, "-q"], 1, ""),
    "an upgrade that gets through": (["upgrade", "pool=blue", "-S", BLOCKED, "-q", "--scale", "deploy/web=4"], 0, ""),
    "no nodes to upgrade": (
        ["upgrade", "-S", BLOCKED],
        2,
        "error: Missing argument 'NODES'. (see 'kubespread upgrade --help')\n",
    ),
    "nodes that are not there": (
        ["upgrade", "node-9", "-S", BLOCKED],
        2,
        'error: nodes "node-9" not found, did you mean "node-3"?\n',
    ),
    "a flag of the drain, which needs no --drain here": (
        ["upgrade", "pool=blue", "-S", BLOCKED, "-q", "--force", "--no-ignore-daemonsets"],
        1,
        "",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run(*arguments, "-o", "json") if code < 2 else run(*arguments)
    assert (result.code, result.err) == (code, err)


def test_json_is_what_the_schema_says() -> None:
    assert run("survive", "-A", "-S", LOST, "-o", "json").report_of(SURVIVE)["kind"] == "SurviveReport"
    blocked = run("upgrade", "pool=blue", "-S", BLOCKED, "-o", "json").report_of(PLAN)
    assert blocked["remedies"] == [
        {"options": "--scale default/Deployment/web=4", "lost": [], "left": ""},
        {"options": "--budget default/web:maxUnavailable=1", "lost": [], "left": ""},
    ]


def test_in_a_pipe_notes_and_conclusion_stand_on_standard_error() -> None:
    result = run("survive", "-S", LOST)
    assert result.out.startswith("KEY ")
    assert result.err.splitlines()[-1] == (
        "No: none of 3 zones can be lost. zone-a: 3 pods pending (Deployment/api, Deployment/web), 2 workloads degraded "
        "(at worst Deployment/web 4 of 6 ready)"
    )
    assert result.err.startswith("gap: no LimitRange, ResourceQuota objects: pods are created as if there were none\n")
