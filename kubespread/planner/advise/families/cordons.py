"""Nodes that are cordoned: one of them takes pods again."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.advise.change import Change, Ladder
from kubespread.planner.advise.stuck import Stuck
from kubespread.snapshot.edits.types import Target, Uncordon

UNCORDON = "uncordon"
_MOST_TOGETHER = 100


def uncordons(stuck: Stuck) -> Iterator[Ladder]:
    """One node each, those that little else rejects first; where copies may need several, so many of them."""
    names = [node.metadata.name for node in stuck.nearest_first() if node.spec.unschedulable]

    def several(place: int) -> Change:
        edits = tuple(Uncordon(Target(name)) for name in names[: place + 2])
        return Change(UNCORDON, f"uncordon {place + 2} nodes", 30 + 10 * place, edits=edits)

    for name in names:
        change = Change(UNCORDON, f"uncordon {name}", 20, edits=(Uncordon(Target(name)),))
        yield Ladder.of(change, f"uncordoning {name}")
    if not stuck.is_one and len(names) > 1:
        yield Ladder(UNCORDON, f"uncordoning {len(names)} nodes", min(len(names) - 1, _MOST_TOGETHER), several)
