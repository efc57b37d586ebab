"""Nodes that are cordoned: one of them takes pods again."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.advise.change import Change, Ladder
from kubespread.planner.advise.stuck import Stuck
from kubespread.snapshot.edits.types import Target, Uncordon

UNCORDON = "uncordon"


def uncordons(stuck: Stuck) -> Iterator[Ladder]:
    """One node each, those that little else rejects first."""
    for node in stuck.nearest_first():
        if node.spec.unschedulable:
            name = node.metadata.name
            change = Change(UNCORDON, f"uncordon {name}", 20, edits=(Uncordon(Target(name)),))
            yield Ladder.of(change, f"uncordoning {name}")
