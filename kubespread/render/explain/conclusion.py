"""What comes of it all, below the rows or beside them."""

from __future__ import annotations

from kubespread.planner.reports.explain import ExplainReport
from kubespread.render.phrases import preemption

_MAX_NAMES = 5


def summary(report: ExplainReport, suffix: str = "") -> str:
    """``2 of 4 nodes fit: node3, node4``, without the ``suffix`` that all names of nodes share."""
    total = len(report.nodes)
    fitting = [node.name.removesuffix(suffix) for node in report.nodes if node.feasible]
    verb = "fits" if len(fitting) == 1 else "fit"
    more = " …" if len(fitting) > _MAX_NAMES else ""
    listed = f": {', '.join(fitting[:_MAX_NAMES])}{more}" if fitting else ""
    return f"{len(fitting)} of {total} node{'' if total == 1 else 's'} {verb}{listed}"


def conclusion(report: ExplainReport) -> list[str]:
    """What bars the pod, kube-scheduler's message, what preemption would do, and what is not sampled as there."""
    return [
        said for said in (report.conclusion, report.message, preemption(report.preemption), _sampling(report)) if said
    ]


def _sampling(report: ExplainReport) -> str | None:
    if report.sampling is None:
        return None
    return (
        f"all {len(report.nodes)} nodes are scored; kube-scheduler would stop once it has found "
        f"{report.sampling} that fit"
    )
