"""Metrics of a whole cluster: how many lines of which level, how far each goes, and the scores."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.report.areas import AREAS
from kubespread.questions.report.report import LEVELS, Scorecard
from kubespread.views.view import Metric


def metrics(report: Scorecard) -> Iterator[Metric]:
    number = {(area, level): 0 for area in report.opened or AREAS for level in LEVELS}
    for line in report.lines:
        number[line.area, line.level] += 1
    yield (
        "report_lines",
        "What is wrong or would be, by area and level.",
        [({"area": area, "level": level}, lines) for (area, level), lines in number.items()],
    )
    yield (
        "report_line_extent",
        "How many pods or nodes a line concerns, by how much a skew exceeds maxSkew, or percent of what is free.",
        [({"area": line.area, "level": line.level, "key": line.key}, line.extent) for line in report.lines],
    )
    yield (
        "report_score",
        "Out of 100, by what pods do and not by what manifests ask for.",
        [({"area": area.area}, area.score) for area in report.areas if area.score is not None],
    )
