"""What a map comes to: how even the pods of a workload are, or how full the cluster is."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.parts import ConstraintReport, letter
from kubespread.planner.reports.topology_map import MapNode, TopologyMap, fullest
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import short_key
from kubespread.render.phrases import count_of, some_of

_NAMED = 3


def conclusion(report: TopologyMap) -> Iterator[str]:
    """Each constraint, nodes that came and went, pods that wait, and last how full everything is."""
    yield from evenness(report)
    joined = [node.name for node in report.nodes if node.joined]
    for names, what in ((joined, "joined"), (report.left, "deleted")):
        if names:
            yield f"{count_of(len(names), 'node')} {what}: {some_of(names, _NAMED)}"
    if report.pending:
        yield f"{count_of(report.pending, 'pod')} pending in the whole cluster"
    yield fullness(report)


def evenness(report: TopologyMap) -> Iterator[str]:
    """``A zone: 5−1 = 4 > 1, most in zone-a, least in zone-c``, a sentence a constraint."""
    for place, (constraint, skew) in enumerate(zip(report.constraints, report.skew, strict=True)):
        key = f"{short_key(constraint.topology_key)}{'' if constraint.is_hard else ' (soft)'}"
        counted = [domain for domain in constraint.domains if domain.eligible_nodes]
        if not counted:
            yield f"{letter(place)} {key}: no domain counts"
            continue
        most = max(counted, key=lambda domain: domain.matching)
        least = min(counted, key=lambda domain: domain.matching)
        ends = f", most in {most.value or EMPTY}, least in {least.value or EMPTY}" if most is not least else ""
        # With fewer domains than minDomains the least is 0, whatever the emptiest domain holds.
        yield f"{letter(place)} {key}: {difference(constraint, most.matching, most.matching - skew)}{ends}"


def difference(constraint: ConstraintReport, matching: int, minimum: int) -> str:
    """``5−1 = 4 > 1``: pods of a domain minus the minimum, against maxSkew where that is exceeded."""
    skew = matching - minimum
    limit = f" > {constraint.max_skew}" if skew > constraint.max_skew else f" ≤ {constraint.max_skew}"
    return f"{matching}−{minimum} = {skew}{limit}"


def fullness(report: TopologyMap) -> str:
    """How much of each resource is requested, and which node is fullest."""
    said = [f"{each.resource} {each.percent}%" for each in report.load if each.percent is not None]
    first = fullest_node(report)
    at = f"; fullest {first.name}, {node_load(first)}" if first is not None and percent(first) else ""
    return f"{count_of(len(report.nodes), 'node')}: {', '.join(said)} requested{at}" if said else "no nodes"


def fullest_node(report: TopologyMap) -> MapNode | None:
    """The first of equals; None where no node has anything."""
    known = [node for node in report.nodes if node.fullest is not None]
    return max(known, key=percent, default=None)


def percent(node: MapNode) -> int:
    """How much of its fullest resource is requested, 0 where it has none."""
    load = fullest(node.load)
    return 0 if load is None or load.percent is None else load.percent


def node_load(node: MapNode) -> str:
    """``cpu 62%``, of the resource that is fullest."""
    load = fullest(node.load)
    return "nothing allocatable" if load is None else f"{load.resource} {load.percent}%"
