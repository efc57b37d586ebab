"""What quotas have left for a workload: its own pods that are there count in what is used already."""

from __future__ import annotations

from kubespread.kube.admission.quota import charged
from kubespread.kube.api.cluster_objects import ResourceQuota
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.lint.subject import Subject


def without_usage(quotas: tuple[ResourceQuota, ...], subject: Subject) -> tuple[ResourceQuota, ...]:
    """The quotas as they would be if the subject had no pods; the same ones where it has none that they count."""
    namespace = subject.name.namespace
    if not subject.running or all(quota.metadata.namespace != namespace for quota in quotas):
        return quotas
    for pod in subject.running:
        if pod.status.phase not in ENDED_PHASES:
            quotas = charged(quotas, pod, -1)
    return quotas
