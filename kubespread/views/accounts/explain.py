"""An explanation: the constraints, and every node with its arithmetic."""

from __future__ import annotations

from kubespread.planner.reports.explain import ExplainReport
from kubespread.planner.reports.parts import letter
from kubespread.views.accounts.spread import asked_bars
from kubespread.views.arithmetic import PRETTY
from kubespread.views.explain.rows import Row as NodeRow
from kubespread.views.explain.rows import rows_of
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Tone
from kubespread.views.view import NodeFacts, View, beside, source
from kubespread.wording import count_of, short_key


def account(report: ExplainReport) -> View:
    return View(
        title=f"Pod {report.pod.namespace}/{report.pod.name} against {count_of(len(report.nodes), 'node')}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, f"profile {report.scheduler_name}"),
        answer=report.answer,
        tone=Tone.GOOD if report.schedulable else Tone.BAD,
        bars=[asked_bars(constraint, position) for position, constraint in enumerate(report.constraints)],
        nodes=_nodes(report),
        beside=beside([report]),
    )


def _nodes(report: ExplainReport) -> NodeFacts:
    constraints = [f"{letter(place)} {short_key(each.topology_key)}" for place, each in enumerate(report.constraints)]
    rows = rows_of(report, report.nodes).rows
    return NodeFacts(
        ("Fits", *constraints, "Score", "Why not"),
        {row.node.name: Row(_cells(row), Tone.GOOD if row.node.feasible else Tone.BAD) for row in rows},
        {row.node.name: _verdict(row) for row in rows},
        "green fits, red does not",
    )


def _verdict(row: NodeRow) -> str:
    return "fits" if row.node.feasible else f"does not fit: {', '.join(row.short_reasons)}"


def _cells(row: NodeRow) -> list[str]:
    return [
        "yes" if row.node.feasible else "no",
        *(each.text(PRETTY) for each in row.arithmetic),
        "" if row.node.total is None else str(row.node.total),
        row.with_numbers,
    ]
