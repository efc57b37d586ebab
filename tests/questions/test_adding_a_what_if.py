"""A what-if that is not there yet is one small file: its event, and everything else is that of every outcome."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from docs.generators.fields import report_schema
from kubespread import questions
from kubespread.questions.registry import QUESTIONS, question
from tests.builders import Data, hosts, pod
from tests.cli.support import ROOT, run
from tests.world.clusters import deployment

FILE = ROOT / "tests" / "questions" / "restart.py"
CLUSTER = [*hosts("a", "b"), *deployment("web", ("n0", "n1")), pod("bare", "n0")]
LOST = "1 pod lost for good (Pod/bare)"


@pytest.fixture(scope="module", autouse=True)
def added() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "__path__", [*questions.__path__, str(FILE.parent)])
        patch.setitem(QUESTIONS, "restart", "Restart")
        yield


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("restart") / "cluster.json"
    items: Data = {"kind": "List", "apiVersion": "v1", "items": CLUSTER}
    file.write_text(json.dumps(items))
    return str(file)


def asked(cluster: str, *options: str, terminal: int | None = None) -> str:
    result = run("restart", "-S", cluster, "-q", *options, terminal=terminal)
    assert (result.code, result.err) == (1, "")
    return result.out


def test_it_is_one_small_file() -> None:
    assert len(FILE.read_text().splitlines()) <= 50


def test_it_has_a_table_on_a_terminal(cluster: str) -> None:
    assert asked(cluster, "-o", "table").splitlines() == [
        "No: 1 of 2 come back",
        "Each restarted",
        f"deleting Pod/bare: {LOST}",
        "  NAME            GONE  PLACED  LOST  PENDING  DEGRADED",
        "  Pod/bare           1       0     1        0         0",
        "  Deployment/web     2       2     0        0         0",
    ]


def test_it_has_json_that_its_schema_describes(cluster: str) -> None:
    report = json.loads(asked(cluster, "-o", "json"))
    Draft202012Validator(report_schema(question("restart").report())).validate(report)
    assert [(row["name"], row["verdict"]) for row in report["rows"]] == [("Pod/bare", "no"), ("Deployment/web", "yes")]
    lost = {"kind": "lost", "subject": "default/Pod/bare", "count": 1, "why": "", "certain": True}
    assert [row["troubles"] for row in report["rows"]] == [[lost], []]


def test_it_has_columns_in_a_pipe_a_page_and_metrics(cluster: str) -> None:
    assert asked(cluster).splitlines()[1].endswith(LOST)
    assert "1 of 2 come back" in asked(cluster, "-o", "html")
    assert 'kubespread_restart_lost_pods{name="Pod/bare"} 1' in asked(cluster, "-o", "prometheus").splitlines()
