"""The topology as boxes within boxes, which wrap to any width: every node is a link to its row in the table, which
keyboards and screen readers reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

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
from kubespread.views.layout import CUT, shared
from kubespread.views.look import Tone
from kubespread.views.page.markup import breakable, text
from kubespread.views.view import View
from kubespread.wording import EMPTY, count_of, short_key

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
    judged, before = is_judged(account), pods_before(report, account)
    prefix, end = shared([*(node.name for node in report.nodes), *joined])
    marks = {}
    for position, node in enumerate(in_order(report, account)):
        pods = before.get(node.name, 0)
        tone = str(tones.get(node.name, Tone.PLAIN)) if judged else _shade(percent(node))
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
        inner += _box("joined later", _cells(joined, every))
    label = f"Topology of {count_of(len(report.nodes), 'node')}; every node is a link to its row in the table below"
    return f'<div role="group" class="topology boxes {size}" aria-label="{text(label)}">{inner}</div>'


def _level(report: TopologyMap, nodes: Sequence[MapNode], depth: int, marks: Mapping[str, NodeMark]) -> Iterator[str]:
    """The boxes of one key, with those of the next key in them."""
    if not report.keys:
        yield _box("all nodes", _cells([node.name for node in nodes], marks))
        return
    key, by_value = short_key(report.keys[depth]), dict[str | None, list[MapNode]]()
    for node in nodes:
        by_value.setdefault(node.path[depth], []).append(node)
    for value, within in by_value.items():
        if depth + 1 < len(report.keys):
            inner = f'<div class="boxes">{"".join(_level(report, within, depth + 1, marks))}</div>'
        else:
            inner = _cells([node.name for node in within], marks)
        yield _box(f"no {key}" if value is None else _titled(key, value), inner)


def _titled(key: str, value: str) -> str:
    """``zone a``; just ``zone-a`` where the value already says what it is."""
    return value if value.startswith(key) else f"{key} {value or EMPTY}"


def _box(title: str, inner: str) -> str:
    return f'<div class="domain"><p class="title">{text(title)}</p>{inner}</div>'


def _cells(names: Sequence[str], marks: Mapping[str, NodeMark]) -> str:
    first, is_named = next(iter(marks)), names_nodes(len(marks))
    return f'<div class="cells">{"".join(_cell(name, marks[name], name == first, is_named) for name in names)}</div>'


def _cell(node: str, mark: NodeMark, is_first: bool, is_named: bool) -> str:
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
