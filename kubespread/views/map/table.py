"""A map for people: domains as boxes, nodes as cells, pods as marks, in the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import ceil

from kubespread.escaping import escaped
from kubespread.planner.reports.topology_map import MapNode, TopologyMap
from kubespread.views.flow import HANGING, aim, flowed
from kubespread.views.layout import BAD, DIM, GAP, HEAD, Cell, Line, cell, cut_end, width_of, wrapped
from kubespread.views.look import Look, MapBy
from kubespread.views.map.boxes import Box, columns_of, side_by_side
from kubespread.views.map.cells import CLOSED, MARK, NOBODY, Shades, held_by
from kubespread.views.map.levels import Levels, levels_of, title_of
from kubespread.views.map.states import is_closed, state_words
from kubespread.views.names import fitted, said_once
from kubespread.views.screen import concluded, headline, screen
from kubespread.wording import EMPTY, count_of, short_key

_MAX_NAMED = 60
_MAX_LINES = 12
_DIGITS = 10
_LEAST_NAME, _LEAST_CELLS, _MOST_LABEL = 12, 22, 12
_CLOSED = "cordoned, not ready or tainted"


@screen
def write(report: TopologyMap, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` draws every node."""
    drawing = _Drawing(report, look)
    yield from _title(report, look)
    for heading, boxes in drawing.levels.headed():
        if heading:
            yield from wrapped([cell(heading, HEAD)], look.width, HANGING)
        yield from side_by_side([drawing.box(path, nodes) for path, nodes in boxes], *drawing.columns)
    if look.headers:
        yield from flowed([[cell(said, DIM)] for said in drawing.legend()], look)
    yield from concluded(report.answer, look, others="")


def _title(report: TopologyMap, look: Look) -> Iterator[Line]:
    nodes, pods = count_of(len(report.nodes), "node"), count_of(report.pods, "pod")
    if report.workload is None:
        return headline(f"{nodes}, {pods}", report, look)
    holding = sum(bool(node.marked) for node in report.nodes)
    said = f" in {report.namespace}: {count_of(report.marked, 'pod')} on {holding:,} of {nodes}"
    return headline(report.workload, report, look, said)


@dataclass(frozen=True)
class _Drawing:
    """One map in one width."""

    report: TopologyMap
    look: Look

    @cached_property
    def levels(self) -> Levels:
        return levels_of(self.report, most_groups=None if self.is_named else _MAX_LINES)

    @cached_property
    def is_named(self) -> bool:
        return len(self.report.nodes) <= _MAX_NAMED

    @cached_property
    def shades(self) -> Shades:
        return Shades(self.report, self.look.map_by)

    @cached_property
    def columns(self) -> tuple[int, int]:
        """How many boxes stand side by side, and how wide they are inside."""
        side = max((len(boxes) for _, boxes in self.levels.headed()), default=1)
        name = min(_LEAST_NAME, max((width_of(escaped(node.name)) for node in self.report.nodes), default=0))
        least = self.label_width + self._beside_name + name if self.is_named else _LEAST_CELLS
        return columns_of(side, least, aim(self.look))

    @cached_property
    def label_width(self) -> int:
        """Of the column with the domains within a box, its gap included; 0 where there are none."""
        labels = [label for boxes in self.levels.boxes.values() for label, _ in self.levels.groups(boxes) if label]
        return min(_MOST_LABEL, max(map(width_of, labels))) + GAP if labels else 0

    @cached_property
    def _beside_name(self) -> int:
        """How many columns follow the name of a node, gaps included."""
        figures = max((width_of(self.shades.figures(node).text) for node in self.report.nodes), default=0)
        closed = max((width_of(state_words(node)) for node in self.report.nodes), default=0)
        return figures + GAP + (closed + GAP if closed else 0)

    @cached_property
    def names(self) -> dict[str, str]:
        names = [node.name for node in self.report.nodes]
        return dict(zip(names, fitted([escaped(name) for name in names], self._name_room), strict=True))

    @property
    def _name_room(self) -> int:
        return max(1, self.columns[1] - self.label_width - self._beside_name)

    @cached_property
    def each(self) -> int:
        """How many nodes a character stands for: as few as keep the highest box from growing too high."""
        room, most = self._cells_in_line, max((len(nodes) for nodes in self.levels.boxes.values()), default=1)
        if self.look.in_full:
            return 1
        return next(each for each in range(1, most + 1) if each == most or self._height(each, room) <= _MAX_LINES)

    def _height(self, each: int, room: int) -> int:
        heights = (
            sum(ceil(ceil(len(group) / each) / room) for _, group in self.levels.groups(nodes))
            for nodes in self.levels.boxes.values()
        )
        return max(heights, default=0)

    @property
    def _cells_in_line(self) -> int:
        return max(1, self.columns[1] - self.label_width)

    def box(self, path: tuple[str | None, ...], nodes: Sequence[MapNode]) -> Box:
        title = title_of(self.report, self.levels, path, nodes, self.look.map_by)
        lines = self._named(nodes) if self.is_named else self._counted(nodes)
        return Box(escaped(title.name), title.said, BAD if title.exceeds else "", list(lines))

    def _named(self, nodes: Sequence[MapNode]) -> Iterator[Line]:
        inner = self.columns[1]
        for label, group in self.levels.groups(nodes):
            for place, node in enumerate(group):
                name, figures, closed = self.names[node.name], self.shades.figures(node), state_words(node)
                start = self._label(label if not place else "")
                room = inner - self.label_width - self._beside_name - width_of(name)
                gap = " " * (GAP + max(0, room))
                # What takes no pods is gray; what it holds keeps its color.
                line = [*start, Cell(cut_end(name, inner), DIM if is_closed(node.closed) else ""), Cell(gap), figures]
                used = sum(width_of(each.text) for each in line)
                yield [*line, Cell(" " * (inner - used - width_of(closed))), Cell(closed, DIM)] if closed else line

    def _counted(self, nodes: Sequence[MapNode]) -> Iterator[Line]:
        room, each = self._cells_in_line, self.each
        for label, group in self.levels.groups(nodes):
            cells = [self.shades.character(together, self.most) for together in self._together(group, each)]
            for start in range(0, len(cells), room):
                yield [*self._label(label if not start else ""), *_joined(cells[start : start + room])]

    def _together(self, group: Sequence[MapNode], each: int) -> list[Sequence[MapNode]]:
        """The nodes that share a character."""
        ordered = sorted(group, key=self.shades.order) if each > 1 else group
        return [ordered[at : at + each] for at in range(0, len(ordered), each)]

    @cached_property
    def most(self) -> int:
        """The most marked pods that a character stands for."""
        groups = (group for nodes in self.levels.boxes.values() for _, group in self.levels.groups(nodes))
        together = (each for group in groups for each in self._together(group, self.each))
        return max((held_by(each) for each in together), default=0)

    def _label(self, text: str) -> Line:
        width = self.label_width
        shown = cut_end(text, max(0, width - GAP)) if width else ""
        return [Cell(shown, DIM), Cell(" " * (width - width_of(shown)))] if width else []

    def legend(self) -> Iterator[str]:
        of = "a node" if self.is_named or self.each == 1 else f"{self.each} nodes, the fullest first"
        if self.look.map_by is MapBy.LOAD:
            shown = "bar" if self.is_named else f"{NOBODY} no pods, ▁ to █"
            yield f"{shown}: requested of the fullest resource of {of}"
        else:
            whose = f"matching {self.report.selector}" if self.report.selector else "of the workload"
            if self.is_named:
                mark = f"{MARK} a pod {whose}"
            elif self.most < _DIGITS:
                mark = f"digit: pods {whose} on {of}"
            else:
                mark = f"▁ to █: pods {whose} on {of}, at most {self.most}"
            yield f"{mark}, {NOBODY} none"
        closed = sum(bool(node.closed) for node in self.report.nodes)
        if closed and not self.is_named and self.look.map_by is MapBy.SKEW:
            yield f"{CLOSED} none, and {_CLOSED}: {closed:,}"
        elif closed:
            yield f"{_CLOSED}: {closed:,}"
        for key, value in self.levels.single.items():
            yield f"{short_key(key)} {value or EMPTY} throughout"
        names = [escaped(node.name) for node in self.report.nodes]
        if self.is_named and (said := said_once(names, [*self.names.values()])):
            yield said


def _joined(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Neighbors of one style as one."""
    return (Cell("".join(each.text for each in run), style) for style, run in groupby(cells, lambda each: each.style))
