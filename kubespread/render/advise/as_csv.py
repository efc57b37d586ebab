"""One row a suggestion, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.advise import AdviseReport
from kubespread.render.advise.plain import HEADER, suggestion_rows
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look


def write(report: AdviseReport, look: Look) -> str:
    """The same rows as in a pipe."""
    header = [name.lower() for name in HEADER]
    rows = list(suggestion_rows(report))
    return separated_by_commas([header, *rows] if look.headers else rows)
