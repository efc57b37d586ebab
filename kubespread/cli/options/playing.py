"""How a scenario is played, and what of it is a no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.gangs import GangOptions
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
        "Exit with 1 when pods are left pending, or when a step was blocked, refused or not done in full "
        "(default: both; 'nothing': never). Repeatable."
    ),
]


def is_no(fail_on: Sequence[FailOn] | None, report: PlayReport) -> bool:
    """Whether ``report`` is a no. Raises UsageError."""
    asked = fail_on or [FailOn.PENDING, FailOn.BLOCKED]
    if FailOn.NOTHING in asked and len(asked) > 1:
        raise UsageError("--fail-on nothing does not go with another --fail-on")
    return (FailOn.PENDING in asked and report.pending > 0) or (FailOn.BLOCKED in asked and bool(report.blocked))


@dataclass(frozen=True, slots=True)
class PlayingOptions:
    """How a scenario is played."""

    fail_on: FailOnOption = None
    namespace: Annotated[
        str | None,
        spelling.namespace("Namespace of names without one, when the scenario sets none."),
    ] = None
    no_preemption: Annotated[
        bool, typer.Option("--no-preemption", help="Disable preemption, whatever the scenario says.")
    ] = False
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
    no_preemption: Annotated[bool, typer.Option("--no-preemption", help="With --then, disable preemption.")] = False
