"""What is to fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True, slots=True)
class AdvisingOptions:
    """How many pods are to fit."""

    replicas: Annotated[
        int | None,
        typer.Option(
            "--replicas",
            metavar="N",
            min=0,
            show_default=False,
            help="Ask about N replicas in total, including those already running (default: one more pod).",
        ),
    ] = None
