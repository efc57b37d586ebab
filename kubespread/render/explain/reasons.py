"""Why a node does not fit, in the words of every format."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.causes import cause_of
from kubespread.planner.reports.explain import ExplainReport, NodeReport, Rejection
from kubespread.planner.reports.parts import letter

SPREAD_PLUGIN = "PodTopologySpread"


def why_not(report: ExplainReport, node: NodeReport) -> str:
    """Every reason the node fails in kube-scheduler's words, constraints by their letter."""
    reasons: list[str] = []
    for rejection in counting_rejections(report, node):
        if rejection.plugin == SPREAD_PLUGIN:
            reasons += (
                f"{letter(position)}: {node.constraints[position].reason or ''}"
                for position in failed_constraints(report, node)
            )
        else:
            reasons += rejection.reasons
    if not node.feasible and not reasons:
        reasons += node.verdict.reasons
    return "; ".join(reasons)


def short_reasons(report: ExplainReport, node: NodeReport) -> list[str]:
    """The same in few words, below constraints that are explained above: ``A B``, ``cpu needs 1, free 0.2 of 7.9``."""
    reasons: list[str] = []
    for rejection in counting_rejections(report, node):
        if rejection.plugin == SPREAD_PLUGIN:
            reasons.insert(0, " ".join(letter(position) for position in failed_constraints(report, node)))
        else:
            reasons += details(rejection) or causes(rejection.reasons)
    return reasons or ([] if node.feasible else causes(node.verdict.reasons))


def counting_rejections(report: ExplainReport, node: NodeReport) -> Iterator[Rejection]:
    """Without what a plugin says that the profile does not run, which is no reason."""
    return (rejection for rejection in node.rejections if rejection.plugin in report.filter_plugins)


def failed_constraints(report: ExplainReport, node: NodeReport) -> Iterator[int]:
    """The positions of the hard constraints that reject the node."""
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        if about.is_hard and not constraint.satisfied:
            yield position


def details(rejection: Rejection) -> list[str]:
    """The numbers behind a rejection, where its plugin gives any."""
    return [detail.short for detail in getattr(rejection, "details", ())]


def causes(reasons: tuple[str, ...]) -> list[str]:
    """The short names of kube-scheduler's reasons."""
    return list(dict.fromkeys(cause_of(reason).short for reason in reasons))
