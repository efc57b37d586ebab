"""Pods that kube-scheduler is not asked about: they wait behind scheduling gates, or belong to another scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import Pod
from kubespread.planner.reports.audited import AuditFinding, Level
from kubespread.planner.world.waiting import SchedulerOf


def gated(pods: Sequence[Pod], template: Pod) -> Iterator[AuditFinding]:
    """A risk where pods wait behind scheduling gates, or the next one will: gates may also be added on creation."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    gates = {gate.name for pod in (*waiting, template) for gate in pod.spec.scheduling_gates}
    if gates:
        yield AuditFinding(level="risk", cause="gated", topology_key=None, detail=", ".join(sorted(gates)))


def scheduled_by_others(pods: Sequence[Pod], template: Pod, scheduler_of: SchedulerOf) -> Iterator[AuditFinding]:
    """Schedulers that are not modeled: a risk where pods wait for one, else nobody can say how the workload fares."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    awaited = {pod.spec.scheduler_name for pod in waiting if scheduler_of(pod) is None}
    if scheduler_of(template) is None or awaited:
        names = sorted(awaited | ({template.spec.scheduler_name} if scheduler_of(template) is None else set()))
        level: Level = "risk" if awaited else "unjudged"
        yield AuditFinding(level=level, cause="otherScheduler", topology_key=None, detail=", ".join(names))
