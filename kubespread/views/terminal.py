"""Answers on a terminal, whose width bounds their lines: every screen is composed here, from the sheets of its view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kubespread.escaping import escaped
from kubespread.reports.parts import ClusterReference
from kubespread.views.layout import (
    HANGING,
    Cell,
    Laid,
    Line,
    cut_end,
    cut_middle,
    fitted,
    flowed,
    folded,
    left_out,
    line_width,
    room_beside,
    said_once,
    tabulated,
    told_apart,
    wrapped,
    written,
)
from kubespread.views.look import Look, Tone
from kubespread.views.sheet import Column, Fit, R, Readers, Sheet
from kubespread.views.view import View, sheets_in, source, view_of

if TYPE_CHECKING:
    from kubespread.views.documents import Answer

_NODES = ("NODE", "HOSTNAME")
_LONG_NAME = 20
"""As much of a name as a column that gives way has to leave room for."""


def table(answer: Answer, look: Look) -> str:
    """The whole answer in the colors of ``look``."""
    view = view_of(answer)
    if look.in_sentences and view.sentences is not None:
        return view.sentences()
    return written(screen(view, look) if view.picture is None else view.picture(look), color=look.color)


def screen(view: View, look: Look) -> Iterator[Line]:
    """Headline, answer, sheets and what the answer rests on."""
    if view.heading is not None:
        yield from view.heading(look)
    else:
        yield from headline([Cell(view.title, Tone.STRONG)], view.provenance, look)
    yield from folded(look, Cell(view.answer[0], view.answer_tone), indent="")
    if view.remarks == "above":
        yield from remarks(view.answer, look)
    for part in sheets_in(view) if view.parts is None else view.parts(look):
        if not isinstance(part, Sheet):
            yield part
        elif Readers.TERMINAL in part.readers:
            yield from of_sheet(part, look)
    if view.remarks == "below":
        yield from remarks(view.answer, look)


def remarks(answer: Sequence[str], look: Look) -> Iterator[Line]:
    """What the first sentence of an answer rests on."""
    for sentence in answer[1:]:
        yield from folded(look, sentence, indent="")


def headline(question: Line, provenance: str, look: Look) -> Iterator[Line]:
    """The question, and where the answer comes from; nothing without headers."""
    if look.headers:
        yield from flowed([question, [Cell(provenance, Tone.FAINT)]], look, indent="")


class AboutPod(Protocol):
    """A report on one pod."""

    @property
    def cluster(self) -> ClusterReference | None: ...
    @property
    def kube_version(self) -> str: ...
    @property
    def scheduler_name(self) -> str: ...


def about_pod(question: Line, report: AboutPod, look: Look) -> Iterator[Line]:
    """The question and what answers it, on one line, or on two if that is too wide; nothing without headers."""
    origin = Cell(source(report.cluster, report.kube_version, f"profile {report.scheduler_name}"))
    whole = [*question, Cell(" · "), origin]
    fits = look.width is None or line_width(whole) <= look.width
    for line in ([whole] if fits else [question, [origin]]) if look.headers else ():
        yield from wrapped(line, look.width, HANGING)


def of_sheet(sheet: Sheet[R], look: Look) -> Iterator[Line]:
    """Its rows, what their headers mean, and how many are left out."""
    shown, hidden = sheet.on_screen(look)
    if sheet.drawn is not None:
        for row in shown:
            yield from sheet.drawn(row, look)
    elif shown:
        yield from tabled(sheet.columns, shown, look)
    if sheet.key and shown and look.headers:
        yield from folded(look, Cell(sheet.key, Tone.FAINT))
    yield from left_out(len(hidden), sheet.noun, sheet.note(hidden) if hidden else "")


def tabled(columns: Sequence[Column[R]], rows: Sequence[R], look: Look) -> Iterator[Line]:
    """``rows`` below their headers, as wide as the terminal allows: columns that may be shortened are, in order, and a
    line says what was left out of all names.
    """
    shown = _on_screen(columns, rows)
    laid = {id(column): _whole(column, rows) for column in shown}
    pliable = [column for column in shown if column.fit is not Fit.WHOLE]
    for column in [column for column in shown if column.gives_way]:
        if pliable and _room(pliable[0], laid, look) < min(laid[id(pliable[0])].width, _LONG_NAME):
            del laid[id(column)]
    told = list[str]()
    for column in pliable:
        if id(column) in laid:
            whole, room = laid[id(column)], max(_room(column, laid, look), column.least)
            laid[id(column)] = _shortened(column, whole, room)
            if column.fit is Fit.NAMES:
                said = said_once(*([cell.text for cell in each.cells] for each in (whole, laid[id(column)])))
                told.append(said if whole.header in _NODES else said.removeprefix("node "))
    yield from tabulated(list(laid.values()), headers=look.headers)
    yield from flowed(([Cell(text, Tone.FAINT)] for text in told), look)


def room_beside_columns(columns: Iterable[Column[R]], rows: Sequence[R], look: Look) -> int:
    """How wide a column may be beside others."""
    return room_beside((_whole(column, rows) for column in _on_screen(columns, rows)), look)


def _on_screen(columns: Iterable[Column[R]], rows: Sequence[R]) -> list[Column[R]]:
    return [
        column for column in columns
        if Readers.TERMINAL in column.readers and not column.is_empty(rows, on_terminal=True)
    ]  # fmt: skip


def _whole(column: Column[R], rows: Sequence[R]) -> Laid:
    cells = []
    for row in rows:
        text, tone = escaped(column.on_screen(row)), Tone.PLAIN if column.tone is None else column.tone(row)
        # What is a warning is said in words beside it.
        cells.append(Cell(_most(column, text), Tone.PLAIN if tone is Tone.WARN else tone))
    return Laid(column.short or column.header.replace("-", " "), cells, column.is_number)


def _most(column: Column[Any], text: str) -> str:
    return text if column.most is None else cut_middle(text, column.most)


def _room(column: Column[Any], laid: dict[int, Laid], look: Look) -> int:
    """How wide it may be, given the others' widths."""
    return room_beside((other for place, other in laid.items() if place != id(column)), look)


def _shortened(column: Column[Any], laid: Laid, room: int) -> Laid:
    texts = [cell.text for cell in laid.cells]
    match column.fit:
        case Fit.NAMES:
            short = fitted(texts, room)
        case Fit.APART:
            short = told_apart(texts, room)
        case Fit.MIDDLE:
            short = [cut_middle(text, room) for text in texts]
        case _:
            short = [cut_end(text, room) for text in texts]
    cells = [Cell(text, cell.tone) for text, cell in zip(short, laid.cells, strict=True)]
    return Laid(laid.header, cells, laid.is_number)
