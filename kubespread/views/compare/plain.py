"""Nodes, domains and replicas that differ and the totals of both sides, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.compare import CompareReport, NodeDifference, SideReport
from kubespread.views.aligned import NONE, blocks
from kubespread.views.compare.reasons import why_not
from kubespread.views.look import Look
from kubespread.wording import EMPTY

_NODE_HEADER = ("NODE", "CHANGE", "SCORE-BEFORE", "SCORE-AFTER", "RANK-BEFORE", "RANK-AFTER", "WHY")
_DOMAIN_HEADER = ("KEY", "DOMAIN", "BEFORE", "AFTER")
_ON_NODE_HEADER = ("NODE", "REPLICAS-BEFORE", "REPLICAS-AFTER")
_REPLICA_HEADER = ("REPLICA", "NODE-BEFORE", "NODE-AFTER")
_SKEW_HEADER = ("KEY", "SKEW-BEFORE", "SKEW-AFTER", "MAX-SKEW-BEFORE", "MAX-SKEW-AFTER")
_SIDE_HEADER = ("SIDE", "NODES", "FIT", "REPLICAS", "RUNNING", "PLACED", "PENDING", "MESSAGE")


def write(report: CompareReport, look: Look) -> str:
    """Up to six blocks; what holds blanks, the reasons and messages, comes last in its line."""
    domains = (
        (constraint.topology_key, domain.value or EMPTY, _number(domain.before), _number(domain.after))
        for constraint in report.constraints
        for domain in constraint.domains
    )
    return blocks(
        (_NODE_HEADER, map(_node, report.nodes)),
        (_SKEW_HEADER, _skews(report)),
        (_DOMAIN_HEADER, domains),
        (_ON_NODE_HEADER, ((node.name, node.before, node.after) for node in report.replicas_on_nodes)),
        (_REPLICA_HEADER, ((each.replica, each.before or NONE, each.after or NONE) for each in report.replicas)),
        (_SIDE_HEADER, [_side("before", report.before), _side("after", report.after)]),
        headers=look.headers,
    )


def _node(node: NodeDifference) -> tuple[str, ...]:
    totals = [NONE if side is None else _number(side.total) for side in (node.before, node.after)]
    ranks = [NONE if side is None else _number(side.rank) for side in (node.before, node.after)]
    return (node.name, node.change.replace(" ", "-"), *totals, *ranks, _why(node) or NONE)


def _why(node: NodeDifference) -> str:
    """The reasons of each side that has any; the plugins of a score that differs."""
    reasons = {when: why_not(side) for when, side in (("before", node.before), ("after", node.after))}
    said = [f"{when}: {text}" for when, text in reasons.items() if text]
    if said or node.before is None or node.after is None:
        return "; ".join(said)
    before, after = node.before.scores, node.after.scores
    return ", ".join(f"{name} {before.get(name, 0)}>{after.get(name, 0)}" for name in node.score_changes)


def _skews(report: CompareReport) -> Iterator[tuple[str, ...]]:
    for constraint in report.constraints:
        sides = (constraint.before, constraint.after)
        skews = [NONE if side is None else _number(side.skew) for side in sides]
        limits = [NONE if side is None else _number(side.max_skew) for side in sides]
        yield (constraint.topology_key, *skews, *limits)


def _side(when: str, side: SideReport) -> tuple[str, ...]:
    pending = None if side.replicas is None else side.pending
    message = side.message or side.stopped or NONE
    figures = (side.nodes, side.fitting, side.replicas, side.present, side.placed, pending)
    return (when, *map(_number, figures), message)


def _number(number: int | None) -> str:
    return NONE if number is None else str(number)
