"""Reports for programs: json, yaml, name and csv."""

from __future__ import annotations

import json as json_writer
from collections.abc import Sequence

from kubespread.escaping import escaped, json_escaped
from kubespread.manifest.writer import to_yaml
from kubespread.planner.reports.explain import ExplainReport
from kubespread.planner.reports.parts import API_VERSION
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.render.arithmetic import ASCII, formula, why_not
from kubespread.render.comma_separated import separated_by_commas

AnyReport = ExplainReport | SimulateReport


def json(report: AnyReport) -> str:
    return _json(report.to_dict())


def yaml(report: AnyReport) -> str:
    return to_yaml(report.to_dict())


def json_list(reports: Sequence[SimulateReport]) -> str:
    return _json(_list(reports))


def yaml_list(reports: Sequence[SimulateReport]) -> str:
    return to_yaml(_list(reports))


def _json(data: object) -> str:
    return json_escaped(json_writer.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def _list(reports: Sequence[SimulateReport]) -> dict[str, object]:
    return {"apiVersion": API_VERSION, "kind": "SimulateReportList", "items": [report.to_dict() for report in reports]}


def names(report: ExplainReport) -> str:
    """The nodes that fit, best first, one a line."""
    shown = {node.name for node in report.nodes}
    return "".join(f"{escaped(name)}\n" for name in report.feasible if name in shown)


def csv(report: ExplainReport, *, headers: bool) -> str:
    skews = [f"skew {constraint.topology_key}" for constraint in report.constraints]
    header = ["node", "feasible", "code", "plugin", "total", *skews, "why_not"]
    rows = [
        [
            node.name,
            "true" if node.feasible else "false",
            node.verdict.code,
            node.verdict.plugin or "",
            "" if node.total is None else node.total,
            *(
                formula(constraint, hard=about.is_hard, style=ASCII)
                for constraint, about in zip(node.constraints, report.constraints, strict=True)
            ),
            why_not(report, node),
        ]
        for node in report.nodes
    ]
    return separated_by_commas([header, *rows] if headers else rows)
