"""Sheets on a terminal, whose width bounds their lines, and whole answers there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubespread.escaping import escaped
from kubespread.views.documents import Answer
from kubespread.views.flow import flowed
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    Cell,
    Line,
    cell,
    cut_end,
    cut_middle,
    tabulated,
    written,
)
from kubespread.views.layout import Column as Laid
from kubespread.views.look import Look
from kubespread.views.names import fitted, legend, told_apart
from kubespread.views.registry import view_of
from kubespread.views.screen import concluded, room_beside
from kubespread.views.sheet import Column, Fit, R, Readers, Tone
from kubespread.views.view import View, sheets_in

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
    for sheet in sheets_in(view):
        if Readers.TERMINAL in sheet.readers and sheet.rows:
            yield from table(sheet.columns, sheet.rows, look, explains_names=True)
    yield from concluded(view.answer, look)


def table(
    columns: Sequence[Column[R]], rows: Sequence[R], look: Look, *, explains_names: bool = False
) -> Iterator[Line]:
    """``rows`` below their headers, as wide as the terminal allows: columns that may be shortened are, in their order.
    Where ``explains_names``, a line says what all names have been shortened by.
    """
    shown = [column for column in columns if _is_shown(column, rows)]
    laid = {id(each): _whole(each, rows) for each in shown}
    pliable = [each for each in shown if each.fit is not Fit.WHOLE]
    for each in [each for each in shown if each.gives_way]:
        if pliable and _room(pliable[0], laid, look) < min(laid[id(pliable[0])].width, _LONG_NAME):
            del laid[id(each)]
    for each in pliable:
        if id(each) in laid:
            room = max(_room(each, laid, look), each.least)
            laid[id(each)] = _shortened(each, laid[id(each)], room)
    yield from tabulated(list(laid.values()), headers=look.headers)
    for each in pliable if explains_names else ():
        if each.fit is Fit.NAMES:
            yield from legend(_texts(each, rows), [one.text for one in laid[id(each)].cells], look)


def room_beside_columns(columns: Sequence[Column[R]], rows: Sequence[R], look: Look) -> int:
    """How wide a column may be that stands beside others."""
    return room_beside((_whole(column, rows) for column in columns if _is_shown(column, rows)), look)


def _is_shown(column: Column[R], rows: Sequence[R]) -> bool:
    if Readers.TERMINAL not in column.readers:
        return False
    return not column.hides_empty or any(column.value(row) for row in rows)


def _texts(column: Column[R], rows: Sequence[R]) -> list[str]:
    return [escaped(column.said(row, column.nothing)) for row in rows]


def _whole(column: Column[R], rows: Sequence[R]) -> Laid:
    texts = _texts(column, rows)
    if column.most is not None:
        texts = [cut_middle(text, column.most) for text in texts]
    styles = [_STYLES[column.tone(row)] if column.tone is not None else "" for row in rows]
    cells = [Cell(text, style) for text, style in zip(texts, styles, strict=True)]
    return Laid(column.short or column.header.replace("-", " "), cells, column.is_number)


def _room(column: Column[Any], laid: dict[int, Laid], look: Look) -> int:
    """How wide it may be beside the others as they are."""
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
