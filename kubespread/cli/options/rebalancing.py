"""Whose constraints are to hold, and what the descheduler is told that is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.workloads import WorkloadsOptions


@dataclass(frozen=True, slots=True)
class RebalancingOptions(WorkloadsOptions):
    """Whose constraints are to hold, and what the descheduler is told."""

    soft: Annotated[
        bool,
        typer.Option(
            "--soft", help="Also satisfy soft constraints (ScheduleAnyway), including the scheduler's built-in ones."
        ),
    ] = False
    descheduler: Annotated[
        str | None,
        spelling.valued(
            "--descheduler",
            metavar="POLICY",
            help="Also show what the descheduler would do with this DeschedulerPolicy, round by round.",
        ),
    ] = None
