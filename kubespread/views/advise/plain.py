"""One line a suggestion, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.advise import AdviseReport, Suggestion
from kubespread.views.aligned import NONE, columns
from kubespread.views.look import Look

HEADER = ["CHANGE", "FITS", "OPTIONS", "ALTERNATIVES", "NOTES"]


def write(report: AdviseReport, look: Look) -> str:
    """What changes least first; notes last, since they hold blanks."""
    return columns(HEADER, suggestion_rows(report), headers=look.headers)


def suggestion_rows(report: AdviseReport) -> Iterator[list[str | int]]:
    """A row a suggestion."""
    for each in report.advice.enough if report.advice is not None else ():
        fits = each.nodes if each.nodes is not None else each.placed
        yield [
            each.change,
            fits or 0,
            " ".join(each.options),
            len(each.alternatives),
            "; ".join(remarks(each)) or NONE,
        ]


def remarks(suggestion: Suggestion) -> tuple[str, ...]:
    """What is said of it, and what becomes of others."""
    return (*suggestion.notes, *suggestion.consequences)
