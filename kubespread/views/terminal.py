"""Answers on a terminal: every screen is composed here, from the sheets of its view.

The terminal's width bounds lines and columns: what is too long is cut within its cell, and no row folds. What is cut of
a name in a column that is too narrow is what tells it least from the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from math import log
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.reports.changes import CellChange
from kubespread.reports.columns import Fit, Readers
from kubespread.reports.parts import ClusterReference
from kubespread.views.first_screen import first_screen, whole
from kubespread.views.lines import CUT, cut_end, cut_middle, line_width, width_of, written
from kubespread.views.look import Cell, Line, Look, Part, Rows, Sentence, Tone, Weight
from kubespread.views.sheet import Column, R, Sheet
from kubespread.views.view import View, sheets_in, source, view_of
from kubespread.wording import count_of, some_of

if TYPE_CHECKING:
    from kubespread.views.documents import Answer

INDENT = "  "
HANGING = 4
"""Columns by which folded lines are indented."""
GAP = 2
"""Columns between two columns of a table, unless a table says otherwise."""
_GUTTER = "      "
_USUAL_WIDTH = 120
_PARTS = re.compile(r"[^-./]+|[-./]")
_SEPARATORS = "-./"
_DIGITS = 6
_LEAST_SAVED = 6
_LEAST_NAMES = 2


def _cell(text: str | Cell) -> Cell:
    return Cell(text) if isinstance(text, str) else text


class Laid:
    """A column of cells as they stand on a terminal."""

    def __init__(self, header: str, cells: Iterable[str | Cell], is_number: bool = False) -> None:
        self.header = header
        self.cells = [_cell(text) for text in cells]
        self.is_number = is_number

    @cached_property
    def width(self) -> int:
        return max(map(width_of, (self.header, *{cell.text for cell in self.cells})))


def aim(look: Look) -> int:
    """Width that lines are meant to have; where there is no terminal, a sentence may be longer."""
    return look.width or _USUAL_WIDTH


def room_beside(columns: Iterable[Laid], look: Look) -> int:
    """The width left beside ``columns``, including the gap after them."""
    return aim(look) - len(INDENT) - sum(column.width + GAP for column in columns)


def flowed(
    phrases: Iterable[str | Line],
    look: Look,
    *,
    gutter: str = _GUTTER,
    indent: str = INDENT,
    weight: Weight = Weight.DETAIL,
) -> Iterator[Line]:
    """Lines of whole phrases, each indented, without empty ones. A phrase that is wider than the terminal is folded
    between words.
    """
    line = list[Cell]()
    for phrase in ([Cell(phrase)] if isinstance(phrase, str) else phrase for phrase in phrases):
        if not line_width(phrase):
            continue
        if line and line_width(line) + len(gutter) + line_width(phrase) <= aim(look):
            line += [Cell(gutter), *phrase]
            continue
        if line:
            yield Sentence(line, HANGING, weight)
        line = [Cell(indent), *phrase]
    if line:
        yield Sentence(line, HANGING, weight)


def folded(
    *parts: str | Cell, indent: str = INDENT, hanging: int = HANGING, weight: Weight = Weight.DETAIL
) -> Sentence:
    """One sentence, in as many lines as its words need."""
    return Sentence([Cell(indent), *map(_cell, parts)], hanging, weight)


def because(named: Iterable[tuple[str, str]], most: int = 3) -> Iterator[Line]:
    """``a, b and 3 more: reason``: names with what is said of each, those of which the same is said together."""
    for reason, names in together(named).items():
        yield folded(f"{some_of(names, most)}: {reason}", weight=Weight.REASON)


def together(named: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """The names of which the same is said, by what is said."""
    by_text: dict[str, list[str]] = {}
    for name, text in named:
        by_text.setdefault(text, []).append(name)
    return by_text


def left_out(number: int, noun: str) -> Iterator[Line]:
    """Say how many rows are not shown; nothing where all are."""
    if number:
        yield [Cell(f"{INDENT}{count_of(number, f'more {noun}')} (-v)", Tone.FAINT)]


def tabulated(columns: Sequence[Laid], gap: int = GAP, *, headers: bool) -> Iterator[Line]:
    """The columns side by side after an indent of two, the last one unpadded."""
    if headers:
        yield _row(columns, [Cell(column.header, Tone.STRONG) for column in columns], gap)
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield _row(columns, cells, gap)


def _row(columns: Sequence[Laid], cells: Sequence[Cell], gap: int) -> Line:
    line, blanks = [], 2
    for column, cell in zip(columns, cells, strict=True):
        room = column.width - width_of(cell.text)
        line.append(Cell(" " * (blanks + room if column.is_number else blanks)))
        line.append(cell)
        blanks = gap if column.is_number else gap + room
    return line


def shared_suffix(names: Sequence[str]) -> str:
    """``.eu-west-1.compute.internal`` where all names end in it; empty where that would save little."""
    if len(names) < _LEAST_NAMES:
        return ""
    end = commonprefix([name[::-1] for name in names])[::-1]
    # What is left of a name has to be a name.
    _, dot, rest = end.partition(".") if end not in names else ("", "", "")
    return f"{dot}{rest}" if len(rest) >= _LEAST_SAVED else ""


def shared(names: Sequence[str]) -> tuple[str, str]:
    """Find what all ``names`` begin and end with, up to a dash or dot and without using up any of them."""
    suffix = shared_suffix(names)
    stems = [name.removesuffix(suffix) for name in names]
    prefix = commonprefix(stems) if len(set(stems)) > 1 else ""
    prefix = prefix[: max(prefix.rfind("-"), prefix.rfind(".")) + 1]
    return ("" if prefix in stems else prefix), suffix


def fitted(names: Sequence[str], width: int) -> list[str]:
    """The names in at most ``width`` columns each: longer ones lose their common end, and their common beginning, since
    only the rest distinguishes them. A copy is NAME-1 of a name: ``…1-164…`` has the copy ``…1-164…-1``.
    """
    if all(width_of(name) <= width for name in names):
        return list(names)
    prefix, suffix = _shared_ends(names, width)
    return told_apart(_shortened(names, prefix, suffix), width)


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """The names in at most ``width`` columns each, the longer ones without those words in a row that most names have;
    two names become one only where no words are left to tell them apart.
    """
    kinds = list(dict.fromkeys(names))
    if all(width_of(name) <= width for name in kinds):
        return list(names)
    words = {name: _PARTS.findall(name) for name in kinds}
    counts = Counter(word for parts in words.values() for word in {*parts})
    weights = {word: log(len(kinds) / number) for word, number in counts.items()}
    shown = {name: name for name in kinds if width_of(name) <= width}
    taken = {*shown}
    for name in kinds:
        if name not in shown:
            cuts = _without_words(words[name], weights, width)
            shown[name] = next((cut for cut in cuts if cut not in taken), "")
            taken.add(shown[name])
    rest = [name for name in kinds if not shown[name]]
    shown.update(zip(rest, _cut_alike(rest, width), strict=True))
    return [shown[name] for name in names]


def _without_words(parts: Sequence[str], weights: Mapping[str, float], width: int) -> list[str]:
    """The name without some of its ``parts`` in a row, in every way that fits, the best first: what it loses is in
    most names, at neither end, and as little as that.
    """
    total = sum(map(width_of, parts))
    found = list[tuple[float, bool, int, str]]()
    for start in range(len(parts)):
        lost, weight = 0, 0.0
        for end in range(start + 1, len(parts) + (start > 0)):
            word = parts[end - 1]
            lost += width_of(word)
            weight += 0 if word in _SEPARATORS else weights[word]
            if lost > 1 and total - lost + 1 <= width:
                is_end = start == 0 or end == len(parts)
                cut = f"{''.join(parts[:start])}{CUT}{''.join(parts[end:])}"
                found.append((round(weight, _DIGITS), is_end, lost, cut))
    return [cut for *_, cut in sorted(found)]


def _cut_alike(names: Sequence[str], width: int) -> list[str]:
    """All cut in the one place that leaves most of them apart."""
    beginnings = sorted(range(width), key=lambda beginning: abs(beginning - (width - 1) // 3))
    cuts = ([cut_middle(name, width, beginning) for name in names] for beginning in beginnings)
    best = next(cuts)
    for cut in cuts:
        if len(set(best)) == len(set(names)):
            break
        best = max(best, cut, key=lambda pair: len(set(pair)))
    return best


def _shared_ends(names: Sequence[str], width: int) -> tuple[str, str]:
    """Find what `fitted` leaves out of all ``names``, not counting the numbers of copies: their common end and, if that
    is not enough, their common beginning.
    """
    if all(width_of(name) <= width for name in names):
        return "", ""
    all_names = frozenset(names)
    prefix, suffix = shared([name for name in names if not _number(name, all_names)])
    is_enough = all(width_of(name) <= width for name in _shortened(names, "", suffix))
    return ("" if is_enough else prefix), suffix


def _shortened(names: Sequence[str], prefix: str, suffix: str) -> list[str]:
    all_names = frozenset(names)
    return [_short(name, prefix, suffix, _number(name, all_names)) for name in names]


def _number(name: str, all_names: Collection[str]) -> str:
    """``-1`` of a copy of another name, else nothing."""
    original, dash, number = name.rpartition("-")
    return f"-{number}" if dash and number.isdecimal() and original in all_names else ""


def _short(name: str, prefix: str, suffix: str, number: str) -> str:
    inner = name.removesuffix(number).removeprefix(prefix).removesuffix(suffix)
    return f"{CUT if prefix else ''}{inner}{CUT if suffix else ''}{number}"


def said_once(names: Sequence[str], shown: Sequence[str]) -> str:
    """``node names: ip-10-0-….compute.internal``: what the ``shown`` names of nodes leave out; empty if nothing."""
    if list(names) == list(shown):
        return ""
    all_names = frozenset(names)
    prefix, suffix = shared([name for name in names if not _number(name, all_names)])
    begins_short = any(name.startswith(CUT) for name in shown)
    return f"node names: {prefix if begins_short else ''}{CUT}{suffix}" if suffix or (prefix and begins_short) else ""


_NODES = ("NODE", "HOSTNAME")
_LONG_NAME = 20
"""Width of a name that a column that gives way has to leave room for."""


def table(answer: Answer, look: Look) -> str:
    """The answer in the colors of ``look``: all of it, or what a terminal of so many rows shows first."""
    view = view_of(answer)
    if look.in_sentences and view.sentences is not None:
        return view.sentences()
    parts = screen(view, look) if view.picture is None else chain(doubts(view), view.picture(look))
    # Folded it could not be copied.
    following = [[Cell(f"next: {look.next_command}", Tone.FAINT)]] if look.next_command and look.headers else []
    lines = whole(parts, look) if look.rows is None else first_screen(parts, following, look)
    return written(chain(lines, following), color=look.color)


def screen(view: View, look: Look) -> Iterator[Part]:
    """The answer, what it is about, sheets and what the answer rests on."""
    yield from doubts(view)
    yield folded(Cell(view.answer[0], view.answer_tone), indent="", weight=Weight.VERDICT)
    if view.heading is not None:
        yield from view.heading(look)
    else:
        yield from headline([Cell(view.title, Tone.FAINT)], view.provenance, look)
    if view.remarks == "above":
        yield from remarks(view.answer)
    for part in sheets_in(view) if view.parts is None else view.parts(look):
        if not isinstance(part, Sheet):
            yield part
        elif Readers.TERMINAL in part.readers:
            yield of_sheet(part, look)
    if view.remarks == "below":
        yield from remarks(view.answer)


def doubts(view: View) -> Iterator[Line]:
    """Say what is not known, before what is made of the rest."""
    for place, doubt in enumerate(view.doubts):
        yield folded(Cell(doubt, Tone.BAD), indent="", weight=Weight.REASON if place else Weight.SUBJECT)


def remarks(answer: Sequence[str]) -> Iterator[Line]:
    """Say what the first sentence of an answer rests on."""
    for sentence in answer[1:]:
        yield folded(sentence, indent="", weight=Weight.REASON)


def headline(question: Line, provenance: str, look: Look) -> Iterator[Line]:
    """The question, and where the answer comes from; nothing without headers."""
    if look.headers:
        phrases = [question, [Cell(provenance, Tone.FAINT)]]
        yield from subject(phrases, look)


def subject(phrases: Sequence[Line], look: Look) -> Iterator[Line]:
    """Say what an answer is about, on one line where rows are few."""
    if look.rows is not None:
        first, *others = [phrase for phrase in phrases if line_width(phrase)]
        phrases = [[*first, *(cell for phrase in others for cell in (Cell(_GUTTER), *phrase))]]
    yield from flowed(phrases, look, indent="", weight=Weight.SUBJECT)


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
    fits = look.width is None or look.rows is not None or line_width(whole) <= look.width
    for line in ([whole] if fits else [question, [origin]]) if look.headers else ():
        yield Sentence(line, HANGING, Weight.SUBJECT)


def of_sheet(sheet: Sheet[R], look: Look) -> Rows:
    """Its rows, what their headers mean, and how many are left out."""
    shown = sheet.on_screen(look)
    hidden = len(sheet.rows) - len(shown)
    tones = [] if sheet.tone is None else [*map(sheet.tone, shown)]
    if sheet.drawn is not None:
        rows = Rows([], [list(sheet.drawn(row, look)) for row in shown])
    else:
        rows = tabled(sheet.columns, shown, look) if shown else Rows([], [])
    key = [folded(Cell(sheet.key, Tone.FAINT))] if sheet.key and shown and look.headers else []
    if look.rows is not None:
        return replace(rows, noun=sheet.noun, below=[*rows.below, *key], hidden=hidden, tones=tones)
    below = [*rows.below, *key, *left_out(hidden, sheet.noun)]
    return replace(rows, noun=sheet.noun, below=below)


def tabled(columns: Sequence[Column[R]], rows: Sequence[R], look: Look) -> Rows:
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
            full, room = laid[id(column)], max(_room(column, laid, look), column.least)
            laid[id(column)] = _narrowed(column, full, room)
            if column.fit is Fit.NAMES:
                said = said_once(*([cell.text for cell in each.cells] for each in (full, laid[id(column)])))
                told.append(said if full.header in _NODES else said.removeprefix("node "))
    made = laid_out(list(laid.values()), look)
    return replace(made, below=list(flowed(([Cell(text, Tone.FAINT)] for text in told), look)))


def laid_out(columns: Sequence[Laid], look: Look, noun: str = "row", gap: int = GAP) -> Rows:
    """The columns side by side as a table whose rows may be left out, each with its noun."""
    lines = tabulated(columns, gap, headers=look.headers)
    return Rows([next(lines)] if look.headers else [], [[line] for line in lines], noun)


def room_beside_columns(columns: Iterable[Column[R]], rows: Sequence[R], look: Look) -> int:
    """Measure how wide a column may be beside others."""
    return room_beside((_whole(column, rows) for column in _on_screen(columns, rows)), look)


def _on_screen(columns: Iterable[Column[R]], rows: Sequence[R]) -> list[Column[R]]:
    return [
        column
        for column in columns
        if Readers.TERMINAL in column.readers and not column.is_empty(rows, on_terminal=True)
    ]


def _whole(column: Column[R], rows: Sequence[R]) -> Laid:
    cells = []
    for row in rows:
        text, tone = escaped(column.on_screen(row)), Tone.PLAIN if column.tone is None else column.tone(row)
        # What is a warning is said in words beside it.
        text = text if column.most is None else cut_middle(text, column.most)
        cells.append(Cell(text, Tone.PLAIN if tone is Tone.WARN else tone))
    return Laid(column.short or column.header.replace("-", " "), cells, column.is_number)


def _room(column: Column[Any], laid: dict[int, Laid], look: Look) -> int:
    """Measure how wide it may be, given the others' widths."""
    return room_beside((other for place, other in laid.items() if place != id(column)), look)


def _narrowed(column: Column[Any], laid: Laid, room: int) -> Laid:
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


_MAX_CELLS = 5
_MAX_ROWS = 12
_CHANGE: Sequence[Column[CellChange]] = (
    Column("KEY", lambda change: change.key),
    Column("COLUMN", lambda change: change.column),
    Column("CHANGE", lambda change: change.values, Readers.PAGES),
    Column("BEFORE", lambda change: change.before, Readers.PIPES),
    Column("AFTER", lambda change: change.after, Readers.PIPES),
)
Judge = Callable[[CellChange], Tone]


def changes_sheet(title: str, changes: Sequence[CellChange], tone: Judge | None = None) -> Sheet[CellChange]:
    return Sheet(
        title=title, columns=_CHANGE, rows=changes, tone=tone, readers=Readers.RECORDS, is_answer=tone is not None
    )


def changed_rows(changes: Sequence[CellChange], tone: Judge = lambda _: Tone.PLAIN) -> Sheet[Sequence[CellChange]]:
    """Line of a terminal: ``shop/Deployment/api  placed 3 → 2 · pending 0 → 1``."""

    def drawn(row: Sequence[CellChange], look: Look) -> Iterator[Line]:
        shown = row if look.in_full else row[:_MAX_CELLS]
        cells = (Cell(f"{'  ' if change is row[0] else ' · '}{change.cell}", tone(change)) for change in shown)
        more = f" · {count_of(len(row) - len(shown), 'more change')}" if len(row) > len(shown) else ""
        yield folded(Cell(row[0].key, Tone.STRONG), *cells, more)

    rows = [tuple(row) for _, row in groupby(changes, lambda change: change.key)]
    return Sheet(title="", columns=(), rows=rows, most=_MAX_ROWS, noun="row", drawn=drawn)
