"""Why a node does not fit, in the words of every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.planner.reports.details import CordonDetail, TaintDetail
from kubespread.planner.reports.explain import ExplainReport, NodeReport, Rejection
from kubespread.planner.reports.parts import letter
from kubespread.planner.reports.reason_words import words_of

SPREAD_PLUGIN = "PodTopologySpread"


def why_not(report: ExplainReport, node: NodeReport, *, numbers: bool = False) -> str:
    """Every reason the node fails in kube-scheduler's words, constraints by their letter.

    With ``numbers`` what is behind a reason stands beside it.
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
    """The same in few words, below constraints that are explained above: ``A B``, ``cpu needs 1, free 0.2 of 7.9``.

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
    """Without what a plugin says that the profile does not run, which is no reason."""
    return (rejection for rejection in node.rejections if rejection.plugin in report.filter_plugins)


def telling_rejections(report: ExplainReport, node: NodeReport) -> list[Rejection]:
    """The same without the taint of a cordon where the cordon is said anyway."""
    return without_taint_of_cordon(counting_rejections(report, node))


def without_taint_of_cordon(counting: Iterable[Rejection]) -> list[Rejection]:
    """``counting``, of one node, without that taint where the cordon is among them."""
    rejections = list(counting)
    is_cordoned = any(isinstance(detail, CordonDetail) for each in rejections for detail in each.details)
    return [each for each in rejections if not (is_cordoned and _is_of_cordon(each))]


def _is_of_cordon(rejection: Rejection) -> bool:
    taints = [detail for detail in rejection.details if isinstance(detail, TaintDetail)]
    return bool(taints) and len(taints) == len(rejection.details) and all(taint.is_of_cordon for taint in taints)


def failed_constraints(report: ExplainReport, node: NodeReport) -> Iterator[int]:
    """The positions of the hard constraints that reject the node."""
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        if about.is_hard and not constraint.satisfied:
            yield position


def short_names(reasons: tuple[str, ...]) -> list[str]:
    """The short names of kube-scheduler's reasons."""
    return list(dict.fromkeys(words_of(reason).short for reason in reasons))
