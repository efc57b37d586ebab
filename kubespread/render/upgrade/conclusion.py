"""How far an upgrade gets, where it stops and what would help."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.upgrade import Blocked, UpgradeReport
from kubespread.render.phrases import some_of

_MAX_NAMED = 3


def conclusion(report: UpgradeReport) -> Iterator[str]:
    """The cause, the remedies and last how many nodes are replaced."""
    if report.blocked is not None:
        yield from _causes(report.blocked)
    for group in report.pending:
        yield f"{len(group.pods):,} pending of {group.workload}: {group.message}"
    if len(report.remedies) == 1:
        yield f"with {report.remedies[0]} it gets through"
    elif report.remedies:
        yield f"with any one of these it gets through: {' · '.join(report.remedies)}"
    of = f"{report.replaced:,} of {len(report.nodes):,} nodes replaced"
    left = report.left_pending
    tail = f", {left:,} pod{'' if left == 1 else 's'} left pending" if left else ""
    if report.blocked is None:
        yield f"{of}{tail}"
    else:
        yield f"{of}{tail}: blocked at {', '.join(report.blocked.nodes)}"


def _causes(blocked: Blocked) -> Iterator[str]:
    if blocked.refusal is not None:
        yield f"kubectl refuses: {blocked.refusal}"
    told: dict[str, list[str]] = {}
    for pod in blocked.pods:
        told.setdefault(f"{pod.message} {pod.cause}".strip(), []).append(pod.pod)
    for said, pods in told.items():
        yield f"{some_of(pods, _MAX_NAMED)} cannot be evicted: {said}"
