"""``kubespread audit``: exit codes, streams and the schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.builders import hosts
from tests.cli.support import FIXTURES, ROOT, run
from tests.world.clusters import deployment

CLUSTER = str(FIXTURES / "clusters" / "audit.yaml")
FLEET = str(FIXTURES / "clusters" / "fleet.yaml")
PROMO = str(FIXTURES / "cases" / "everyday" / "t1.json.gz")
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "audit-report.json").read_text()))

CODES: dict[str, tuple[list[str], int, str]] = {
    "a hard constraint that is violated": (["-S", CLUSTER], 1, ""),
    "a label that no node has": (
        ["-S", CLUSTER, "--key", "zoen"],
        2,
        "error: no node has the topology key 'zoen'; did you mean topology.kubernetes.io/zone?\n",
    ),
    "a soft one that is exceeded": (["deploy/cache", "-S", CLUSTER], 0, ""),
    "the same where that is to fail": (
        ["deploy/cache", "-S", CLUSTER, "--fail-on", "uneven"],
        1,
        "requirement not met: --fail-on uneven: 1 workload at this level or above\n",
    ),
    "pods at risk": (["-A", "-S", FLEET], 0, ""),
    "the same where that is to fail at risk": (
        ["-A", "-S", FLEET, "--fail-on", "risk"],
        1,
        "requirement not met: --fail-on risk: 2 workloads at this level or above\n",
    ),
    "none of four pods on a node": (
        ["deploy/promo", "-n", "shop", "-S", PROMO, "--fail-on", "risk"],
        1,
        "requirement not met: --fail-on risk: 1 workload at this level or above\n",
    ),
    "nothing found": (["deploy/api", "-S", CLUSTER, "--fail-on", "risk"], 0, ""),
    "workloads with labels": (["-S", CLUSTER, "-l", "app=worker"], 0, ""),
    "a workload that is not there": (
        ["deploy/wbe", "-S", CLUSTER],
        2,
        'error: deployments.apps "wbe" not found in namespace default; there are api, cache, web\n',
    ),
    "a workload of another namespace": (
        ["deploy/web", "-n", "shop", "-S", CLUSTER],
        2,
        'error: deployments.apps "web" not found in namespace shop; there is one in namespace default\n',
    ),
    "no workload": (
        ["web", "-S", CLUSTER],
        2,
        "error: invalid workload 'web': expected [NAMESPACE/]KIND/NAME, such as deploy/web\n",
    ),
    "names and all namespaces": (
        ["deploy/web", "-A", "-S", CLUSTER],
        2,
        "error: WORKLOAD and -A/--all-namespaces do not go together: both say which workloads are meant\n",
    ),
    "a namespace without workloads": (
        ["-n", "shop", "-S", CLUSTER],
        2,
        "error: no workloads in namespace shop; there is default\n",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("audit", *arguments, "-q")
    assert (result.code, result.err) == (code, err)


def test_json_is_what_the_schema_says() -> None:
    report = run("audit", "-A", "-S", CLUSTER, "-o", "json").report_of(SCHEMA)
    assert [(row["workload"], row["level"]) for row in report["workloads"]] == [
        ("default/Deployment/web", "violated"),
        ("default/Deployment/cache", "uneven"),
        ("default/Pod/worker-0", "risk"),
        ("default/Deployment/api", "ok"),
    ]


def test_in_a_pipe_notes_and_conclusion_stand_on_standard_error() -> None:
    result = run("audit", "-S", CLUSTER)
    assert result.out.startswith("WORKLOAD ")
    assert result.err.splitlines()[-1] == "No: 1 violated, 1 uneven, 1 at risk, 1 fine of 4 workloads"


def test_why_shows_what_was_tried() -> None:
    out = run("audit", "deploy/cache", "-S", CLUSTER, "-v", "-o", "table").out
    assert "placed afresh without the score of NodeAffinity: 3/3/2, skew 1" in out


def test_what_nobody_can_judge_fails_only_where_it_is_asked_to(tmp_path: Path) -> None:
    objects = [*hosts("a", "b"), *deployment("web", ("n0", "n1"), spec={"schedulerName": "volcano"})]
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    assert run("audit", "-S", cluster, "-o", "json").report_of(SCHEMA)["verdict"] == "unknown"
    assert [run("audit", "-S", cluster, *more).code for more in ((), ("--fail-on", "unjudged"))] == [0, 1]
