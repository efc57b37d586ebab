"""Nodes that can go, and what holds the others."""

from __future__ import annotations

from kubespread.planner.reports.removable import NodeRemoval, RemovableReport
from kubespread.views.aligned import NONE
from kubespread.views.phrases import cluster_phrase
from kubespread.views.removable.plain import HEADER, rows
from kubespread.views.sheet import Row, Tone
from kubespread.views.view import Frame, NodeFacts, View, beside, source
from kubespread.wording import count_of


def account(report: RemovableReport) -> View:
    return View(
        title=f"Which of {count_of(report.nodes, 'node')} can go",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, report.manner),
        answer=report.answer,
        tone=Tone.GOOD if any(row.alone for row in report.rows) else Tone.BAD,
        nodes=_nodes(report),
        frames=[
            Frame(f"{name} goes", "its pods find other nodes, which is not drawn", gone=[name])
            for name in report.together.nodes
        ],
        beside=beside([report]),
    )


def _nodes(report: RemovableReport) -> NodeFacts:
    told = {
        row.node: ["" if cell == NONE else cell for cell in cells[2:]]
        for row, cells in zip(report.rows, rows(report), strict=True)
    }
    return NodeFacts(
        [name.replace("-", " ").capitalize() for name in HEADER[2:]],
        {row.node: Row(told[row.node], _tone(row)) for row in report.rows},
        {row.node: _verdict(row) for row in report.rows},
        "green can go alone, red cannot",
    )


def _tone(row: NodeRemoval) -> Tone:
    return Tone.GOOD if row.alone else Tone.BAD


def _verdict(row: NodeRemoval) -> str:
    held = ", ".join(dict.fromkeys(hold.cause for hold in row.held))
    return "can go alone" if row.alone else f"cannot go: {held}"
