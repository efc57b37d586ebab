"""What rows give up on narrower terminals: blanks, names, columns, and finally the formula's spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubespread.escaping import escaped
from kubespread.views.arithmetic import PRETTY, Spelling, letter
from kubespread.views.layout import Cell, Column, cell, cut_end, cut_middle, width_of
from kubespread.wording import EMPTY, short_key

SEPARATOR = " · "
"""Between the reasons of a row."""
_LEAST_REASONS = 20
_LONGEST_HEADER = 14


class Form(Struct, frozen=True):
    gap: int = 2
    name: int | None = None
    """The most columns a node's name or a domain's takes."""
    domains: bool = True
    score: bool = True
    pods: bool = True
    spelling: Spelling = PRETTY
    full_reasons: bool = False


def fullest(
    forms: Sequence[Form], width: int | None, columns_of: Callable[[Form], list[Column]]
) -> tuple[list[Column], int, int | None]:
    """The columns of the first of ``forms`` that fits, the gap between them, and the width of the last one, the
    reasons.

    Reasons may take up to two fifths of the terminal if the formula keeps its room.
    """
    if width is None:
        return columns_of(forms[0]), forms[0].gap, None
    columns, gap, room = list[Column](), 1, 0
    for form, least in _attempts(forms, width):
        columns, gap = columns_of(form), form.gap
        room = width - 2 - sum(column.width + gap for column in columns[:-1])
        if (columns[-1].width if form.full_reasons else min(columns[-1].width, least)) <= room:
            break
    return columns, gap, max(1, room)


def _attempts(forms: Sequence[Form], width: int) -> Iterator[tuple[Form, int]]:
    spelled_out = [form for form in forms if not form.spelling.skew_only]
    ample = max(_LEAST_REASONS, 2 * width // 5)
    yield from ((form, ample) for form in spelled_out)
    yield from ((form, _LEAST_REASONS) for form in spelled_out)
    yield from ((form, _LEAST_REASONS) for form in forms if form.spelling.skew_only)


def domain_cell(domain: str | None, width: int | None) -> Cell:
    safe = cell("" if domain is None else domain or EMPTY)
    return safe if width is None else Cell(cut_middle(safe.text, width))


def constraint_header(position: int, topology_key: str, spelling: Spelling) -> str:
    """``A zone``, not much longer than the formula below it; just the letter where there is no room."""
    if spelling.skew_only:
        return letter(position)
    return cut_end(cell(f"{letter(position)} {short_key(topology_key)}").text, _LONGEST_HEADER)


def cut_items(items: Sequence[str], width: int) -> str:
    """As many of ``items`` as fit, at least one, and the number of the others."""
    items = [escaped(item) for item in items]
    if width_of(whole := SEPARATOR.join(items)) <= width:
        return whole
    for kept in range(len(items) - 1, 0, -1):
        shorter = f"{SEPARATOR.join(items[:kept])} +{len(items) - kept}"
        if width_of(shorter) <= width:
            return shorter
    more = f" +{len(items) - 1}" if len(items) > 1 else ""
    return f"{cut_end(items[0], max(1, width - len(more)))}{more}"
