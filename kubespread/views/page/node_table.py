"""The table of nodes: what the picture shows of each, and what the question says of it, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.questions.map.report import MapNode, TopologyMap, states_in_full
from kubespread.views.aligned import NONE
from kubespread.views.page.parts import cells, foldable
from kubespread.views.page.picture import NOT_YET, is_marking, pods_before
from kubespread.views.sheet import Row
from kubespread.views.view import View
from kubespread.wording import EMPTY, short_key


class NodeTable(Struct, frozen=True):
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
            *map(short_key, report.keys),
            *([self.counted] if self.counted else []),
            "Pods now" if self._has_steps else "Pods",
            *(f"{resource} requested" for resource in report.resources),
            *(["Marked pods"] if self._has_names else []),
        ]

    @property
    def counted(self) -> str:
        """The name of the column with the pods that are drawn; empty where these are all of a node."""
        if self._has_steps:
            return "Pods at this step" if self.account.before is None else "Replicas at this step"
        return "Pods marked" if self.account.before is not None or is_marking(self.report) else ""

    @property
    def _has_steps(self) -> bool:
        return bool(self.account.frames)

    @property
    def _has_states(self) -> bool:
        is_changed = any(frame.states or frame.gone or frame.joined for frame in self.account.frames)
        return is_changed or any(node.closed or node.joined for node in self.report.nodes)

    @property
    def _has_names(self) -> bool:
        return any(node.marked for node in self.report.nodes)

    def html(self) -> str:
        """A row a node; the cells of the picture link to these."""
        rows = [*self._rows()]
        body = "".join(
            f'<tr id="n{place}" class="{row.tone}">{cells(row.cells)}</tr>' for place, row in enumerate(rows)
        )
        return foldable("nodes", "Nodes", self.header, body, len(rows), is_open=True)

    def _rows(self) -> Iterator[Row]:
        facts = self.account.nodes
        rows: Mapping[str, Row] = {} if facts is None else facts.rows
        blank = Row([""] * len(facts.header) if facts is not None else [])
        before = pods_before(self.report, self.account)
        for node in self.report.nodes:
            row = rows.get(node.name, blank)
            yield Row([node.name, *row.cells, *self._seen(node, before.get(node.name, 0))], row.tone)
        for name in self.joined:
            cells = [name, *rows.get(name, blank).cells, NOT_YET]
            yield Row([*cells, *[""] * (len(self.header) - len(cells))])

    def _seen(self, node: MapNode, drawn: int) -> Iterator[str]:
        if self._has_states:
            yield states_in_full(node)
        yield from (NONE if value is None else value or EMPTY for value in node.path)
        if self.counted:
            yield str(drawn)
        yield str(node.pods)
        yield from ("" if load.percent is None else f"{load.percent}%" for load in node.load)
        if self._has_names:
            yield ", ".join(node.marked)


STATE = "State"
