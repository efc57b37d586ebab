"""Groups of pods in few words."""

from __future__ import annotations

from kubespread.planner.reports.pending import PendingReport, StuckGroup
from kubespread.wording import workload_name

_MAX_WORKLOADS = 2
_NO_CHANGE = {
    "filtered": "none of {} tried",
    "refused": "none: no node is at fault",
    "gated": "none: waits behind its gate",
    "nominated": "none: waits for its node",
    "otherScheduler": "none: somebody else's",
    "fits": "none: nothing has to change",
    "preempts": "none: room is made for it",
}


def change_of(group: StuckGroup) -> str:
    """The options that free it, or why there are none."""
    return _NO_CHANGE[group.cause].format(group.tried) if group.change is None else " ".join(group.change.options)


def frees(group: StuckGroup) -> str:
    """``14``, or ``5 of 25`` where the change does not free all."""
    if group.change is None:
        return ""
    return f"{group.freed:,}" if group.freed == len(group.pods) else f"{group.freed:,} of {len(group.pods):,}"


def workloads_of(group: StuckGroup, report: PendingReport) -> str:
    """``web, api +3``: without the kind, and without a namespace that goes without saying."""
    names = [_name(workload, report) for workload in group.workloads]
    more = f" +{len(names) - _MAX_WORKLOADS}" if len(names) > _MAX_WORKLOADS else ""
    return f"{', '.join(names[:_MAX_WORKLOADS])}{more}"


def _name(workload: str, report: PendingReport) -> str:
    namespace, _, name = workload.split("/")
    if report.namespace is not None or workload_name(workload) != workload:
        return name
    return f"{namespace}/{name}"
