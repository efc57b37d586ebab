"""Answers on a terminal: every screen is composed here, from the sheets of its view.

The terminal's width bounds lines and columns: text that is too long is cut within its cell, and no row folds. Names in
a column that is too narrow lose the words that distinguish them least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import log
from os.path import commonprefix
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escape
from kubespread.regex import regex
from kubespread.reports.columns import Fit, Readers
from kubespread.views.lines import CUT, cut_middle, line_width, render, rows_of, width_of, wrap
from kubespread.views.look import Cell, Line, Look, Part, Rows, Sentence, Text, Tone
from kubespread.views.sheet import Column, R, Sheet, worst_first
from kubespread.views.view import View, sheets_in, view_of
from kubespread.wording import count_of, some_of

if TYPE_CHECKING:
    from kubespread.views.documents import Answer

INDENT = "  "
HANGING = 4
"""Indent of folded lines, in columns."""
GAP = 2
"""Default gap between columns of a table."""
_GUTTER = "      "
_USUAL_WIDTH = 120
_PARTS = regex(r"[^-./]+|[-./]")
_SEPARATORS = "-./"
_DIGITS = 6
_LEAST_SAVED = 6
_LEAST_NAMES = 2


def _cell(text: str | Cell) -> Cell:
    return Cell(text) if isinstance(text, str) else text


class Layout:
    """A laid-out column of cells."""

    def __init__(self, header: str, cells: Iterable[str | Cell], is_number: bool = False) -> None:
        self.header = header
        self.cells = [_cell(text) for text in cells]
        self.is_number = is_number

    @cached_property
    def width(self) -> int:
        return max(map(width_of, (self.header, *{cell.text for cell in self.cells})))


def aim(look: Look) -> int:
    """Preferred width of lines, which sentences may exceed without a terminal."""
    return look.width or _USUAL_WIDTH


def room_beside(columns: Iterable[Layout], look: Look) -> int:
    """Width left beside ``columns``, including the gap after them."""
    return aim(look) - len(INDENT) - sum(column.width + GAP for column in columns)


def flow(
    phrases: Iterable[str | Line], look: Look, *, gutter: str = _GUTTER, indent: str = INDENT
) -> Iterator[Sentence]:
    """Yield indented lines of whole phrases, without empty ones; a phrase wider than the terminal is folded between
    words.
    """
    line = list[Cell]()
    for phrase in ([Cell(phrase)] if isinstance(phrase, str) else phrase for phrase in phrases):
        if not line_width(phrase):
            continue
        if line and line_width(line) + len(gutter) + line_width(phrase) <= aim(look):
            line += [Cell(gutter), *phrase]
            continue
        if line:
            yield Sentence(line)
        line = [Cell(indent), *phrase]
    if line:
        yield Sentence(line)


def fold(*parts: str | Cell, indent: str = INDENT, hanging: int = HANGING) -> Sentence:
    """One sentence, folded between words."""
    return Sentence([Cell(indent), *map(_cell, parts)], hanging)


def reason_sentences(named: Iterable[tuple[str, str]], most: int = 3) -> Iterator[Sentence]:
    """Yield ``a, b and 3 more: reason``, one line per reason with the names that share it."""
    for reason, names in by_reason(named).items():
        yield fold(f"{some_of(names, most)}: {reason}")


def by_reason(named: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """Names by shared reason."""
    by_text: dict[str, list[str]] = {}
    for name, text in named:
        by_text.setdefault(text, []).append(name)
    return by_text


def tabulate(columns: Sequence[Layout], gap: int = GAP, *, headers: bool) -> Iterator[Line]:
    """Yield lines of columns side by side, indented by two, the last one unpadded."""
    if headers:
        yield _row(columns, [Cell(column.header, Tone.STRONG) for column in columns], gap)
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield _row(columns, cells, gap)


def _row(columns: Sequence[Layout], cells: Sequence[Cell], gap: int) -> Line:
    line, blanks = [], 2
    for column, cell in zip(columns, cells, strict=True):
        room = column.width - width_of(cell.text)
        line.append(Cell(" " * (blanks + room if column.is_number else blanks)))
        line.append(cell)
        blanks = gap if column.is_number else gap + room
    return line


def shared_suffix(names: Sequence[str]) -> str:
    """``.eu-west-1.compute.internal`` if all names end in it; empty if that would save little."""
    if len(names) < _LEAST_NAMES:
        return ""
    end = commonprefix([name[::-1] for name in names])[::-1]
    # What is left of a name has to be a name.
    _, dot, rest = end.partition(".") if end not in names else ("", "", "")
    return f"{dot}{rest}" if len(rest) >= _LEAST_SAVED else ""


def distinct_names(names: Sequence[str], width: int) -> list[str]:
    """Names in at most ``width`` columns each, longer ones without consecutive words that most share.

    Two names become one only if no words are left to distinguish them.
    """
    kinds = list(dict.fromkeys(names))
    if all(width_of(name) <= width for name in kinds):
        return list(names)
    words = {name: _PARTS.findall(name) for name in kinds}
    counts = Counter(word for parts in words.values() for word in {*parts})
    weights = {word: log(len(kinds) / number) for word, number in counts.items()}
    shown = {name: name for name in kinds if width_of(name) <= width}
    used = {*shown}
    for name in kinds:
        if name not in shown:
            cuts = _without_words(words[name], weights, width)
            shown[name] = next((cut for cut in cuts if cut not in used), "")
            used.add(shown[name])
    rest = [name for name in kinds if not shown[name]]
    shown.update(zip(rest, _cut_alike(rest, width), strict=True))
    return [shown[name] for name in names]


def _without_words(parts: Sequence[str], weights: Mapping[str, float], width: int) -> list[str]:
    """Every cut of consecutive ``parts`` of a name that fits, the best first: of common words, not at an end, short."""
    total = sum(map(width_of, parts))
    cuts = list[tuple[float, bool, int, str]]()
    for start in range(len(parts)):
        removed, weight = 0, 0.0
        for end in range(start + 1, len(parts) + (start > 0)):
            word = parts[end - 1]
            removed += width_of(word)
            weight += 0 if word in _SEPARATORS else weights[word]
            if removed > 1 and total - removed + 1 <= width:
                is_end = start == 0 or end == len(parts)
                cut = f"{''.join(parts[:start])}{CUT}{''.join(parts[end:])}"
                cuts.append((round(weight, _DIGITS), is_end, removed, cut))
    return [cut for *_, cut in sorted(cuts)]


def _cut_alike(names: Sequence[str], width: int) -> list[str]:
    """Names cut at the one place that leaves most of them distinct."""
    beginnings = sorted(range(width), key=lambda beginning: abs(beginning - (width - 1) // 3))
    cuts = ([cut_middle(name, width, beginning) for name in names] for beginning in beginnings)
    best = next(cuts)
    for cut in cuts:
        if len(set(best)) == len(set(names)):
            break
        best = max(best, cut, key=lambda pair: len(set(pair)))
    return best


_LEAST_NAME, _LEAST_SENTENCE = 20, 24
"""Columns of a terminal that names and sentences have at least."""


_LEAD, _LEAST = 3, 3
"""Sentences, and rows of the first table, for which there is room first."""


def table(answer: Answer, look: Look) -> str:
    """The answer for a terminal: all of it, or its most important lines in ``look.rows`` rows."""
    view = view_of(answer)
    if view.sentences is not None:
        return view.sentences()
    parts = screen(view, look) if view.picture is None else chain(doubts(view), view.picture(look))
    # Folded it could not be copied.
    following = [[Cell(f"next: {look.next_command}", Tone.FAINT)]] if look.next_command and look.headers else []
    return render(chain(_fitting([*parts], following, look), following), color=look.color)


def screen(view: View, look: Look) -> Iterator[Part]:
    """Yield the answer, its subject, its basis, and rows."""
    yield from doubts(view)
    yield fold(Cell(view.answer[0], view.tone or Tone.STRONG), indent="")
    if look.headers:
        yield from subject([[Cell(view.title, Tone.FAINT)], [Cell(view.provenance, Tone.FAINT)]], look)
    yield from remarks(view.answer[1:])
    for part in sheets_in(view) if view.parts is None else view.parts(look):
        if not isinstance(part, Sheet):
            yield part
        elif Readers.TERMINAL in part.readers:
            yield of_sheet(part, look)


def doubts(view: View) -> Iterator[Sentence]:
    """Yield sentences on unknowns that may change the answer."""
    return (fold(Cell(doubt, Tone.BAD), indent="") for doubt in view.doubts)


def remarks(sentences: Iterable[str]) -> Iterator[Sentence]:
    return (fold(sentence, indent="") for sentence in sentences)


def subject(phrases: Sequence[Line], look: Look) -> Iterator[Sentence]:
    """Yield the subject of an answer, on one line if rows are few."""
    if look.rows is not None:
        first, *others = [phrase for phrase in phrases if line_width(phrase)]
        phrases = [[*first, *(cell for phrase in others for cell in (Cell(_GUTTER), *phrase))]]
    yield from flow(phrases, look, indent="")


def _fitting(parts: Sequence[Part], following: Sequence[Line], look: Look) -> Iterator[Line]:
    """Lines of all ``parts``, or of as many as fit into ``look.rows`` above ``following``; the rest is counted."""
    hidden = Counter[str]()
    for part in parts:
        if isinstance(part, Rows) and part.hidden:
            hidden[part.noun] += part.hidden
    lines: Sequence[Line] = [*whole(parts, look.width)]
    if look.rows is not None and look.width is not None:
        room = look.rows - height_of(following, look.width)
        if height_of(lines, look.width) + bool(hidden) > room:
            pieces = [*_pieces(parts)]
            chosen = _choose(pieces, room - 1, look.width)
            lines = _lay_out([piece for place, piece in enumerate(pieces) if place in chosen], look.width)
            hidden.update(piece.noun for place, piece in enumerate(pieces) if place not in chosen)
    yield from lines
    if hidden:
        rest = ", ".join(count_of(number, f"more {noun}") for noun, number in hidden.items())
        yield [Cell(f"… and {rest}: -v", Tone.FAINT)]


def whole(parts: Iterable[Part], width: int | None) -> Iterator[Line]:
    """Yield all lines, bounded by ``width``."""
    for part in parts:
        texts = chain(part.header, *part.rows, part.below) if isinstance(part, Rows) else [part]
        yield from _lines(texts, width)


def _lines(texts: Iterable[Text], width: int | None) -> Iterator[Line]:
    for text in texts:
        yield from wrap(text.cells, width, text.hanging) if isinstance(text, Sentence) else [text]


class _Piece(Struct, frozen=True):
    """Sentence, or row of a table, that is shown whole or counted as left out."""

    rank: tuple[int, int]
    """The smallest come first."""
    group: int
    """Number of its table, which ends at the first row without room; -1 for sentences."""
    texts: Sequence[Text]
    noun: str = "line"
    header: Sequence[Text] = ()
    """Lines above the first piece of its group."""


def _pieces(parts: Iterable[Part]) -> Iterator[_Piece]:
    """Yield the parts of a screen, ranked.

    First come the verdict and its subject, then the worst rows of the first table, the other sentences above tables,
    the other rows of all tables in turn, bad ones first, and sentences below tables.
    """
    texts, is_below = 0, False
    for number, part in enumerate(parts):
        if isinstance(part, Rows):
            least, is_below = 0 if is_below else _LEAST, True
            tones = part.tones or [Tone.PLAIN] * len(part.rows)
            places = worst_first(tones)
            turns = {place: turn for turn, place in enumerate(places)}
            for place, row in enumerate(part.rows):
                turn = turns[place]
                rank = 1 if turn < least else 3 if tones[place] is Tone.BAD else 4
                yield _Piece((rank, turn), number, row, part.noun, part.header)
        for text in part.below if isinstance(part, Rows) else [part] if part else []:
            texts += 1
            yield _Piece((5 if is_below else 2 if texts > _LEAD else 0, texts), -1, [text])


def _choose(pieces: Sequence[_Piece], room: int, width: int) -> Collection[int]:
    """Positions of the pieces that have room."""
    shown, opened, closed = set[int](), set[int](), set[int]()
    for place, piece in sorted(enumerate(pieces), key=lambda pair: pair[1].rank):
        height = height_of(_lay_out([piece], width, opened), width)
        if height <= room and piece.group not in closed:
            shown.add(place)
            opened.add(piece.group)
            room -= height
        else:
            closed.add(piece.group)
    return shown


def _lay_out(pieces: Iterable[_Piece], width: int, opened: Collection[int] = ()) -> Sequence[Line]:
    """Lines of ``pieces``, each group below its header unless it is already ``opened``."""
    texts, headed = list[Text](), {*opened}
    for piece in pieces:
        texts += (*(piece.header if piece.group not in headed else ()), *piece.texts)
        headed.add(piece.group)
    return [*_lines(texts, width)]


def height_of(lines: Iterable[Line], width: int) -> int:
    """Count the rows of a terminal that the lines take, which folds commands that are too wide for it."""
    return sum(rows_of("".join([part.text for part in line]), width) for line in lines)


def of_sheet(sheet: Sheet[R], look: Look) -> Rows:
    """Rows of a sheet, with its legend and the number left out."""
    shown = sheet.on_screen(look)
    if sheet.drawn is not None:
        rows = Rows([], [list(sheet.drawn(row, look)) for row in shown])
    else:
        rows = lay_table(sheet.columns, shown, look) if shown else Rows([], [])
    legend = [fold(Cell(sheet.legend, Tone.FAINT))] if sheet.legend and shown and look.headers else []
    return replace(
        rows,
        noun=sheet.noun,
        below=[*rows.below, *legend],
        hidden=len(sheet.rows) - len(shown),
        tones=[] if sheet.tone is None else [*map(sheet.tone, shown)],
    )


def lay_table(columns: Sequence[Column[R]], rows: Sequence[R], look: Look) -> Rows:
    """``rows`` below their headers.

    Without room the last columns are left out, then names are shortened; a sentence, always the last cell, is folded in
    its place.
    """
    shown = [column for column in columns if Readers.TERMINAL in column.readers and not column.is_empty(rows)]
    laid = [_whole(column, rows) for column in shown]
    sentence = laid.pop() if shown[-1].fit is Fit.SENTENCE else None
    words = [] if sentence is None else [width_of(word) for cell in sentence.cells for word in cell.text.split()]
    room = aim(look) - len(INDENT) + GAP
    if sentence is not None:
        room -= GAP + min(sentence.width, max(_LEAST_SENTENCE, *words))
    names = [column.fit is Fit.NAMES for column in shown[: len(laid)]]
    least = (_LEAST_NAME if is_name else layout.width for layout, is_name in zip(laid, names, strict=True))
    widths = [min(layout.width, width) for layout, width in zip(laid, least, strict=True)]
    while len(laid) > 1 and sum(widths) + GAP * len(widths) > room:
        place = next((place for place in range(len(laid) - 1, 0, -1) if not names[place]), len(laid) - 1)
        del laid[place], names[place], widths[place]
    spare = max(0, room - sum(widths) - GAP * len(widths))
    for place, layout in enumerate(laid):
        wider = min(layout.width, widths[place] + spare)
        spare -= wider - widths[place]
        if wider < layout.width:
            texts = distinct_names([cell.text for cell in layout.cells], wider)
            tones = (cell.tone for cell in layout.cells)
            laid[place] = Layout(layout.header, map(Cell, texts, tones), layout.is_number)
    if sentence is None:
        return lay_columns(laid, look)
    hanging = len(INDENT) + sum(layout.width + GAP for layout in laid)
    lines = lay_columns([*laid, sentence], look)
    return replace(lines, rows=[[Sentence(line, hanging)] for (line,) in lines.rows if not isinstance(line, Sentence)])


def lay_columns(columns: Sequence[Layout], look: Look, noun: str = "row", gap: int = GAP) -> Rows:
    """Table of columns side by side; ``noun`` is for rows without room."""
    lines = tabulate(columns, gap, headers=look.headers)
    return Rows([next(lines)] if look.headers else [], [[line] for line in lines], noun)


def _whole(column: Column[R], rows: Sequence[R]) -> Layout:
    cells = []
    for row in rows:
        text, tone = escape(column.on_screen(row)), Tone.PLAIN if column.tone is None else column.tone(row)
        # What is a warning is said in words beside it.
        cells.append(Cell(text, Tone.PLAIN if tone is Tone.WARN else tone))
    return Layout(column.short or column.header.replace("-", " "), cells, column.is_number)
