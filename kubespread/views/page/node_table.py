"""The table of nodes: what the picture shows of each, and what the question says of it, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from kubespread.questions.map.report import MapNode, TopologyMap, states_in_full
from kubespread.views.aligned import NONE
from kubespread.views.page.parts import foldable
from kubespread.views.page.picture import NOT_YET, SHADES, in_order, is_marking, pods_before
from kubespread.views.sheet import Drawn, Row, Table, Tone
from kubespread.views.view import View
from kubespread.wording import EMPTY, short_key


class NodeTable(Struct, frozen=True, dict=True):
    """Which columns there are; ``joined`` are the nodes that the map does not have."""

    report: TopologyMap
    account: View
    joined: Sequence[str]

    @property
    def header(self) -> list[str]:
        """The columns that change with steps have their own names."""
        facts, report = self.account.nodes, self.report
        return [
            "Node",
            *(facts.header if facts is not None else ()),
            *([STATE] if self._has_states else []),
            *(short_key(report.keys[place]) for place in self._told),
            *([self.counted] if self.counted else []),
            "Pods now" if self._has_steps else "Pods",
            *(f"{resource} requested" for resource in report.resources),
            *(["Marked pods"] if self._has_names else []),
        ]

    @property
    def counted(self) -> str:
        """The name of the column with the pods that are drawn; empty where these are all of a node."""
        if self._has_steps:
            return "Pods at this step" if self.account.before is None or self.account.dot else "Replicas at this step"
        return "Pods marked" if self.account.before is not None or is_marking(self.report) else ""

    @cached_property
    def _told(self) -> Sequence[int]:
        """The places of the keys that tell nodes apart."""
        every = zip(*(node.path for node in self.report.nodes), strict=True)
        return [place for place, values in enumerate(every) if len(set(values)) > 1]

    @property
    def _has_steps(self) -> bool:
        return bool(self.account.frames)

    @cached_property
    def _has_states(self) -> bool:
        is_changed = any(frame.states or frame.gone or frame.joined for frame in self.account.frames)
        return is_changed or any(node.closed or node.joined for node in self.report.nodes)

    @cached_property
    def _has_names(self) -> bool:
        return any(node.marked for node in self.report.nodes)

    def html(self) -> str:
        """A row a node; the cells of the picture link to these."""
        return foldable("nodes", Table("Nodes", self.header, [*self._rows()]), "n")

    def _rows(self) -> Iterator[Row]:
        facts = self.account.nodes
        rows: Mapping[str, Row] = {} if facts is None else facts.rows
        blank = Row([""] * len(facts.header) if facts is not None else [])
        before = pods_before(self.report, self.account)
        for node in in_order(self.report, self.account):
            row = rows.get(node.name, blank)
            cells = [node.name, *row.cells, *self._seen(node, before.get(node.name, 0))]
            yield Row(cells, row.tone, self._drawn(node, [None, *(row.drawn or [None] * len(row.cells))], len(cells)))
        for name in self.joined:
            cells = [name, *rows.get(name, blank).cells, NOT_YET]
            yield Row([*cells, *[""] * (len(self.header) - len(cells))])

    def _drawn(self, node: MapNode, first: Sequence[Drawn | None], columns: int) -> Sequence[Drawn | None]:
        """With a bar for how much of each resource is requested."""
        loads = [_bar(load.percent) for load in node.load]
        after = [None] if self._has_names else []
        return [*first, *[None] * (columns - len(first) - len(loads) - len(after)), *loads, *after]

    def _seen(self, node: MapNode, drawn: int) -> Iterator[str]:
        if self._has_states:
            yield states_in_full(node)
        values = (node.path[place] for place in self._told)
        yield from (NONE if value is None else value or EMPTY for value in values)
        if self.counted:
            yield str(drawn)
        yield str(node.pods)
        yield from ("" if load.percent is None else f"{load.percent}%" for load in node.load)
        if self._has_names:
            yield ", ".join(node.marked)


def _bar(percent: int | None) -> Drawn | None:
    if percent is None:
        return None
    tone = Tone.BAD if percent >= SHADES[0][0] else Tone.WARN if percent >= SHADES[1][0] else Tone.PLAIN
    return Drawn(min(100, percent), tone)


STATE = "State"
