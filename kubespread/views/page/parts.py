"""The parts of a page, in which foreign text is always just text: answer, key figures, the picture of a cluster with
what its marks and colors mean, tables, and notes beside them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.questions.map.report import (
    JOINED,
    MapNode,
    TopologyMap,
    is_closed,
    node_load,
    percent,
    state_word,
    states_in_full,
)
from kubespread.views.lines import CUT, cut_end
from kubespread.views.look import Tone
from kubespread.views.sheet import ALWAYS, Drawn, Row, Table, is_numeric
from kubespread.views.terminal import shared
from kubespread.views.view import Bars, Listing, Tile, View, tables_of, with_nodes
from kubespread.wording import EMPTY, count_of, short_key

_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def text(value: object) -> str:
    """For the content of elements and for quoted attributes alike; characters that hide or reorder text are escapes."""
    return html.escape(escaped(str(value)))


_PARTS = re.compile(r"(?<=[./_=:,])|(?<=[a-z0-9]-)(?=[a-z0-9])|(?<=[a-z])(?=[A-Z])")
_WHOLE = 24
"""Letters of a name that is never broken."""


def breakable(value: str) -> str:
    """Long names may go on in the next line: behind a dot, a slash or a dash, and before a capital letter."""
    return " ".join(
        text(word) if len(word) <= _WHOLE else "<wbr>".join(map(text, _PARTS.split(word))) for word in value.split(" ")
    )


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
    row = f'<p class="moment" hidden></p><div class="tiles">{tiles}</div>' if tiles else ""
    doubts = "".join(f"<p><strong>{text(doubt)}</strong></p>" for doubt in account.doubts)
    return f'<div class="answer {account.tone}">{doubts}<p class="first">{text(first)}</p>{row}{others}</div>'


def _tile(name: str, tile: Tile) -> str:
    """A button where it lists something, which page.js makes search for it; a link where `answers` has more of it. The
    script changes its value and its last class from frame to frame.
    """
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
        f"<tr{_attribute('id', f'{ids}{place}' if ids else '')}{_attribute('class', row.tone)}{_when(row)}>"
        f"{_cells(row, table.commands)}</tr>"
        for place, row in enumerate(rows)
    )
    size = " wide" if len(table.header) > _MOST_COLUMNS else ""
    if any(len(row.cells[0]) > _SHORT for row in rows):
        size += " named"
    legends = "".join(f'<p class="legend">{text(legend)}</p>' for legend in (table.legend, left_out) if legend)
    in_the_end = sum(row.frames[1] is None for row in table.rows)
    number = f"{in_the_end:,}" if all(row.frames == ALWAYS for row in table.rows) else f"<span>{in_the_end:,}</span>"
    head_line = f"<summary><h2>{text(caption)} ({number})</h2></summary>"
    return (
        f'<details class="rows" id="{name}"{opened}>{head_line}{legends}'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table class="sortable{size}{numeric}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        "</details>"
    )


def _when(row: Row) -> str:
    """Between which frames page.js shows the row, and with which it marks it; it starts as it is in the end."""
    first, last = row.frames
    if last is None:
        return _attribute("data-since", f"{first or ''}") + _attribute("data-step", f"{row.step or ''}")
    return f' data-since="{first}" data-until="{last}" data-off'


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


def of_picture(account: View, drawn: TopologyMap) -> str:
    """What a dot is, what the color of a node says, and how nodes look that take no pods."""
    return _as_list(_in_picture(account, drawn))


def of_bars(every: Sequence[Bars]) -> str:
    """The meaning of the parts that bars have."""
    return _as_list(_in_bars(every))


def _in_picture(account: View, drawn: TopologyMap) -> Iterator[str]:
    joining = joining_nodes(account, drawn)
    if names_nodes(len(drawn.nodes) + len(joining)):
        yield text(" ".join(["● a", *_dot(account, drawn)]))
        if account.is_rollout:
            yield text("○ one with the old template")
    else:
        noun, *meanings = _dot(account, drawn)
        what, *which = noun.split(" ")
        yield text(" ".join([f"Number on a node: its {what}s", *which, *meanings]))
    if is_judged(account):
        assert account.nodes is not None
        yield from (_sample(tone, meaning) for tone, meaning in account.nodes.colors.items())
    elif tells_loads(account):
        yield text("Requested of a node's fullest resource:")
        yield from (_sample(style, f"from {least}%") for least, style in reversed(SHADES))
    if any(is_closed(node.closed) for node in drawn.nodes) or any(frame.states for frame in account.frames):
        yield _sample("closed", "cordoned or not ready")
    if any(node.joined for node in drawn.nodes) or joining:
        yield _sample("joined", "joined")
    if any(frame.gone for frame in account.frames):
        yield _sample("off", "gone, or not there yet")
    if account.frames:
        yield _sample("moved", "changed in this step")


def _dot(account: View, drawn: TopologyMap) -> tuple[str, ...]:
    """The noun, and which of these."""
    if account.before is not None:
        return (account.dot or "replica",)
    if drawn.selector is not None:
        return "pod", f"matching {drawn.selector}"
    return ("pod",) if drawn.workload is None else ("pod", f"of {drawn.workload}")


def _in_bars(every: Sequence[Bars]) -> Iterator[str]:
    bars = [bar for chart in every for bar in chart.bars]
    changes = any(bar.before != bar.after for bar in bars)
    yield _sample("was", "matching pods that stay" if changes else "matching pods")
    if any(bar.after > bar.before for bar in bars):
        yield _sample("came", "that come")
    if any(bar.after < bar.before for bar in bars):
        yield _sample("went", "that go")
    if any(chart.is_beside for chart in every) and changes:
        yield _sample("line", "from where to where they go")
    if any(chart.limit is not None for chart in every):
        yield _sample("limit", "the most a domain may have: minimum + maxSkew")


def _sample(style: str, meaning: str) -> str:
    return f'<span class="sample {style}"></span>{text(meaning)}'


def _as_list(items: Iterator[str]) -> str:
    return f'<ul class="legend">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


NOT_YET = "not there yet"
SHADES = ((90, "load-4"), (75, "load-3"), (50, "load-2"), (25, "load-1"))
_MOST_NAMED, _MOST_LARGE = 60, 800
"""Nodes of a picture that names them, and of one whose cells are not of the smallest size."""
MOST_MARKS = 9
"""Pods that get a mark each; more are a number, as are all where nodes are not named."""


class NodeMark(Struct, frozen=True):
    """How one node is drawn."""

    name: str
    """Without the beginning and the end that all names share."""
    position: int
    """Of its row in the table of nodes."""
    pods: int
    old: int
    """Those of an old template."""
    style: str
    state: str
    """Of the node, in a word."""
    tooltip: str


def names_nodes(nodes: int) -> bool:
    """Whether a picture of so many nodes has room for their names."""
    return nodes <= _MOST_NAMED


def _marks(report: TopologyMap, account: View, joined: Sequence[str]) -> Mapping[str, NodeMark]:
    """Every node of the map, and behind them those that join: the color is the verdict where there is one, else how
    full the node is.
    """
    verdicts = {} if account.nodes is None else account.nodes.verdicts
    tones = {} if account.nodes is None else {name: row.tone for name, row in account.nodes.rows.items()}
    judged, loaded, before = is_judged(account), tells_loads(account), pods_before(report, account)
    prefix, end = shared([*(node.name for node in report.nodes), *joined])
    marks = {}
    for position, node in enumerate(in_order(report, account)):
        pods = before.get(node.name, 0)
        tone = str(tones.get(node.name, Tone.PLAIN)) if judged else _shade(percent(node)) if loaded else ""
        closed = "closed" if is_closed(node.closed) else ""
        style = " ".join(part for part in (tone, closed, JOINED if node.joined else "") if part)
        holds = (count_of(node.pods, "pod"), f"{node_load(node)} requested")
        tooltip = ", ".join(part for part in (verdicts.get(node.name, ""), *holds, states_in_full(node)) if part)
        old = pods if account.is_rollout else 0
        short = _short(node.name, prefix, end)
        marks[node.name] = NodeMark(short, position, pods, old, style, state_word(node), tooltip)
    for position, name in enumerate(joined, len(report.nodes)):
        marks[name] = NodeMark(_short(name, prefix, end), position, before.get(name, 0), 0, "off", "", NOT_YET)
    return marks


def _short(name: str, prefix: str, end: str) -> str:
    return f"{CUT if prefix else ''}{name.removeprefix(prefix).removesuffix(end)}"


def joining_nodes(account: View, report: TopologyMap) -> list[str]:
    """The nodes of frames that the map does not have."""
    present = {node.name for node in report.nodes}
    named = (name for frame in account.frames for name in (*frame.joined, *frame.pods))
    return [name for name in dict.fromkeys(named) if name not in present]


def in_order(report: TopologyMap, account: View) -> list[MapNode]:
    """The nodes as the question has them, which may be the fullest first."""
    told = () if account.nodes is None else account.nodes.rows
    places = {name: place for place, name in enumerate(told)}
    return sorted(report.nodes, key=lambda node: places.get(node.name, len(places)))


def tells_loads(account: View) -> bool:
    """Whether the picture knows at every frame what nodes hold."""
    return any(frame.held for frame in account.frames) or not any(frame.pods for frame in account.frames)


def is_judged(account: View) -> bool:
    """Whether colors are verdicts, and not how full nodes are."""
    return account.nodes is not None and bool(account.nodes.colors)


def is_marking(report: TopologyMap) -> bool:
    """Whether the question is about some pods and not all."""
    return report.workload is not None or report.selector is not None


def pods_before(report: TopologyMap, account: View) -> Mapping[str, int]:
    """What is marked on each node before the first step."""
    if account.before is not None:
        return account.before
    if is_marking(report):
        return {node.name: len(node.marked) for node in report.nodes}
    return {node.name: node.pods for node in report.nodes}


def _shade(filled: int) -> str:
    return next((style for least, style in SHADES if filled >= least), "load-0")


def topology(report: TopologyMap, account: View, joined: Sequence[str]) -> str:
    """The picture."""
    every = _marks(report, account, joined)
    size = "named" if names_nodes(len(every)) else "small" if len(every) <= _MOST_LARGE else "small tiny"
    inner = "".join(_level(report, report.nodes, 0, every))
    if joined:
        inner += _box("joined later", _node_cells(joined, every))
    label = f"Topology of {count_of(len(report.nodes), 'node')}; every node is a link to its row in the table below"
    return f'<div role="group" class="topology boxes {size}" aria-label="{text(label)}">{inner}</div>'


def _level(report: TopologyMap, nodes: Sequence[MapNode], depth: int, marks: Mapping[str, NodeMark]) -> Iterator[str]:
    """The boxes of one key, with those of the next key in them."""
    if not report.keys:
        yield _box("all nodes", _node_cells([node.name for node in nodes], marks))
        return
    key, by_value = short_key(report.keys[depth]), dict[str | None, list[MapNode]]()
    for node in nodes:
        by_value.setdefault(node.path[depth], []).append(node)
    for value, within in by_value.items():
        if depth + 1 < len(report.keys):
            inner = f'<div class="boxes">{"".join(_level(report, within, depth + 1, marks))}</div>'
        else:
            inner = _node_cells([node.name for node in within], marks)
        yield _box(f"no {key}" if value is None else _titled(key, value), inner)


def _titled(key: str, value: str) -> str:
    """``zone a``; just ``zone-a`` where the value already says what it is."""
    return value if value.startswith(key) else f"{key} {value or EMPTY}"


def _box(title: str, inner: str) -> str:
    return f'<div class="domain"><p class="title">{text(title)}</p>{inner}</div>'


def _node_cells(names: Sequence[str], marks: Mapping[str, NodeMark]) -> str:
    first, is_named = next(iter(marks)), names_nodes(len(marks))
    return (
        f'<div class="cells">{"".join(_node_cell(name, marks[name], name == first, is_named) for name in names)}</div>'
    )


def _node_cell(node: str, mark: NodeMark, is_first: bool, is_named: bool) -> str:
    shown = pod_marks(mark.pods, mark.old, MOST_MARKS if is_named else 0)
    inside = f'<span class="pods">{shown}</span>'
    if is_named:
        inside = (
            f'<span class="name">{breakable(mark.name)}</span>{inside}<span class="state">{text(mark.state)}</span>'
        )
    return (
        f'<a class="node {mark.style}" href="#n{mark.position}" tabindex="{0 if is_first else -1}" '
        f'title="{text(f"{node}: {mark.tooltip}")}">{inside}</a>'
    )


def pod_marks(pods: int, old: int, most: int) -> str:
    """A dot a pod, hollow for those of an old template, and a number where there are more than ``most``; page.js has
    the same.
    """
    if not pods:
        return ""
    if not most:
        return str(pods)
    if pods <= most:
        return "○" * old + "●" * (pods - old)
    return " ".join(f"{mark}×{count}" for mark, count in (("○", old), ("●", pods - old)) if count)
