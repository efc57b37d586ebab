"""The parts of a page: answer, key figures, bars, tables and notes beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.views.layout import cut_end
from kubespread.views.page.legend import of_bars
from kubespread.views.page.markup import breakable, text
from kubespread.views.sheet import Drawn, Row, Table, is_numeric
from kubespread.views.view import Bar, Bars, Tile, View, tables_of, with_nodes
from kubespread.wording import count_of

_MOST_OPEN, _MOST_OPEN_FIRST = 60, 300
"""Rows of a table that starts open, and of one that stands first; a longer one is laid out only when it is opened."""
_BAR, _LINE = 320, 20
_MOST_BARS = 24
_SAID = 120
"""Letters of what a tile says."""
_SHORT, _LONG = 16, 45
"""Letters of a cell that stays in one line, and of one that is narrower than what it says."""
_MOST_COLUMNS = 10
"""Of a table in letters of the usual size."""
_STEP = 5
"""Percent by which bars in cells differ: they are classes of the style, as a page may have no style of its own."""


def answer(account: View) -> str:
    return f'<section aria-label="Answer">{_answer(account)}</section>'


def _answer(account: View) -> str:
    """The answer itself, what is looked for first in a row, and what the answer rests on."""
    first, *rest = account.answer or [""]
    others = "".join(f"<p>{text(line)}</p>" for line in rest)
    tiles = "".join(_tile(f"a{place}", tile) for place, tile in enumerate(account.tiles))
    row = f'<div class="tiles">{tiles}</div>' if tiles else ""
    return f'<div class="answer {account.tone}"><p class="first">{text(first)}</p>{row}{others}</div>'


def _tile(name: str, tile: Tile) -> str:
    """A button where it lists something, which page.js makes search for it; a link where `answers` has more of it."""
    inside = f"<b>{text(tile.value)}</b> <span>{text(tile.name)}</span>"
    if tile.says:
        inside += f'<span class="says">{text(cut_end(tile.says, _SAID))}</span>'
    if tile.views is not None:
        return f'<a class="tile {tile.tone}" href="#{name}">{inside}</a>'
    if tile.find:
        return f'<button type="button" class="tile {tile.tone}" data-find="{text(tile.find)}">{inside}</button>'
    return f'<div class="tile {tile.tone}">{inside}</div>'


def answers(every: Sequence[Tile]) -> str:
    """What tiles lead to in full, its tables closed."""
    return "".join(
        _in_full(f"a{place}", tile, tile.views()) for place, tile in enumerate(every) if tile.views is not None
    )


def _in_full(name: str, tile: Tile, views: Sequence[View]) -> str:
    says = f'<div class="answer {tile.tone}"><p class="first">{text(tile.value)}: {text(tile.says)}</p></div>'
    told = "".join(_one_of_several(f"{name}r{place}", view) for place, view in enumerate(views))
    return f'<section id="{name}"><h2>{text(tile.name)}</h2>{told or says}</section>'


def _one_of_several(name: str, view: View) -> str:
    told = with_nodes(view)
    every = [*tables_of(told), *([] if told.nodes is None else [told.nodes.table()])]
    closed = "".join(foldable(f"{name}t{number}", replace(table, is_detail=True)) for number, table in enumerate(every))
    whence = " · ".join(part for part in (told.title, told.provenance) if part)
    return f'<p class="provenance">{text(whence)}</p>{_answer(told)}{closed}'


def facts(of: Mapping[str, str]) -> str:
    """Names with what is said of them, without those of which nothing is."""
    said = ((name, value) for name, value in of.items() if value)
    pairs = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in said)
    return f"<section><h2>This answer</h2><dl>{pairs}</dl></section>" if pairs else ""


def command(typed: str) -> str:
    """What page.js lets one copy."""
    return f'<code class="command">{text(typed)}</code>'


def bars(every: Sequence[Bars]) -> str:
    """Each constraint with a bar per domain and its numbers beside it."""
    if not every:
        return ""
    drawn = "".join(_bars(f"c{place}", chart) for place, chart in enumerate(every))
    return f"<section><h2>Constraints</h2>{of_bars(every)}{drawn}</section>"


def _bars(name: str, chart: Bars) -> str:
    is_long = len(chart.bars) > _MOST_BARS
    by_size = sorted(chart.bars, key=lambda bar: -bar.after) if is_long else chart.bars
    shown, hidden = by_size[:_MOST_BARS], by_size[_MOST_BARS:]
    most = max((max(bar.before, bar.after) for bar in chart.bars), default=0)
    most = max(most, chart.limit or 0, 1)
    rows = "".join(_bar(bar, most, chart.limit) for bar in shown)
    more = f"<p>and {count_of(len(hidden), 'more domain')} {_at_most(hidden[0].after)}</p>" if hidden else ""
    head = '<tr><th scope="col">Domain</th><th scope="col">Pods</th><th scope="col">In numbers</th></tr>'
    caption = f'<h3 id="{name}">{text(chart.title)}</h3>'
    table = f'<table class="bars" aria-labelledby="{name}"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return f'{caption}<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}">{table}</div>{more}'


def _at_most(pods: int) -> str:
    return f"with at most {count_of(pods, 'pod')} each" if pods else "without pods"


def _bar(bar: Bar, most: int, limit: int | None) -> str:
    was, now = (round(_BAR * count / most) for count in (bar.before, bar.after))
    line = (
        ""
        if limit is None
        else f'<line class="limit" x1="{_at(limit, most)}" x2="{_at(limit, most)}" y1="0" y2="{_LINE}"/>'
    )
    drawing = (
        f'<svg viewBox="0 0 {_BAR + 2} {_LINE}" width="{_BAR + 2}" height="{_LINE}" preserveAspectRatio="none" '
        'aria-hidden="true">'
        f'<rect class="was" width="{min(was, now)}" height="{_LINE}"/>'
        f'<rect class="came {bar.tone}" x="{min(was, now)}" width="{max(0, now - was)}" height="{_LINE}"/>'
        f'<rect class="went" x="{now}" width="{max(0, was - now)}" height="{_LINE}"/>{line}</svg>'
    )
    return (
        f'<tr class="{bar.tone}"><th scope="row">{text(bar.name)}</th><td>{drawing} <span>{bar.after}</span></td>'
        f"<td>{text(bar.arithmetic)}</td></tr>"
    )


def _at(limit: int, most: int) -> int:
    return round(_BAR * limit / most)


def tables(every: Iterable[Table], *, first: bool) -> str:
    """Those that stand above everything else, or the others."""
    return "".join(
        foldable(f"t{place}", table) for place, table in enumerate(every) if table.rows and table.is_first is first
    )


def foldable(name: str, table: Table, ids: str = "") -> str:
    """A table below a summary; its rows have ``ids`` with their place, if any."""
    caption, rows = table.caption, table.rows
    most = _MOST_OPEN_FIRST if table.is_first else _MOST_OPEN
    opened = " open" if not table.is_detail and len(rows) <= most else ""
    head = "".join(f'<th scope="col">{breakable(title)}</th>' for title in table.header)
    # A class per column is much shorter than one per cell.
    columns = zip(*(row.cells for row in rows), strict=True)
    numeric = "".join(f" n{place}" for place, cells in enumerate(columns, 1) if is_numeric(cells))
    body = "".join(
        f"<tr{_attribute('id', f'{ids}{place}' if ids else '')}{_attribute('class', row.tone)}>"
        f"{_cells(row, table.commands)}</tr>"
        for place, row in enumerate(rows)
    )
    size = " wide" if len(table.header) > _MOST_COLUMNS else ""
    legend = f'<p class="legend">{text(table.legend)}</p>' if table.legend else ""
    return (
        f'<details class="rows" id="{name}"{opened}><summary><h2>{text(caption)} ({len(rows):,})</h2></summary>{legend}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table class="sortable{size}{numeric}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        "</details>"
    )


def _cells(row: Row, commands: frozenset[int]) -> str:
    drawn = row.drawn or [None] * len(row.cells)
    return "".join(
        _cell(value, look, is_name=not place, is_command=place in commands)
        for place, (value, look) in enumerate(zip(row.cells, drawn, strict=True))
    )


def _cell(value: str, drawn: Drawn | None, *, is_name: bool, is_command: bool) -> str:
    if is_command and value:
        return f'<td class="long">{command(value)}</td>'
    style = "" if is_name or len(value) <= _SHORT else "text" if len(value) <= _LONG else "long"
    if drawn is not None:
        style = f"f{round(drawn.percent / _STEP)} {drawn.tone}".rstrip()
    return f"<td{_attribute('class', style)}>{breakable(value) if is_name else text(value)}</td>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{value}"' if value else ""


def beside(lists: Mapping[str, Sequence[str]]) -> str:
    """Notes, gaps and what is not modeled."""
    return "".join(_listed(heading, texts) for heading, texts in lists.items())


def _listed(heading: str, texts: Sequence[str]) -> str:
    items = "".join(f"<li>{text(item)}</li>" for item in texts)
    return f"<section><h2>{text(heading)}</h2><ul>{items}</ul></section>"


def slider(frames: int, first: int) -> Iterator[str]:
    """What moves from step to step, from the ``first`` one on; without scripts, which it needs, it is not shown."""
    if frames:
        yield (
            '<div class="steps" hidden><button type="button" id="back" aria-label="Step back">◀</button>'
            f'<input type="range" id="step" min="0" max="{frames}" value="{first}" aria-label="Step" '
            'aria-describedby="said">'
            '<button type="button" id="next" aria-label="Step forward">▶</button>'
            '<output id="said" for="step" aria-live="polite"></output></div>'
        )
