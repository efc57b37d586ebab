"""Losses for people: a row a domain, the worst first where there are many, and the workloads that stay short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.happened import eviction_order
from kubespread.planner.reports.survive import DomainLoss, ShortWorkload, SurviveReport, badness, domain_name
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    cut_middle,
    tabulated,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.names import fitted
from kubespread.views.phrases import chosen_from
from kubespread.views.screen import concluded, headline, left_out, room_beside, screen
from kubespread.wording import count_of, short_key

_MAX_ROWS = 20
_MAX_SHORT = 10
_LEAST_NAME = 12
_LEGEND = "IF DELETED: once the Node objects are gone too; NOT REMADE: no controller makes them again"


@screen
def write(report: SurviveReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every domain and workload."""
    yield from headline(_title(report), report, look)
    for key, losses in report.by_key():
        yield from _key(short_key(key), losses, look)
    if look.headers:
        yield from wrapped([Cell(INDENT), cell(_LEGEND, DIM)], look.width, HANGING)
    yield from _short(report, look)
    yield from concluded(report.answer, look)


def _title(report: SurviveReport) -> str:
    keys = " and ".join(dict.fromkeys(short_key(loss.topology_key) for loss in report.losses))
    whose = f"{count_of(report.workloads, 'workload')}{chosen_from(report.namespace, report.selector)}"
    return f"Losing each {keys} of {count_of(report.nodes, 'node')}, {whose}"


def _key(key: str, losses: Sequence[DomainLoss], look: Look) -> Iterator[Line]:
    shown = list(losses)
    if not look.in_full and len(losses) > _MAX_ROWS:
        shown = sorted(losses, key=badness)[:_MAX_ROWS]
    yield from tabulated(_columns(key, shown, look), headers=look.headers)
    left = len(losses) - len(shown)
    if left:
        troubled = sum(bool(loss.trouble) for loss in _others(losses, shown))
        said = f"{troubled:,} of them cannot be lost" if troubled else "each can be lost"
        yield from left_out(left, key, f": {said}")
    for reason, domains in _reasons(shown).items():
        yield from wrapped([Cell(f"{INDENT}{', '.join(domains)}: {reason}")], look.width, HANGING)
    for loss in losses if look.in_full else ():
        if loss.nodes > 1 and loss.evictions:
            said = escaped(f"{domain_name(loss)}: evicted: {eviction_order(loss.evictions)}")
            yield from wrapped([Cell(f"{INDENT}{said}")], look.width, HANGING)


def _others(losses: Sequence[DomainLoss], shown: Sequence[DomainLoss]) -> Iterator[DomainLoss]:
    there = {loss.domain for loss in shown}
    return (loss for loss in losses if loss.domain not in there)


def _columns(key: str, losses: Sequence[DomainLoss], look: Look) -> list[Column]:
    figures = [
        _numbers("NODES", [loss.nodes for loss in losses]),
        _numbers("LOST", [loss.lost for loss in losses]),
        _numbers("PLACED", [loss.placed for loss in losses]),
        _numbers("PENDING", [loss.pending for loss in losses], judged=True),
        _numbers("IF DELETED", [loss.pending_after_removal for loss in losses], judged=True),
        _numbers("NOT REMADE", [len(loss.not_made_again) for loss in losses], judged=True),
        _numbers("SHORT", [len(loss.short) for loss in losses], judged=True),
    ]
    if any(loss.preempted for loss in losses):
        figures.insert(3, _numbers("PREEMPTED", [loss.preempted for loss in losses], judged=True))
    room = room_beside(figures, look)
    names = fitted([escaped(domain_name(loss)) for loss in losses], max(room, _LEAST_NAME))
    return [Column(key.upper(), [Cell(name) for name in names]), *figures]


def _numbers(header: str, numbers: Sequence[int], *, judged: bool = False) -> Column:
    styles = ["" if not judged else BAD if number else GOOD for number in numbers]
    return Column(header, [Cell(f"{number:,}", style) for number, style in zip(numbers, styles, strict=True)], True)


def _reasons(losses: Sequence[DomainLoss]) -> dict[str, list[str]]:
    """What is to be said of domains, those of which the same is said together."""
    said: dict[str, list[str]] = {}
    for loss in losses:
        removed = loss.message_after_removal if loss.message_after_removal != loss.message else None
        messages = (loss.message, None if removed is None else f"once the nodes are deleted: {removed}")
        for text in (*filter(None, messages), *loss.notes):
            said.setdefault(escaped(text), []).append(domain_name(loss))
    return {text: [*names[:3], *([f"{len(names) - 3} more"] if len(names) > 3 else ())] for text, names in said.items()}


def _short(report: SurviveReport, look: Look) -> Iterator[Line]:
    """The workloads that run short: one row each, with the domain that leaves it fewest."""
    worst: dict[str, tuple[ShortWorkload, DomainLoss, int]] = {}
    for loss in report.losses:
        for each in loss.short:
            known = worst.get(each.workload)
            count = 1 if known is None else known[2] + 1
            best = (each, loss) if known is None or each.fewest_ready < known[0].fewest_ready else known[:2]
            worst[each.workload] = (*best, count)
    rows = sorted(worst.values(), key=lambda row: (row[0].fewest_ready - row[0].wanted, row[0].workload))
    shown = rows if look.in_full else rows[:_MAX_SHORT]
    if not shown:
        return
    columns = [
        Column("WANT", [Cell(str(each.wanted)) for each, _, _ in shown], True),
        Column("READY", [Cell(str(each.ready), BAD if each.is_short else GOOD) for each, _, _ in shown], True),
        Column("IF DELETED", [_ready_if_deleted(each) for each, _, _ in shown], True),
        Column("FEWEST WITHOUT", [cell(cut_middle(domain_name(loss), 24)) for _, loss, _ in shown]),
        Column("DOMAINS", [Cell(str(count)) for _, _, count in shown], True),
    ]
    room = room_beside(columns, look)
    names = [Cell(cut_middle(escaped(each.workload), max(room, _LEAST_NAME))) for each, _, _ in shown]
    yield from tabulated([Column("SHORT WORKLOAD", names), *columns], headers=look.headers)
    yield from left_out(len(rows) - len(shown), "workload")
    yield from _causes([row[0] for row in shown], report, look)


def _ready_if_deleted(short: ShortWorkload) -> Cell:
    return Cell(str(short.ready_after_removal), BAD if short.is_short_after_removal else GOOD)


def _causes(shown: Sequence[ShortWorkload], report: SurviveReport, look: Look) -> Iterator[Line]:
    """Why they are short, where that was not said of a domain already."""
    told = {message for loss in report.losses for message in (loss.message, loss.message_after_removal)}
    causes: dict[str, list[str]] = {}
    for each in shown:
        whys = (
            *([each.why] if each.is_short else ()),
            *([each.why_after_removal] if each.is_short_after_removal else ()),
        )
        for why in dict.fromkeys(whys):
            if why not in told:
                causes.setdefault(why, []).append(escaped(each.workload))
    for why, names in causes.items():
        yield from wrapped([Cell(f"{INDENT}{', '.join(names[:3])}: {escaped(why)}")], look.width, HANGING)
