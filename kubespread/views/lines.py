"""Text on a terminal: how wide it is, where it is cut or folded, and how its tones are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.regex import regex
from kubespread.views.look import Cell, Line, Tone

CUT = "…"
_WIDEST = 2
"""Columns of the widest character."""
_WORDS = regex(r"\s+|\S+")
_LISTED = regex(r"[^,]+,*|,+")
"""Pieces of a word that no line holds: a selector breaks between two of its labels."""
_STYLES = {Tone.GOOD: "32", Tone.WARN: "33", Tone.BAD: "31", Tone.FAINT: "2", Tone.STRONG: "1"}
"""Numbers that terminals give them: green, yellow, red, dim and bold."""


def width_of(text: str) -> int:
    """Width in columns of a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    # Its tables take as long to import as all the rest of a short answer in a pipe.
    from rich.cells import cell_len

    return cell_len(text)


def cut_end(text: str, width: int) -> str:
    """Beginning of ``text``, in at most ``width`` columns, cut between words unless that leaves less than half."""
    if width_of(text) <= width:
        return text
    start, words = _start(text, width - 1), _start(text, max(0, width - 2))
    words = words if text[len(words)].isspace() else words.rpartition(" ")[0]
    return (start if len(words) * 2 < len(start) else f"{words.rstrip()} ") + CUT


def cut_middle(text: str, width: int, beginning: int | None = None) -> str:
    """Beginning and end, more of the end, which distinguishes names of nodes and pods; or a ``beginning`` of that
    length.
    """
    if width_of(text) <= width:
        return text
    start = _start(text, (width - 1) // 3 if beginning is None else beginning)
    end = _start(text[::-1], width - 1 - width_of(start))[::-1]
    while end and not width_of(end[0]):
        end = end[1:]
    return f"{start}{CUT}{end}"


def _start(text: str, width: int) -> str:
    start = text[:width]
    while width_of(start) > width:
        start = start[:-1]
    return start


def rows_of(text: str, width: int) -> int:
    """Number of rows that a terminal folds it into."""
    return max(1, -(-width_of(text) // width))


def line_width(line: Line) -> int:
    return sum(width_of(part.text) for part in line)


def wrap(line: Line, width: int | None, indent: int = 0) -> Iterator[Line]:
    """Yield ``line`` folded between words, further lines indented; any width takes one character."""
    if width is None or line_width(line) <= width:
        yield line
        return
    width = max(width, indent + _WIDEST)
    current, used = list[Cell](), 0
    for part in line:
        for word in _pieces(part.text, width - indent):
            size = width_of(word)
            if used + size > width and used > indent:
                yield current
                current, used = [Cell(" " * indent)], indent
                if word.isspace():
                    continue
            while used + size > width:
                fitting = _start(word, width - used)
                yield [*current, Cell(fitting, part.tone)]
                word = word[len(fitting) :]
                current, used, size = [Cell(" " * indent)], indent, width_of(word)
            if current and current[-1].tone == part.tone:
                word = current.pop().text + word
            current.append(Cell(word, part.tone))
            used += size
    yield current


def folded_text(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a sentence folded between words."""
    return ("".join(cell.text for cell in line).rstrip() for line in wrap([Cell(text)], width, 4))


def _pieces(text: str, room: int) -> Iterator[str]:
    for word in _WORDS.findall(text):
        yield from [word] if width_of(word) <= room else _LISTED.findall(word)


def render(lines: Iterable[Line], *, color: bool) -> str:
    """Text of ``lines`` for a terminal, without trailing spaces."""
    return "".join(f"{_render(line, color=color)}\n" for line in lines)


def _render(line: Line, *, color: bool) -> str:
    if not color:
        return "".join([part.text for part in line]).rstrip()
    last = next((place for place in range(len(line) - 1, -1, -1) if line[place].text.strip()), -1)
    return "".join(
        [f"\x1b[{_STYLES[part.tone]}m{part.text}\x1b[0m" if part.tone else part.text for part in line[: last + 1]]
    ).rstrip()
