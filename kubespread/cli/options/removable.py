"""Which nodes are to go, and what their drain may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options.upgrading import DrainedClusterOptions

NodesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NODES]...", show_default=False, help="Nodes to ask about: a name, or labels (pool=a). Default: all."
    ),
]


@dataclass(frozen=True, slots=True)
class RemovableClusterOptions(DrainedClusterOptions):
    """The flags of ``kubectl drain``, set so that nothing is lost."""

    delete_emptydir_data: Annotated[
        bool,
        typer.Option(
            "--delete-emptydir-data",
            help="Also evict pods with emptyDir volumes; without it they block their nodes.",
            rich_help_panel="Drain, here and with --drain",
        ),
    ] = False
