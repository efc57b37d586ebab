"""Losses: one row per domain, the worst first where there are many, and the workloads that stay short."""

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
    ShortWorkload,
    SurviveReport,
    badness,
    domain_name,
)
from kubespread.reports.happened import NodeEviction, eviction_order
from kubespread.views.layout import (
    DIM,
    HANGING,
    INDENT,
    Cell,
    Line,
    answered,
    cell,
    headline,
    left_out,
    remarks,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.phrases import whose
from kubespread.views.sheet import Column, Drawn, Fit, Readers, Sheet, Tone, count
from kubespread.views.terminal import table
from kubespread.views.view import Frame, Tile, View, about
from kubespread.wording import count_of, short_key

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap

_MAX_ROWS, _MAX_SHORT, _MAX_FRAMES, _MAX_NAMED = 20, 10, 60, 3
_MAX_COLUMNS = 12
_WIDEST_DOMAIN = 24
_IF_DELETED = "IF DELETED: once the Node objects are gone too"
_NOT_REMADE = "NOT REMADE: no controller makes them again"

_MATRIX_LEGEND = (
    "ready pods before → while the Node objects are there → once they are deleted; one number where they stay as many, "
    "none where no pod is touched"
)

_KEY: Column[DomainLoss] = Column(header="KEY", value=lambda loss: loss.topology_key, readers=Readers.PIPES)
_DOMAIN: Column[DomainLoss] = Column(header="DOMAIN", value=domain_name, fit=Fit.NAMES)
_LOSS: Sequence[Column[DomainLoss]] = (
    _KEY,
    _DOMAIN,
    count("NODES", lambda loss: loss.nodes),
    count("LOST", lambda loss: loss.lost),
    count("PLACED", lambda loss: loss.placed),
    count("PREEMPTED", lambda loss: loss.preempted, bad=True, hides_empty=True),
    count("PENDING", lambda loss: loss.pending, bad=True),
    count("PENDING-IF-DELETED", lambda loss: loss.pending_after_removal, bad=True, short="IF DELETED"),
    count("NOT-REMADE", lambda loss: len(loss.not_made_again), bad=True, hides_empty=True),
    count("SHORT", lambda loss: len(loss.short), bad=True),
    Column(header="KEY", value=lambda loss: short_key(loss.topology_key), readers=Readers.PAGES),
    Column(
        header="WHY", value=lambda loss: loss.message or loss.message_after_removal, readers=Readers.RECORDS
    ),
)  # fmt: skip

_Short = tuple[DomainLoss, ShortWorkload]
_SHORT: Sequence[Column[_Short]] = (
    Column(header="KEY", value=lambda row: row[0].topology_key, readers=Readers.RECORDS),
    Column(header="DOMAIN", value=lambda row: domain_name(row[0]), readers=Readers.RECORDS),
    Column(header="WORKLOAD", value=lambda row: row[1].workload, short="SHORT WORKLOAD", fit=Fit.APART),
    count("WANTED", lambda row: row[1].wanted, short="WANT"),
    Column(
        header="READY", value=lambda row: row[1].ready, is_number=True,
        tone=lambda row: Tone.BAD if row[1].is_short else Tone.GOOD,
    ),
    Column(
        header="READY-IF-DELETED", value=lambda row: row[1].ready_after_removal, is_number=True, short="IF DELETED",
        tone=lambda row: Tone.BAD if row[1].is_short_after_removal else Tone.GOOD,
    ),
    Column(
        header="WHY", value=lambda row: row[1].why if row[1].is_short else row[1].why_after_removal,
        readers=Readers.RECORDS,
    ),
)  # fmt: skip

_Eviction = tuple[DomainLoss, NodeEviction]
_ORDER: Sequence[Column[_Eviction]] = (
    Column(header="KEY", value=lambda row: row[0].topology_key),
    Column(header="DOMAIN", value=lambda row: domain_name(row[0])),
    Column(header="NODE", value=lambda row: row[1].node),
    count("SECONDS", lambda row: row[1].seconds),
    count("PODS", lambda row: row[1].pods),
)


def view(report: SurviveReport) -> View:
    """Domains, the workloads that losing each leaves short, and the order in which its nodes lose their pods."""
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses)) or "domain"
    then = "" if report.after is None else f" after {', '.join(report.after.steps)}"
    return View(
        **about(report),
        title=f"Losing each {'pair of ' if report.pairs else ''}{keys}{'s' if report.pairs else ''} of "
        f"{count_of(report.nodes, 'node')}{then}, {whose(report, report.workloads)}",
        sheets=[
            *_matrices(report),
            Sheet(
                title="Domains", columns=_LOSS, rows=report.losses,
                tone=lambda loss: Tone.BAD if loss.trouble else Tone.GOOD,
            ),
            Sheet(
                title="Workloads that run short", columns=_SHORT, is_detail=True,
                rows=[(loss, workload) for loss in report.losses for workload in loss.short],
            ),
            Sheet(
                title="Where pods land", columns=_LANDED, readers=Readers.PAGES, is_detail=True,
                rows=[row for loss in report.losses for row in _landed(loss)],
            ),
            Sheet(
                title="Evictions", columns=_ORDER, readers=Readers.WIDE,
                rows=[(loss, eviction) for loss in report.losses for eviction in loss.evictions],
            ),
        ],
        lines=lambda look: _lines(report, look),
        tiles=[*_tiles(report)],
        names=[short.workload for _, short in _worst_of_each(report)],
        frames_on=lambda drawn: _frames(report, drawn),
        before={},
        dot="pod landing here",
        opens_at=1,
    )  # fmt: skip


_Landed = tuple[DomainLoss, WorkloadName, str, int, int]
"""Pods of a workload on a node, while the Node objects of the lost domain are there and once they are deleted."""
_LANDED: Sequence[Column[_Landed]] = (
    Column(header="WORKLOAD", value=lambda row: row[1]),
    Column(header="WITHOUT", value=lambda row: domain_name(row[0])),
    Column(header="NODE", value=lambda row: row[2]),
    count("PODS", lambda row: row[3]),
    count("PODS-IF-DELETED", lambda row: row[4]),
)


def _landed(loss: DomainLoss) -> Iterator[_Landed]:
    now, then = (
        {(row.workload, row.node): row.pods for row in rows} for rows in (loss.landed, loss.landed_after_removal)
    )
    for workload, node in dict.fromkeys((*now, *then)):
        yield loss, workload, node, now.get((workload, node), 0), then.get((workload, node), 0)


def _tiles(report: SurviveReport) -> Iterator[Tile]:
    standing = [loss for loss in report.losses if not loss.already_lost]
    safe, keys = sum(not loss.trouble for loss in standing), [key for key, _ in report.by_key()]
    what = " or ".join(f"{short_key(key)}s" for key in keys)
    tone = Tone.GOOD if safe == len(standing) else Tone.BAD
    yield Tile(f"{what} can be lost", f"{safe:,} of {len(standing):,}", tone)
    worst = {
        "pods pending, at worst": [max(loss.pending, loss.pending_after_removal) for loss in report.losses],
        "workloads short, at worst": [len(loss.short) for loss in report.losses],
        "pods gone for good, at worst": [len(loss.not_made_again) for loss in report.losses],
    }
    for name, figures in worst.items():
        figure = max(figures, default=0)
        yield Tile(name, f"{figure:,}", Tone.BAD if figure else Tone.GOOD)
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
        return min(lost.fewest_ready / max(1, lost.wanted) for lost in self.without.values())


def _lost_tone(lost: LostWorkload) -> Tone:
    if not lost.is_short:
        return Tone.GOOD
    return Tone.WARN if lost.fewest_ready else Tone.BAD


def _readiness(domain: str, row: _Through) -> str:
    """``9 → 6 → 9``; without what stays the same."""
    lost = row.without.get(domain)
    if lost is None:
        return ""
    states = [lost.ready_before, lost.ready, lost.ready_after_removal]
    changes = [state for place, state in enumerate(states) if state not in states[place - 1 : place]]
    return " → ".join(f"{state:,}" for state in changes)


def _drawn(domain: str, row: _Through) -> Drawn | None:
    lost = row.without.get(domain)
    if lost is None:
        return None
    return Drawn(min(100, 100 * lost.fewest_ready // max(1, lost.wanted)), _lost_tone(lost))


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
            Column(header="WORKLOAD", value=lambda row: row.workload),
            *(
                Column(
                    header=loss.domain.upper(), title=domain_name(loss), value=partial(_readiness, loss.domain),
                    drawn=partial(_drawn, loss.domain),
                )
                for loss in shown
            ),
        ]  # fmt: skip
        yield Sheet(
            title=f"Ready pods without {of}", columns=columns, readers=Readers.PAGES, is_first=True,
            rows=sorted(rows, key=lambda row: (row.least, row.workload)), tone=lambda row: row.tone,
            legend=_MATRIX_LEGEND,
        )  # fmt: skip


def _frames(report: SurviveReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One frame per loss, the worst first; each domain is lost by itself, so the earlier one's nodes are back."""
    back: list[str] = []
    landed: Counter[str] = Counter()
    for loss in sorted(report.losses, key=badness)[:_MAX_FRAMES]:
        if loss.topology_key not in drawn.keys:
            continue
        place = drawn.keys.index(loss.topology_key)
        lost = [node.name for node in drawn.nodes if node.path[place] in loss.values]
        text = f"{count_of(loss.lost, 'pod')} lost, {loss.placed:,} placed, {loss.pending:,} pending"
        if loss.pending_after_removal != loss.pending:
            text += f", {loss.pending_after_removal:,} once the nodes are deleted"
        left = dict.fromkeys(landed, 0)
        landed = Counter()
        for row in loss.landed:
            landed[row.node] += row.pods
        yield Frame(f"without {domain_name(loss)}", text, pods={**left, **landed}, gone=lost, joined=back)
        back = lost


def _lines(report: SurviveReport, look: Look) -> Iterator[Line]:
    yield from headline(view(report).title, report, look)
    yield from answered(report.answer, look)
    yield from remarks(report.answer, look)
    for key, losses in report.by_key():
        yield from _of_key(short_key(key), losses, look)
    if look.headers:
        remade = [_NOT_REMADE] if any(loss.not_made_again for loss in report.losses) else []
        yield from wrapped([Cell(INDENT), cell("; ".join((_IF_DELETED, *remade)), DIM)], look.width, HANGING)
    yield from _short(report, look)


def _of_key(key: str, losses: Sequence[DomainLoss], look: Look) -> Iterator[Line]:
    shown = list(losses)
    if not look.in_full and len(losses) > _MAX_ROWS:
        shown = sorted(losses, key=badness)[:_MAX_ROWS]
    columns = [replace(column, short=key.upper()) if column is _DOMAIN else column for column in _LOSS]
    yield from table(columns, shown, look)
    hidden = [loss for loss in losses if loss not in shown]
    if hidden:
        troubled = sum(bool(loss.trouble) for loss in hidden)
        remark = f"{troubled:,} of them cannot be lost" if troubled else "each can be lost"
        yield from left_out(len(hidden), key, f": {remark}")
    for reason, domains in _reasons(shown).items():
        yield from wrapped([Cell(f"{INDENT}{', '.join(domains)}: {reason}")], look.width, HANGING)
    for loss in losses if look.in_full else ():
        if loss.nodes > 1 and loss.evictions:
            remark = escaped(f"{domain_name(loss)}: evicted: {eviction_order(loss.evictions)}")
            yield from wrapped([Cell(f"{INDENT}{remark}")], look.width, HANGING)


def _reasons(losses: Sequence[DomainLoss]) -> dict[str, list[str]]:
    """Remarks on domains; those with the same remark together."""
    by_text: dict[str, list[str]] = {}
    for loss in losses:
        removed = loss.message_after_removal if loss.message_after_removal != loss.message else None
        messages = (loss.message, None if removed is None else f"once the nodes are deleted: {removed}")
        for text in (*filter(None, messages), *loss.notes):
            by_text.setdefault(escaped(text), []).append(domain_name(loss))
    return {
        text: [*names[:3], *([f"{len(names) - 3} more"] if len(names) > 3 else ())] for text, names in by_text.items()
    }


def _short(report: SurviveReport, look: Look) -> Iterator[Line]:
    """The workloads that run short: one row each, with the domain that leaves it fewest."""
    rows = _worst_of_each(report)
    domains = Counter(workload.workload for loss in report.losses for workload in loss.short)
    shown = rows if look.in_full else rows[:_MAX_SHORT]
    if not shown:
        return
    columns = [
        *_SHORT,
        Column(header="FEWEST-WITHOUT", value=lambda row: domain_name(row[0]), most=_WIDEST_DOMAIN),
        count("DOMAINS", lambda row: domains[row[1].workload]),
    ]
    yield from table(columns, shown, look)
    yield from left_out(len(rows) - len(shown), "workload")
    yield from _causes([row[1] for row in shown], report, look)


def _worst_of_each(report: SurviveReport) -> list[_Short]:
    """Of each workload that runs short the loss that leaves it fewest, the workload that lacks most first."""
    short = ((loss, workload) for loss in sorted(report.losses, key=badness) for workload in loss.short)
    worst: dict[str, _Short] = {}
    for row in short:
        other = worst.setdefault(row[1].workload, row)
        if row[1].fewest_ready < other[1].fewest_ready:
            worst[row[1].workload] = row
    return sorted(worst.values(), key=lambda row: (row[1].fewest_ready - row[1].wanted, row[1].workload))


def _causes(shown: Sequence[ShortWorkload], report: SurviveReport, look: Look) -> Iterator[Line]:
    """Why they are short, unless said of a domain already."""
    messages = {message for loss in report.losses for message in (loss.message, loss.message_after_removal)}
    causes: dict[str, list[str]] = {}
    for workload in shown:
        whys = (
            *([workload.why] if workload.is_short else ()),
            *([workload.why_after_removal] if workload.is_short_after_removal else ()),
        )
        for why in dict.fromkeys(whys):
            if why not in messages:
                causes.setdefault(why, []).append(escaped(workload.workload))
    for why, names in causes.items():
        yield from wrapped([Cell(f"{INDENT}{', '.join(names[:3])}: {escaped(why)}")], look.width, HANGING)
