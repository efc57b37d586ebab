"""Gangs in words: whether one fits, what every topology domain says, which member is stuck, what else would work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.escaping import escaped
from kubespread.reports.gang import GangDomain, GangReport
from kubespread.reports.reason_words import reasons_in
from kubespread.views.layout import (
    GAP,
    HANGING,
    INDENT,
    Cell,
    Laid,
    Line,
    aim,
    cut_middle,
    flowed,
    room_beside,
    tabulated,
    wrapped,
)
from kubespread.views.look import Look, Tone
from kubespread.wording import EMPTY, count_of, short_key, some_of

_MAX_NODES = 3
_MAX_DOMAINS = 12
_NAMES_PER_WIDTH = 3


class _Row(Struct, frozen=True):
    """One domain, or several with the same verdict."""

    domain: GangDomain
    """The first of them."""
    others: int = 0


def domain_verdicts(gang: GangReport, look: Look) -> Iterator[Line]:
    """One row per domain, the best first, and which one is taken; with many, those with the same verdict share a row.
    Lines are limited by ``look.width``.
    """
    if gang.topology_key is None or not gang.domains:
        return
    rows = list(map(_Row, gang.domains))
    if len(rows) > _MAX_DOMAINS and not look.in_full:
        rows = _folded(gang.domains)
    shown, rest = rows[:_MAX_DOMAINS], rows[_MAX_DOMAINS:]
    if look.in_full:
        shown, rest = rows, []
    width = aim(look)
    names = [_name(row, width // _NAMES_PER_WIDTH) for row in shown]
    columns = [
        Laid(short_key(gang.topology_key).upper(), list(map(Cell, names))),
        Laid("NODES", [Cell(str(row.domain.nodes)) for row in shown], is_number=True),
        Laid("FIT", [_members(gang, row.domain) for row in shown]),
        Laid("SCORE", [Cell(_score(row.domain)) for row in shown]),
    ]
    why = Laid("WHY NOT", [Cell(_why(row.domain)) for row in shown])
    has_room = room_beside((*columns, why), look) + GAP >= 0
    if has_room and any(part.text for part in why.cells):
        columns.append(why)
    yield from tabulated(columns, headers=look.headers)
    if rest:
        count = sum(row.others + 1 for row in rest)
        fitting = sum(row.others + 1 for row in rest if row.domain.fits)
        yield from flowed([[Cell(f"and {count_of(count, 'more domain')}, of which {fitting or 'none'} fit")]], look)
    if not has_room:
        yield from _causes([row.domain for row in shown], names, look)
    yield from flowed([[Cell(sentence, Tone.FAINT)] for sentence in _scoring(gang)], look)


def _folded(domains: Sequence[GangDomain]) -> list[_Row]:
    """Domains of equal size with the same verdict in one row, each row where its first domain was; the best by
    itself.
    """
    rows: dict[object, _Row] = {}
    for domain in domains:
        key = 0 if domain is domains[0] and domain.fits else (domain.nodes, domain.members, domain.total, _why(domain))
        row = rows.get(key)
        rows[key] = _Row(domain) if row is None else _Row(row.domain, row.others + 1)
    return list(rows.values())


def _name(row: _Row, width: int) -> str:
    more = f" and {row.others} more" if row.others else ""
    return f"{cut_middle(escaped(row.domain.value) or EMPTY, width - len(more))}{more}"


def _members(gang: GangReport, domain: GangDomain) -> Cell:
    return Cell(f"{domain.members} of {gang.members}", Tone.GOOD if domain.fits else Tone.PLAIN)


def _score(domain: GangDomain) -> str:
    """``100+51 = 151``: for the members that fit, and for the share of the domain that they and others use."""
    return "" if domain.total is None else f"{domain.pods_score}+{domain.resources_score or 0} = {domain.total}"


def _why(domain: GangDomain) -> str:
    return "" if domain.fits else reasons_in(domain.stopped or "")


def _causes(shown: Sequence[GangDomain], names: Sequence[str], look: Look) -> Iterator[Line]:
    """Domains that fail for the same cause in one line."""
    stuck: dict[str, list[str]] = {}
    for domain, name in zip(shown, names, strict=True):
        if why := _why(domain):
            stuck.setdefault(why, []).append(name)
    for why, domains in stuck.items():
        yield from wrapped([Cell(f"{INDENT}{some_of(domains, _MAX_NODES)}: "), Cell(why)], look.width, HANGING)


def _scoring(gang: GangReport) -> Iterator[str]:
    if any(domain.fits for domain in gang.domains):
        yield "SCORE: members that fit + how much of the domain is taken then, each 0 to 100"
