"""Losses: one row per domain, the worst first where there are many, and the workloads that stay degraded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.kube.owners import WorkloadName
from kubespread.questions.survive.report import (
    DomainLoss,
    LostWorkload,
    SurviveReport,
    badness,
    domain_called,
    domain_name,
    listed,
)
from kubespread.reports.happened import LandedPods, NodeEviction, eviction_order
from kubespread.views.look import Cell, Line, Look, Tone, Weight
from kubespread.views.sheet import Column, Drawn, Fit, Readers, Sheet, count
from kubespread.views.terminal import folded, together
from kubespread.views.view import Frame, Held, Tile, View, about, held_after, held_before, unwanted, whose
from kubespread.wording import count_of, short_key

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap

_MAX_ROWS, _MAX_SHORT, _MAX_FRAMES, _MAX_NAMED = 20, 10, 60, 3
_MAX_COLUMNS = 12
_WIDEST_DOMAIN = 24
_NOT_REMADE = "NOT REMADE: no controller makes them again"

_MATRIX_LEGEND = (
    "ready pods before → without the domain; one number where they stay as many, none where no pod is touched"
)

_KEY: Column[DomainLoss] = Column("KEY", lambda loss: loss.topology_key, Readers.PIPES)
_DOMAIN: Column[DomainLoss] = Column("DOMAIN", domain_name, fit=Fit.NAMES)
_LOSS: Sequence[Column[DomainLoss]] = (
    _KEY,
    _DOMAIN,
    count("NODES", lambda loss: loss.nodes),
    count("LOST", lambda loss: loss.lost),
    count("PLACED", lambda loss: loss.placed),
    count("PREEMPTED", lambda loss: loss.preempted, bad=True, hides_empty=True),
    count("PENDING", lambda loss: loss.pending, bad=True),
    count("NOT-REMADE", lambda loss: len(loss.not_made_again), bad=True, hides_empty=True),
    count("WORKLOADS-DEGRADED", lambda loss: len(loss.short), bad=True),
    Column("KEY", lambda loss: short_key(loss.topology_key), Readers.PAGES),
    Column("WHY", lambda loss: loss.message, readers=Readers.RECORDS),
)

_Short = tuple[DomainLoss, LostWorkload]
_SHORT: Sequence[Column[_Short]] = (
    Column("KEY", lambda row: row[0].topology_key, Readers.RECORDS),
    Column("DOMAIN", lambda row: domain_name(row[0]), Readers.RECORDS),
    Column("WORKLOAD", lambda row: row[1].workload, short="DEGRADED WORKLOAD", fit=Fit.APART),
    count("WANTED", lambda row: row[1].wanted, short="WANT"),
    Column("READY", lambda row: row[1].ready, is_number=True, tone=lambda _: Tone.BAD),
    Column("WHY", lambda row: row[1].why, readers=Readers.RECORDS),
)

_Eviction = tuple[DomainLoss, NodeEviction]
_ORDER: Sequence[Column[_Eviction]] = (
    Column("KEY", lambda row: row[0].topology_key),
    Column("DOMAIN", lambda row: domain_name(row[0])),
    Column("NODE", lambda row: row[1].node),
    count("SECONDS", lambda row: row[1].seconds),
    count("PODS", lambda row: row[1].pods),
)


def view(report: SurviveReport) -> View:
    """Domains, the workloads that losing each leaves degraded, and the order in which its nodes lose their pods."""
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses)) or "domain"
    steps = {id(loss): number for number, loss in enumerate(sorted(report.losses, key=badness), 1)}
    deleted = " and their Node objects" if report.nodes_deleted else ""
    return View(
        **about(report),
        title=f"Losing each {'pair of ' if report.pairs else ''}{keys}{'s' if report.pairs else ''} of "
        f"{count_of(report.nodes, 'node')}{deleted}, {whose(report, report.workloads)}",
        sheets=[
            *_matrices(report),
            Sheet(
                title="Domains",
                columns=_LOSS,
                rows=report.losses,
                step=lambda loss: steps.get(id(loss)),
                tone=lambda loss: Tone.BAD if loss.trouble else Tone.GOOD,
            ),
            Sheet(
                title="Degraded workloads",
                columns=_SHORT,
                is_detail=True,
                rows=[(loss, workload) for loss in report.losses for workload in loss.short],
            ),
            Sheet(
                title="Where pods land",
                columns=_LANDED,
                readers=Readers.PAGES,
                is_detail=True,
                rows=[(loss, landed) for loss in report.losses for landed in loss.landed],
            ),
            Sheet(
                title="Evictions",
                columns=_ORDER,
                readers=Readers.WIDE,
                rows=[(loss, eviction) for loss in report.losses for eviction in loss.evictions],
            ),
        ],
        parts=lambda look: _parts(report, look),
        remarks="above",
        tiles=[*_tiles(report)],
        names=[short.workload for _, short in _worst_of_each(report)],
        frames_on=lambda drawn: _frames(report, drawn),
        before={},
        dot="pod landing here",
        opens_at=1,
    )


_LANDED: Sequence[Column[tuple[DomainLoss, LandedPods]]] = (
    Column("WORKLOAD", lambda row: row[1].workload),
    Column("WITHOUT", lambda row: domain_name(row[0])),
    Column("NODE", lambda row: row[1].node),
    count("PODS", lambda row: row[1].pods),
)


def _tiles(report: SurviveReport) -> Iterator[Tile]:
    standing = [loss for loss in report.losses if not loss.already_lost]
    safe, keys = sum(not loss.trouble for loss in standing), [key for key, _ in report.by_key()]
    what = " or ".join(f"{short_key(key)}s" for key in keys)
    tone = Tone.GOOD if safe == len(standing) else Tone.BAD
    yield Tile(f"{what} can be lost", f"{safe:,} of {len(standing):,}", tone)
    worst = {
        "pods pending, at worst": [loss.pending for loss in report.losses],
        "workloads degraded, at worst": [len(loss.short) for loss in report.losses],
        "pods gone for good, at worst": [len(loss.not_made_again) for loss in report.losses],
    }
    for name, figures in worst.items():
        yield unwanted(name, max(figures, default=0))
    yield Tile("pods pending before", f"{report.pending_before:,}")


class _Through(Struct, frozen=True):
    """A workload, and what it has left without each domain that touches it."""

    workload: WorkloadName
    without: Mapping[str, LostWorkload]

    @property
    def tone(self) -> Tone:
        tones = {_lost_tone(lost) for lost in self.without.values()}
        return next(tone for tone in (Tone.BAD, Tone.WARN, Tone.GOOD) if tone in tones)

    @property
    def least(self) -> float:
        """The share of its pods that it has left, at worst."""
        return min(lost.ready / max(1, lost.wanted) for lost in self.without.values())


def _lost_tone(lost: LostWorkload) -> Tone:
    if not lost.lacks:
        return Tone.GOOD
    return Tone.WARN if lost.ready else Tone.BAD


def _readiness(domain: str, row: _Through) -> str:
    """``9 → 6``; without what stays the same."""
    lost = row.without.get(domain)
    if lost is None:
        return ""
    return " → ".join(f"{state:,}" for state in dict.fromkeys((lost.ready_before, lost.ready)))


def _drawn(domain: str, row: _Through) -> Drawn | None:
    lost = row.without.get(domain)
    if lost is None:
        return None
    return Drawn(min(100, 100 * lost.ready // max(1, lost.wanted)), _lost_tone(lost))


def _matrices(report: SurviveReport) -> Iterator[Sheet[Any]]:
    """For each key the workloads that losses touch, by domain, the worst first."""
    for key, losses in report.by_key():
        touched: dict[WorkloadName, dict[str, LostWorkload]] = {}
        for loss in losses:
            for lost in loss.workloads:
                touched.setdefault(lost.workload, {})[loss.domain] = lost
        shown = losses if len(losses) <= _MAX_COLUMNS else sorted(losses, key=badness)[:_MAX_COLUMNS]
        of = f"each {short_key(key)}"
        if len(shown) < len(losses):
            of = f"the worst {len(shown)} of {count_of(len(losses), short_key(key))}"
        rows = [_Through(name, without) for name, without in touched.items()]
        columns: list[Column[_Through]] = [
            Column("WORKLOAD", lambda row: row.workload),
            *(
                Column(
                    header=loss.domain.upper(),
                    title=domain_name(loss),
                    value=partial(_readiness, loss.domain),
                    drawn=partial(_drawn, loss.domain),
                )
                for loss in shown
            ),
        ]
        yield Sheet(
            title=f"Ready pods without {of}",
            columns=columns,
            readers=Readers.PAGES,
            is_first=True,
            rows=sorted(rows, key=lambda row: (row.least, row.workload)),
            tone=lambda row: row.tone,
            legend=_MATRIX_LEGEND,
        )


def _frames(report: SurviveReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One frame per loss, the worst first; each domain is lost by itself, so the earlier one's nodes are back."""
    back: list[str] = []
    start, held = held_before(drawn), dict[str, Held]()
    landed: Counter[str] = Counter()
    for loss in sorted(report.losses, key=badness)[:_MAX_FRAMES]:
        if loss.topology_key not in drawn.keys:
            continue
        place = drawn.keys.index(loss.topology_key)
        lost = [node.name for node in drawn.nodes if node.path[place] in loss.values]
        text = f"{count_of(loss.lost, 'pod')} lost, {loss.placed:,} placed, {loss.pending:,} pending"
        left = dict.fromkeys(landed, 0)
        landed = Counter()
        for row in loss.landed:
            landed[row.node] += row.pods
        again, held = dict.fromkeys(held), held_after(loss.loads, start, drawn)
        back, lost_before = lost, back
        yield Frame(
            f"without {domain_called(loss)}",
            text,
            pods={**left, **landed},
            gone=lost,
            joined=lost_before,
            held={**{name: start[name] for name in (*again, *left, *landed) if name in start}, **held},
        )


def _parts(report: SurviveReport, look: Look) -> Iterator[Sheet[Any] | Line]:
    """The domains of each key, and the degraded workloads: a row each, with the domain that leaves it fewest."""
    for key, losses in report.by_key():
        yield from _of_key(short_key(key), losses, look)
    if look.headers and any(loss.not_made_again for loss in report.losses):
        yield folded(Cell(_NOT_REMADE, Tone.FAINT))
    domains = Counter(workload.workload for loss in report.losses for workload in loss.short)
    columns = [
        *_SHORT,
        Column("FEWEST-WITHOUT", lambda row: domain_name(row[0]), most=_WIDEST_DOMAIN),
        count("DOMAINS", lambda row: domains[row[1].workload]),
    ]
    short = Sheet(title="", columns=columns, rows=_worst_of_each(report), most=_MAX_SHORT, noun="workload")
    yield short
    # Why they are degraded, unless said of a domain already.
    said = {loss.message for loss in report.losses}
    whys = ((escaped(row.workload), row.why) for _, row in short.on_screen(look))
    for why, names in together((name, why) for name, why in whys if why not in said).items():
        yield folded(f"{', '.join(names[:3])}: {why}", weight=Weight.REASON)


def _of_key(key: str, losses: Sequence[DomainLoss], look: Look) -> Iterator[Sheet[DomainLoss] | Line]:
    sheet = Sheet(
        title="",
        columns=[replace(column, short=key.upper()) if column is _DOMAIN else column for column in _LOSS],
        rows=sorted(losses, key=badness),
        most=_MAX_ROWS,
        noun=key,
    )
    yield sheet
    alike: dict[str, list[DomainLoss]] = {}
    for loss in sheet.on_screen(look):
        for text in (*([loss.message] if loss.message else []), *loss.notes):
            alike.setdefault(text, []).append(loss)
    for text, named in alike.items():
        yield folded(f"{listed(named, 'and')}: {text}", weight=Weight.REASON)
    for loss in losses if look.in_full else ():
        if loss.nodes > 1 and loss.evictions:
            yield folded(f"{domain_called(loss)}: evicted: {eviction_order(loss.evictions)}")


def _worst_of_each(report: SurviveReport) -> list[_Short]:
    """Of each degraded workload the loss that leaves it fewest, the workload that lacks most first."""
    short = ((loss, workload) for loss in sorted(report.losses, key=badness) for workload in loss.short)
    worst: dict[str, _Short] = {}
    for row in short:
        other = worst.setdefault(row[1].workload, row)
        if row[1].ready < other[1].ready:
            worst[row[1].workload] = row
    return sorted(worst.values(), key=lambda row: (row[1].ready - row[1].wanted, row[1].workload))
