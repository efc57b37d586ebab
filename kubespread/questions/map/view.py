"""A map: domains as boxes, nodes as cells, pods as marks, within the terminal's width; elsewhere one row per node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, zip_longest
from math import ceil
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escaped
from kubespread.questions.map.report import (
    Load,
    MapDomain,
    MapNode,
    TopologyMap,
    against,
    difference,
    fullest,
    is_closed,
    percent,
    state_words,
)
from kubespread.reports.columns import Readers
from kubespread.reports.parts import ConstraintReport, letter
from kubespread.views.constraints import asked_bars
from kubespread.views.lines import cut_end, cut_middle, line_width, width_of
from kubespread.views.look import Cell, Line, Look, MapBy, Tone
from kubespread.views.sheet import NONE, Column, Sheet, count
from kubespread.views.terminal import GAP, aim, fitted, flowed, folded, headline, said_once
from kubespread.views.view import NodeFacts, Tile, View, about, unwanted
from kubespread.wording import EMPTY, count_of, short_key

_ZONE = "zone"
Path = tuple[str | None, ...]


class Levels(Struct, frozen=True):
    """Positions in the keys of a map: those before ``box`` are headings, those after it groups."""

    keys: Sequence[str]
    headings: Sequence[int]
    box: int | None
    """None where no key tells nodes apart: all are in one box."""
    inner: Sequence[int]
    boxes: Mapping[Path, Sequence[MapNode]]
    """The nodes of each box, by the values of its headings and its own."""
    single: Mapping[str, str | None]
    """Keys with only one value."""

    def headed(self) -> Iterator[tuple[str, Sequence[tuple[Path, Sequence[MapNode]]]]]:
        """The boxes under each heading; the heading is empty where there is none."""
        under: dict[Path, list[tuple[Path, Sequence[MapNode]]]] = {}
        for path, nodes in self.boxes.items():
            under.setdefault(path[: len(self.headings)], []).append((path, nodes))
        for values, boxes in under.items():
            keys = [self.keys[position] for position in self.headings]
            yield " · ".join(named(key, value) for key, value in zip(keys, values, strict=True)), boxes

    def groups(self, nodes: Sequence[MapNode]) -> Sequence[tuple[str, Sequence[MapNode]]]:
        """The nodes of a box by the domains within it."""
        by_domain: dict[Path, list[MapNode]] = {}
        for node in nodes:
            by_domain.setdefault(tuple(node.path[position] for position in self.inner), []).append(node)
        return [
            ("/".join("?" if value is None else value or EMPTY for value in path), group)
            for path, group in by_domain.items()
        ]


def levels_of(report: TopologyMap, *, most_groups: int | None) -> Levels:
    """The zone is the box where there are several, else the widest key. Groups within boxes are left out where there
    are more than ``most_groups``.
    """
    values = [{node.path[place] for node in report.nodes} for place in range(len(report.keys))]
    several = [place for place, domains in enumerate(values) if len(domains) > 1]
    zone = next((place for place in several if short_key(report.keys[place]) == _ZONE), None)
    box = zone if zone is not None else next(iter(several), None)
    headings = [place for place in several if box is not None and place < box]
    inner = [place for place in several if box is not None and place > box]
    boxes: dict[Path, list[MapNode]] = {}
    shown = [*headings, *([] if box is None else [box])]
    for node in report.nodes:
        boxes.setdefault(tuple(node.path[place] for place in shown), []).append(node)
    if most_groups is not None and any(
        len({tuple(node.path[place] for place in inner) for node in nodes}) > most_groups for nodes in boxes.values()
    ):
        inner = []
    single = {
        key: next(iter(domains))
        for key, domains in zip(report.keys, values, strict=True)
        if len(domains) == 1 and None not in domains
    }
    return Levels(report.keys, headings, box, inner, boxes, single)


def named(key: str, value: str | None) -> str:
    """``zone eu-west-1a``; nodes without the label are in none."""
    return f"no {short_key(key)}" if value is None else f"{short_key(key)} {value or EMPTY}"


class Box(Struct, frozen=True):
    name: str
    facts: Sequence[str]
    """The text next to the name, in full and shorter."""
    tone: Tone = Tone.PLAIN
    """The tone of ``facts``: bad where the pods of the domain exceed a hard constraint."""
    lines: Sequence[Line] = ()


def box_of(report: TopologyMap, levels: Levels, path: Path, nodes: Sequence[MapNode], by: MapBy) -> Box:
    """A box without its lines, with what stands above it: ``zone-a · 4−1 = 3 > 1``."""
    value = path[-1] if levels.box is not None else None
    name = "all nodes" if levels.box is None else f"no {short_key(report.keys[levels.box])}"
    name = escaped(name if value is None else value or EMPTY)
    counted = count_of(len(nodes), "node")
    if by is MapBy.LOAD:
        by_path = {domain.path: domain for domain in report.domains}
        domain = None if levels.box is None else by_path.get(nodes[0].path[: levels.box + 1])
        load = fullest(report.load if domain is None else domain.load)
        return Box(name, [counted] if load is None else [*_load_facts(nodes, _percent(load)), _percent(load)])
    constraint = _constraint(report, levels)
    matching = None if constraint is None else _matching(constraint, value)
    if constraint is None or matching is None:
        held = count_of(sum(len(node.marked) for node in nodes), "pod")
        return Box(name, [f"{held} · {counted}", held])
    skew = nodes[0].skew[report.constraints.index(constraint)]
    if skew is None:
        return Box(name, [f"{counted} · does not count", "does not count"])
    is_exceeded = constraint.is_hard and skew > constraint.max_skew
    facts = [difference(constraint, matching, skew), against(constraint, skew)]
    return Box(name, facts, Tone.BAD if is_exceeded else Tone.PLAIN)


def _load_facts(nodes: Sequence[MapNode], percent: str) -> Iterator[str]:
    """``4 nodes · cpu 17% · 2 cordoned or not ready``, and shorter."""
    text = f"{count_of(len(nodes), 'node')} · {percent}"
    if closed := sum(is_closed(node.closed) for node in nodes):
        yield f"{text} · {closed:,} cordoned or not ready"
    yield text


def _percent(load: Load) -> str:
    return f"{load.resource} {load.percent}%"


def _constraint(report: TopologyMap, levels: Levels) -> ConstraintReport | None:
    """The first constraint over the boxes' key."""
    key = None if levels.box is None else report.keys[levels.box]
    return next((constraint for constraint in report.constraints if constraint.topology_key == key), None)


def _matching(constraint: ConstraintReport, value: str | None) -> int | None:
    return next((domain.matching for domain in constraint.domains if domain.value == value), None)


_MAX_NAMED = 60
_MAX_LINES = 12
_LEAST_NAME, _LEAST_CELLS, _MOST_LABEL = 12, 22, 12
_CLOSED_BY = "cordoned, not ready or tainted"
_FRAME = 4
"""The columns of a box's frame."""
_GAP = 1
_DOT = len(" · ")
MARK = "●"
NOBODY, CLOSED = "∙", "x"
_RAMP = "▁▂▃▄▅▆▇█"
_HIGH, _FULL = 75, 90
_MAX_MARKS, _BAR, _DIGITS = 6, 8, 10


def view(report: TopologyMap) -> View:
    """One row per node, what keeps pods away last; every map shows how full nodes are."""
    nodes = Sheet(
        title="Nodes", columns=list(_node_columns(report)), rows=report.nodes, readers=Readers.PIPES, is_answer=True
    )
    counted = count_of(len(report.nodes), "node")
    whose = (
        report.workload and f"{report.workload} in {report.namespace}: {count_of(report.marked, 'pod')} on {counted}"
    )
    limits = zip(report.skew, report.constraints, strict=True)
    facts = about(report)
    seen = View(
        **facts,
        title=whose or f"{counted}, {count_of(report.pods, 'pod')}",
        sheets=[
            nodes,
            Sheet(title="Domains", columns=list(_domain_columns(report)), rows=report.domains, readers=Readers.PAGES),
        ],
        nodes=NodeFacts.of(nodes, None, {}) if report.constraints else None,
        bars=[asked_bars(constraint, place, one_more=False) for place, constraint in enumerate(report.constraints)],
        names=[node.name for node in report.nodes],
        heading=lambda look: headline(_title(report), facts["provenance"], look),
        parts=lambda look: _parts(report, look),
        tiles=[
            Tile("nodes", f"{len(report.nodes):,}"),
            Tile("pods", f"{report.pods:,}"),
            unwanted("pods pending", report.pending),
            *(Tile(f"of {load.resource} requested", f"{load.percent or 0}%") for load in report.load),
        ],
    )
    # Soft constraints do not affect the verdict.
    return replace(
        seen, tone=Tone.WARN if any(skew > constraint.max_skew for skew, constraint in limits) else Tone.GOOD
    )


def _node_columns(report: TopologyMap) -> Iterator[Column[MapNode]]:
    yield from (_label(key, place, Readers.PIPES) for place, key in enumerate(report.keys))
    yield Column("NODE", lambda node: node.name)
    yield Column("RUNNING", lambda node: node.pods, Readers.PIPES)
    if report.workload is not None:
        yield Column("MARKED", lambda node: len(node.marked), Readers.PIPES)
    for place, resource in enumerate(report.resources):
        yield _share(short_key(resource), place, Readers.PIPES)
    for place, constraint in enumerate(report.constraints):
        yield _skew(short_key(constraint.topology_key), place)
    yield Column("CLOSED", lambda node: [part.replace(" ", "-") for part in node.closed], Readers.PIPES)


def _domain_columns(report: TopologyMap) -> Iterator[Column[MapDomain]]:
    yield from (_label(key, place, Readers.PAGES) for place, key in enumerate(report.keys))
    yield count("NODES", lambda domain: domain.nodes)
    yield count("PODS", lambda domain: domain.pods)
    if report.workload is not None:
        yield count("MARKED", lambda domain: domain.marked)
    for place, resource in enumerate(report.resources):
        yield _share(f"{resource} requested", place, Readers.PAGES)


def _label(key: str, place: int, readers: Readers) -> Column[MapNode | MapDomain]:
    """A domain has none of the keys within its own."""

    def value(row: MapNode | MapDomain) -> str | None:
        return next(("" if value is None else value or EMPTY for value in row.path[place : place + 1]), None)

    def text(row: MapNode | MapDomain) -> str:
        text = value(row)
        return "" if text is None else text or NONE

    name = short_key(key)
    return Column(name.upper(), value, text=text, readers=readers, title=name)


def _share(name: str, place: int, readers: Readers) -> Column[MapNode | MapDomain]:
    def value(row: MapNode | MapDomain) -> str | None:
        percentage = row.load[place].percent
        return None if percentage is None else f"{percentage}%"

    return Column(name.upper(), value, readers=readers, title=name)


def _skew(key: str, place: int) -> Column[MapNode]:
    header = f"SKEW-{letter(place)}-{key.upper()}"
    return Column(header, lambda node: node.skew[place], title=f"Skew {letter(place)} {key}")


def _parts(report: TopologyMap, look: Look) -> Iterator[Line]:
    """Boxes that ``look.width`` bounds; ``look.in_full`` draws every node."""
    drawing = _Drawing(report, look)
    for heading, boxes in drawing.levels.headed():
        if heading:
            yield folded(Cell(heading, Tone.STRONG), indent="")
        yield from side_by_side([drawing.box(path, nodes) for path, nodes in boxes], *drawing.columns)
    if look.headers:
        yield from flowed([[Cell(text, Tone.FAINT)] for text in drawing.legend()], look)


def _title(report: TopologyMap) -> Line:
    nodes, pods = count_of(len(report.nodes), "node"), count_of(report.pods, "pod")
    if report.workload is None:
        return [Cell(f"{nodes}, {pods}", Tone.STRONG)]
    holding = sum(bool(node.marked) for node in report.nodes)
    marked = f" in {report.namespace}: {count_of(report.marked, 'pod')} on {holding:,} of {nodes}"
    return [Cell(report.workload, Tone.STRONG), Cell(marked)]


class _Drawing(Struct, frozen=True, dict=True):
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
        """The width of the column with the domains within a box, gap included; 0 where there are none."""
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
    def nodes_per_cell(self) -> int:
        """How many nodes a character stands for: as few as keep the tallest box within the limit."""
        room, most = self._cells_in_line, max((len(nodes) for nodes in self.levels.boxes.values()), default=1)
        if self.look.in_full:
            return 1
        return next(size for size in range(1, most + 1) if size == most or self._height(size, room) <= _MAX_LINES)

    def _height(self, per_cell: int, room: int) -> int:
        heights = (
            sum(ceil(ceil(len(group) / per_cell) / room) for _, group in self.levels.groups(nodes))
            for nodes in self.levels.boxes.values()
        )
        return max(heights, default=0)

    @property
    def _cells_in_line(self) -> int:
        return max(1, self.columns[1] - self.label_width)

    def box(self, path: tuple[str | None, ...], nodes: Sequence[MapNode]) -> Box:
        lines = self._named(nodes) if self.is_named else self._counted(nodes)
        return replace(box_of(self.report, self.levels, path, nodes, self.look.map_by), lines=list(lines))

    def _named(self, nodes: Sequence[MapNode]) -> Iterator[Line]:
        inner = self.columns[1]
        for label, group in self.levels.groups(nodes):
            for place, node in enumerate(group):
                name, figures, closed = self.names[node.name], self.shades.figures(node), state_words(node)
                start = self._label(label if not place else "")
                room = inner - self.label_width - self._beside_name - width_of(name)
                gap = " " * (GAP + max(0, room))
                # What takes no pods is gray; what it holds keeps its color.
                line = [
                    *start,
                    Cell(cut_end(name, inner), Tone.FAINT if is_closed(node.closed) else Tone.PLAIN),
                    Cell(gap),
                    figures,
                ]
                used = line_width(line)
                yield (
                    [*line, Cell(" " * (inner - used - width_of(closed))), Cell(closed, Tone.FAINT)] if closed else line
                )

    def _counted(self, nodes: Sequence[MapNode]) -> Iterator[Line]:
        room, per_cell = self._cells_in_line, self.nodes_per_cell
        for label, group in self.levels.groups(nodes):
            cells = [self.shades.character(together, self.most) for together in self._together(group, per_cell)]
            for start in range(0, len(cells), room):
                yield [*self._label(label if not start else ""), *_joined(cells[start : start + room])]

    def _together(self, group: Sequence[MapNode], per_cell: int) -> list[Sequence[MapNode]]:
        """The nodes that share a character."""
        ordered = sorted(group, key=self.shades.order) if per_cell > 1 else group
        return [ordered[start : start + per_cell] for start in range(0, len(ordered), per_cell)]

    @cached_property
    def most(self) -> int:
        """The most marked pods that a character stands for."""
        groups = (group for nodes in self.levels.boxes.values() for _, group in self.levels.groups(nodes))
        return max(
            (held_by(nodes) for group in groups for nodes in self._together(group, self.nodes_per_cell)), default=0
        )

    def _label(self, text: str) -> Line:
        width = self.label_width
        shown = cut_end(text, max(0, width - GAP)) if width else ""
        return [Cell(shown, Tone.FAINT), Cell(" " * (width - width_of(shown)))] if width else []

    def legend(self) -> Iterator[str]:
        of = (
            "a node" if self.is_named or self.nodes_per_cell == 1 else f"{self.nodes_per_cell} nodes, the fullest first"
        )
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
            yield f"{CLOSED} none, and {_CLOSED_BY}: {closed:,}"
        elif closed:
            yield f"{_CLOSED_BY}: {closed:,}"
        for key, value in self.levels.single.items():
            yield f"{short_key(key)} {value or EMPTY} throughout"
        names = [escaped(node.name) for node in self.report.nodes]
        if self.is_named and (rule := said_once(names, [*self.names.values()])):
            yield rule


def _joined(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Merge neighbors of the same tone."""
    return (Cell("".join(part.text for part in run), tone) for tone, run in groupby(cells, attrgetter("tone")))


def columns_of(boxes: int, least: int, width: int) -> tuple[int, int]:
    """How many boxes stand side by side in ``width``, each at least ``least`` wide inside, and how wide they are
    inside.
    """
    fitting = max(1, min(boxes, (width + _GAP) // (least + _FRAME + _GAP)))
    return fitting, max(1, (width - _GAP * (fitting - 1)) // fitting - _FRAME)


def side_by_side(boxes: Sequence[Box], columns: int, inner: int) -> Iterator[Line]:
    """Rows of ``columns`` boxes, equally high within a row."""
    for start in range(0, len(boxes), columns):
        row = boxes[start : start + columns]
        drawn = [list(_drawn(box, inner, max(len(other.lines) for other in row))) for box in row]
        for parts in zip_longest(*drawn):
            line = list[Cell]()
            for place, part in enumerate(parts):
                line += [*([Cell(" " * _GAP)] if place else []), *part]
            yield line


def _drawn(box: Box, inner: int, height: int) -> Iterator[Line]:
    facts = next((text for text in box.facts if width_of(box.name) + width_of(text) + _DOT <= inner), box.facts[-1])
    facts = cut_end(facts, max(1, inner - _DOT - 1))
    name = cut_middle(box.name, max(1, inner - _DOT - width_of(facts)))
    rule = "─" * (inner - _DOT - width_of(name) - width_of(facts))
    yield [Cell("┌ "), Cell(name, Tone.STRONG), Cell(f" · {facts}", box.tone), Cell(f" {rule}┐")]
    for line in [*box.lines, *([()] * (height - len(box.lines)))]:
        room = inner - line_width(line)
        yield [Cell("│ "), *line, Cell(" " * room + " │")]
    yield [Cell(f"└{'─' * (inner + 2)}┘")]


class Shades(Struct, frozen=True):
    """What colors and characters say in one map."""

    report: TopologyMap
    by: MapBy

    def style(self, node: MapNode) -> Tone:
        """By load green, yellow and red; by skew red where a constraint is exceeded, green where pods are."""
        if self.by is MapBy.LOAD:
            filled = percent(node)
            return (
                Tone.BAD
                if filled >= _FULL
                else Tone.WARN
                if filled >= _HIGH
                else Tone.GOOD
                if node.pods
                else Tone.FAINT
            )
        if not node.marked:
            return Tone.FAINT
        limits = zip(node.skew, self.report.constraints, strict=True)
        exceeded = [constraint.is_hard for skew, constraint in limits if (skew or 0) > constraint.max_skew]
        return Tone.BAD if any(exceeded) else Tone.WARN if exceeded else Tone.GOOD

    def character(self, nodes: Sequence[MapNode], most: int) -> Cell:
        """One character for ``nodes``, at least one: how full they are, or how many marked pods they hold, relative to
        ``most``, the highest such number.
        """
        style = self.style(max(nodes, key=_urgency(self)))
        if self.by is MapBy.LOAD:
            if not any(node.pods for node in nodes):
                return Cell(NOBODY, style)
            is_gray = all(is_closed(node.closed) for node in nodes)
            return Cell(_shade(sum(map(percent, nodes)) // len(nodes), 100), Tone.FAINT if is_gray else style)
        held = held_by(nodes)
        if not held:
            return Cell(CLOSED if all(node.closed for node in nodes) else NOBODY, style)
        return Cell(str(held) if most < _DIGITS else _shade(held, most), style)

    def order(self, node: MapNode) -> tuple[int, str]:
        """Sorts nodes that share a character, the fullest first."""
        return -(percent(node) if self.by is MapBy.LOAD else len(node.marked)), node.name

    def figures(self, node: MapNode) -> Cell:
        """The text next to a node's name: a bar and a percentage, or its marked pods."""
        if self.by is MapBy.LOAD:
            filled = percent(node)
            full = min(_BAR, (filled * _BAR + 50) // 100)
            return Cell(f"{'█' * full}{'░' * (_BAR - full)} {filled:3}%", self.style(node))
        return Cell(marks(len(node.marked)), self.style(node))


def _urgency(shades: Shades) -> Callable[[MapNode], int]:
    order = (Tone.FAINT, Tone.GOOD, Tone.WARN, Tone.BAD)
    return lambda node: order.index(shades.style(node))


def held_by(nodes: Sequence[MapNode]) -> int:
    """How many marked pods run on ``nodes``."""
    return sum(len(node.marked) for node in nodes)


def _shade(part: int, whole: int) -> str:
    return _RAMP[max(0, min(len(_RAMP) - 1, part * len(_RAMP) // whole))]


def marks(count: int) -> str:
    """One mark per pod, a number where there are many."""
    if not count:
        return NOBODY
    return MARK * count if count <= _MAX_MARKS else f"{MARK}×{count}"
