"""Why a node does not fit, in the words of every format."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.explain import ExplainReport, NodeReport
from kubespread.render.arithmetic import letter

SPREAD_PLUGIN = "PodTopologySpread"


def why_not(report: ExplainReport, node: NodeReport, *, numbers: bool = True) -> str:
    """Every reason the node fails, constraints by their letter; without ``numbers`` alike for nodes that fail alike.

    What a plugin says that the profile does not run is no reason.
    """
    reasons: list[str] = []
    for rejection in node.rejections:
        if rejection.plugin not in report.filter_plugins:
            continue
        if rejection.plugin == SPREAD_PLUGIN:
            reasons += _failed_constraints(report, node, numbers=numbers)
        else:
            reasons += rejection.reasons
    if not node.feasible and not reasons:
        reasons += node.verdict.reasons
    return "; ".join(reasons)


def _failed_constraints(report: ExplainReport, node: NodeReport, *, numbers: bool) -> Iterator[str]:
    for position, (constraint, about) in enumerate(zip(node.constraints, report.constraints, strict=True)):
        if about.is_hard and not constraint.satisfied:
            reason = constraint.reason or ""
            if constraint.skew is not None and not numbers:
                reason = f"skew exceeds maxSkew {constraint.max_skew}"
            yield f"{letter(position)}: {reason}"
