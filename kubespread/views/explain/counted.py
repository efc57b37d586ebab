"""Who is counted: the matching pods of each domain, as rows for every format that has rows."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.explain import ExplainReport
from kubespread.planner.reports.parts import CountedPod
from kubespread.views.aligned import NONE
from kubespread.views.arithmetic import letter
from kubespread.views.layout import GAP, Cell, Column, Line, cell, cut_middle, tabulated
from kubespread.views.look import Look
from kubespread.wording import EMPTY

HEADER = ("BY", "DOMAIN", "POD", "OWNER", "NODE", "STATE")
TERMINATING = "terminating, not counted"
_WIDTHS = (None, 40, 32, 24, 16, 12, 8)
"""The most columns that a cell takes, from the widest terminal to the narrowest."""


def counted_rows(report: ExplainReport) -> Iterator[tuple[str, ...]]:
    """A row a pod and domain, under `HEADER`; empty where the report does not name the pods.

    A constraint that counts the same pods as one before it has no rows: each pod stands beside its node already.
    """
    listed = list[set[tuple[str, str]]]()
    for position, constraint in enumerate(report.constraints):
        names = {(pod.name, pod.node) for domain in constraint.domains for pod in domain.pods or ()}
        if names in listed:
            continue
        listed.append(names)
        for domain in constraint.domains:
            for pod in domain.pods or ():
                yield (letter(position), domain.value or EMPTY, pod.name, pod.owner or NONE, pod.node, state(pod))


def state(pod: CountedPod) -> str:
    return TERMINATING if pod.terminating else "counted"


def counted_table(report: ExplainReport, suffix: str, look: Look) -> Iterator[Line]:
    """The same within the width of a terminal, below a blank line; ``suffix`` is what the names of nodes leave out."""
    rows = [(*row[:4], row[4].removesuffix(suffix), row[5]) for row in counted_rows(report)]
    if not rows:
        return
    yield []
    columns = list[Column]()
    for width in _WIDTHS:
        columns = [
            Column(header, [_cell(text, width) for text in texts])
            for header, texts in zip(HEADER, zip(*rows, strict=True), strict=True)
        ]
        if look.width is None or 2 + sum(column.width + GAP for column in columns) <= look.width + GAP:
            break
    yield from tabulated(columns, headers=look.headers)
    yield []


def _cell(text: str, width: int | None) -> Cell:
    safe = cell(text)
    return safe if width is None else Cell(cut_middle(safe.text, width))
