"""The rows of an explanation as data, for every format with rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.questions.explain.report import ExplainReport
from kubespread.reports.judged_nodes import (
    SPREAD_PLUGIN,
    NodeConstraint,
    NodeReport,
    Rejection,
    ScoreDetail,
    without_taint_of_cordon,
)
from kubespread.reports.parts import ConstraintReport, letter
from kubespread.reports.reason_words import short_names
from kubespread.views.constraints import Spelling, formula

_MAX_ROWS = 25
_MAX_FITTING = 15


class Arithmetic(Struct, frozen=True):
    """One constraint's numbers for one node, and whether they reject it."""

    numbers: NodeConstraint
    rejects: bool

    def text(self, spelling: Spelling) -> str:
        return formula(self.numbers, spelling, rejects=self.rejects)


class NodeRow(Struct, frozen=True):
    """One node. ``domains``, ``arithmetic`` and ``scores`` go with the columns of the same names in `Rows`."""

    node: NodeReport
    domains: tuple[str | None, ...]
    arithmetic: tuple[Arithmetic, ...]
    scores: tuple[ScoreDetail | None, ...]
    why_not: str
    """In kube-scheduler's words."""
    with_numbers: str
    """Every reason with the numbers behind it."""
    short_reasons: tuple[str, ...]
    """Every reason in few words."""
    short_names: tuple[str, ...]
    """Every reason in a word."""


class Rows(Struct, frozen=True):
    """The columns that depend on the report, and one row per node."""

    domains: tuple[str, ...]
    """Topology keys."""
    arithmetic: tuple[ConstraintReport, ...]
    scores: tuple[str, ...]
    """The score plugins that had a say, in profile order."""
    rows: tuple[NodeRow, ...]


def rows_of(report: ExplainReport, nodes: Sequence[NodeReport]) -> Rows:
    """The rows of ``nodes``, some of the report's; the columns are those of the whole report."""
    shown = _domain_columns(report)
    plugins = tuple(dict.fromkeys(plugin for node in report.nodes for plugin in node.scores))
    return Rows(
        domains=tuple(report.constraints[position].topology_key for position in shown),
        arithmetic=report.constraints,
        scores=plugins,
        rows=tuple(
            NodeRow(
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
    """The nodes that get a row, with many the best fits and the nearest misses, and those that are summed up."""
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
    """How far a node is from fitting: how many rejections, then by how much it exceeds the constraints."""
    excess = (
        max(0, constraint.skew - constraint.max_skew) if constraint.skew is not None else constraint.max_skew
        for constraint in node.constraints
    )
    failing = sum(not constraint.satisfied for constraint in node.constraints)
    return len(node.rejections) + failing, sum(excess)


def why_not(report: ExplainReport, node: NodeReport, *, numbers: bool = False) -> str:
    """Every reason the node fails, in kube-scheduler's words, with constraints by their letter.

    ``numbers`` adds the numbers behind each reason.
    """
    reasons: list[str] = []
    for rejection in counting_rejections(report, node):
        if rejection.plugin == SPREAD_PLUGIN:
            reasons += (
                f"{letter(position)}: {node.constraints[position].reason or ''}"
                for position in failed_constraints(report, node)
            )
        elif numbers and rejection.details and not _is_said(rejection):
            details = "; ".join(detail.short for detail in rejection.details)
            reasons.append(f"{'; '.join(rejection.reasons)} ({details})")
        else:
            reasons += rejection.reasons
    if not node.feasible and not reasons:
        reasons += node.verdict.reasons
    return "; ".join(reasons)


def short_reasons(report: ExplainReport, node: NodeReport, *, numbers: bool) -> tuple[str, ...]:
    """Every reason in few words, below constraints that are explained above: ``A B``, ``cpu needs 1, free 0.2 of 7.9``.

    Without ``numbers`` a word each: ``A B``, ``cpu``.
    """
    reasons: list[str] = []
    for rejection in telling_rejections(report, node):
        if rejection.plugin == SPREAD_PLUGIN:
            reasons.insert(0, " ".join(letter(position) for position in failed_constraints(report, node)))
        elif numbers and rejection.details:
            reasons += [detail.short for detail in rejection.details]
        else:
            reasons += short_names(rejection.reasons)
    return tuple(reasons or ([] if node.feasible else short_names(node.verdict.reasons)))


def _is_said(rejection: Rejection) -> bool:
    """Whether the details only repeat the reasons."""
    return [detail.short for detail in rejection.details] == short_names(rejection.reasons)


def counting_rejections(report: ExplainReport, node: NodeReport) -> Iterator[Rejection]:
    """The rejections by plugins that the profile runs: others are no reason."""
    return (rejection for rejection in node.rejections if rejection.plugin in report.filter_plugins)


def telling_rejections(report: ExplainReport, node: NodeReport) -> list[Rejection]:
    """Those rejections without a cordon's taint where the cordon itself is among them."""
    return without_taint_of_cordon(counting_rejections(report, node))


def failed_constraints(report: ExplainReport, node: NodeReport) -> Iterator[int]:
    """The positions of the hard constraints that reject the node."""
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        if about.is_hard and not constraint.satisfied:
            yield position
