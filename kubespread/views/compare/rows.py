"""Nodes that differ in the same way share a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.planner.reports.compare import NodeChange, NodeDifference
from kubespread.views.compare.reasons import said_of

_MAX_ROWS = 12
_MAX_ROWS_OF_SCORES = 6
_ORDER = list(NodeChange)


@dataclass(frozen=True, slots=True)
class Row:
    """Nodes with one `NodeChange`, and what is said of all of them."""

    change: NodeChange
    nodes: Sequence[NodeDifference]
    said: str


@dataclass(frozen=True, slots=True)
class Rows:
    rows: Sequence[Row]
    left_out: Sequence[Row]
    """Of many rows those of the fewest nodes."""


def rows_of(nodes: Sequence[NodeDifference], *, in_full: bool) -> Rows:
    """Verdicts before scores; with ``in_full`` each node by itself, with its own figures."""
    if in_full:
        singles = [Row(node.change, [node], said_of(node, numbers=True)) for node in nodes]
        return Rows(sorted(singles, key=lambda row: _ORDER.index(row.change)), ())
    groups: dict[tuple[NodeChange, str], list[NodeDifference]] = {}
    for node in nodes:
        groups.setdefault((node.change, said_of(node, numbers=False)), []).append(node)
    rows = [Row(change, alike, _said_of_all(alike) or said) for (change, said), alike in groups.items()]
    rows.sort(key=lambda row: (_ORDER.index(row.change), -len(row.nodes), row.nodes[0].name))
    verdicts = [row for row in rows if row.change is not NodeChange.SCORE]
    scores = [row for row in rows if row.change is NodeChange.SCORE]
    return Rows(
        [*verdicts[:_MAX_ROWS], *scores[:_MAX_ROWS_OF_SCORES]],
        [*verdicts[_MAX_ROWS:], *scores[_MAX_ROWS_OF_SCORES:]],
    )


def _said_of_all(nodes: Sequence[NodeDifference]) -> str | None:
    """With the figures, where they are those of every node."""
    said = said_of(nodes[0], numbers=True)
    return said if all(said_of(node, numbers=True) == said for node in nodes[1:]) else None
