"""Sheets on a terminal, whose width bounds their lines, and whole answers there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kubespread.escaping import escaped
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    Cell,
    Line,
    answered,
    cell,
    cut_end,
    cut_middle,
    flowed,
    remarks,
    room_beside,
    tabulated,
    written,
)
from kubespread.views.layout import Column as Laid
from kubespread.views.look import Look
from kubespread.views.names import fitted, legend, told_apart
from kubespread.views.registry import view_of
from kubespread.views.sheet import Column, Fit, R, Readers, Tone
from kubespread.views.view import View, sheets_in

if TYPE_CHECKING:
    from kubespread.views.documents import Answer

_STYLES = {Tone.PLAIN: "", Tone.GOOD: GOOD, Tone.WARN: "", Tone.BAD: BAD, Tone.STRONG: HEAD, Tone.FAINT: DIM}
_LONG_NAME = 20
"""As much of a name as a column that gives way has to leave room for."""


def write(answer: Answer, look: Look) -> str:
    """The whole answer as its view composes it, else its sheets, in the colors of ``look``."""
    view = view_of(answer)
    if look.in_sentences and view.sentences is not None:
        return view.sentences()
    return written(_lines(view, look) if view.lines is None else view.lines(look), color=look.color)


def _lines(view: View, look: Look) -> Iterator[Line]:
    if look.headers:
        yield from flowed([[cell(view.title, HEAD)], [cell(view.provenance, DIM)]], look, indent="")
    yield from answered(view.answer, look)
    for sheet in sheets_in(view):
        if Readers.TERMINAL in sheet.readers and sheet.rows:
            yield from table(sheet.columns, sheet.rows, look, explains_names=True)
    yield from remarks(view.answer, look)


def table(
    columns: Sequence[Column[R]], rows: Sequence[R], look: Look, *, explains_names: bool = False
) -> Iterator[Line]:
    """``rows`` below their headers, as wide as the terminal allows: columns that may be shortened are, in order. With
    ``explains_names`` a line says what was left out of all names.
    """
    shown = [column for column in columns if _is_shown(column, rows)]
    laid = {id(column): _whole(column, rows) for column in shown}
    pliable = [column for column in shown if column.fit is not Fit.WHOLE]
    for column in [column for column in shown if column.gives_way]:
        if pliable and _room(pliable[0], laid, look) < min(laid[id(pliable[0])].width, _LONG_NAME):
            del laid[id(column)]
    for column in pliable:
        if id(column) in laid:
            room = max(_room(column, laid, look), column.least)
            laid[id(column)] = _shortened(column, laid[id(column)], room)
    yield from tabulated(list(laid.values()), headers=look.headers)
    for column in pliable if explains_names else ():
        if column.fit is Fit.NAMES:
            yield from legend(_texts(column, rows), [one.text for one in laid[id(column)].cells], look)


def room_beside_columns(columns: Sequence[Column[R]], rows: Sequence[R], look: Look) -> int:
    """How wide a column may be beside others."""
    return room_beside((_whole(column, rows) for column in columns if _is_shown(column, rows)), look)


def _is_shown(column: Column[R], rows: Sequence[R]) -> bool:
    if Readers.TERMINAL not in column.readers:
        return False
    return not column.hides_empty or any(column.value(row) for row in rows)


def _texts(column: Column[R], rows: Sequence[R]) -> list[str]:
    return [escaped(column.display(row, column.nothing)) for row in rows]


def _whole(column: Column[R], rows: Sequence[R]) -> Laid:
    texts = _texts(column, rows)
    if column.most is not None:
        texts = [cut_middle(text, column.most) for text in texts]
    styles = [_STYLES[column.tone(row)] if column.tone is not None else "" for row in rows]
    cells = [Cell(text, style) for text, style in zip(texts, styles, strict=True)]
    return Laid(column.short or column.header.replace("-", " "), cells, column.is_number)


def _room(column: Column[Any], laid: dict[int, Laid], look: Look) -> int:
    """How wide it may be, given the others' widths."""
    return room_beside((other for place, other in laid.items() if place != id(column)), look)


def _shortened(column: Column[Any], laid: Laid, room: int) -> Laid:
    texts = [one.text for one in laid.cells]
    match column.fit:
        case Fit.NAMES:
            short = fitted(texts, room)
        case Fit.APART:
            short = told_apart(texts, room)
        case Fit.MIDDLE:
            short = [cut_middle(text, room) for text in texts]
        case _:
            short = [cut_end(text, room) for text in texts]
    cells = [Cell(text, was.style) for text, was in zip(short, laid.cells, strict=True)]
    return Laid(laid.header, cells, laid.is_number)
