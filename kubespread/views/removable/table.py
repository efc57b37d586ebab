"""Removable nodes for people: a row a node, of many the first of each sort, and what holds the others by cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.removable import NodeRemoval, RemovableReport
from kubespread.views.aligned import NONE
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import (
    BAD,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    cut_end,
    cut_middle,
    tabulated,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.names import fitted, legend
from kubespread.views.removable.words import consequences, sentence, words
from kubespread.views.screen import concluded, headline, left_out, room_beside, screen
from kubespread.wording import count_of, some_of

_MAX_ROWS, _OF_EACH = 20, 8
_LEAST_NAME, _WIDEST_ZONE = 12, 16
_MAX_REASONS, _MAX_NAMED = 12, 2


@screen
def write(report: RemovableReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every node and reason."""
    yield from headline(_title(report), report, look)
    shown = _shown(report, look)
    columns = list(_columns(shown, look))
    yield from tabulated(columns, headers=look.headers)
    yield from legend([escaped(row.node) for row in shown], [each.text for each in columns[0].cells], look)
    yield from left_out(len(report.rows) - len(shown), "node")
    yield from _reasons(report.rows, look)
    yield from concluded(report.answer, look)


def _title(report: RemovableReport) -> str:
    asked = f"{len(report.rows):,} of " if len(report.rows) < report.nodes else ""
    return f"Removing each of {asked}{count_of(report.nodes, 'node')}"


def _shown(report: RemovableReport, look: Look) -> Sequence[NodeRemoval]:
    """Of many nodes a few of each sort, in the report's order."""
    if look.in_full or len(report.rows) <= _MAX_ROWS:
        return report.rows
    go = [row for row in report.rows if row.place is not None]
    held = [row for row in report.rows if row.place is None]
    return [*go[:_OF_EACH], *held[:_OF_EACH]]


def _columns(rows: Sequence[NodeRemoval], look: Look) -> Iterator[Column]:
    figures = [
        Column("ZONE", [cell(cut_middle(row.domain or NONE, _WIDEST_ZONE)) for row in rows]),
        Column("PODS", [Cell(str(row.pods)) for row in rows], True),
        Column("ALONE", [Cell("yes", GOOD) if row.alone else Cell("no", BAD) for row in rows]),
        Column("TOGETHER", [Cell("-" if row.place is None else f"{row.place:,}") for row in rows], True),
    ]
    if any(row.until_deleted for row in rows):
        figures.append(Column("WAIT", [Cell(f"{row.until_deleted:,}") for row in rows], True))
    held = Column("HELD BY", [cell(words(row)) for row in rows])
    room = max(room_beside((held, *figures), look), _LEAST_NAME)
    name = Column("NODE", [Cell(each) for each in fitted([escaped(row.node) for row in rows], room)])
    left = max(room_beside((name, *figures), look), _LEAST_NAME)
    yield name
    yield from figures
    if any(row.held for row in rows):
        yield Column("HELD BY", [Cell(cut_end(each.text, left)) for each in held.cells])


def _reasons(rows: Sequence[NodeRemoval], look: Look) -> Iterator[Line]:
    """What holds nodes, those of which the same is said together, most of them first."""
    said: dict[str, list[str]] = {}
    for row in rows:
        held = (sentence(hold, names_protected=False) for hold in row.held)
        for text in (*held, *(f"goes, and {each}" for each in consequences(row))):
            said.setdefault(escaped(text), []).append(escaped(row.node))
    ordered = sorted(said.items(), key=lambda item: -len(item[1]))
    shown = ordered if look.in_full else ordered[:_MAX_REASONS]
    for text, nodes in shown:
        yield from wrapped([Cell(f"{INDENT}{some_of(nodes, _MAX_NAMED)}: {text}")], look.width, HANGING)
    yield from left_out(len(ordered) - len(shown), "reason")
