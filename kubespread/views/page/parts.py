"""The parts of a page, in which foreign text is always just text: answer, key figures, the picture of a cluster with
what its marks and colors mean, tables, and notes beside them.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any

from kubespread.escaping import escaped
from kubespread.views.lines import CUT
from kubespread.views.sheet import Drawn, Row, Table, is_numeric
from kubespread.views.terminal import shared
from kubespread.views.view import Bars, Tile, View, tables_of, with_nodes

_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def text(value: object) -> str:
    """Escape ``value`` for the content of elements and for quoted attributes alike; characters that hide or reorder
    text are escapes.
    """
    return html.escape(escaped(str(value)))


_PARTS = re.compile(r"(?<=[./_=:,])|(?<=[a-z0-9]-)(?=[a-z0-9])|(?<=[a-z])(?=[A-Z])")
_WHOLE = 24
"""Letters of a name that is never broken."""


def breakable(value: str) -> str:
    """Long names may go on in the next line: behind a dot, a slash or a dash, and before a capital letter."""
    return " ".join(
        text(word) if len(word) <= _WHOLE else "<wbr>".join(map(text, _PARTS.split(word))) for word in value.split(" ")
    )


_WORKLOAD = re.compile(r"(?<![\w/.-])([a-z0-9][a-z0-9.-]*/)([A-Z][A-Za-z]+/)(?=[a-z0-9])")


def _without_kinds(value: str) -> str:
    """Hide the kinds of the workloads that are named in ``value``."""
    parts = _WORKLOAD.split(value)
    return "".join(f"<i>{text(part)}</i>" if place % 3 == 2 else breakable(part) for place, part in enumerate(parts))


def short_name(name: str, ends: tuple[str, str] = ("", "")) -> str:
    """A name without the kind of a workload and without the ``ends`` that its neighbors have too: the style hides
    them, and they are there for searches, links, and who copies the name.
    """
    start, end = ends
    if not name.startswith(start) or not name.endswith(end) or len(name) <= len(start) + len(end):
        return _without_kinds(name)
    before = f'<i class="cut">{text(start)}</i>' if start else ""
    after = f"<i{_attribute('class', '' if start else 'cut')}>{text(end)}</i>" if end else ""
    return f"{before}{_without_kinds(name[len(start) : len(name) - len(end)])}{after}"


def said(line: str, ends: tuple[str, str]) -> str:
    """A sentence with the names in it that have the ``ends`` shortened."""
    start, end = ends
    if len(start) + len(end) < _LEAST_SAVED:
        return _without_kinds(line)
    names = re.compile(rf"({re.escape(start)}[\w.-]+?{re.escape(end)})(?![\w-]|\.\w)")
    parts = names.split(line)
    return "".join(short_name(part, ends) if place % 2 else _without_kinds(part) for place, part in enumerate(parts))


def _shared_ends(cells: Iterable[str]) -> tuple[str, str]:
    """Find what all names of a column of names begin and end with, if any are long."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.split(", ") if name))
    if max(map(len, names), default=0) <= _SHORT or any(" " in name for name in names):
        return "", ""
    folder = commonprefix(names).rpartition("/")[0] + "/"
    if folder.count("/") > 1:
        return folder, ""
    start, end = shared(names)
    # Without a letter it is a date or a number.
    return (start if any(map(str.isalpha, start)) else "", end)


def data(value: Any) -> str:
    """JSON that is safe in a script element: nothing in it ends the element, begins a comment or hides."""
    return json.dumps(value, separators=(",", ":")).translate(_IN_SCRIPT)


def shown(value: Any) -> Any:
    """Plain data whose texts are as `text` shows them, for a script to find and to show."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(key): shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list | tuple) else value


_MOST_OPEN, MOST_LAID_OUT = 60, 400
"""Rows of a table that is whole from the start where it is open, and where it is closed, as a picture of so many nodes.
"""
_MOST_ROWS = 10_000
"""Rows of a table that nothing links into: browsers take about two seconds for the 93,000 that 5,000 nodes can fill."""
_MOST_LISTED = 12
"""Notes that are open."""
_SAID = 120
"""Letters of what a tile says."""
_SHORT, _LONG = 16, 45
"""Letters of a cell that stays in one line, and of one with words that is narrower than what it says."""
_LEAST_SAVED = 6
"""Letters that names in sentences share before they are shortened."""
_ONE_LINE = 32
"""Letters of a name that stays in one line."""
_MOST_COLUMNS = 9
"""Columns of a table in letters of the usual size."""
_MOST_PLAIN = 200_000
"""Letters of data that stands in a page as it is."""
_AT_FIRST = 50
"""Rows of a long table that starts open: the worst, where they are sorted by that."""
_BAR = 100
_STEP = 5
"""Percent by which bars in cells differ: they are classes of the style, as a page may have no style of its own."""


def answer(account: View, ends: tuple[str, str]) -> str:
    return f'<section aria-label="Answer">{_answer(account, ends)}</section>'


def _answer(account: View, ends: tuple[str, str] = ("", "")) -> str:
    """The answer itself, and what is looked for first in a row; ``ends`` are those that all names of nodes share."""
    tiles = "".join(_tile(f"a{place}", tile) for place, tile in enumerate(account.tiles))
    row = f'<div class="tiles">{tiles}</div>' if tiles else ""
    doubts = "".join(f"<p><strong>{text(doubt)}</strong></p>" for doubt in account.doubts)
    first = said(next(iter(account.answer), ""), ends)
    return f'<div class="answer {account.tone}">{doubts}<p class="first">{first}</p>{row}</div>'


def remarks(account: View, ends: tuple[str, str] = ("", "")) -> str:
    """Write what the answer rests on, folding most of it: much of it would bury what comes below."""
    first, more = (
        [f"<p>{said(line, ends)}</p>" for line in part] for part in (account.answer[1:4], account.answer[4:])
    )
    folded = f"<details><summary>and {len(more):,} more</summary>{''.join(more)}</details>" if more else ""
    return f'<section class="remarks" aria-label="What it rests on">{"".join(first)}{folded}</section>' if first else ""


def _tile(name: str, tile: Tile) -> str:
    """A button where it lists something, which page.js makes search for it; a link where `answers` has more of it."""
    inside = f"<b>{text(tile.value)}</b> <span>{text(tile.name)}</span>"
    if tile.says:
        inside += f'<span class="says">{_without_kinds(_in_brief(tile.says))}</span>'
    if tile.views is not None:
        return f'<a class="tile {tile.tone}" href="#{name}">{inside}</a>'
    if tile.find:
        return f'<button type="button" class="tile {tile.tone}" data-find="{text(tile.find)}">{inside}</button>'
    return f'<div class="tile {tile.tone}">{inside}</div>'


def _in_brief(said: str) -> str:
    """Cut between words."""
    return said if len(said) <= _SAID else f"{said[:_SAID].rpartition(' ')[0]} {CUT}"


def answers(every: Sequence[Tile]) -> str:
    """Write the answers that tiles lead to in full, each closed until it is chosen."""
    return "".join(
        _in_full(f"a{place}", tile, tile.views()) for place, tile in enumerate(every) if tile.views is not None
    )


def _in_full(name: str, tile: Tile, views: Sequence[View]) -> str:
    says = f'<div class="answer {tile.tone}"><p class="first">{text(tile.value)}: {text(tile.says)}</p></div>'
    told = "".join(_one_of_several(f"{name}r{place}", view) for place, view in enumerate(views))
    head = f"<summary><h2>{text(tile.name)}: {text(tile.value)}</h2></summary>"
    return f'<details id="{name}">{head}{told or says}</details>'


def _one_of_several(name: str, view: View) -> str:
    told = with_nodes(view)
    every = [*tables_of(told), *([] if told.nodes is None else [told.nodes.table()])]
    rows = "".join(foldable(f"{name}t{number}", table) for number, table in enumerate(every))
    whence = " · ".join(part for part in (told.title, told.provenance) if part)
    return f'<p class="provenance">{text(whence)}</p>{_answer(told)}{remarks(told)}{rows}'


def facts(of: Mapping[str, str], commands: Collection[str]) -> str:
    """Names with what is said of them, or what is typed for it, without those of which nothing is."""
    said = ((name, command(value) if name in commands else breakable(value)) for name, value in of.items() if value)
    pairs = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in said)
    return f"<section><h2>This answer</h2><dl>{pairs}</dl></section>" if pairs else ""


def command(typed: str) -> str:
    """Write a command that page.js lets one copy."""
    words = "".join(f"<span>{breakable(word)}</span> " for word in typed.split(" "))
    return f'<code class="command">{words[:-1]}</code>'


def packed(content: str) -> str:
    """Elements that page.js puts in the place of this one when what holds it is opened: so many would make a page large
    and slow.
    """
    return f'<script type="text/plain" class="packed" data-packed>{squeezed(content)}</script>'


def squeezed(content: str) -> str:
    return base64.b64encode(gzip.compress(content.encode("utf-8", "surrogatepass"), mtime=0)).decode()


def embedded(name: str, value: Any) -> str:
    """Data for a script, or for whoever reads the page with one: as it is, or squeezed where it is large."""
    plain = data(value)
    if len(plain) <= _MOST_PLAIN:
        return f'<script type="application/json" id="{name}">{plain}</script>'
    return f'<script type="application/json" id="{name}" data-packed>{squeezed(plain)}</script>'


def tables(every: Iterable[Table]) -> str:
    return "".join(foldable(f"t{place}", table, is_first=not place) for place, table in enumerate(every))


def foldable(name: str, table: Table, ids: str = "", *, is_first: bool = False) -> str:
    """A table below a summary, open where it is the first or short; its rows have ``ids`` with their place, if any."""
    caption, rows = table.caption, table.rows if ids else table.rows[:_MOST_ROWS]
    is_open = is_first or len(rows) <= _MOST_OPEN
    opened = " open" if is_open else ""
    left_out = f"the first {len(rows):,} rows; -o json has all" if len(rows) < len(table.rows) else ""
    head = "".join(f'<th scope="col">{breakable(title)}</th>' for title in table.header)
    # A class per column is much shorter than one per cell.
    columns = list(zip(*(row.cells for row in rows), strict=True))
    numeric = "".join(f" n{place}" for place, cells in enumerate(columns, 1) if is_numeric(cells))
    ends = [_shared_ends(cells) for cells in columns]
    body = [
        f"<tr{_attribute('id', f'{ids}{place}' if ids else '')}{_attribute('class', row.tone)}"
        f"{_attribute('data-step', row.step or '')}>{_cells(row, ends, table.commands)}</tr>"
        for place, row in enumerate(rows)
    ]
    most, at_first = (_MOST_OPEN, _AT_FIRST) if is_open else (MOST_LAID_OUT, 0)
    shown, hidden = (body, []) if len(body) <= most else (body[:at_first], body[at_first:])
    laid_out = "".join(shown) + (packed("".join(hidden)) if hidden else "")
    more = f'<p><button type="button" class="more">and {len(hidden):,} more</button></p>' if shown and hidden else ""
    size = " wide" if len(table.header) > _MOST_COLUMNS else ""
    longest = max((len(row.cells[0]) - len("".join(ends[0])) for row in rows), default=0)
    size += " named" if longest > _ONE_LINE else " lined"
    legends = "".join(f'<p class="legend">{text(legend)}</p>' for legend in (table.legend, left_out) if legend)
    head_line = f"<summary><h2>{text(caption)} ({len(table.rows):,})</h2></summary>"
    return (
        f'<details class="rows" id="{name}"{opened}>{head_line}{legends}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table class="sortable{size}{numeric}"><thead><tr>{head}</tr></thead><tbody>{laid_out}</tbody></table>'
        f"</div>{more}</details>"
    )


def _cells(row: Row, ends: Sequence[tuple[str, str]], commands: frozenset[int]) -> str:
    drawn = row.drawn or [None] * len(row.cells)
    return "".join(
        _cell(value, look, ends[place], is_name=not place, is_command=place in commands)
        for place, (value, look) in enumerate(zip(row.cells, drawn, strict=True))
    )


def _cell(value: str, drawn: Drawn | None, ends: tuple[str, str], *, is_name: bool, is_command: bool) -> str:
    if is_command and value:
        return f'<td class="long">{command(value)}</td>'
    names = ", ".join(short_name(name, ends) for name in value.split(", "))
    length = len(value) - (value.count(", ") + 1) * len("".join(ends))
    style = "" if is_name or length <= _SHORT else "text" if length <= _LONG or " " not in value else "long"
    if drawn is not None:
        style = f"f{round(drawn.percent / _STEP)} {drawn.tone}".rstrip()
    return f"<td{_attribute('class', style)}>{names}</td>"


def _attribute(name: str, value: str | int) -> str:
    return f' {name}="{value}"' if value else ""


def beside(lists: Mapping[str, Sequence[str]]) -> str:
    """Notes, gaps and what is not modeled."""
    return "".join(_listed(heading, texts) for heading, texts in lists.items())


def _listed(heading: str, texts: Sequence[str]) -> str:
    items = f"<ul>{''.join(f'<li>{text(item)}</li>' for item in texts)}</ul>"
    if len(texts) > _MOST_LISTED:
        return f"<details><summary><h2>{text(heading)} ({len(texts):,})</h2></summary>{items}</details>"
    return f"<section><h2>{text(heading)}</h2>{items}</section>"


def of_bars(every: Sequence[Bars]) -> str:
    """The meaning of the parts that bars have."""
    return as_list(_in_bars(every))


def _in_bars(every: Sequence[Bars]) -> Iterator[str]:
    bars = [bar for chart in every for bar in chart.bars]
    changes = any(bar.before != bar.after for bar in bars)
    yield sample("was", "matching pods that stay" if changes else "matching pods")
    if any(bar.after > bar.before for bar in bars):
        yield sample("came", "that come")
    if any(bar.after < bar.before for bar in bars):
        yield sample("went", "that go")
    if any(chart.limit is not None for chart in every):
        yield sample("limit", "the most a domain may have: minimum + maxSkew")


def stacked(parts: Sequence[tuple[str, int]]) -> str:
    """A bar of colors beside each other, as long as there are of each; text beside it says the same."""
    whole, drawn, past = max(1, sum(number for _, number in parts)), [], 0
    for color, number in parts:
        width = round(_BAR * (past + number) / whole) - round(_BAR * past / whole)
        drawn.append(f'<rect class="{color}" x="{round(_BAR * past / whole)}" width="{width}" height="8"/>')
        past += number
    box = f'viewBox="0 0 {_BAR} 8" preserveAspectRatio="none" aria-hidden="true"'
    return f'<svg class="stack" {box}>{"".join(drawn)}</svg>'


def sample(style: str, meaning: str) -> str:
    return f'<span class="sample {style}"></span>{text(meaning)}'


def as_list(items: Iterator[str]) -> str:
    return f'<ul class="legend">{"".join(f"<li>{item}</li>" for item in items)}</ul>'
