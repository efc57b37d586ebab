"""What controllers ask of a pod's state.

Source of the rules: IsPodActive of pkg/controller, IsPodReady of pkg/api/v1/pod.
"""

from __future__ import annotations

from kubespread.kube.api.core import Pod, PodCondition
from kubespread.kube.well_known import ENDED_PHASES, READY


def is_active(pod: Pod) -> bool:
    """Whether it runs or will run: neither ended nor terminating."""
    return pod.status.phase not in ENDED_PHASES and pod.metadata.deletion_timestamp is None


def ready_condition(pod: Pod) -> PodCondition | None:
    """The condition that makes the pod ready; None where it is not."""
    condition = next((each for each in pod.status.conditions if each.type == READY), None)
    return condition if condition is not None and condition.status == "True" else None
