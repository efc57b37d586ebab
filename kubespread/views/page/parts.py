"""Parts of a page, in which foreign text is always plain text: answer, key figures, tables, bars and notes."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kubespread.escaping import escape
from kubespread.regex import regex
from kubespread.views.sheet import BarCell, Row, Table, is_numeric
from kubespread.views.view import Bar, Bars, Tile, View
from kubespread.wording import count_of

_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def text(value: object) -> str:
    """Escaped ``value`` for elements and quoted attributes, including characters that hide or reorder text."""
    return html.escape(escape(str(value)))


_PARTS = regex(r"(?<=[./_=:,])|(?<=[a-z0-9]-)(?=[a-z0-9])|(?<=[a-z])(?=[A-Z])")
_WHOLE = 24
"""Letters of a name that is never broken."""


def breakable(value: str) -> str:
    """Name with places to break lines: after a dot, a slash or a dash, and before a capital letter."""
    return " ".join(
        text(word) if len(word) <= _WHOLE else "<wbr>".join(map(text, _PARTS.split(word))) for word in value.split(" ")
    )


def data(value: Any) -> str:
    """JSON that is safe in a script element: nothing in it ends the element, begins a comment or hides."""
    return json.dumps(value, separators=(",", ":")).translate(_IN_SCRIPT)


def escape_data(value: Any) -> Any:
    """Plain data with escaped texts, for a script to find and to show."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {escape(key): escape_data(item) for key, item in value.items()}
    return [escape_data(item) for item in value] if isinstance(value, list | tuple) else value


_MOST_OPEN, MOST_LAID_OUT = 60, 400
"""Rows of a table that is whole from the start where it is open, and where it is closed, as a picture of so many nodes.
"""
_MOST_ROWS = 10_000
"""Rows of a table that nothing links into: browsers take about two seconds for the 93,000 that 5,000 nodes can fill."""
_MOST_LISTED = 12
"""Notes that are open."""
_SHORT, _LONG = 16, 45
"""Most letters of a cell that is not folded, and of one with words that is not a wide one."""
_ONE_LINE = 45
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


def answer(account: View) -> str:
    """The answer, and the figures to look for first, in a row."""
    tiles = "".join(map(_tile, account.tiles))
    row = f'<div class="tiles">{tiles}</div>' if tiles else ""
    doubts = "".join(f"<p><strong>{text(doubt)}</strong></p>" for doubt in account.doubts)
    first = breakable(next(iter(account.answer), ""))
    inside = f'{doubts}<p class="first">{first}</p>{row}'
    return f'<section aria-label="Answer"><div class="answer {account.tone}">{inside}</div></section>'


def remarks(account: View) -> str:
    """Notes on the answer's basis, mostly folded: many would bury the tables below."""
    first, more = ([f"<p>{breakable(line)}</p>" for line in part] for part in (account.answer[1:4], account.answer[4:]))
    folded = f"<details><summary>and {len(more):,} more</summary>{''.join(more)}</details>" if more else ""
    return f'<section class="remarks" aria-label="What it rests on">{"".join(first)}{folded}</section>' if first else ""


def _tile(tile: Tile) -> str:
    """A button where it lists something, which page.js makes search for it."""
    inside = f"<b>{text(tile.value)}</b> <span>{text(tile.name)}</span>"
    if tile.says:
        inside += f'<span class="says">{breakable(tile.says)}</span>'
    if tile.find:
        return f'<button type="button" class="tile {tile.tone}" data-find="{text(tile.find)}">{inside}</button>'
    return f'<div class="tile {tile.tone}">{inside}</div>'


def facts(of: Mapping[str, str], commands: Collection[str]) -> str:
    """Names with values or commands, without empty ones."""
    terms = ((name, command(value) if name in commands else breakable(value)) for name, value in of.items() if value)
    pairs = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in terms)
    return f"<section><h2>This answer</h2><dl>{pairs}</dl></section>" if pairs else ""


def command(typed: str) -> str:
    """Command with a button to copy it."""
    words = "".join(f"<span>{breakable(word)}</span> " for word in typed.split(" "))
    return f'<code class="command">{words[:-1]}</code>'


def pack(content: str) -> str:
    """Elements that page.js inserts when their parent is opened: so many would make a page large and slow."""
    return f'<script type="text/plain" class="packed" data-packed>{squeeze(content)}</script>'


def squeeze(content: str) -> str:
    return base64.b64encode(gzip.compress(content.encode("utf-8", "surrogatepass"), mtime=0)).decode()


def embed(name: str, value: Any) -> str:
    """Data for scripts, compressed if it is large."""
    plain = data(value)
    if len(plain) <= _MOST_PLAIN:
        return f'<script type="application/json" id="{name}">{plain}</script>'
    return f'<script type="application/json" id="{name}" data-packed>{squeeze(plain)}</script>'


def tables(every: Iterable[Table]) -> str:
    return "".join(foldable(f"t{place}", table, is_first=not place) for place, table in enumerate(every))


def foldable(name: str, table: Table, ids: str = "", *, is_first: bool = False) -> str:
    """Table below a summary, open if it is the first or short; its rows have ``ids`` with their place, if any."""
    caption, rows = table.caption, table.rows if ids else table.rows[:_MOST_ROWS]
    is_open = is_first or len(rows) <= _MOST_OPEN
    opened = " open" if is_open else ""
    left_out = f"the first {len(rows):,} rows; -o json has all" if len(rows) < len(table.rows) else ""
    head = "".join(f'<th scope="col">{breakable(title)}</th>' for title in table.header)
    # A class per column is much shorter than one per cell.
    columns = list(zip(*(row.cells for row in rows), strict=True))
    numeric = "".join(f" n{place}" for place, cells in enumerate(columns, 1) if is_numeric(cells))
    body = [
        f"<tr{_attribute('id', f'{ids}{place}' if ids else '')}{_attribute('class', row.tone)}"
        f"{_attribute('data-step', row.step or '')}>{_cells(row, table.commands)}</tr>"
        for place, row in enumerate(rows)
    ]
    most, at_first = (_MOST_OPEN, _AT_FIRST) if is_open else (MOST_LAID_OUT, 0)
    shown, hidden = (body, []) if len(body) <= most else (body[:at_first], body[at_first:])
    laid_out = "".join(shown) + (pack("".join(hidden)) if hidden else "")
    more = f'<p><button type="button" class="more">and {len(hidden):,} more</button></p>' if shown and hidden else ""
    size = " wide" if len(table.header) > _MOST_COLUMNS else ""
    longest = max((len(row.cells[0]) for row in rows), default=0)
    size += " named" if longest > _ONE_LINE else " lined"
    legends = "".join(f'<p class="legend">{text(legend)}</p>' for legend in (table.legend, left_out) if legend)
    head_line = f"<summary><h2>{text(caption)} ({len(table.rows):,})</h2></summary>"
    return (
        f'<details class="rows" id="{name}"{opened}>{head_line}{legends}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table class="sortable{size}{numeric}"><thead><tr>{head}</tr></thead><tbody>{laid_out}</tbody></table>'
        f"</div>{more}</details>"
    )


def _cells(row: Row, commands: frozenset[int]) -> str:
    drawn = row.drawn or [None] * len(row.cells)
    return "".join(
        _cell(value, look, is_name=not place, is_command=place in commands)
        for place, (value, look) in enumerate(zip(row.cells, drawn, strict=True))
    )


def _cell(value: str, drawn: BarCell | None, *, is_name: bool, is_command: bool) -> str:
    if is_command and value:
        return f'<td class="long">{command(value)}</td>'
    style = "" if is_name or len(value) <= _SHORT else "text" if len(value) <= _LONG or " " not in value else "long"
    if drawn is not None:
        style = f"f{round(drawn.percent / _STEP)} {drawn.tone}".rstrip()
    return f"<td{_attribute('class', style)}>{breakable(value)}</td>"


def _attribute(name: str, value: str | int) -> str:
    return f' {name}="{value}"' if value else ""


def side_notes(lists: Mapping[str, Sequence[str]]) -> str:
    """Notes, gaps and unmodeled features."""
    return "".join(_listing(heading, texts) for heading, texts in lists.items())


def _listing(heading: str, texts: Sequence[str]) -> str:
    items = f"<ul>{''.join(f'<li>{text(item)}</li>' for item in texts)}</ul>"
    if len(texts) > _MOST_LISTED:
        return f"<details><summary><h2>{text(heading)} ({len(texts):,})</h2></summary>{items}</details>"
    return f"<section><h2>{text(heading)}</h2>{items}</section>"


_CHART, _LINE = 320, 20
_MOST_BARS = 24


def bars(every: Sequence[Bars]) -> str:
    """Bars of each constraint's domains, with numbers beside them."""
    drawn = "".join(_bars(f"c{place}", chart) for place, chart in enumerate(every))
    return f"<section><h2>Constraints</h2>{_of_bars(every)}{drawn}</section>" if every else ""


def _bars(name: str, chart: Bars) -> str:
    every = sorted(chart.bars, key=lambda bar: -bar.after) if len(chart.bars) > _MOST_BARS else chart.bars
    shown, hidden = every[:_MOST_BARS], every[_MOST_BARS:]
    most = max(1, chart.limit or 0, *(max(bar.before, bar.after) for bar in chart.bars))
    rows = "".join(_bar(bar, most, chart.limit) for bar in shown)
    more = f"<p>and {count_of(len(hidden), 'more domain')} {_at_most(hidden[0].after)}</p>" if hidden else ""
    head = '<tr><th scope="col">Domain</th><th scope="col">Pods</th><th scope="col">In numbers</th></tr>'
    caption = f'<h3 id="{name}">{text(chart.title)}</h3>'
    table = f'<table class="bars" aria-labelledby="{name}"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return f'{caption}<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}">{table}</div>{more}'


def _at_most(pods: int) -> str:
    return f"with at most {count_of(pods, 'pod')} each" if pods else "without pods"


def _bar(bar: Bar, most: int, limit: int | None) -> str:
    was, now = (round(_CHART * count / most) for count in (bar.before, bar.after))
    line = (
        ""
        if limit is None
        else f'<line class="limit" x1="{_position(limit, most)}" x2="{_position(limit, most)}" y1="0" y2="{_LINE}"/>'
    )
    drawing = (
        f'<svg viewBox="0 0 {_CHART + 2} {_LINE}" width="{_CHART + 2}" height="{_LINE}" preserveAspectRatio="none" '
        'aria-hidden="true">'
        f'<rect class="was" width="{min(was, now)}" height="{_LINE}"/>'
        f'<rect class="came {bar.tone}" x="{min(was, now)}" width="{max(0, now - was)}" height="{_LINE}"/>'
        f'<rect class="went" x="{now}" width="{max(0, was - now)}" height="{_LINE}"/>{line}</svg>'
    )
    return (
        f'<tr class="{bar.tone}"><th scope="row">{breakable(bar.name)}</th>'
        f"<td>{drawing} <span>{bar.after}</span></td><td>{text(bar.arithmetic)}</td></tr>"
    )


def _position(limit: int, most: int) -> int:
    return round(_CHART * limit / most)


def _of_bars(every: Sequence[Bars]) -> str:
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


def stacked_bar(parts: Sequence[tuple[str, int]]) -> str:
    """Bar of adjacent colors, each as long as its number; text beside it says the same."""
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
