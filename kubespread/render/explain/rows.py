"""The rows of an explanation as data, from which every format with rows is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.planner.reports.explain import ExplainReport, NodeConstraint, NodeReport, ScoreDetail
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.render.arithmetic import Spelling, formula
from kubespread.render.explain.reasons import why_not


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
