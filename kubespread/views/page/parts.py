"""The parts of a page: answer, key figures, tables and notes beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.views.layout import cut_end
from kubespread.views.page.markup import breakable, text
from kubespread.views.sheet import Drawn, Row, Table, is_numeric
from kubespread.views.view import Listing, Tile, View, tables_of, with_nodes

_MOST_OPEN, _MOST_OPEN_FIRST = 60, 300
"""Rows of a table that starts open, and of one that stands first; a longer one is laid out only when it is opened."""
_MOST_ROWS = 10_000
"""Of a table that nothing links into: browsers take about two seconds for the 93,000 that 5,000 nodes can fill."""
_MOST_LISTED = 12
"""Notes that are open."""
_SAID = 120
"""Letters of what a tile says."""
_SHORT, _LONG = 16, 45
"""Letters of a cell that stays in one line, and of one with words that is narrower than what it says."""
_MOST_COLUMNS = 9
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
    """What tiles lead to in full, each closed until it is chosen."""
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
    closed = "".join(foldable(f"{name}t{number}", replace(table, is_detail=True)) for number, table in enumerate(every))
    whence = " · ".join(part for part in (told.title, told.provenance) if part)
    return f'<p class="provenance">{text(whence)}</p>{_answer(told)}{closed}'


def facts(of: Mapping[str, str]) -> str:
    """Names with what is said of them, without those of which nothing is."""
    said = ((name, value) for name, value in of.items() if value)
    pairs = "".join(f"<div><dt>{text(name)}</dt><dd>{breakable(value)}</dd></div>" for name, value in said)
    return f"<section><h2>This answer</h2><dl>{pairs}</dl></section>" if pairs else ""


def command(typed: str) -> str:
    """What page.js lets one copy."""
    words = "".join(f"<span>{breakable(word)}</span> " for word in typed.split(" "))
    return f'<code class="command">{words[:-1]}</code>'


def listings(every: Sequence[Listing]) -> str:
    """Files with what is said of their lines; many start closed."""
    is_open = sum(len(listing.lines) for listing in every) <= _MOST_OPEN_FIRST
    return "".join(_listing(f"f{place}", listing, is_open) for place, listing in enumerate(every))


def _listing(name: str, listing: Listing, is_open: bool) -> str:
    rows, last = [], 0
    for line in listing.lines:
        if line.number > last + 1:
            rows.append('<tr class="gap"><td></td><td>⋯</td></tr>')
        last = line.number
        tone = line.remarks[0][0] if line.remarks else ""
        rows.append(f"<tr{_attribute('class', tone)}><td>{last}</td><td>{text(line.text)}</td></tr>")
        rows += (f'<tr class="remark {tone}"><td></td><td>{text(said)}</td></tr>' for tone, said in line.remarks)
    marks = sum(len(line.remarks) for line in listing.lines)
    head = f"<summary><h2>{text(listing.title)} ({marks:,})</h2></summary>"
    return (
        f'<details id="{name}"{" open" if is_open else ""}>{head}'
        f'<table class="listing"><tbody>{"".join(rows)}</tbody></table></details>'
    )


def tables(every: Iterable[Table], *, first: bool) -> str:
    """Those that stand above everything else, or the others."""
    return "".join(
        foldable(f"t{place}", table) for place, table in enumerate(every) if table.rows and table.is_first is first
    )


def foldable(name: str, table: Table, ids: str = "") -> str:
    """A table below a summary; its rows have ``ids`` with their place, if any."""
    caption, rows = table.caption, table.rows if ids else table.rows[:_MOST_ROWS]
    most = _MOST_OPEN_FIRST if table.is_first else _MOST_OPEN
    opened = " open" if not table.is_detail and len(rows) <= most else ""
    left_out = f"the first {len(rows):,} rows; -o json has all" if len(rows) < len(table.rows) else ""
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
    if any(len(row.cells[0]) > _SHORT for row in rows):
        size += " named"
    legends = "".join(f'<p class="legend">{text(legend)}</p>' for legend in (table.legend, left_out) if legend)
    head_line = f"<summary><h2>{text(caption)} ({len(table.rows):,})</h2></summary>"
    return (
        f'<details class="rows" id="{name}"{opened}>{head_line}{legends}'
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
    style = "" if is_name or len(value) <= _SHORT else "text" if len(value) <= _LONG or " " not in value else "long"
    if drawn is not None:
        style = f"f{round(drawn.percent / _STEP)} {drawn.tone}".rstrip()
    return f"<td{_attribute('class', style)}>{breakable(value)}</td>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{value}"' if value else ""


def beside(lists: Mapping[str, Sequence[str]]) -> str:
    """Notes, gaps and what is not modeled."""
    return "".join(_listed(heading, texts) for heading, texts in lists.items())


def _listed(heading: str, texts: Sequence[str]) -> str:
    items = f"<ul>{''.join(f'<li>{text(item)}</li>' for item in texts)}</ul>"
    if len(texts) > _MOST_LISTED:
        return f"<details><summary><h2>{text(heading)} ({len(texts):,})</h2></summary>{items}</details>"
    return f"<section><h2>{text(heading)}</h2>{items}</section>"


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
