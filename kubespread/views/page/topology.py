"""The picture of a cluster: boxes of domains with their nodes, the legend, and the slider from step to step. With many
nodes it shows the totals of each domain, and the nodes when a domain is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

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
from kubespread.views.look import Tone
from kubespread.views.page.parts import MOST_LAID_OUT, as_list, breakable, pack, sample, stacked_bar, text
from kubespread.views.view import View
from kubespread.wording import EMPTY, count_of, short_key

NOT_YET = "not there yet"
SHADES = ((90, "load-4"), (75, "load-3"), (50, "load-2"), (25, "load-1"))
_MOST_NAMED = 60
"""Nodes of a picture that names them."""
_MOST_BOXES = 60
"""Domains that have totals of their own."""
_MOST_MARKS = 9
"""Pods that get a mark each; more are a number, as are all where nodes are not named."""


class NodeMark(Struct, frozen=True):
    """Mark of one node in the picture."""

    position: int
    """Position in the table of nodes."""
    pods: int
    color: str
    """Meaning of the color: verdict or load."""
    style: str
    tooltip: str
    state: str = ""
    """State of the node in a word."""
    word: str = ""
    """Word to write on it without a state."""
    is_awaited: bool = False
    """True if it joins in a later step."""


class Picture:
    """Map of a cluster for an answer."""

    def __init__(self, report: TopologyMap, account: View) -> None:
        self.report, self.account = report, account
        self.frames = [*account.frames(report)]
        present = {node.name for node in report.nodes}
        named = dict.fromkeys(name for frame in self.frames for name in (*frame.joined, *frame.pods))
        self.joined = [name for name in named if name not in present]
        """Nodes of frames that the map does not have."""
        self.has_loads = any(frame.loads for frame in self.frames) or not self.frames
        """True unless there are frames and none has the load of nodes."""
        self.is_judged = account.nodes is not None and bool(account.nodes.colors)
        """True if colors are verdicts, and not how full nodes are."""
        self.is_marking = report.workload is not None or report.selector is not None
        """True if the question is about some pods and not all."""
        self.domains: list[Sequence[str]] = []
        """The nodes of each domain that has totals, which page.js sums up after each step."""
        self._marks = self._node_marks()
        self._names_nodes = len(self._marks) <= _MOST_NAMED
        self._is_large = len(self._marks) > MOST_LAID_OUT
        self._depth = (
            sum(len({*zip(*keys, strict=True)}) <= _MOST_BOXES for keys in self._keys())
            if self._is_large
            else len(report.keys)
        )
        self.html = self._draw()

    @cached_property
    def nodes(self) -> Sequence[MapNode]:
        """Nodes in the question's order, which may be the fullest first."""
        rows = () if self.account.nodes is None else self.account.nodes.rows
        places = {name: place for place, name in enumerate(rows)}
        return sorted(self.report.nodes, key=lambda node: places.get(node.name, len(places)))

    @cached_property
    def pods(self) -> Mapping[str, int]:
        """Number of pods to draw on each node before the first step: all of them if none are marked."""
        if self.account.replicas is not None:
            return self.account.replicas
        return {node.name: len(node.marked) if self.is_marking else node.pods for node in self.report.nodes}

    @property
    def dot(self) -> tuple[str, ...]:
        """Noun for a dot, and a qualifier if not all pods have one: ``pod``, ``matching app=web``."""
        if self.account.replicas is not None:
            return ("replica",)
        if self.report.selector is not None:
            return "pod", f"matching {self.report.selector}"
        return ("pod",) if self.report.workload is None else ("pod", f"of {self.report.workload}")

    def _node_marks(self) -> Mapping[str, NodeMark]:
        """Marks of the map's nodes and of nodes that join later, colored by verdict if there is one, else by load."""
        facts = self.account.nodes
        verdicts, words, rows = ({}, {}, {}) if facts is None else (facts.verdicts, facts.words, facts.rows)
        marks = {}
        for position, node in enumerate(self.nodes):
            tone = _shade(percent(node)) if self.has_loads else ""
            if self.is_judged:
                tone = str(rows[node.name].tone) if node.name in rows else ""
            closed = "closed" if is_closed(node.closed) else ""
            style = " ".join(part for part in (tone, closed, JOINED if node.joined else "") if part)
            holds = (count_of(node.pods, "pod"), f"{node_load(node)} requested")
            tooltip = ", ".join(part for part in (verdicts.get(node.name, ""), *holds, states_in_full(node)) if part)
            pods, word = self.pods.get(node.name, 0), words.get(node.name, "")
            marks[node.name] = NodeMark(position, pods, tone, style, tooltip, state_word(node), word)
        for position, name in enumerate(self.joined, len(self.report.nodes)):
            marks[name] = NodeMark(position, 0, "", "off", NOT_YET, is_awaited=True)
        return marks

    def _keys(self) -> Iterator[Sequence[Sequence[str | None]]]:
        """The values of the first key, of the first two, and so on."""
        values = [*zip(*(node.path for node in self.report.nodes), strict=True)]
        return (values[:depth] for depth in range(1, len(values) + 1))

    def _draw(self) -> str:
        inner = "".join(self._level(self.report.nodes, 0))
        if rest := [name for name in self.joined if self.account.stand_ins.get(name) not in self._marks]:
            inner += self._leaf("joined later", rest)
        size = "named" if self._names_nodes else "totals" if self._is_large else "small"
        nodes = count_of(len(self.report.nodes), "node")
        label = f"Topology of {nodes}; every node is a link to its row in the table below"
        return f'<div role="group" class="topology boxes {size}" aria-label="{text(label)}">{inner}</div>'

    def _level(self, nodes: Sequence[MapNode], depth: int) -> Iterator[str]:
        """Boxes of one key, each with the boxes of the next key in it."""
        if not self._depth:
            yield self._leaf("all nodes", [node.name for node in nodes])
            return
        key, by_value = short_key(self.report.keys[depth]), dict[str | None, list[MapNode]]()
        for node in nodes:
            by_value.setdefault(node.path[depth], []).append(node)
        for value, within in by_value.items():
            title = f"no {key}" if value is None else _title(key, value)
            if depth + 1 < self._depth:
                yield _box(title, f'<div class="boxes">{"".join(self._level(within, depth + 1))}</div>')
            else:
                yield self._leaf(title, [node.name for node in within])

    def _leaf(self, title: str, names: Sequence[str]) -> str:
        """A box of nodes and of the nodes that join in their place."""
        present = {*names}
        names = [*names, *(new for new, old in self.account.stand_ins.items() if old in present and new in self._marks)]
        first = names[0] if self._is_large else next(iter(self._marks))
        cells = "".join(self._cell(name, is_first=name == first) for name in names)
        if not self._is_large:
            return _box(title, f'<div class="cells">{cells}</div>')
        self.domains.append(names)
        return (
            f'<details class="domain"><summary><span class="title">{text(title)}</span> '
            f'<span class="total">{text(self._total(names))}</span>{self._shares(names)}</summary>'
            f'<div class="cells">{pack(cells)}</div></details>'
        )

    def _cell(self, name: str, *, is_first: bool) -> str:
        mark = self._marks[name]
        inside = f'<span class="pods">{_dots(mark.pods) if self._names_nodes else mark.pods or ""}</span>'
        if self._names_nodes:
            word = f' data-word="{text(mark.word)}"' if mark.word else ""
            state = text(mark.word or mark.state)
            inside = f'<span class="name">{breakable(name)}</span>{inside}<span class="state"{word}>{state}</span>'
        return (
            f'<a class="node {mark.style}" href="#n{mark.position}" tabindex="{0 if is_first else -1}" '
            f'title="{text(f"{name}: {mark.tooltip}")}">{inside}</a>'
        )

    def _total(self, names: Sequence[str]) -> str:
        """``1,667 nodes, 50,010 pods``; page.js has the same of each step."""
        marks = [self._marks[name] for name in names]
        nodes, pods = sum(not mark.is_awaited for mark in marks), sum(mark.pods for mark in marks)
        return f"{count_of(nodes, 'node')}, {count_of(pods, self.dot[0])}"

    def _shares(self, names: Sequence[str]) -> str:
        """Draw how many nodes are of each color, where that is of no step alone."""
        if not self.is_judged and self.frames:
            return ""
        nodes = Counter(self._marks[name].color for name in names)
        order = (*Tone, *(style for _, style in SHADES), "load-0")
        return stacked_bar([(color, nodes[color]) for color in order if nodes[color]])

    def legend(self) -> str:
        """Meaning of dots, colors, and nodes that take no pods."""
        return as_list(self._meanings())

    def _meanings(self) -> Iterator[str]:
        noun, *which = self.dot
        yield text(" ".join([f"● a {noun}" if self._names_nodes else f"Number on a node: its {noun}s", *which]))
        if self.account.nodes is not None and self.is_judged:
            drawn_in = {row.tone for row in self.account.nodes.rows.values()}
            meanings = self.account.nodes.colors.items()
            yield from (sample(tone, meaning) for tone, meaning in meanings if tone in drawn_in)
        elif self.has_loads:
            yield text("Requested of a node's fullest resource:")
            yield from (sample(style, f"from {least}%") for least, style in reversed(SHADES))
        if any(is_closed(node.closed) for node in self.report.nodes) or any(frame.states for frame in self.frames):
            yield sample("closed", "cordoned or not ready")
        if any(node.joined for node in self.report.nodes) or self.joined:
            yield sample("joined", "joined")
        if any(frame.unavailable for frame in self.frames):
            yield sample("off", "gone, or not there yet")
        if self.frames:
            yield sample("moved", "changed in this step")

    def slider(self) -> str:
        """Slider from step to step, hidden without scripts."""
        steps = len(self.frames)
        return (
            '<div class="steps" hidden><button type="button" id="back" aria-label="Step back">◀</button>'
            f'<input type="range" id="step" min="0" max="{steps}" value="{steps}" aria-label="Step" '
            'aria-describedby="said">'
            '<button type="button" id="next" aria-label="Step forward">▶</button>'
            '<output id="said" for="step" aria-live="polite"></output></div>'
            if steps
            else ""
        )


def _shade(filled: int) -> str:
    return next((style for least, style in SHADES if filled >= least), "load-0")


def _title(key: str, value: str) -> str:
    """``zone a``; just ``zone-a`` if the value begins with the key."""
    return value if value.startswith(key) else f"{key} {value or EMPTY}"


def _box(title: str, inner: str) -> str:
    return f'<div class="domain"><p class="title">{text(title)}</p>{inner}</div>'


def _dots(pods: int) -> str:
    """A dot a pod, a number where there are many; page.js has the same."""
    return "●" * pods if pods <= _MOST_MARKS else f"●×{pods}"
