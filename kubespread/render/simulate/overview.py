"""Several workloads at a glance: one line each, and the totals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from kubespread.planner.reports.parts import letter
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.render.arithmetic import short_key
from kubespread.render.flow import INDENT, cut_middle, flowed, folded, styled, width_of
from kubespread.render.look import Look
from kubespread.render.simulate.provenance import provenance
from kubespread.render.simulate.rows import MAX_REPLICAS

_GUTTER = 2
_LEAST_NAME = 16
_WORKLOAD, _SURVIVE = "WORKLOAD", "SURVIVE"
_BEGINNING = re.compile(r"^0/\d+ nodes are available: ")
_GOOD, _BAD, _DIM, _HEAD = "green", "red", "dim", "bold"


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    cells: Sequence[Text]
    is_number: bool = True

    @property
    def width(self) -> int:
        return max(cell_len(self.header), *(cell.cell_len for cell in self.cells))

    def padded(self, text: Text) -> Text:
        blank = " " * (self.width - text.cell_len)
        return Text.assemble(blank, text) if self.is_number else Text.assemble(text, blank)


def overview(reports: Sequence[SimulateReport], look: Look) -> Iterator[RenderableType]:
    """Lines that ``look.width`` bounds. Where one has no room for its cause, the causes stand below the lines."""
    names, causes = _names(reports), [styled(_cause(report)) for report in reports]
    least = min(_LEAST_NAME, max(map(cell_len, (*names, _WORKLOAD))))
    columns = _columns(reports, width_of(look) - least)
    room = _left(columns, width_of(look))
    workload = _Column(
        "WORKLOAD", [cut_middle(styled(name), max(room, _LEAST_NAME)) for name in names], is_number=False
    )
    columns = [workload, *columns]
    left = room - workload.width - _GUTTER
    has_room = look.width is None or max(cause.cell_len for cause in causes) <= left
    if any(causes) and has_room:
        columns.append(_Column("WHY", causes, is_number=False))
    if look.headers:
        yield from flowed([_title(reports), provenance(reports)], look, indent="")
        yield Text.assemble(_line(columns, [Text(column.header) for column in columns]), style=_HEAD)
    for row in range(len(reports)):
        yield _line(columns, [column.cells[row] for column in columns])
    if not has_room:
        for line in _causes(names, causes):
            yield from folded(line, look)
    yield from flowed([_totals(reports)], look, indent="")
    if look.headers:
        yield from flowed(_hints(reports, columns), look, indent="")


def _causes(names: Sequence[str], causes: Sequence[Text]) -> Iterator[Text]:
    """Workloads that are stuck for the same cause in one line."""
    stuck: dict[str, list[str]] = {}
    for name, cause in zip(names, causes, strict=True):
        if cause:
            stuck.setdefault(cause.plain, []).append(name)
    for said, whose in stuck.items():
        yield styled(f"{INDENT}{', '.join(whose)}: {said}")


def _title(reports: Sequence[SimulateReport]) -> Text:
    namespaces = {report.pod.namespace for report in reports}
    where = f" in {namespaces.pop()}" if len(namespaces) == 1 else ""
    return styled(f"{len(reports)} workloads{where}", _HEAD)


def _names(reports: Sequence[SimulateReport]) -> list[str]:
    """As short as they can be told apart: without the namespace where there is one only, with the kind at need."""
    is_one = len({report.pod.namespace for report in reports}) == 1
    prefixes = ["" if is_one else f"{report.pod.namespace}/" for report in reports]
    short = [f"{prefix}{report.subject.partition('/')[2]}" for prefix, report in zip(prefixes, reports, strict=True)]
    times = Counter(short)
    return [
        name if times[name] == 1 else f"{prefix}{report.subject}"
        for name, prefix, report in zip(short, prefixes, reports, strict=True)
    ]


def _columns(reports: Sequence[SimulateReport], width: int) -> list[_Column]:
    """All that fit in ``width``; of those that can be left out the most telling goes last."""
    figures = [
        _Column("WANT", [styled(MAX_REPLICAS if each.replicas is None else str(each.replicas)) for each in reports]),
        _Column("RUN", [styled(str(each.present)) for each in reports]),
        _Column("PLACED", [styled(str(each.placed)) for each in reports]),
        _Column("PENDING", [styled(str(each.pending), _BAD if each.pending else _GOOD) for each in reports]),
    ]
    survive = [_Column(_SURVIVE, [styled(_survivors(each)) for each in reports])] if _has_domains(reports) else []
    lettered, plain = (
        _Column("SKEW", [_skew(each, has_letters=has_letters) for each in reports], is_number=False)
        for has_letters in (True, False)
    )
    for more in ([lettered, *survive], [plain, *survive], [plain]):
        if _left([*figures, *more], width) >= 0:
            return [*figures, *more]
    return figures


def _left(columns: Sequence[_Column], width: int) -> int:
    return width - sum(column.width + _GUTTER for column in columns)


def _skew(report: SimulateReport, *, has_letters: bool) -> Text:
    """``A zone 1 · B hostname 3 > 1``: the comparison where a hard constraint is violated."""
    phrases = []
    for position, (constraint, change) in enumerate(zip(report.constraints, report.skew, strict=True)):
        is_exceeded = constraint.is_hard and change.after > constraint.max_skew
        whose = f"{letter(position)} " if has_letters else ""
        exceeds = f" > {constraint.max_skew}" if is_exceeded else ""
        phrases.append(styled(f"{whose}{short_key(change.topology_key)} {change.after}{exceeds}", _BAD * is_exceeded))
    return Text(" · ").join(phrases)


def _has_domains(reports: Sequence[SimulateReport]) -> bool:
    return any(report.grouping is not None for report in reports)


def _survivors(report: SimulateReport) -> str:
    return "" if report.grouping is None else str(report.worst_loss[report.grouping].remaining)


def _cause(report: SimulateReport) -> str:
    """What bars the next replica; kube-scheduler's message without how it always begins."""
    return report.conclusion or _BEGINNING.sub("", report.stopped or "")


def _line(columns: Sequence[_Column], cells: Sequence[Text]) -> Text:
    padded = [column.padded(cell) for column, cell in zip(columns, cells, strict=True)]
    line = Text(" " * _GUTTER).join(padded)
    line.rstrip()
    return line


def _totals(reports: Sequence[SimulateReport]) -> Text:
    placed, pending = sum(report.placed for report in reports), sum(report.pending for report in reports)
    return Text.assemble(
        styled(f"{len(reports)} workloads: {placed} placed, "),
        styled(f"{pending} pending", _BAD if pending else _GOOD),
    )


def _hints(reports: Sequence[SimulateReport], columns: Sequence[_Column]) -> Iterator[Text]:
    if any(column.header == _SURVIVE for column in columns):
        keys = dict.fromkeys(short_key(report.grouping) for report in reports if report.grouping is not None)
        yield styled(f"{_SURVIVE}: replicas left when the fullest {' or '.join(keys)} is lost", _DIM)
    yield styled("-v or --name NAME: where the replicas of each land", _DIM)
