"""A question is one thing: its own file and a line in the registry, and every door is made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

import kubespread
from docs.generators.fields import report_schema
from kubespread import questions
from kubespread.questions.calls import tools
from kubespread.questions.registry import QUESTIONS
from tests.builders import hosts, pod
from tests.cli.support import ROOT, run

FILE = ROOT / "tests" / "questions" / "crowded.py"
CLUSTER = {"kind": "List", "apiVersion": "v1", "items": [*hosts("a", "b"), pod("one", "n0"), pod("two", "n0")]}


@pytest.fixture(scope="module", autouse=True)
def added() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "__path__", [*questions.__path__, str(FILE.parent)])
        patch.setitem(QUESTIONS, "crowded", "Crowded")
        yield


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("crowded") / "cluster.json"
    file.write_text(json.dumps(CLUSTER))
    return str(file)


def asked(cluster: str, *options: str, terminal: int | None = None) -> tuple[int, str]:
    result = run("crowded", "-S", cluster, "--most", "1", "-q", *options, terminal=terminal)
    assert result.err == ""
    return result.code, result.out


def test_it_is_one_small_file() -> None:
    assert len(FILE.read_text().splitlines()) <= 55


FORMS = {
    "": "NODE   PODS\nn0     2\n",
    "csv": "node,pods\nn0,2\n",
    "table": "No: 1 nodes are crowded\nCrowded\n  NODE  PODS\n  n0       2\n",
    "markdown": "### Crowded\n\n**No: 1 nodes are crowded**\n\n"
    "**Crowded nodes**\n\n| Node | Pods |\n| --- | ---: |\n| n0 | 2 |\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_it_is_a_command_whose_rows_have_every_form(form: str, cluster: str) -> None:
    code, out = asked(cluster, *(("-o", form) if form else ()))
    assert (code, out.partition("\n\n<details>")[0].rstrip("\n")) == (1, FORMS[form].rstrip("\n"))


def test_its_verdict_is_the_exit_code(cluster: str) -> None:
    result = run("crowded", "-S", cluster, "-q")
    assert (result.code, result.out) == (0, "NODE   PODS\n")


def test_it_has_a_page_and_json_that_its_schema_describes(cluster: str) -> None:
    _, out = asked(cluster, "-o", "json")
    report = json.loads(out)
    Draft202012Validator(report_schema(kubespread.questions.crowded.CrowdedReport)).validate(report)
    assert report["crowdedNodes"] == [{"node": "n0", "pods": 2}]
    assert "1 nodes are crowded" in asked(cluster, "-o", "html")[1]


def test_its_help_says_what_its_file_says() -> None:
    own, all_commands = run("crowded", "--help").out, run("--help").out
    assert "Find the nodes that hold more pods than they are to." in own
    assert "--most N" in own
    assert "How many pods a node may hold." in own
    assert "1 some node is" in own
    assert "crowded (find crowded nodes)" in " ".join(all_commands.split())


def test_it_is_completed(tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = str(tmp_path_factory.mktemp("cache"))
    result = run("crowded", "--mo", env={"XDG_CACHE_HOME": cache, "_KUBESPREAD_COMPLETE": "zsh"})
    assert "--most" in result.out


def test_it_is_a_tool(cluster: str) -> None:
    tool = tools()["crowded"]
    answer = tool.call(kubespread.load(cluster), kubespread.Scheduler(), {"most": 1})
    assert (tool.description, answer["verdict"]) == ("Find the nodes that hold more pods than they are to.", "no")


def test_it_is_asked_in_the_library(cluster: str) -> None:
    from kubespread.questions.crowded import Crowded  # type: ignore[import-not-found]  # added here

    assert kubespread.ask(kubespread.load(cluster), Crowded(most=1)).verdict == "no"
