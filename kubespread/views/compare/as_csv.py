"""One row a node that differs or holds another number of replicas, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.compare import CompareReport, NodeDifference, NodeSide
from kubespread.views.comma_separated import separated_by_commas
from kubespread.views.compare.reasons import why_not
from kubespread.views.look import Look


def write(report: CompareReport, look: Look) -> str:
    """Numbers as numbers, two columns for everything, the plugins' weighted scores among them."""
    sides = [side for node in report.nodes for side in (node.before, node.after) if side is not None]
    plugins = list(dict.fromkeys(plugin for side in sides for plugin in side.scores))
    nodes = {node.name: node for node in report.nodes}
    replicas = {node.name: (node.before, node.after) for node in report.replicas_on_nodes}
    figures = ("feasible", "total", "rank", *plugins, "why_not", "replicas")
    header = ["node", "change", *(f"{name}_{when}" for name in figures for when in ("before", "after"))]
    rows = [
        [name, *_cells(nodes.get(name), plugins), *replicas.get(name, ("", ""))] for name in sorted({*nodes, *replicas})
    ]
    return separated_by_commas([header, *rows] if look.headers else rows)


def _cells(node: NodeDifference | None, plugins: Sequence[str]) -> list[str | int]:
    """Without a change for a node that only holds another number of replicas."""
    change, before, after = ("", None, None) if node is None else (node.change.value, node.before, node.after)
    pairs = zip(_side(before, plugins), _side(after, plugins), strict=True)
    return [change, *(figure for pair in pairs for figure in pair)]


def _side(side: NodeSide | None, plugins: Sequence[str]) -> list[str | int]:
    """Empty where there is nothing to say."""
    if side is None:
        return [""] * (len(plugins) + 4)
    figures: list[str | int] = ["" if number is None else number for number in (side.total, side.rank)]
    scores: list[str | int] = [side.scores.get(plugin, "") for plugin in plugins]
    return ["true" if side.feasible else "false", *figures, *scores, why_not(side)]
