"""One row a domain, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.survive import SurviveReport
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look
from kubespread.render.survive.plain import LOSS_HEADER, loss_rows


def write(report: SurviveReport, look: Look) -> str:
    """The same rows as in a pipe."""
    header = [name.lower().replace("-", "_") for name in LOSS_HEADER]
    rows = list(loss_rows(report))
    return separated_by_commas([header, *rows] if look.headers else rows)
