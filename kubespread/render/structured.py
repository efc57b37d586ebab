"""Reports for programs: json, yaml, name and csv."""

from __future__ import annotations

import csv as csv_writer
import io
import json as json_writer
from collections.abc import Sequence

from kubespread.manifest.writer import to_yaml
from kubespread.planner.report import API_VERSION, ExplainReport
from kubespread.planner.simulation_report import SimulateReport
from kubespread.render.arithmetic import ASCII, formula, why_not

AnyReport = ExplainReport | SimulateReport


def json(report: AnyReport) -> str:
    return json_writer.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n"


def yaml(report: AnyReport) -> str:
    return to_yaml(report.to_dict())


def json_list(reports: Sequence[SimulateReport]) -> str:
    return json_writer.dumps(_list(reports), indent=2, ensure_ascii=False) + "\n"


def yaml_list(reports: Sequence[SimulateReport]) -> str:
    return to_yaml(_list(reports))


def _list(reports: Sequence[SimulateReport]) -> dict[str, object]:
    return {"apiVersion": API_VERSION, "kind": "SimulateReportList", "items": [report.to_dict() for report in reports]}


def names(report: ExplainReport) -> str:
    """The nodes that fit, best first, one a line."""
    shown = {node.name for node in report.nodes}
    return "".join(f"{name}\n" for name in report.feasible if name in shown)


def csv(report: ExplainReport, *, headers: bool) -> str:
    out = io.StringIO()
    writer = csv_writer.writer(out, lineterminator="\n")
    if headers:
        skews = [f"skew {constraint.topology_key}" for constraint in report.constraints]
        writer.writerow(["node", "feasible", "code", "plugin", "total", *skews, "why_not"])
    for node in report.nodes:
        writer.writerow(
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
        )
    return out.getvalue()
