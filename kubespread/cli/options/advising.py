"""What is to fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options.counts import count


@dataclass(frozen=True, slots=True)
class AdvisingOptions:
    """How many pods are to fit."""

    replicas: Annotated[
        str | None,
        typer.Option(
            "--replicas",
            metavar="N",
            show_default=False,
            help="Ask about N replicas in total, including those already running (default: the workload's own; of a "
            "DaemonSet one more pod).",
        ),
    ] = None

    @property
    def desired(self) -> int | None:
        """The number of replicas that is asked for, if any. Raises UsageError."""
        return None if self.replicas is None else count("--replicas", self.replicas, "a number from 0")
