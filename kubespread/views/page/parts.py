"""The parts of a page: answer, bars, tables and notes beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.views.layout import cut_end
from kubespread.views.page.legend import of_bars
from kubespread.views.page.markup import text
from kubespread.views.sheet import Table
from kubespread.views.view import Bar, Bars, Tile, View, tables_of, with_nodes
from kubespread.wording import count_of

_MOST_OPEN = 60
"""Rows of a table that starts open; a longer one is laid out only when it is opened."""
_BAR, _LINE = 320, 20
_MOST_BARS = 24
_SAID = 120
"""Letters of an answer on a tile."""
_LONG = 45
"""Letters of a cell that may be folded."""


def answer(account: View) -> str:
    return f'<section aria-label="Answer">{_answer(account)}</section>'


def _answer(account: View) -> str:
    last, *rest = account.answer or [""]
    others = "".join(f"<p>{text(line)}</p>" for line in rest)
    return f'<div class="answer {account.tone}">{others}<p class="last">{text(last)}</p></div>'


def tiles(every: Sequence[Tile]) -> str:
    """A link for each answer, to what `answers` has of it."""
    if not every:
        return ""
    links = "".join(
        f'<li><a class="tile {tile.tone}" href="#a{place}"><b>{text(tile.name)}</b> <em>{text(tile.verdict)}</em> '
        f"<span>{text(cut_end(tile.says, _SAID))}</span></a></li>"
        for place, tile in enumerate(every)
    )
    return f'<nav aria-label="Clusters"><ul class="tiles">{links}</ul></nav>'


def answers(every: Sequence[Tile]) -> str:
    """Each answer in full, its tables closed."""
    return "".join(_in_full(f"a{place}", tile) for place, tile in enumerate(every))


def _in_full(name: str, tile: Tile) -> str:
    says = f'<div class="answer {tile.tone}"><p class="last">{text(tile.verdict)}: {text(tile.says)}</p></div>'
    told = [_one_of_several(f"{name}r{place}", view) for place, view in enumerate(tile.views)]
    return f'<section id="{name}"><h2>{text(tile.name)}</h2>{says if not told else ""}{"".join(told)}</section>'


def _one_of_several(name: str, view: View) -> str:
    told = with_nodes(view)
    every = [*tables_of(told), *([] if told.nodes is None else [told.nodes.table()])]
    closed = "".join(_table(f"{name}t{number}", replace(table, is_detail=True)) for number, table in enumerate(every))
    whence = " · ".join(part for part in (told.title, told.provenance) if part)
    return f'<p class="provenance">{text(whence)}</p>{_answer(told)}{closed}'


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


def tables(every: Iterable[Table]) -> str:
    return "".join(_table(f"t{number}", table) for number, table in enumerate(every) if table.rows)


def _table(name: str, table: Table) -> str:
    body = "".join(f'<tr class="{row.tone}">{cells(row.cells)}</tr>' for row in table.rows)
    return foldable(name, table.caption, table.header, body, len(table.rows), is_open=not table.is_detail)


def foldable(name: str, caption: str, header: Sequence[str], body: str, rows: int, *, is_open: bool) -> str:
    """A table of ``rows`` rows, whose HTML is ``body``, below a summary."""
    opened = " open" if is_open and rows <= _MOST_OPEN else ""
    head = "".join(f'<th scope="col">{text(title)}</th>' for title in header)
    return (
        f'<details class="rows" id="{name}"{opened}><summary><h2>{text(caption)} ({rows})</h2></summary>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>'
    )


def cells(texts: Iterable[str]) -> str:
    """The cells of a row; long ones may be folded."""
    return "".join(f"<td{' class=long' if len(cell) > _LONG else ''}>{text(cell)}</td>" for cell in texts)


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
