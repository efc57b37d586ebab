"""First screen of an answer on a terminal of few rows: the verdict, the first rows of each table, the reasons, each of
them whole; the rest is counted. Nobody else knows how many rows there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from kubespread.views.lines import rows_of, wrapped
from kubespread.views.look import Cell, Line, Look, Part, Rows, Sentence, Tone, Weight
from kubespread.views.sheet import worst_in_turn
from kubespread.wording import count_of

_ROWS_AT_ONCE, _ROWS_BEFORE_REASONS, _DETAILS = 4, 3, 40
"""A table comes after so many rows of the one before it, all reasons after so many of the first one, and everything
else after as many.
"""


def whole(parts: Iterable[Part], look: Look) -> Iterator[Line]:
    """All of it, in lines that ``look.width`` bounds."""
    for part in parts:
        for line in chain(part.header, *part.rows, part.below) if isinstance(part, Rows) else [part]:
            yield from _lines(line, look.width)


def _lines(line: Line, width: int | None) -> Iterator[Line]:
    return wrapped(line, width, line.hanging) if isinstance(line, Sentence) else iter([line])


class _Piece(Struct, frozen=True):
    """Part of a screen that is shown whole or counted as left out."""

    weight: int
    """The smallest come first; 0 for what is always shown."""
    group: int
    """Number of its group, of which nothing is shown once something is left out."""
    lines: Sequence[Line]
    noun: str = "line"
    header: Sequence[Line] = ()
    """Lines above the first piece of its group."""


def first_screen(parts: Iterable[Part], following: Iterable[Line], look: Look) -> Iterable[Line]:
    """Choose at most ``look.rows`` lines, those ``following`` included: all parts where there is room, else as much of
    what matters most, in its order.
    """
    assert look.rows is not None, "a terminal has rows"
    assert look.width is not None, "and columns"
    parts, width = [*parts], look.width
    rows = look.rows - _height(following, width)
    everything = [*whole(parts, look)]
    hidden = Counter({part.noun: part.hidden for part in parts if isinstance(part, Rows) and part.hidden})
    if not hidden and _height(everything, width) <= rows:
        return everything
    pieces = [*_pieces(parts)]
    shown = _chosen(pieces, width, rows - 1)
    hidden.update(Counter(piece.noun for place, piece in enumerate(pieces) if place not in shown))
    lines = _folded((piece for place, piece in enumerate(pieces) if place in shown), width)
    rest = ", ".join(count_of(number, f"more {noun}") for noun, number in hidden.items())
    return [*lines, [Cell(f"… and {rest}: -v", Tone.FAINT)]] if rest else lines


def _chosen(pieces: Sequence[_Piece], width: int, room: int) -> Collection[int]:
    """The places of those that have room."""
    shown, opened, closed = set[int](), set[int](), set[int]()
    for place, piece in sorted(enumerate(pieces), key=lambda pair: pair[1].weight):
        height = _height(_folded([piece], width, opened), width)
        if not piece.weight or (height <= room and piece.group not in closed):
            shown.add(place)
            opened.add(piece.group)
            room -= height
        else:
            closed.add(piece.group)
    return shown


def _folded(pieces: Iterable[_Piece], width: int, opened: Collection[int] = ()) -> Sequence[Line]:
    """Collect the lines of ``pieces``, those of the headers too except for the groups that are ``opened``."""
    lines, seen = list[Line](), {*opened}
    for piece in pieces:
        lines += piece.header if piece.group not in seen else ()
        lines += (part for line in piece.lines for part in _lines(line, width))
        seen.add(piece.group)
    return lines


def _pieces(parts: Iterable[Part]) -> Iterator[_Piece]:
    tables = details = 0
    for part in parts:
        if isinstance(part, Rows):
            tables += 1
            tones = part.tones or [Tone.PLAIN] * len(part.rows)
            turns = {place: turn for turn, place in enumerate(worst_in_turn(tones))}
            for place, row in enumerate(part.rows):
                turn = 1 + turns[place] + _ROWS_AT_ONCE * (tables - 1)
                yield _Piece(turn, tables, row, part.noun, part.header)
        for line in part.below if isinstance(part, Rows) else [part] if part else []:
            weight = line.weight if isinstance(line, Sentence) else Weight.DETAIL
            if weight in (Weight.VERDICT, Weight.SUBJECT):
                yield _Piece(0, 0, [line])
            elif weight is Weight.REASON:
                yield _Piece(_ROWS_BEFORE_REASONS, -1, [line])
            else:
                details += 1
                yield _Piece(_DETAILS + details, -2, [line])


def _height(lines: Iterable[Line], width: int) -> int:
    """Count the rows of a terminal that the lines take, which folds commands that are too wide for it."""
    return sum(rows_of("".join([part.text for part in line]), width) for line in lines)
