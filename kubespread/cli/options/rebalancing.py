"""Whose constraints are to hold, and what the descheduler is told that is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True, slots=True)
class RebalancingOptions:
    """Whose constraints are to hold, and what the descheduler is told."""

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
        bool, typer.Option("-A", "--all-namespaces", help="Ask about the workloads of all namespaces.")
    ] = False
    selector: Annotated[
        str | None,
        typer.Option(
            "-l",
            "--selector",
            metavar="LABELS",
            show_default=False,
            help="Ask about the workloads with these labels (app=web,tier!=db).",
        ),
    ] = None
    soft: Annotated[
        bool,
        typer.Option(
            "--soft", help="Make soft constraints (ScheduleAnyway) hold too, the scheduler's built-in ones among them."
        ),
    ] = False
    descheduler: Annotated[
        str | None,
        typer.Option(
            "--descheduler",
            metavar="POLICY",
            show_default=False,
            help="Show beside the plan what the descheduler would do with this DeschedulerPolicy, round by round.",
        ),
    ] = None
