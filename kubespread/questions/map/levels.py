"""Which domains of a map are headings, which boxes, and which groups within a box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.questions.map.report import Load, MapNode, TopologyMap, against, difference, fullest, is_closed
from kubespread.reports.parts import ConstraintReport
from kubespread.views.look import MapBy
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


class Title(Struct, frozen=True):
    name: str
    facts: Sequence[str]
    """In full, and shorter."""
    exceeds: bool = False
    """Whether the pods of the domain exceed a hard constraint."""


def title_of(report: TopologyMap, levels: Levels, path: Path, nodes: Sequence[MapNode], by: MapBy) -> Title:
    """What stands above a box: ``zone-a · 4−1 = 3 > 1``."""
    value = path[-1] if levels.box is not None else None
    name = "all nodes" if levels.box is None else f"no {short_key(report.keys[levels.box])}"
    name = name if value is None else value or EMPTY
    counted = count_of(len(nodes), "node")
    if by is MapBy.LOAD:
        by_path = {domain.path: domain for domain in report.domains}
        domain = None if levels.box is None else by_path.get(nodes[0].path[: levels.box + 1])
        load = fullest(report.load if domain is None else domain.load)
        return Title(name, [counted] if load is None else [*_load_facts(nodes, _percent(load)), _percent(load)])
    constraint = _constraint(report, levels)
    matching = None if constraint is None else _matching(constraint, value)
    if constraint is None or matching is None:
        held = count_of(sum(len(node.marked) for node in nodes), "pod")
        return Title(name, [f"{held} · {counted}", held])
    skew = nodes[0].skew[report.constraints.index(constraint)]
    if skew is None:
        return Title(name, [f"{counted} · does not count", "does not count"])
    is_exceeded = constraint.is_hard and skew > constraint.max_skew
    return Title(name, [difference(constraint, matching, skew), against(constraint, skew)], is_exceeded)


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
