"""Which workloads are looked at, and when the answer is no."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.options.workloads import WorkloadsOptions

if TYPE_CHECKING:
    from kubespread.planner.reports.audit import AuditReport

WorkloadsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WORKLOAD]...",
        show_default=False,
        help="Workloads as KIND/NAME (deploy/web). Default: all that have pods.",
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
        FailLevel,
        typer.Option(
            "--fail-on",
            case_sensitive=False,
            help="Exit with 1 when a workload is at this level or above: unjudged (placed by another scheduler), risk, "
            "uneven (a soft constraint exceeded), violated (a hard one).",
        ),
    ] = FailLevel.VIOLATED
    why: Annotated[bool, typer.Option("--why", help="Show what was tried to find each cause, and the result.")] = False

    def fails(self, report: AuditReport) -> bool:
        """Whether some workload is at the level of --fail-on or above."""
        from kubespread.planner.reports.audit import LEVELS

        return any(report.count(level) for level in LEVELS[LEVELS.index(self.fail_on.value) :])
