"""Whether nodes are added for replicas that find none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kubespread.cli.options.placing import PlacingOptions
from kubespread.node_groups.types import Autoscaler

PANEL = "Autoscaling"


@dataclass(frozen=True, slots=True)
class ScalingOptions(PlacingOptions):
    """How many replicas to place, and which autoscaler adds nodes for those that find none."""

    autoscaler: Annotated[
        Autoscaler | None,
        typer.Option(
            "--autoscaler",
            case_sensitive=False,
            show_default=False,
            rich_help_panel=PANEL,
            help="Let cluster-autoscaler or Karpenter add nodes for replicas that find none.",
        ),
    ] = None
    node_groups: Annotated[
        str | None,
        typer.Option(
            "--node-groups",
            metavar="FILE",
            show_default=False,
            rich_help_panel=PANEL,
            help="Node groups the autoscaler may grow (default: the snapshot's MachineDeployments or NodePools).",
        ),
    ] = None
