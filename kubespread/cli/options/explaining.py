"""What is shown of an explanation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.placing import PreemptionOption
from kubespread.views.look import RowOf


class Sort(StrEnum):
    SCORE = "score"
    NAME = "name"
    SKEW = "skew"


@dataclass(frozen=True, slots=True)
class ExplainingOptions:
    """Which nodes are shown, in which rows, and what else of them."""

    preemption: PreemptionOption = False
    node: Annotated[
        list[str] | None,
        spelling.valued("--node", metavar="NAME", help="Explain this node in full, in sentences. Repeatable."),
    ] = None
    by: Annotated[
        RowOf | None,
        typer.Option(
            "--by",
            case_sensitive=False,
            show_default=False,
            help="One row per node or per domain (default: per domain on a terminal with more than 10 nodes).",
        ),
    ] = None
    all_nodes: Annotated[
        bool, typer.Option("--all-nodes", help="Show every node in the table, however many there are.")
    ] = False
    pods: Annotated[bool, typer.Option("--pods", help="List the matching pods of each domain.")] = False
    sort: Annotated[Sort, typer.Option("--sort", case_sensitive=False, help="Order of the nodes.")] = Sort.SCORE
