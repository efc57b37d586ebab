"""Whether replicas are placed together or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.scaling import ScalingOptions


@dataclass(frozen=True, slots=True)
class GangOptions(ScalingOptions):
    """How many replicas to place, and how many of them at once or not at all."""

    gang: Annotated[
        int | None,
        typer.Option(
            "--gang",
            metavar="N",
            min=1,
            show_default=False,
            help="Place N replicas together or none of them. With --replicas, a multiple of N: one gang after another.",
        ),
    ] = None
    same: Annotated[
        str | None,
        spelling.valued(
            "--same",
            metavar="KEY",
            help="With --gang, place all members in one domain of this topology key, and show each domain's verdict.",
        ),
    ] = None
