"""Capacity for people: resources and what is stranded of them, then domains, then the fullest nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.capacity import (
    CapacityReport,
    DomainCapacity,
    NodeCapacity,
    ResourceAmounts,
)
from kubespread.planner.reports.details import rounded
from kubespread.views.capacity.plain import domain_text
from kubespread.views.capacity.words import of, share, shown, stranded_text, whose
from kubespread.views.flow import HANGING, INDENT, aim
from kubespread.views.layout import (
    BAD,
    GAP,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    cut_end,
    tabulated,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.names import fitted, legend
from kubespread.views.screen import concluded, headline, left_out, room_beside, screen
from kubespread.wording import count_of, short_key

_MAX_NODES, _SHOWN_OF_MANY = 20, 8
_MAX_DOMAINS = 12
_LEAST_NAME = 12
_LEAST_WHY = 8
_ALMOST_FULL = 90
_NARROW = 72
"""Terminals below this width go without what the other columns tell nearly as well."""


@screen
def write(report: CapacityReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every domain and node."""
    yield from headline(f"Capacity of {count_of(report.nodes, 'node')}{whose(report)}", report, look)
    yield from tabulated(list(_resources(report, look)), headers=look.headers)
    for each in report.resources:
        # Where pod slots are left over, what is short of them is said already.
        if each.stranded and each.resource != "pods":
            said = ", ".join(stranded_text(part, report.request) for part in each.stranded)
            yield from wrapped([Cell(INDENT), cell(f"{each.resource} stranded: {said}")], look.width, HANGING)
    if report.domains:
        yield from _domains(report, look)
    yield from _nodes(report, look)
    yield from concluded(report.answer, look)


def _resources(report: CapacityReport, look: Look) -> Iterator[Column]:
    rows = [each for each in report.resources if each.allocatable != "0" or each.resource in (report.request or ())]
    yield Column("RESOURCE", [cell(each.resource) for each in rows])
    if aim(look) >= _NARROW:
        yield Column("ALLOCATABLE", [Cell(rounded(each.allocatable)) for each in rows], True)
    yield Column("REQUESTED", [Cell(rounded(each.requested, up=True)) for each in rows], True)
    yield Column("USED", [_share(each) for each in rows], True)
    yield Column("FREE", [Cell(rounded(each.free)) for each in rows], True)
    yield Column("USABLE", [Cell(rounded(each.usable), BAD if each.usable == "0" else "") for each in rows], True)


def _share(amounts: ResourceAmounts) -> Cell:
    return Cell(share(amounts), BAD if (amounts.utilization or 0) >= _ALMOST_FULL else "")


def _domains(report: CapacityReport, look: Look) -> Iterator[Line]:
    rows = list(report.domains)
    if not look.in_full and len(rows) > _MAX_DOMAINS:
        rows = sorted(rows, key=lambda each: -1 if each.fits is None else each.fits)[:_MAX_DOMAINS]
    key = short_key(report.topology_key or "")
    figures = [_fits([each.fits for each in rows])] if report.request is not None else []
    if aim(look) >= _NARROW:
        figures.append(Column("NODES", [Cell(f"{each.nodes:,}") for each in rows], True))
    figures += _amounts(report, rows)
    room = room_beside(figures, look)
    names = fitted([escaped(domain_text(each.domain)) for each in rows], max(room, _LEAST_NAME))
    yield from tabulated([Column(key.upper(), list(map(Cell, names))), *figures], headers=look.headers)
    yield from left_out(len(report.domains) - len(rows), key)


def _fits(fits: Sequence[int | None]) -> Column:
    return Column("FITS", [Cell(f"{each or 0:,}", GOOD if each else BAD) for each in fits], True)


def _amounts(report: CapacityReport, rows: Sequence[DomainCapacity]) -> Iterator[Column]:
    """Of each resource how much of it is taken and how much is left."""
    for name in shown(report):
        each = [of(row.resources, name) for row in rows]
        header = short_key(name).upper()
        yield Column(header, [_share(amounts) for amounts in each], True)
        yield Column("FREE", [Cell(rounded(amounts.free)) for amounts in each], True)


def _nodes(report: CapacityReport, look: Look) -> Iterator[Line]:
    rows = sorted(report.node_rows, key=lambda each: (-_fullness(each), each.node))
    if not look.in_full and len(rows) > _MAX_NODES:
        rows = rows[:_SHOWN_OF_MANY]
    columns = list(_node_columns(report, rows, look))
    yield from tabulated(columns, headers=look.headers)
    yield from legend([escaped(each.node) for each in rows], [each.text for each in columns[0].cells], look)
    if left := len(report.node_rows) - len(rows):
        others = sorted(report.node_rows, key=_fullness)[:left]
        extremes = dict.fromkeys(f"{_fullness(each):.0f}%" for each in (others[0], others[-1]))
        yield from left_out(left, "node", f", {' to '.join(extremes)} full")


def _fullness(node: NodeCapacity) -> float:
    """What is taken of the resource that is scarcest there, in percent."""
    return max((each.utilization or 0 for each in node.resources), default=0)


def _node_columns(report: CapacityReport, rows: Sequence[NodeCapacity], look: Look) -> Iterator[Column]:
    figures = [_fits([each.fits for each in rows])] if report.request is not None else []
    figures += [
        Column(short_key(name).upper(), [_share(of(each.resources, name)) for each in rows], True)
        for name in shown(report)
    ]
    pods = [of(each.resources, "pods") for each in rows]
    if aim(look) >= _NARROW:
        figures.append(Column("PODS", [Cell(f"{each.requested}/{each.allocatable}") for each in pods], True))
    header = "WHY NOT" if report.request is None else "NO MORE FOR"
    whys = [escaped(", ".join(each.why)) for each in rows]
    zones = [escaped(domain_text(each.domain)) for each in rows]
    room = room_beside(figures, look) - (max(_LEAST_WHY, len(header)) + GAP if any(whys) else 0)
    names = [escaped(each.node) for each in rows]
    domain = Column(short_key(report.topology_key or "").upper(), list(map(Cell, zones)))
    if report.topology_key is not None and max(map(len, names), default=0) + GAP + domain.width + GAP <= room:
        figures.insert(0, domain)
        room -= domain.width + GAP
    name = Column("NODE", list(map(Cell, fitted(names, max(room - GAP, _LEAST_NAME)))))
    yield name
    yield from figures
    if any(whys):
        left = room_beside((name, *figures), look)
        yield Column(header, [Cell(cut_end(why, max(left, _LEAST_WHY))) for why in whys])
