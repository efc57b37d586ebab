"""The topology as inline SVG: every node a link to its row in the table, which keyboards and screen readers reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.questions.map.report import (
    JOINED,
    TopologyMap,
    is_closed,
    node_load,
    percent,
    state_word,
    states_in_full,
)
from kubespread.views.layout import cut_middle
from kubespread.views.names import fitted
from kubespread.views.page.drawing import Box, CellSize, cell_size, drawn
from kubespread.views.page.markup import text
from kubespread.views.sheet import Tone
from kubespread.views.view import View
from kubespread.wording import count_of

NOT_YET = "not there yet"
SHADES = ((90, "load-4"), (75, "load-3"), (50, "load-2"), (25, "load-1"))


class NodeMark(Struct, frozen=True):
    """How one node is drawn."""

    name: str
    """The shortest unique name, if there is room for one."""

    position: int
    """Of its row in the table of nodes."""
    pods: int
    old: int
    """Those of an old template."""
    style: str
    state: str
    """Of the node, in a word."""
    tooltip: str


def _marks(report: TopologyMap, account: View, joined: Sequence[str]) -> Mapping[str, NodeMark]:
    """Every node of the map, and behind them those that join: the color is the verdict where there is one, else how
    full the node is.
    """
    verdicts = {} if account.nodes is None else account.nodes.verdicts
    tones = {} if account.nodes is None else {name: row.tone for name, row in account.nodes.rows.items()}
    judged, before = is_judged(account), pods_before(report, account)
    names = [*(node.name for node in report.nodes), *joined]
    letters = cell_size(len(names)).letters
    short = dict(zip(names, fitted(names, letters) if letters else names, strict=True))
    marks = {}
    for position, node in enumerate(report.nodes):
        pods = before.get(node.name, 0)
        tone = str(tones.get(node.name, Tone.PLAIN)) if judged else _shade(percent(node))
        closed = "closed" if is_closed(node.closed) else ""
        style = " ".join(part for part in (tone, closed, JOINED if node.joined else "") if part)
        holds = (count_of(pods, "pod"), f"{node_load(node)} requested")
        tooltip = ", ".join(part for part in (verdicts.get(node.name, ""), *holds, states_in_full(node)) if part)
        old = pods if account.is_rollout else 0
        marks[node.name] = NodeMark(short[node.name], position, pods, old, style, state_word(node), tooltip)
    for position, name in enumerate(joined, len(report.nodes)):
        marks[name] = NodeMark(short[name], position, before.get(name, 0), 0, "off", "", NOT_YET)
    return marks


def joining_nodes(account: View, report: TopologyMap) -> list[str]:
    """The nodes of frames that the map does not have."""
    present = {node.name for node in report.nodes}
    named = (name for frame in account.frames for name in (*frame.joined, *frame.pods))
    return [name for name in dict.fromkeys(named) if name not in present]


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


def svg(report: TopologyMap, account: View, joined: Sequence[str]) -> str:
    """The picture, as wide as the page at most."""
    root, size = drawn(report, joined)
    every, style = _marks(report, account, joined), "topology" if size.letters else "topology small"
    parts = [
        f'<svg viewBox="0 0 {root.width} {root.height}" width="{root.width}" role="group" class="{style}" '
        f'aria-label="{text(_label(report))}">'
    ]
    first = next(iter(every), None)
    for box in root.boxes:
        parts += _box(box, size, every, first)
    return "".join([*parts, "</svg>"])


def _label(report: TopologyMap) -> str:
    return f"Topology of {count_of(len(report.nodes), 'node')}; every node is a link to its row in the table below"


def _box(box: Box, size: CellSize, marks: Mapping[str, NodeMark], first: str | None) -> Iterator[str]:
    letters = max(8, box.width // 8)
    yield f'<g transform="translate({box.x} {box.y})">'
    yield f'<rect class="domain" width="{box.width}" height="{box.height}" rx="4"/>'
    yield f'<text class="title" x="8" y="17">{text(cut_middle(box.title, letters))}</text>'
    for inner in box.boxes:
        yield from _box(inner, size, marks, first)
    for cell in box.cells:
        mark = marks[cell.node]
        stop = "0" if cell.node == first else "-1"
        yield (
            f'<a class="node {mark.style}" href="#n{mark.position}" tabindex="{stop}" '
            f'transform="translate({cell.x} {cell.y})"><title>{text(f"{cell.node}: {mark.tooltip}")}</title>'
            f'<rect width="{size.width}" height="{size.height}" rx="3"/>'
        )
        yield from _inside(mark, size)
        yield "</a>"
    yield "</g>"


def _inside(mark: NodeMark, size: CellSize) -> Iterator[str]:
    if size.letters:
        yield f'<text class="name" x="6" y="17">{text(mark.name)}</text>'
        yield f'<text class="state" x="{size.width - 5}" y="{size.height - 9}">{text(mark.state)}</text>'
    x, y = (6, size.height - 9) if size.letters else (size.width // 2, size.height // 2 + 4)
    shown = marks(mark.pods, mark.old, size.marks)
    yield f'<text class="pods{"" if size.letters else " mid"}" x="{x}" y="{y}">{shown}</text>'


def marks(pods: int, old: int, most: int) -> str:
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
