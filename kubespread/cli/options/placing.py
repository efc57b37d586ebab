"""How many replicas are placed, and in what manner."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from kubespread.cli.options import spelling
from kubespread.cli.options.counts import count

_MAX = "max"


class TieBreak(StrEnum):
    SCHEDULER = "scheduler"
    NAME = "name"


PreemptionOption = Annotated[
    bool,
    typer.Option(
        "--preemption", help="When no node fits, predict what preemption would do.", rich_help_panel="Scheduler"
    ),
]


NoPreemptionOption = Annotated[
    bool,
    typer.Option(
        "--no-preemption",
        help="Never evict pods of lower priority to make room, though kube-scheduler would.",
        rich_help_panel="Scheduler",
    ),
]


@dataclass(frozen=True, slots=True)
class PlacingOptions:
    """How many replicas to place, and how ties are broken."""

    replicas: Annotated[
        str | None,
        spelling.valued(
            "--replicas", metavar="N", help="Desired replicas, or 'max': as many as fit (default: the workload's own)."
        ),
    ] = None
    until_full: Annotated[
        bool, typer.Option("--until-full", help="The same as --replicas max; nothing is preempted for them.")
    ] = False
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Also re-place the replicas already running.")
    ] = False
    ties: Annotated[
        TieBreak,
        typer.Option(
            "--ties",
            case_sensitive=False,
            help="How to break ties between equal scores: kube-scheduler's own order, or node name.",
        ),
    ] = TieBreak.SCHEDULER
    seed: Annotated[int | None, spelling.valued("--seed", metavar="N", help="Break ties at random, seeded with N.")] = (
        None
    )
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Score only as many nodes as kube-scheduler does in a large cluster, instead of all that fit.",
        ),
    ] = False
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            metavar="K",
            min=1,
            help="Run K times, up to 10000, with successive seeds or (--sample) different starting nodes, and report "
            "the range.",
        ),
    ] = 1
    preemption: Annotated[
        bool,
        typer.Option(
            "--preemption",
            help="Also say why preemption does not help, where it helps no replica.",
            rich_help_panel="Scheduler",
        ),
    ] = False
    no_preemption: NoPreemptionOption = False

    @property
    def as_many_as_fit(self) -> bool:
        return self.until_full or self.replicas == _MAX

    def preempts(self) -> bool | None:
        """None: as kube-scheduler does."""
        return False if self.no_preemption else self.preemption or None

    def desired(self) -> int | None:
        """The number of replicas that is asked for, if any. Raises UsageError."""
        if self.replicas is None or self.as_many_as_fit:
            return None
        return count("--replicas", self.replicas, "a number from 0, or max")
