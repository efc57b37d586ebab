"""Which nodes are replaced, how many at a time, and what their drain may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.errors import UsageError

PoolArgument = Annotated[
    str | None,
    typer.Argument(metavar="[NODES]", show_default=False, help="Nodes to replace: a name, or labels (pool=a)."),
]
_PANEL = "Drain, here and with --drain"


@dataclass(frozen=True, slots=True)
class UpgradeOptions:
    """Which nodes are replaced, and how many at a time."""

    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes", metavar="NODES", show_default=False, help="Nodes to replace; same as the NODES argument."
        ),
    ] = None
    surge: Annotated[
        int,
        typer.Option(
            "--surge", metavar="N", min=0, help="New nodes that join before the ones they replace are drained."
        ),
    ] = 0
    batch: Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Nodes replaced at a time.")] = 1

    def asked(self, pool: str | None) -> str:
        """The nodes that are named, by the argument or by --nodes. Raises UsageError."""
        if (pool is None) == (self.nodes is None):
            raise UsageError("name the nodes to replace once, by name or labels: kubespread upgrade pool=a")
        return pool or self.nodes or ""


@dataclass(frozen=True, slots=True)
class DrainedClusterOptions(EditedClusterOptions):
    """The flags of ``kubectl drain``, set as managed node pools have them."""

    ignore_daemonsets: Annotated[
        bool,
        typer.Option(
            "--ignore-daemonsets/--no-ignore-daemonsets",
            help="Ignore DaemonSet pods; without it kubectl refuses to drain a node that has any.",
            rich_help_panel=_PANEL,
        ),
    ] = True
    delete_emptydir_data: Annotated[
        bool,
        typer.Option(
            "--delete-emptydir-data/--no-delete-emptydir-data",
            help="Also evict pods with emptyDir volumes; without it kubectl refuses.",
            rich_help_panel=_PANEL,
        ),
    ] = True
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also evict pods without a controller; without it kubectl refuses.", rich_help_panel=_PANEL
        ),
    ] = False

    @property
    def drains(self) -> bool:
        return True
