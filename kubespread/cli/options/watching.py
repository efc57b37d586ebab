"""Asking again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Whether the question is asked again, and how often."""

    watch: Annotated[
        bool,
        typer.Option(
            "-w",
            "--watch",
            help="Ask again whenever a file changes, or at an interval for a running cluster. Redraws; a pipe gets "
            "one line per change.",
        ),
    ] = False
    watch_interval: Annotated[
        str, typer.Option("--watch-interval", metavar="TIME", help="How often --watch reads a running cluster.")
    ] = "5s"
    parsed_again: Callable[[], Any] | None = None
    """The context of the same command line, with what configuration files set by now, from `OrderedCommand`."""
