"""Whether a pod does its work.

Source of the rules: IsPodReady of k8s.io/kubernetes/pkg/api/v1/pod.
"""

from __future__ import annotations

from kubespread.kube.api.core import Pod, PodCondition
from kubespread.kube.well_known import READY


def ready_condition(pod: Pod) -> PodCondition | None:
    return next((each for each in pod.status.conditions if each.type == READY), None)


def is_ready(pod: Pod) -> bool:
    condition = ready_condition(pod)
    return condition is not None and condition.status == "True"
