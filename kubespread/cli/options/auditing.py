"""Which workloads are looked at, and when the answer is no."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.workloads import WorkloadsOptions
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.planner.reports.audit import AuditReport

WorkloadsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WORKLOAD]...",
        show_default=False,
        help="Workloads as KIND/NAME (deploy/web). Default: all that have pods, or are to.",
    ),
]


class FailLevel(StrEnum):
    VIOLATED = "violated"
    UNEVEN = "uneven"
    RISK = "risk"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class AuditOptions(WorkloadsOptions):
    """Which workloads are looked at, when the answer is no, and how much of it is shown."""

    fail_on: Annotated[
        FailLevel | None,
        spelling.fail_on(
            "Exit with 1 when a workload is at this level or above: unjudged (placed by another scheduler), risk, "
            "uneven (a soft constraint exceeded), violated (a hard one; the default)."
        ),
    ] = None
    why: Annotated[bool, typer.Option("--why", help="Show what was tried to find each cause, and the result.")] = False

    def failures(self, report: AuditReport) -> list[str]:
        """What --fail-on asks about and some workload is."""
        if self.fail_on is None or not (number := report.reaches(self.fail_on.value)):
            return []
        return [f"--fail-on {self.fail_on.value}: {count_of(number, 'workload')} at this level or above"]
