"""A map: domains as boxes, nodes with their load or their pods in them, within the terminal's width; of many nodes a
row per domain, elsewhere one per node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from kubespread.escaping import escape
from kubespread.questions.map.report import (
    Load,
    MapDomain,
    MapNode,
    TopologyMap,
    difference,
    fullest,
    is_closed,
    percent,
    skew_text,
    state_words,
)
from kubespread.reports.columns import Readers
from kubespread.reports.parts import ConstraintReport, letter
from kubespread.views.constraints import current_bars
from kubespread.views.lines import cut_end, cut_middle, line_width, width_of
from kubespread.views.look import Cell, Line, Look, Text, Tone
from kubespread.views.sheet import NONE, Column, Sheet, columns_of
from kubespread.views.terminal import GAP, aim, distinct_names, flow
from kubespread.views.view import NodeFacts, Tile, View, shared_fields, unwanted_tile
from kubespread.wording import EMPTY, count_of, short_key

_ZONE = "zone"


class Levels(Struct, frozen=True):
    """Positions in a map's keys: one for boxes, later ones for groups within a box."""

    box: int | None
    """None if no key distinguishes nodes: all are in one box."""
    inner: Sequence[int]
    boxes: Mapping[str | None, Sequence[MapNode]]
    """The nodes of each box, by its value."""

    def groups(self, nodes: Sequence[MapNode]) -> Sequence[tuple[str, Sequence[MapNode]]]:
        """Nodes of a box, grouped by the domains within it."""
        by_domain: dict[tuple[str | None, ...], list[MapNode]] = {}
        for node in nodes:
            by_domain.setdefault(tuple(node.path[position] for position in self.inner), []).append(node)
        return [
            ("/".join("?" if value is None else value or EMPTY for value in path), group)
            for path, group in by_domain.items()
        ]


def levels_of(report: TopologyMap) -> Levels:
    """Choose the zone for boxes if there are several, else the widest key."""
    values = [{node.path[place] for node in report.nodes} for place in range(len(report.keys))]
    several = [place for place, domains in enumerate(values) if len(domains) > 1]
    zone = next((place for place in several if short_key(report.keys[place]) == _ZONE), None)
    box = zone if zone is not None else next(iter(several), None)
    inner = [place for place in several if box is not None and place > box]
    boxes: dict[str | None, list[MapNode]] = {}
    for node in report.nodes:
        boxes.setdefault(None if box is None else node.path[box], []).append(node)
    return Levels(box, inner, boxes)


class Box(Struct, frozen=True):
    name: str
    facts: Sequence[str]
    """Text next to the name, in full and shorter."""
    tone: Tone
    """Tone of ``facts``: bad if the domain exceeds a hard constraint."""
    lines: Sequence[Line]


def box_of(
    report: TopologyMap, levels: Levels, value: str | None, nodes: Sequence[MapNode], lines: Sequence[Line]
) -> Box:
    """Make a box with its heading: ``zone-a · 4−1 = 3 > 1``."""
    name = "all nodes" if levels.box is None else f"no {short_key(report.keys[levels.box])}"
    name = escape(name if value is None else value or EMPTY)
    counted = count_of(len(nodes), "node")
    if report.workload is None:
        paths = {node.path[: (levels.box or 0) + 1] for node in nodes}
        # A value that stands in several wider domains has no load of its own.
        own = [domain.load for domain in report.domains if {domain.path} == paths]
        load = fullest(report.load if levels.box is None else next(iter(own), ()))
        facts = [counted] if load is None else [f"{counted} · {_percent(load)}", _percent(load)]
        return Box(name, facts, Tone.PLAIN, lines)
    constraint = _constraint(report, levels)
    matching = None if constraint is None else _matching(constraint, value)
    if constraint is None or matching is None:
        marked = count_of(sum(len(node.marked) for node in nodes), "pod")
        return Box(name, [f"{marked} · {counted}", marked], Tone.PLAIN, lines)
    skew = nodes[0].skew[report.constraints.index(constraint)]
    if skew is None:
        return Box(name, [f"{counted} · does not count", "does not count"], Tone.PLAIN, lines)
    is_exceeded = constraint.is_hard and skew > constraint.max_skew
    facts = [difference(constraint, matching, skew), skew_text(constraint, skew)]
    return Box(name, facts, Tone.BAD if is_exceeded else Tone.PLAIN, lines)


def _percent(load: Load) -> str:
    return f"{load.resource} {load.percent}%"


def _constraint(report: TopologyMap, levels: Levels) -> ConstraintReport | None:
    """The first constraint over the boxes' key."""
    key = None if levels.box is None else report.keys[levels.box]
    return next((constraint for constraint in report.constraints if constraint.topology_key == key), None)


def _matching(constraint: ConstraintReport, value: str | None) -> int | None:
    return next((domain.matching for domain in constraint.domains if domain.value == value), None)


_MAX_NODES = 60
_LEAST_NAME, _MOST_LABEL = 12, 12
_FRAME = 4
"""The columns of a box's frame."""
_GAP = 1
_DOT = len(" · ")
MARK, NOBODY = "●", "∙"
_HIGH, _FULL = 75, 90
_MAX_MARKS, _BAR = 6, 8


def view(report: TopologyMap) -> View:
    """One row per node: its domains, state, load and marked pods."""
    nodes = Sheet(title="Nodes", columns=[*_node_columns(report)], rows=report.nodes, readers=Readers.PIPES)
    counted = count_of(len(report.nodes), "node")
    title = f"{counted}, {count_of(report.pods, 'pod')}"
    if report.workload is not None:
        holding = sum(bool(node.marked) for node in report.nodes)
        pods = count_of(report.marked_count, "pod")
        title = f"{report.workload} in {report.namespace}: {pods} on {holding:,} of {counted}"
    limits = zip(report.skew, report.constraints, strict=True)
    map_view = View(
        **shared_fields(report),
        title=title,
        sheets=[nodes, replace(_domains(report), readers=Readers.PAGES)],
        nodes=NodeFacts.from_sheet(nodes, None, {}) if report.constraints else None,
        bars=[current_bars(constraint, place, one_more=False) for place, constraint in enumerate(report.constraints)],
        names=[node.name for node in report.nodes],
        parts=lambda look: _parts(report, look),
        tiles=[
            Tile("nodes", f"{len(report.nodes):,}"),
            Tile("pods", f"{report.pods:,}"),
            unwanted_tile("pods pending", report.pending),
            *(Tile(f"of {load.resource} requested", f"{load.percent or 0}%") for load in report.load),
        ],
    )
    # Soft constraints do not affect the verdict.
    return replace(
        map_view, tone=Tone.WARN if any(skew > constraint.max_skew for skew, constraint in limits) else Tone.GOOD
    )


def _node_columns(report: TopologyMap) -> Iterator[Column[MapNode]]:
    yield from (_label(key, place, Readers.PIPES) for place, key in enumerate(report.keys))
    marked = [] if report.workload is None else ["marked"]
    yield from columns_of(MapNode, "name", "pods", *marked)
    yield from (_share(short_key(name), place, Readers.PIPES) for place, name in enumerate(report.resources))
    yield from (_skew(short_key(constraint.topology_key), place) for place, constraint in enumerate(report.constraints))
    yield from columns_of(MapNode, "closed")


def _domains(report: TopologyMap) -> Sheet[MapDomain]:
    labels = (_label(key, place, Readers.ALL) for place, key in enumerate(report.keys))
    marked = [] if report.workload is None else ["marked"]
    shares = (_share(name, place, Readers.ALL) for place, name in enumerate(report.resources) if name != "pods")
    columns = [*labels, *columns_of(MapDomain, "nodes", "pods", *marked), *shares]
    return Sheet(title="Domains", columns=columns, rows=report.domains, noun="domain")


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

    return Column(name.upper(), value, readers=readers, is_number=True, title=f"{name} requested")


def _skew(key: str, place: int) -> Column[MapNode]:
    header = f"SKEW-{letter(place)}-{key.upper()}"
    return Column(header, lambda node: node.skew[place], title=f"Skew {letter(place)} {key}")


def _parts(report: TopologyMap, look: Look) -> Iterator[Sheet[MapDomain] | Text]:
    """Boxes that ``look.width`` bounds; of many nodes the domains, unless ``look.in_full``."""
    if len(report.nodes) > _MAX_NODES and not look.in_full:
        yield replace(_domains(report), legend="-v draws every node")
        return
    drawing = _Drawing(report, look)
    boxes = [drawing.box(value, nodes) for value, nodes in drawing.levels.boxes.items()]
    yield from side_by_side(boxes, *drawing.columns)
    if look.headers:
        yield from flow([[Cell(text, Tone.FAINT)] for text in drawing.legend()], look)


class _Drawing(Struct, frozen=True, dict=True):
    """One map in one width."""

    report: TopologyMap
    look: Look

    @cached_property
    def levels(self) -> Levels:
        return levels_of(self.report)

    @cached_property
    def columns(self) -> tuple[int, int]:
        """Number of boxes that stand side by side, and their width inside."""
        name = min(_LEAST_NAME, max((width_of(escape(node.name)) for node in self.report.nodes), default=0))
        return boxes_beside(len(self.levels.boxes), self.label_width + self._beside_name + name, aim(self.look))

    @cached_property
    def label_width(self) -> int:
        """The width of the column with the domains within a box, gap included; 0 where there are none."""
        labels = [label for boxes in self.levels.boxes.values() for label, _ in self.levels.groups(boxes) if label]
        return min(_MOST_LABEL, max(map(width_of, labels))) + GAP if labels else 0

    @cached_property
    def _beside_name(self) -> int:
        """Number of columns that follow the name of a node, gaps included."""
        figures = max((width_of(self._figures(node).text) for node in self.report.nodes), default=0)
        closed = max((width_of(state_words(node)) for node in self.report.nodes), default=0)
        return figures + GAP + (closed + GAP if closed else 0)

    @cached_property
    def names(self) -> dict[str, str]:
        names = [node.name for node in self.report.nodes]
        return dict(zip(names, distinct_names([escape(name) for name in names], self._name_room), strict=True))

    @property
    def _name_room(self) -> int:
        return max(1, self.columns[1] - self.label_width - self._beside_name)

    def box(self, value: str | None, nodes: Sequence[MapNode]) -> Box:
        return box_of(self.report, self.levels, value, nodes, [*self._rows(nodes)])

    def _rows(self, nodes: Sequence[MapNode]) -> Iterator[Line]:
        inner = self.columns[1]
        for label, group in self.levels.groups(nodes):
            for place, node in enumerate(group):
                name, figures, closed = self.names[node.name], self._figures(node), state_words(node)
                start = self._label(label if not place else "")
                room = inner - self.label_width - self._beside_name - width_of(name)
                gap = " " * (GAP + max(0, room))
                # The name of a closed node is gray; its figures keep their color.
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

    def _figures(self, node: MapNode) -> Cell:
        """The text next to a node's name: a bar and a percentage, or its marked pods."""
        if self.report.workload is not None:
            return Cell(marks(len(node.marked)), tone_of_skew(self.report, node))
        filled = percent(node)
        full = min(_BAR, (filled * _BAR + 50) // 100)
        tone = Tone.BAD if filled >= _FULL else Tone.WARN if filled >= _HIGH else Tone.GOOD if node.pods else Tone.FAINT
        return Cell(f"{'█' * full}{'░' * (_BAR - full)} {filled:3}%", tone)

    def _label(self, text: str) -> Line:
        width = self.label_width
        shown = cut_end(text, max(0, width - GAP)) if width else ""
        return [Cell(shown, Tone.FAINT), Cell(" " * (width - width_of(shown)))] if width else []

    def legend(self) -> Iterator[str]:
        if self.report.workload is None:
            yield "bar: requested of the fullest resource of a node"
        else:
            whose = f"matching {self.report.selector}" if self.report.selector else "of the workload"
            yield f"{MARK} a pod {whose}, {NOBODY} none"
        if closed := sum(bool(node.closed) for node in self.report.nodes):
            yield f"cordoned, not ready or tainted: {closed:,}"


def boxes_beside(boxes: int, least: int, width: int) -> tuple[int, int]:
    """Number of boxes side by side in ``width``, each at least ``least`` wide inside, and their inner width."""
    fitting = max(1, min(boxes, (width + _GAP) // (least + _FRAME + _GAP)))
    return fitting, max(1, (width - _GAP * (fitting - 1)) // fitting - _FRAME)


def side_by_side(boxes: Sequence[Box], columns: int, inner: int) -> Iterator[Line]:
    """Yield lines with ``columns`` boxes beside each other, equally high within a row."""
    for start in range(0, len(boxes), columns):
        row = boxes[start : start + columns]
        drawn = [list(_draw(box, inner, max(len(other.lines) for other in row))) for box in row]
        for parts in zip_longest(*drawn):
            line = list[Cell]()
            for place, part in enumerate(parts):
                line += [*([Cell(" " * _GAP)] if place else []), *part]
            yield line


def _draw(box: Box, inner: int, height: int) -> Iterator[Line]:
    facts = next((text for text in box.facts if width_of(box.name) + width_of(text) + _DOT <= inner), box.facts[-1])
    facts = cut_end(facts, max(1, inner - _DOT - 1))
    name = cut_middle(box.name, max(1, inner - _DOT - width_of(facts)))
    rule = "─" * (inner - _DOT - width_of(name) - width_of(facts))
    yield [Cell("┌ "), Cell(name, Tone.STRONG), Cell(f" · {facts}", box.tone), Cell(f" {rule}┐")]
    for line in [*box.lines, *([()] * (height - len(box.lines)))]:
        room = inner - line_width(line)
        yield [Cell("│ "), *line, Cell(" " * room + " │")]
    yield [Cell(f"└{'─' * (inner + 2)}┘")]


def tone_of_skew(report: TopologyMap, node: MapNode) -> Tone:
    """Red where a constraint is exceeded, green where pods are."""
    if not node.marked:
        return Tone.FAINT
    limits = zip(node.skew, report.constraints, strict=True)
    exceeded = [constraint.is_hard for skew, constraint in limits if (skew or 0) > constraint.max_skew]
    return Tone.BAD if any(exceeded) else Tone.WARN if exceeded else Tone.GOOD


def marks(count: int) -> str:
    """One mark per pod; a number if there are many."""
    if not count:
        return NOBODY
    return MARK * count if count <= _MAX_MARKS else f"{MARK}×{count}"
