"""The picture of a cluster: boxes of domains with their nodes in them, what its marks and colors mean, and the slider
that moves it from step to step. Of many nodes it has the totals of each domain, and nodes when a domain is opened.
"""

from __future__ import annotations

from collections import Counter
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
from kubespread.views.lines import CUT
from kubespread.views.look import Tone
from kubespread.views.page.parts import MOST_LAID_OUT, as_list, breakable, packed, sample, stacked, text
from kubespread.views.terminal import shared
from kubespread.views.view import View
from kubespread.wording import EMPTY, count_of, short_key

NOT_YET = "not there yet"
SHADES = ((90, "load-4"), (75, "load-3"), (50, "load-2"), (25, "load-1"))
_MOST_NAMED = 60
"""Nodes of a picture that names them."""
_MOST_BOXES = 60
"""Domains that have totals of their own."""
MOST_MARKS = 9
"""Pods that get a mark each; more are a number, as are all where nodes are not named."""


class NodeMark(Struct, frozen=True):
    """Mark of one node in the picture."""

    name: str
    """Name without the beginning and the end that all names share."""
    position: int
    """Position of its row in the table of nodes."""
    pods: int
    old: int
    """Number of pods of an old template."""
    color: str
    """Meaning of its color: its verdict, or how full it is."""
    style: str
    state: str
    """State of the node, in a word."""
    tooltip: str
    word: str = ""
    """Word that is written on it where it has no state."""
    is_awaited: bool = False
    """True if it joins in a later step."""


def names_nodes(nodes: int) -> bool:
    """True if a picture of so many nodes has room for their names."""
    return nodes <= _MOST_NAMED


def _marks(report: TopologyMap, account: View, joined: Sequence[str]) -> Mapping[str, NodeMark]:
    """Every node of the map, and behind them those that join: the color is the verdict where there is one, else how
    full the node is.
    """
    verdicts = {} if account.nodes is None else account.nodes.verdicts
    words = {} if account.nodes is None else account.nodes.words
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
        marks[node.name] = NodeMark(
            short, position, pods, old, tone, style, state_word(node), tooltip, words.get(node.name, "")
        )
    for position, name in enumerate(joined, len(report.nodes)):
        marks[name] = NodeMark(
            _short(name, prefix, end), position, before.get(name, 0), 0, "", "off", "", NOT_YET, is_awaited=True
        )
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
    """True if the picture knows at every frame what nodes hold."""
    return any(frame.held for frame in account.frames) or not any(frame.pods for frame in account.frames)


def is_judged(account: View) -> bool:
    """True if colors are verdicts, and not how full nodes are."""
    return account.nodes is not None and bool(account.nodes.colors)


def is_marking(report: TopologyMap) -> bool:
    """True if the question is about some pods and not all."""
    return report.workload is not None or report.selector is not None


def pods_before(report: TopologyMap, account: View) -> Mapping[str, int]:
    """Count the marked pods on each node before the first step."""
    if account.before is not None:
        return account.before
    if is_marking(report):
        return {node.name: len(node.marked) for node in report.nodes}
    return {node.name: node.pods for node in report.nodes}


def _shade(filled: int) -> str:
    return next((style for least, style in SHADES if filled >= least), "load-0")


class Picture:
    """A cluster as it is drawn for an answer."""

    def __init__(self, report: TopologyMap, account: View) -> None:
        self.report, self.account = report, account
        self.joined = joining_nodes(account, report)
        """Nodes of frames that the map does not have."""
        self.domains: list[Sequence[str]] = []
        """The nodes of each domain that has totals, which page.js sums up after each step."""
        self._marks = _marks(report, account, self.joined)
        self._is_large = len(self._marks) > MOST_LAID_OUT
        self._depth = (
            sum(len({*zip(*keys, strict=True)}) <= _MOST_BOXES for keys in self._keys())
            if self._is_large
            else len(report.keys)
        )
        self.html = self._drawn()

    def _keys(self) -> Iterator[Sequence[Sequence[str | None]]]:
        """The values of the first key, of the first two, and so on."""
        values = [*zip(*(node.path for node in self.report.nodes), strict=True)]
        return (values[:depth] for depth in range(1, len(values) + 1))

    def _drawn(self) -> str:
        inner = "".join(self._level(self.report.nodes, 0))
        if rest := [name for name in self.joined if self.account.stand_ins.get(name) not in self._marks]:
            inner += self._leaf("joined later", rest)
        size = "named" if names_nodes(len(self._marks)) else "totals" if self._is_large else "small"
        nodes = count_of(len(self.report.nodes), "node")
        label = f"Topology of {nodes}; every node is a link to its row in the table below"
        return f'<div role="group" class="topology boxes {size}" aria-label="{text(label)}">{inner}</div>'

    def _level(self, nodes: Sequence[MapNode], depth: int) -> Iterator[str]:
        """The boxes of one key, with those of the next key in them."""
        if not self._depth:
            yield self._leaf("all nodes", [node.name for node in nodes])
            return
        key, by_value = short_key(self.report.keys[depth]), dict[str | None, list[MapNode]]()
        for node in nodes:
            by_value.setdefault(node.path[depth], []).append(node)
        for value, within in by_value.items():
            title = f"no {key}" if value is None else _titled(key, value)
            if depth + 1 < self._depth:
                yield _box(title, f'<div class="boxes">{"".join(self._level(within, depth + 1))}</div>')
            else:
                yield self._leaf(title, [node.name for node in within])

    def _leaf(self, title: str, names: Sequence[str]) -> str:
        """A box of nodes, and of those that join in their place."""
        present = {*names}
        names = [*names, *(new for new, old in self.account.stand_ins.items() if old in present and new in self._marks)]
        first = names[0] if self._is_large else next(iter(self._marks))
        is_named = names_nodes(len(self._marks))
        cells = "".join(_node_cell(name, self._marks[name], name == first, is_named) for name in names)
        if not self._is_large:
            return _box(title, f'<div class="cells">{cells}</div>')
        self.domains.append(names)
        return (
            f'<details class="domain"><summary><span class="title">{text(title)}</span> '
            f'<span class="total">{text(self._total(names))}</span>{self._shares(names)}</summary>'
            f'<div class="cells">{packed(cells)}</div></details>'
        )

    def _total(self, names: Sequence[str]) -> str:
        """``1,667 nodes, 50,010 pods``; page.js has the same of each step."""
        marks = [self._marks[name] for name in names]
        noun, *_ = dot_of(self.account, self.report)
        pods = sum(mark.pods for mark in marks)
        return f"{count_of(sum(not mark.is_awaited for mark in marks), 'node')}, {pods:,} {_plural(noun, pods)}"

    def _shares(self, names: Sequence[str]) -> str:
        """Draw how many nodes are of each color, where that is of no step alone."""
        if not is_judged(self.account) and self.account.frames:
            return ""
        nodes = Counter(self._marks[name].color for name in names)
        order = (*Tone, *(style for _, style in SHADES), "load-0")
        return stacked([(color, nodes[color]) for color in order if nodes[color]])


def _plural(noun: str, number: int) -> str:
    what, _, which = noun.partition(" ")
    return f"{what}{'' if number == 1 else 's'} {which}".rstrip()


def _titled(key: str, value: str) -> str:
    """``zone a``; just ``zone-a`` where the value already says what it is."""
    return value if value.startswith(key) else f"{key} {value or EMPTY}"


def _box(title: str, inner: str) -> str:
    return f'<div class="domain"><p class="title">{text(title)}</p>{inner}</div>'


def _node_cell(node: str, mark: NodeMark, is_first: bool, is_named: bool) -> str:
    shown = pod_marks(mark.pods, mark.old, MOST_MARKS if is_named else 0)
    inside = f'<span class="pods">{shown}</span>'
    if is_named:
        word = f' data-word="{text(mark.word)}"' if mark.word else ""
        name, state = breakable(mark.name), text(mark.word or mark.state)
        inside = f'<span class="name">{name}</span>{inside}<span class="state"{word}>{state}</span>'
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


def slider(frames: int, first: int) -> Iterator[str]:
    """Write the slider that moves from step to step, from the ``first`` one on; without scripts, which it needs, it is
    not shown.
    """
    if frames:
        yield (
            '<div class="steps" hidden><button type="button" id="back" aria-label="Step back">◀</button>'
            f'<input type="range" id="step" min="0" max="{frames}" value="{first}" aria-label="Step" '
            'aria-describedby="said">'
            '<button type="button" id="next" aria-label="Step forward">▶</button>'
            '<output id="said" for="step" aria-live="polite"></output></div>'
        )


def of_picture(account: View, drawn: TopologyMap) -> str:
    """Say what a dot is, what the color of a node says, and how nodes look that take no pods."""
    return as_list(_in_picture(account, drawn))


def _in_picture(account: View, drawn: TopologyMap) -> Iterator[str]:
    joining = joining_nodes(account, drawn)
    if names_nodes(len(drawn.nodes) + len(joining)):
        yield text(" ".join(["● a", *dot_of(account, drawn)]))
        if account.is_rollout:
            yield text("○ one with the old template")
    else:
        noun, *meanings = dot_of(account, drawn)
        what, *which = noun.split(" ")
        yield text(" ".join([f"Number on a node: its {what}s", *which, *meanings]))
    if is_judged(account):
        assert account.nodes is not None
        drawn_in = {row.tone for row in account.nodes.rows.values()}
        yield from (sample(tone, meaning) for tone, meaning in account.nodes.colors.items() if tone in drawn_in)
    elif tells_loads(account):
        yield text("Requested of a node's fullest resource:")
        yield from (sample(style, f"from {least}%") for least, style in reversed(SHADES))
    if any(is_closed(node.closed) for node in drawn.nodes) or any(frame.states for frame in account.frames):
        yield sample("closed", "cordoned or not ready")
    if any(node.joined for node in drawn.nodes) or joining:
        yield sample("joined", "joined")
    if any(frame.gone for frame in account.frames):
        yield sample("off", "gone, or not there yet")
    if account.frames:
        yield sample("moved", "changed in this step")


def dot_of(account: View, drawn: TopologyMap) -> tuple[str, ...]:
    """The noun, and which of these."""
    if account.before is not None:
        return ("replica",)
    if drawn.selector is not None:
        return "pod", f"matching {drawn.selector}"
    return ("pod",) if drawn.workload is None else ("pod", f"of {drawn.workload}")
