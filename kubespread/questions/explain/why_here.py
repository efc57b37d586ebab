"""Why the node of a running pod won: by the cluster of today, without the pod. What it was when the pod was placed is
not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.reports.judged_nodes import NodeReport
from kubespread.reports.parts import Report
from kubespread.wording import count_of, some_of

_MAX_NAMED = 3


class WhyHere(Report, frozen=True):
    """The node that a pod runs on among those that fit today, if the pod were scheduled again."""

    node: str
    """Its name."""
    rank: int | None
    """Its place by score, from 1; nodes of equal scores share one. Null where it does not fit today, or scores are not
    modeled.
    """
    fitting: int
    """How many nodes fit today."""
    reasons: tuple[str, ...]
    """kube-scheduler's, where it does not fit today."""
    total: int | None
    """Its score; null where it has none."""
    other: str | None
    """The best of the other nodes, of equals the first by name; null where no other fits."""
    other_total: int | None
    """The score of that."""
    tied: tuple[str, ...]
    """The other nodes with its score."""
    gains: dict[str, int]
    """By plugin how much more its node scores, weighted, than that other one; without those that score both alike."""

    @classmethod
    def of(cls, node: str, nodes: Sequence[NodeReport]) -> WhyHere:
        """``nodes`` are all, judged without the pod."""
        here = next(row for row in nodes if row.name == node)
        others = sorted(
            (row for row in nodes if row.feasible and row.name != node), key=lambda row: (-(row.total or 0), row.name)
        )
        other = next(iter(others), None)
        is_scored = here.feasible and here.total is not None
        plugins = (*here.scores, *(other.scores if other is not None else ()))
        differences = {
            plugin: here.scores.get(plugin, 0) - other.scores.get(plugin, 0)
            for plugin in dict.fromkeys(plugins)
            if other is not None and is_scored
        }
        return cls(
            node=node,
            rank=1 + sum((row.total or 0) > (here.total or 0) for row in others) if is_scored else None,
            fitting=len(others) + here.feasible,
            reasons=here.verdict.reasons,
            total=here.total,
            other=None if other is None else other.name,
            other_total=None if other is None else other.total,
            tied=tuple(row.name for row in others if is_scored and row.total == here.total),
            gains={plugin: gain for plugin, gain in differences.items() if gain},
        )

    def __str__(self) -> str:
        where = f"runs on {self.node}"
        if self.reasons:
            winner = f"; {self.other} would win" if self.other is not None else ""
            return f"{where}, which would not fit today: {', '.join(self.reasons)}{winner}"
        if self.other is None:
            return f"{where}, the only node that fits today"
        if self.rank is None or self.total is None or self.other_total is None:
            return f"{where}, one of {count_of(self.fitting, 'node')} that fit today; their scores are not modeled"
        if self.tied and self.rank == 1:
            return f"{where}, tied for the best of today with {some_of(self.tied, _MAX_NAMED)}: {self.total:,}"
        by = ", ".join(f"{plugin} {gain:+,}" for plugin, gain in self.gains.items())
        if self.rank == 1:
            return f"{where}, which would win today: {self.total:,} against {self.other_total:,} of {self.other}: {by}"
        place = f"number {self.rank:,} of {count_of(self.fitting, 'node')} that fit today with {self.total:,}"
        return f"{where}, {place}; {self.other} would win with {self.other_total:,}: {by} for its node"
