"""What the library returns is what ``-o json`` prints: one contract, whoever asks."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping

import pytest

import kubespread
from kubespread.questions.schema import FILES
from kubespread.reports.parts import Report
from tests.cli.support import CLUSTER, FIXTURES, POD, run

AUDITED = str(FIXTURES / "clusters" / "audit.yaml")
SCHEDULER = kubespread.Scheduler()
PROMISES = str(FIXTURES / "promises" / "room.yaml")
ASKED: Mapping[str, tuple[tuple[str, ...], str, Callable[[kubespread.Snapshot], Report]]] = {
    "ExplainReport": (("explain", POD), CLUSTER, lambda cluster: kubespread.explain(cluster, POD)),
    "SimulateReport": (
        ("simulate", "deploy/web", "--replicas", "9"),
        AUDITED,
        lambda cluster: kubespread.simulate(cluster, "deploy/web", 9),
    ),
    "PendingReport": (("pending", "-A"), AUDITED, kubespread.pending),
    "VerifyReport": (("verify", PROMISES), AUDITED, lambda cluster: kubespread.verify(cluster, PROMISES)),
    "Scorecard": (("report", "-A"), AUDITED, kubespread.report),
    "AuditReport": (("audit", "-A"), AUDITED, kubespread.audit),
    "RebalanceReport": (("rebalance", "-A"), AUDITED, kubespread.rebalance),
    "CapacityReport": (
        ("capacity", "--request", "cpu=1"),
        AUDITED,
        lambda cluster: kubespread.capacity(cluster, "cpu=1"),
    ),
    "RemovableReport": (("removable",), AUDITED, kubespread.removable),
    "SurviveReport": (("survive", "-A"), AUDITED, kubespread.survive),
    "PlanReport": (("plan", "--cordon", "a1"), AUDITED, lambda cluster: kubespread.plan(cluster.edited("cordon a1"))),
    "UpgradeReport": (("upgrade", "a1"), AUDITED, lambda cluster: kubespread.upgrade(cluster, "a1")),
    "CompareReport": (
        ("compare", "deploy/web", "--set", "cpu=1"),
        AUDITED,
        lambda cluster: kubespread.compare(
            kubespread.Side(cluster, "deploy/web"), kubespread.Side(cluster, "deploy/web", SCHEDULER, ["cpu=1"])
        ),
    ),
    "CheckReport": (("check", "-A"), AUDITED, kubespread.check),
    "TopologyMap": (("map", "deploy/web"), AUDITED, lambda cluster: kubespread.topology_map(cluster, "deploy/web")),
}
"""By kind of report, the command, its cluster, and the same question asked of the library."""


def test_every_report_is_asked_for() -> None:
    """Fleets have tests of their own."""
    assert {*ASKED, "FleetReport"} == {report.__name__ for report in FILES.values()}


@pytest.mark.parametrize("kind", ASKED)
def test_the_library_answers_what_the_command_prints(kind: str) -> None:
    command, cluster, ask = ASKED[kind]
    printed = json.loads(run(*command, "-S", cluster, "-o", "json", "-q").out)
    assert printed["kind"] == kind
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


@pytest.mark.parametrize("epoch", ["", "soon", "-1", "1e9", "9" * 30])
def test_a_time_that_is_none_is_not_taken_for_the_answers(epoch: str) -> None:
    printed = json.loads(run("audit", "-A", "-S", AUDITED, "-o", "json", "-q", env={"SOURCE_DATE_EPOCH": epoch}).out)
    assert printed["provenance"]["time"] > "2026"
