"""Which workloads are looked at, and when the answer is no."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from kubespread.planner.reports.audit import AuditReport

WorkloadsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[WORKLOAD]...",
        show_default=False,
        help="Workloads by KIND/NAME (deploy/web). Default: all that have pods.",
    ),
]


class FailLevel(StrEnum):
    VIOLATED = "violated"
    UNEVEN = "uneven"
    RISK = "risk"


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Which workloads are looked at, and when the answer is no."""

    namespace: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--namespace",
            metavar="NAME",
            show_default=False,
            help="Namespace of the workloads (default: that of the context, or default).",
        ),
    ] = None
    all_namespaces: Annotated[
        bool, typer.Option("-A", "--all-namespaces", help="Audit the workloads of all namespaces.")
    ] = False
    selector: Annotated[
        str | None,
        typer.Option(
            "-l",
            "--selector",
            metavar="LABELS",
            show_default=False,
            help="Audit the workloads with these labels (app=web,tier!=db).",
        ),
    ] = None
    fail_on: Annotated[
        FailLevel,
        typer.Option(
            "--fail-on",
            case_sensitive=False,
            help="Exit with 1 when a workload is at this level or above: at risk, uneven (a soft constraint exceeded), "
            "violated (a hard one).",
        ),
    ] = FailLevel.VIOLATED

    def fails(self, report: AuditReport) -> bool:
        """Whether some workload is at the level of --fail-on or above."""
        from kubespread.planner.reports.audit import LEVELS

        return any(report.count(level) for level in LEVELS[LEVELS.index(self.fail_on.value) :])
