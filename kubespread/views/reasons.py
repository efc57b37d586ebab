"""Reasons for which a node does not fit, in few words."""

from __future__ import annotations

from collections.abc import Iterable

from kubespread.reports.details import CordonDetail, TaintDetail
from kubespread.reports.judged_nodes import Rejection
from kubespread.reports.reason_words import words_of

SPREAD_PLUGIN = "PodTopologySpread"


def without_taint_of_cordon(counting: Iterable[Rejection]) -> list[Rejection]:
    """``counting``, of one node, without that taint where the cordon is among them."""
    rejections = list(counting)
    is_cordoned = any(isinstance(detail, CordonDetail) for each in rejections for detail in each.details)
    return [each for each in rejections if not (is_cordoned and _is_of_cordon(each))]


def _is_of_cordon(rejection: Rejection) -> bool:
    taints = [detail for detail in rejection.details if isinstance(detail, TaintDetail)]
    return bool(taints) and len(taints) == len(rejection.details) and all(taint.is_of_cordon for taint in taints)


def short_names(reasons: tuple[str, ...]) -> list[str]:
    """The short names of kube-scheduler's reasons."""
    return list(dict.fromkeys(words_of(reason).short for reason in reasons))
