"""What a map is grouped and colored by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.errors import UsageError
from kubespread.views.look import MapBy


@dataclass(frozen=True, slots=True)
class MappingOptions:
    """What a map is grouped and colored by."""

    by: Annotated[
        MapBy | None,
        typer.Option(
            "--by",
            case_sensitive=False,
            show_default=False,
            help="Show how full nodes are, or the pods of WORKLOAD and their skew (default: skew with a WORKLOAD).",
        ),
    ] = None
    key: Annotated[
        list[str] | None,
        spelling.valued(
            "--key",
            metavar="KEY",
            help="Group nodes by this topology key, widest first (default: region, zone, rack and the keys of the "
            "constraints). Repeatable.",
        ),
    ] = None

    def shown(self, *, has_workload: bool) -> MapBy:
        """What the colors are about. Raises UsageError."""
        if self.by is MapBy.SKEW and not has_workload:
            raise UsageError("--by skew shows how pods are spread: name their WORKLOAD")
        return self.by or (MapBy.SKEW if has_workload else MapBy.LOAD)
