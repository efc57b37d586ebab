"""Nodes as cells of a map: a line each where there are few, a character each or for several where there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubespread.planner.reports.topology_map import MapNode, TopologyMap, percent
from kubespread.views.layout import BAD, DIM, GOOD, Cell
from kubespread.views.look import MapBy
from kubespread.views.map.states import is_closed

MARK = "●"
NOBODY, CLOSED = "∙", "x"
_RAMP = "▁▂▃▄▅▆▇█"
_HIGH, _FULL = 75, 90
_WARN = "33"
"""Yellow."""
_MAX_MARKS, _BAR, _DIGITS = 6, 8, 10


@dataclass(frozen=True, slots=True)
class Shades:
    """What colors and characters say in one map."""

    report: TopologyMap
    by: MapBy

    def style(self, node: MapNode) -> str:
        """By load green, yellow and red; by skew red where a constraint is exceeded, green where pods are."""
        if self.by is MapBy.LOAD:
            filled = percent(node)
            return BAD if filled >= _FULL else _WARN if filled >= _HIGH else GOOD if node.pods else DIM
        if not node.marked:
            return DIM
        limits = zip(node.skew, self.report.constraints, strict=True)
        exceeded = [constraint.is_hard for skew, constraint in limits if (skew or 0) > constraint.max_skew]
        return BAD if any(exceeded) else _WARN if exceeded else GOOD

    def character(self, nodes: Sequence[MapNode], most: int) -> Cell:
        """One for all of ``nodes``, which are at least one: how full they are, or how many marked pods they hold, where
        ``most`` is what the one with most of them holds.
        """
        style = self.style(max(nodes, key=_urgency(self)))
        if self.by is MapBy.LOAD:
            if not any(node.pods for node in nodes):
                return Cell(NOBODY, style)
            is_gray = all(is_closed(node.closed) for node in nodes)
            return Cell(_shade(sum(map(percent, nodes)) // len(nodes), 100), DIM if is_gray else style)
        held = held_by(nodes)
        if not held:
            return Cell(CLOSED if all(node.closed for node in nodes) else NOBODY, style)
        return Cell(str(held) if most < _DIGITS else _shade(held, most), style)

    def order(self, node: MapNode) -> tuple[int, str]:
        """Where a character stands for several nodes, the most of them first."""
        return -(percent(node) if self.by is MapBy.LOAD else len(node.marked)), node.name

    def figures(self, node: MapNode) -> Cell:
        """What stands beside the name of a node: a bar and a percentage, or its marked pods."""
        if self.by is MapBy.LOAD:
            filled = percent(node)
            full = min(_BAR, (filled * _BAR + 50) // 100)
            return Cell(f"{'█' * full}{'░' * (_BAR - full)} {filled:3}%", self.style(node))
        return Cell(marks(len(node.marked)), self.style(node))


def _urgency(shades: Shades) -> Callable[[MapNode], int]:
    order = (DIM, GOOD, _WARN, BAD)
    return lambda node: order.index(shades.style(node))


def held_by(nodes: Sequence[MapNode]) -> int:
    """How many marked pods run on ``nodes``."""
    return sum(len(node.marked) for node in nodes)


def _shade(part: int, whole: int) -> str:
    return _RAMP[max(0, min(len(_RAMP) - 1, part * len(_RAMP) // whole))]


def marks(count: int) -> str:
    """One mark a pod, a number where there are many."""
    if not count:
        return NOBODY
    return MARK * count if count <= _MAX_MARKS else f"{MARK}×{count}"
