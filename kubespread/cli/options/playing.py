"""How a scenario is played, and what of it is a no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.gangs import GangOptions
from kubespread.cli.options.placing import NoPreemptionOption
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.planner.reports.play import PlayReport


class FailOn(StrEnum):
    PENDING = "pending"
    BLOCKED = "blocked"
    NOTHING = "nothing"


FailOnOption = Annotated[
    list[FailOn] | None,
    spelling.fail_on(
        "Exit with 1 when pods are left pending, not created or not made yet (pending), or when a step was blocked, "
        "refused or not done in full, or preemption broke a disruption budget (blocked). Default: both; 'nothing': "
        "never. Repeatable."
    ),
]


DealsOption = Annotated[
    int | None,
    typer.Option(
        "--deals",
        metavar="N",
        min=1,
        show_default=False,
        help="Play N times, with equal pods and nodes dealt anew each time, and say how often it gets stuck (default: "
        "8 where controllers pick among equal pods or nodes, else 1).",
    ),
]


def judged(fail_on: Sequence[FailOn] | None, report: PlayReport) -> tuple[PlayReport, bool | None]:
    """The report with what --fail-on requires and is not so, and whether it is a yes; None where its verdict says so.
    Raises UsageError.
    """
    if not fail_on:
        return report, None
    if FailOn.NOTHING in fail_on and len(fail_on) > 1:
        raise UsageError("--fail-on nothing does not go with another --fail-on")
    failures = {
        FailOn.PENDING: [*report.lacking, *report.chances],
        FailOn.BLOCKED: [*report.not_done, *report.chances],
        FailOn.NOTHING: [],
    }
    unmet = [
        f"--fail-on {asked.value}: {', '.join(failures[asked])}" for asked in dict.fromkeys(fail_on) if failures[asked]
    ]
    return report.requiring(unmet), True


@dataclass(frozen=True, slots=True)
class PlayingOptions:
    """How a scenario is played."""

    fail_on: FailOnOption = None
    namespace: Annotated[
        str | None,
        spelling.namespace("Namespace of names without one, when the scenario sets none."),
    ] = None
    no_preemption: NoPreemptionOption = False
    deals: DealsOption = None
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            metavar="STEP",
            min=0,
            show_default=False,
            help="With --explain, the step after which to explain the pod (default: the last; 0: before the first).",
        ),
    ] = None
    explain: Annotated[
        str | None,
        spelling.valued(
            "--explain",
            metavar="POD",
            help="Explain a pod at one moment instead: a manifest, or KIND/NAME in the cluster at that moment.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ThenOptions(GangOptions):
    """How a workload is placed, and what happens to it then."""

    then: Annotated[
        list[str] | None,
        spelling.valued(
            "--then",
            metavar="STEP",
            help="Apply the workload to the cluster, then play this step: scale=N, rollout, rollout=MANIFEST, "
            "rollback, or an edit (fail=zone=a, 'drain NODE --ignore-daemonsets'). Repeatable, played in order.",
        ),
    ] = None
    fail_on: FailOnOption = None
    deals: DealsOption = None
