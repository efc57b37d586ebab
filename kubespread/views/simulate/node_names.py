"""Nodes with what they got, as long as there is room for their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from kubespread.escaping import escaped
from kubespread.planner.reports.simulate import NodeReplicas
from kubespread.views.layout import width_of
from kubespread.views.node_names import shared_suffix

_MAX_NAMED = 20
CUT = "…"
_SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class NodeColumn:
    """A cell a row, and what the names in it leave out."""

    cells: Mapping[str, str]
    left_out: str = ""
    """``gke-prod-pool-…``: what all names begin or end with and the cells do not repeat."""


def node_column(rows: Mapping[str, Sequence[NodeReplicas]], room: int) -> NodeColumn:
    """Per row the nodes that got replicas, most first: by name where all rows fit in ``room``, else how many."""
    names = [escaped(node.name) for nodes in rows.values() for node in nodes]
    prefix, suffix = shared(names)
    for begin, end in dict.fromkeys((("", ""), ("", suffix), (prefix, suffix))):
        spelled = {row: _named(nodes, _shortened(begin, end)) for row, nodes in rows.items()}
        fits = all(width_of(cell) <= room for cell in spelled.values())
        if fits and all(len(nodes) <= _MAX_NAMED for nodes in rows.values()):
            return NodeColumn(spelled, f"{begin}{CUT}{end}" if begin or end else "")
    return NodeColumn({row: _counted(nodes) for row, nodes in rows.items()})


def shared(names: Sequence[str]) -> tuple[str, str]:
    """What all ``names`` begin and end with, up to a dash or dot and without using up any of them."""
    suffix = shared_suffix(names)
    stems = [name.removesuffix(suffix) for name in names]
    prefix = commonprefix(stems) if len(set(stems)) > 1 else ""
    prefix = prefix[: max(prefix.rfind("-"), prefix.rfind(".")) + 1]
    return ("" if prefix in stems else prefix), suffix


def _shortened(prefix: str, suffix: str) -> Callable[[str], str]:
    def short(name: str) -> str:
        return f"{CUT if prefix else ''}{escaped(name).removeprefix(prefix).removesuffix(suffix)}"

    return short


def most_first(nodes: Sequence[NodeReplicas]) -> list[NodeReplicas]:
    """The nodes that got replicas, equals by name."""
    return sorted((node for node in nodes if node.placed), key=lambda node: (-node.placed, node.name))


def _named(nodes: Sequence[NodeReplicas], short: Callable[[str], str]) -> str:
    return _SEPARATOR.join(f"{short(node.name)} +{node.placed:,}" for node in most_first(nodes))


def _counted(nodes: Sequence[NodeReplicas]) -> str:
    """``4 nodes +8 to +9``."""
    placed = [node.placed for node in nodes if node.placed]
    if not placed:
        return ""
    if len(placed) == 1:
        return f"1 node +{placed[0]:,}"
    least, most = min(placed), max(placed)
    return (
        f"{len(placed):,} nodes +{least:,} each" if least == most else f"{len(placed):,} nodes +{least:,} to +{most:,}"
    )
