"""Nodes and what holds them, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.removable import RemovableReport
from kubespread.views.aligned import NONE, columns
from kubespread.views.look import Look
from kubespread.views.removable.words import consequences, sentence

HEADER = ["NODE", "ZONE", "PODS", "ALONE", "TOGETHER", "WAIT", "HELD-BY", "WHY"]


def write(report: RemovableReport, look: Look) -> str:
    """A row a node; why comes last, since it holds blanks."""
    return columns(HEADER, rows(report), headers=look.headers)


def rows(report: RemovableReport) -> Iterator[list[str]]:
    """A row a node: its place in the order in which nodes go together, and the causes by which it is held."""
    for row in report.rows:
        causes = ",".join(dict.fromkeys(hold.cause for hold in row.held)) or NONE
        why = "; ".join((*map(sentence, row.held), *consequences(row))) or NONE
        place = NONE if row.place is None else str(row.place)
        alone, wait = "yes" if row.alone else "no", str(row.until_deleted)
        yield [row.node, row.domain or NONE, str(row.pods), alone, place, wait, causes, why]
