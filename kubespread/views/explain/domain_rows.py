"""Nodes that share their domains share the arithmetic: one row for all of them, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.planner.reports.explain import ExplainReport, NodeConstraint, NodeReport
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.planner.reports.reason_words import words_of
from kubespread.views.arithmetic import Spelling, formula
from kubespread.views.explain.reasons import SPREAD_PLUGIN, telling_rejections

_MAX_NODE_ROWS = 10
_MAX_COMBINATIONS = 25


@dataclass(frozen=True, slots=True)
class SharedArithmetic:
    """One constraint's numbers for the nodes of a row: one formula where they agree, else the range of their skews."""

    first: NodeConstraint
    differ: bool
    least: int | None
    most: int | None
    """Of the skews; None where no node has the label."""
    over: int
    """How many nodes a hard constraint rejects."""

    def text(self, spelling: Spelling) -> str:
        if not self.differ:
            return formula(self.first, spelling, rejects=bool(self.over))
        skews = f"{self.least}" if self.least == self.most else f"{self.least}–{self.most}"
        if spelling.skew_only:
            return f"{self.over} over" if self.over else skews
        return f"{skews}, {self.over} over" if self.over else skews


@dataclass(frozen=True, slots=True)
class DomainRow:
    """The nodes of one combination of domains. ``domains`` and ``arithmetic`` go with those of `DomainRows`."""

    domains: tuple[str | None, ...]
    nodes: int
    fitting: int
    matching: int | None
    """Matching pods of the first domain; None where there is no such domain."""
    arithmetic: tuple[SharedArithmetic, ...]
    causes: Counter[str]
    """How many nodes fail for what else, by its short name."""

    @property
    def also(self) -> list[str]:
        """``4 cordoned``, the most frequent first."""
        ordered = sorted(self.causes.items(), key=lambda item: (-item[1], item[0]))
        return [f"{count} {short}" for short, count in ordered]


@dataclass(frozen=True, slots=True)
class DomainRows:
    domains: tuple[str, ...]
    """Topology keys."""
    arithmetic: tuple[ConstraintReport, ...]
    rows: tuple[DomainRow, ...]


def is_by_domain(report: ExplainReport) -> bool:
    """Whether a row a domain says more than a row a node."""
    return len(report.nodes) > _MAX_NODE_ROWS and bool(_coarse(report))


def domain_rows(report: ExplainReport, nodes: Sequence[NodeReport]) -> DomainRows:
    """The rows of ``nodes``, which are some of the report's, in the order in which their first nodes come."""
    positions = _grouping(report)
    groups: dict[tuple[str | None, ...], list[NodeReport]] = {}
    for node in nodes:
        groups.setdefault(tuple([node.constraints[position].domain for position in positions]), []).append(node)
    return DomainRows(
        domains=tuple(report.constraints[position].topology_key for position in positions),
        arithmetic=report.constraints,
        rows=tuple(_row(report, domains, positions, members) for domains, members in groups.items()),
    )


def _grouping(report: ExplainReport) -> list[int]:
    """The constraints whose domains make a row: the first coarse one, and hard ones that tell its nodes apart.

    Where every domain is a node, that of the first constraint.
    """
    coarse = _coarse(report)
    if not coarse:
        return [0] if report.constraints else []
    chosen = coarse[:1]
    for position in coarse[1:]:
        tried = [*chosen, position]
        combinations = _combinations(report, tried)
        if report.constraints[position].is_hard and _combinations(report, chosen) < combinations <= _MAX_COMBINATIONS:
            chosen = tried
    return chosen


def _combinations(report: ExplainReport, positions: Sequence[int]) -> int:
    return len({tuple([node.constraints[each].domain for each in positions]) for node in report.nodes})


def _coarse(report: ExplainReport) -> list[int]:
    """One constraint for each topology key whose domains have several nodes on average."""
    first: dict[str, int] = {}
    for position, constraint in enumerate(report.constraints):
        first.setdefault(constraint.topology_key, position)
    return [
        position
        for position in first.values()
        if 2 * len({node.constraints[position].domain for node in report.nodes}) <= len(report.nodes)
    ]


def _row(
    report: ExplainReport, domains: tuple[str | None, ...], positions: Sequence[int], nodes: Sequence[NodeReport]
) -> DomainRow:
    return DomainRow(
        domains=domains,
        nodes=len(nodes),
        fitting=sum([node.feasible for node in nodes]),
        matching=nodes[0].constraints[positions[0]].matching if positions else None,
        arithmetic=tuple(
            _shared([node.constraints[position] for node in nodes], constraint)
            for position, constraint in enumerate(report.constraints)
        ),
        causes=Counter(short for node in nodes if not node.feasible for short in _causes(report, node)),
    )


def _shared(numbers: Sequence[NodeConstraint], constraint: ConstraintReport) -> SharedArithmetic:
    skews = {each.skew for each in numbers}
    known = [skew for skew in skews if skew is not None]
    return SharedArithmetic(
        first=numbers[0],
        differ=len(skews) > 1 or any(each.matching != numbers[0].matching for each in numbers),
        least=min(known, default=None),
        most=max(known, default=None),
        over=sum([not each.satisfied for each in numbers]) if constraint.is_hard else 0,
    )


def _causes(report: ExplainReport, node: NodeReport) -> set[str]:
    """What rejects a node beside the constraints; where no plugin does, the verdict on the pod as a whole."""
    rejections = telling_rejections(report, node)
    reasons = [reason for each in rejections if each.plugin != SPREAD_PLUGIN for reason in each.reasons]
    return {words_of(reason).short for reason in (reasons if rejections else node.verdict.reasons)}
