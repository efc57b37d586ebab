"""What the library returns is what ``-o json`` prints: one contract, whoever asks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping

import pytest

import kubespread
from kubespread.questions.registry import QUESTIONS
from kubespread.reports.parts import Report
from tests.cli.support import CLUSTER, FIXTURES, POD, run

AUDITED = str(FIXTURES / "clusters" / "audit.yaml")
SCHEDULER = kubespread.Scheduler()
PROMISES = str(FIXTURES / "promises" / "room.yaml")
ASKED: Mapping[str, tuple[tuple[str, ...], str, Callable[[kubespread.Snapshot], Report]]] = {
    "explain": (("explain", POD), CLUSTER, lambda cluster: kubespread.explain(cluster, POD)),
    "simulate": (
        ("simulate", "deploy/web", "--replicas", "9"),
        AUDITED,
        lambda cluster: kubespread.simulate(cluster, "deploy/web", 9),
    ),
    "pending": (("pending", "-A"), AUDITED, kubespread.pending),
    "verify": (("verify", PROMISES), AUDITED, lambda cluster: kubespread.verify(cluster, PROMISES)),
    "report": (("report", "-A"), AUDITED, kubespread.report),
    "audit": (("audit", "-A"), AUDITED, kubespread.audit),
    "rebalance": (("rebalance", "-A"), AUDITED, kubespread.rebalance),
    "capacity": (("capacity", "--request", "cpu=1"), AUDITED, lambda cluster: kubespread.capacity(cluster, "cpu=1")),
    "removable": (("removable",), AUDITED, kubespread.removable),
    "survive": (("survive", "-A"), AUDITED, kubespread.survive),
    "plan": (("plan", "--cordon", "a1"), AUDITED, lambda cluster: kubespread.plan(cluster.edited("cordon a1"))),
    "upgrade": (("upgrade", "a1"), AUDITED, lambda cluster: kubespread.upgrade(cluster, "a1")),
    "compare": (
        ("compare", "deploy/web", "--set", "cpu=1"),
        AUDITED,
        lambda cluster: kubespread.compare(
            kubespread.Side(cluster, "deploy/web"), kubespread.Side(cluster, "deploy/web", SCHEDULER, ["cpu=1"])
        ),
    ),
    "check": (("check", "-A"), AUDITED, kubespread.check),
    "map": (("map", "deploy/web"), AUDITED, lambda cluster: kubespread.topology_map(cluster, "deploy/web")),
}
"""By question, the command, its cluster, and the same asked of the library."""


def test_every_question_is_asked() -> None:
    assert ASKED.keys() == QUESTIONS.keys()


@pytest.mark.parametrize("question", ASKED)
def test_the_library_answers_what_the_command_prints(question: str) -> None:
    command, cluster, ask = ASKED[question]
    printed = json.loads(run(*command, "-S", cluster, "-o", "json", "-q").out)
    assert printed.pop("provenance").keys() == {"version", "command", "time"}
    assert {**printed, "provenance": None} == ask(kubespread.load(cluster)).to_dict()


def test_a_command_says_what_made_its_answer() -> None:
    command = ("audit", "-A", "-S", AUDITED, "-o", "json", "-q")
    printed = json.loads(run(*command).out)
    typed = shlex.join(["kubespread", *command])
    assert printed["provenance"] == {
        "version": kubespread.__version__,
        "command": typed,
        "time": "2023-11-14T22:13:20Z",
    }


def test_a_workload_that_is_chosen_by_its_name_is_not_the_questions_name() -> None:
    command = ("explain", POD, "--name", "mypod", "--set", "cpu=1", "-S", CLUSTER, "-o", "json", "-q")
    assert json.loads(run(*command).out)["question"] == {"name": "explain", "set": ["cpu=1"]}


@pytest.mark.parametrize("epoch", ["", "soon", "-1", "1e9", "9" * 30])
def test_a_time_that_is_none_is_not_taken_for_the_answers(epoch: str) -> None:
    printed = json.loads(run("audit", "-A", "-S", AUDITED, "-o", "json", "-q", env={"SOURCE_DATE_EPOCH": epoch}).out)
    assert printed["provenance"]["time"] > "2026"
