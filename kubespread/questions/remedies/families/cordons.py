"""Uncordoning a node, so that it accepts pods again."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import Stuck
from kubespread.snapshot.edits.nodes import Uncordon
from kubespread.snapshot.edits.verb import Target

UNCORDON = "uncordon"


def uncordons(stuck: Stuck) -> Iterator[Ladder]:
    """One node each, those with the fewest other rejections first; where copies may need several, several at once."""
    names = [node.metadata.name for node in stuck.nearest_first() if node.spec.unschedulable]
    changes = [Change(UNCORDON, f"uncordon {name}", 20, edits=(Uncordon(Target(name)),)) for name in names]
    for name, change in zip(names, changes, strict=True):
        yield Ladder.of(change, f"uncordoning {name}")
    if stuck.may_take_several:
        yield from Ladder.of_several("uncordon {} nodes", changes, f"uncordoning {len(names)} nodes")
