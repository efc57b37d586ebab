"""Answers as GitHub's markdown, for pull requests and tickets: headline and answer first, details folded.

Source of what is escaped: the GitHub Flavored Markdown Spec, and what GitHub makes of text besides (mentions,
references, emoji and math).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubespread.escaping import escape
from kubespread.regex import regex
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.sheet import is_numeric
from kubespread.views.view import Bars, View, tables_of, view_of, with_nodes
from kubespread.wording import count_of

_OPEN_ROWS, _MOST_ROWS, _MOST_COLUMNS = 20, 50, 7
"""Rows of a table that is not folded, and of any; columns of one."""
_ROOM = 65_000
"""Characters in all: a GitHub comment holds at most 65,536, and its poster may add a line."""
_SPECIAL = regex(r"([\\`*_\[\]~|$])")
_LINKED = regex(r"@(?=\w)|#(?=\d)|:(?=[\w+-]+:)|:(?=//)|\bwww(?=\.)|\bGH-(?=\d)")
_LIST_MARKER = regex(r"^(\d+)([.)] )|^([-+>#=])")


def markdown(answer: Answer, look: Look) -> str:
    """The answer, as much of it as a comment has room for; all rows of every table with ``look.in_full``."""
    blocks = _blocks(with_nodes(view_of(answer)), look)
    return "\n\n".join(blocks if look.in_full else _fitting(blocks)) + "\n"


def _fitting(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the parts that fit, in order, and the number of others."""
    room, left_out = _ROOM, 0
    for block in blocks:
        if len(block) > room:
            left_out += 1
        else:
            room -= len(block) + len("\n\n")
            yield block
    if left_out:
        yield f"{count_of(left_out, 'part')} of this answer left out, for which a comment has no room; `-v` gives all"


def inline(text: str) -> str:
    """Literal text: it creates no markup, mention, reference, emoji or link, and stays in its cell."""
    return _unlink(_SPECIAL.sub(r"\\\1", _as_html(text)))


def paragraph(text: str) -> str:
    """Literal text at the beginning of a line, where it could begin a list or a heading."""
    return _LIST_MARKER.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", inline(text))


def _blocks(account: View, look: Look) -> Iterator[str]:
    yield f"### {inline(account.title)}"
    yield from (f"> **{inline(doubt)}**" for doubt in account.doubts)
    last, *others = account.answer or [""]
    if last:
        yield f"**{inline(last)}**"
    yield from (paragraph(other) for other in others)
    if account.provenance:
        yield f"<sub>{inline(account.provenance)}</sub>"
    for bar in account.bars:
        yield from _bars(bar, look)
    facts = [] if account.nodes is None else [account.nodes.table()]
    for place, table in enumerate((*tables_of(account), *facts)):
        rows = [row.cells for row in table.rows]
        yield from _table(table.caption, table.header, rows, look, is_folded=place > 0)
    yield from _side_notes(account.beside)


def _bars(chart: Bars, look: Look) -> Iterator[str]:
    """Yield a table with a row per domain, the fullest first if there are many."""
    changes = any(bar.before != bar.after for bar in chart.bars)
    bars = sorted(chart.bars, key=lambda bar: -bar.after) if len(chart.bars) > _OPEN_ROWS else chart.bars
    header = ("Domain", "Before", "After") if changes else ("Domain", "Pods", "Skew")
    rows = [
        (bar.name, str(bar.before), str(bar.after)) if changes else (bar.name, str(bar.after), bar.arithmetic)
        for bar in bars
    ]
    yield from _table(chart.title, header, rows, look, is_folded=False)


def _table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], look: Look, *, is_folded: bool
) -> Iterator[str]:
    if not rows:
        return
    shown = rows if look.in_full else rows[:_MOST_ROWS]
    columns: Sequence[int] = range(len(header))
    if len(columns) > _MOST_COLUMNS:
        columns = [column for column in columns if not column or any(row[column] for row in shown)]
    text, *further = (_align(header, shown, some) for some in _readable(columns))
    if len(shown) < len(rows):
        text += f"\n\nand {len(rows) - len(shown)} more rows"
    if further:
        more = f"{caption}: {count_of(len(columns) - _MOST_COLUMNS, 'more column')}"
        text += "\n\n" + _fold(more, "\n\n".join(further))
    if is_folded or len(rows) > _OPEN_ROWS:
        yield _fold(f"{caption} ({len(rows)})", text)
    else:
        yield f"**{inline(caption)}**\n\n{text}"


def _readable(columns: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield as many columns as one can read, and the others for further tables, each beginning with the first."""
    if len(columns) <= _MOST_COLUMNS:
        yield columns
        return
    name, *others = columns
    for start in range(0, len(others), _MOST_COLUMNS - 1):
        yield name, *others[start : start + _MOST_COLUMNS - 1]


def _align(header: Sequence[str], rows: Sequence[Sequence[str]], columns: Sequence[int]) -> str:
    cells = [[row[column] for column in columns] for row in rows]
    marks = ("---:" if is_numeric(column) else "---" for column in zip(*cells, strict=True))
    names = (inline(header[column]) for column in columns)
    return "\n".join((_line(names), _line(marks), *(_line(map(inline, row)) for row in cells)))


def _fold(summary: str, text: str) -> str:
    """Collapsed section; GitHub reads no markup in its summary, only its own links, which are broken up."""
    return f"<details><summary>{_unlink(_as_html(summary))}</summary>\n\n{text}\n\n</details>"


def _as_html(text: str) -> str:
    """Text without HTML elements and entities; a ``>`` alone begins neither."""
    return escape(text).replace("&", "&amp;").replace("<", "&lt;")


def _unlink(text: str) -> str:
    return _LINKED.sub(lambda match: f"{match[0]}<!-- -->", text)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _side_notes(lists: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for heading, texts in lists.items():
        items = "\n".join(f"- {paragraph(text)}" for text in texts)
        yield _fold(f"{heading} ({len(texts)})", items)
