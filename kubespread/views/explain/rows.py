"""The rows of an explanation as data, from which every format with rows is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.planner.reports.explain import ExplainReport, NodeConstraint, NodeReport, ScoreDetail
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.views.arithmetic import Spelling, formula
from kubespread.views.explain.reasons import short_reasons, why_not

_MAX_ROWS = 25
_MAX_FITTING = 15


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One constraint's numbers for one node, and whether they reject it."""

    numbers: NodeConstraint
    rejects: bool

    def text(self, spelling: Spelling) -> str:
        return formula(self.numbers, spelling, rejects=self.rejects)


@dataclass(frozen=True, slots=True)
class Row:
    """One node. ``domains``, ``arithmetic`` and ``scores`` go with the columns of the same names in `Rows`."""

    node: NodeReport
    domains: tuple[str | None, ...]
    arithmetic: tuple[Arithmetic, ...]
    scores: tuple[ScoreDetail | None, ...]
    why_not: str
    """In kube-scheduler's words."""
    with_numbers: str
    """The same with what is behind each reason."""
    short_reasons: tuple[str, ...]
    """The same in few words each."""
    short_names: tuple[str, ...]
    """The same in a word each."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns that depend on the report, and a row a node."""

    domains: tuple[str, ...]
    """Topology keys."""
    arithmetic: tuple[ConstraintReport, ...]
    scores: tuple[str, ...]
    """The score plugins that had a say, in profile order."""
    rows: tuple[Row, ...]


def rows_of(report: ExplainReport, nodes: Sequence[NodeReport]) -> Rows:
    """The rows of ``nodes``, which are some of the report's; the columns are those of all of them."""
    shown = _domain_columns(report)
    plugins = tuple(dict.fromkeys(plugin for node in report.nodes for plugin in node.scores))
    return Rows(
        domains=tuple(report.constraints[position].topology_key for position in shown),
        arithmetic=report.constraints,
        scores=plugins,
        rows=tuple(
            Row(
                node=node,
                domains=tuple(node.constraints[position].domain for position in shown),
                arithmetic=tuple(
                    Arithmetic(numbers, rejects=constraint.is_hard and not numbers.satisfied)
                    for numbers, constraint in zip(node.constraints, report.constraints, strict=True)
                ),
                scores=tuple(node.score_details.get(plugin) for plugin in plugins),
                why_not=why_not(report, node),
                with_numbers=why_not(report, node, numbers=True),
                short_reasons=short_reasons(report, node, numbers=True),
                short_names=short_reasons(report, node, numbers=False),
            )
            for node in nodes
        ),
    )


def _domain_columns(report: ExplainReport) -> list[int]:
    """Constraints whose domain deserves a column: one for each key, none where the domain is the node itself."""
    shown: dict[str, int] = {}
    for position, constraint in enumerate(report.constraints):
        if any(node.constraints[position].domain not in (None, node.name) for node in report.nodes):
            shown.setdefault(constraint.topology_key, position)
    return list(shown.values())


def shown_and_left_out(report: ExplainReport, *, all_nodes: bool) -> tuple[Sequence[NodeReport], Sequence[NodeReport]]:
    """The nodes that get a row, of many the best fits and the nearest misses, and those that are summed up."""
    if all_nodes or len(report.nodes) <= _MAX_ROWS:
        return report.nodes, ()
    fitting = [node for node in report.nodes if node.feasible][:_MAX_FITTING]
    failing = sorted((node for node in report.nodes if not node.feasible), key=_distance)
    chosen = {node.name for node in (*fitting, *failing[: _MAX_ROWS - len(fitting)])}
    return (
        [node for node in report.nodes if node.name in chosen],
        [node for node in report.nodes if node.name not in chosen],
    )


def _distance(node: NodeReport) -> tuple[int, int]:
    """How far a node is from fitting: what rejects it, then by how much it exceeds the constraints."""
    excess = (
        max(0, each.skew - each.max_skew) if each.skew is not None else each.max_skew for each in node.constraints
    )
    failing = sum(not constraint.satisfied for constraint in node.constraints)
    return len(node.rejections) + failing, sum(excess)
