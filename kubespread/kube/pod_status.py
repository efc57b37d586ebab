"""What controllers and the scheduler ask of a pod: its state, its priority, and whether it is another.

Source: pkg/controller/controller_utils.go, IsPodActive, podReadyTime
Source: pkg/api/v1/pod/util.go, IsPodReady, IsPodAvailable
Source: pkg/scheduler/util/utils.go, MoreImportantPod
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go, PodPriority
"""

from __future__ import annotations

from datetime import datetime, timedelta

from kubespread.errors import SnapshotError
from kubespread.kube import time
from kubespread.kube.api.core import Pod, PodCondition
from kubespread.kube.well_known import ENDED_PHASES, READY


def is_active(pod: Pod) -> bool:
    """Whether it runs or will run: neither ended nor terminating."""
    return pod.status.phase not in ENDED_PHASES and pod.metadata.deletion_timestamp is None


def ready_condition(pod: Pod) -> PodCondition | None:
    """The Ready condition if it is true, else None."""
    condition = next((candidate for candidate in pod.status.conditions if candidate.type == READY), None)
    return condition if condition is not None and condition.status == "True" else None


def is_ready(pod: Pod) -> bool:
    return ready_condition(pod) is not None


def is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def ready_since(pod: Pod) -> datetime | None:
    """When it became ready; None where it is not, or does not say when. Raises SnapshotError."""
    condition = ready_condition(pod)
    if condition is None:
        return None
    return moment(pod, "lastTransitionTime of condition Ready", condition.last_transition_time)


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> bool:
    """Whether it has been ready for as long as its workload asks. Raises SnapshotError."""
    if not min_ready_seconds:
        return ready_condition(pod) is not None
    since = ready_since(pod)
    return since is not None and since + timedelta(seconds=min_ready_seconds) <= now


def moment(pod: Pod, what: str, text: str) -> datetime | None:
    """The time that a field of ``pod`` says, None where it says none. Raises SnapshotError for what is no time."""
    try:
        return time.parse(text)
    except time.TimestampError as error:
        raise SnapshotError(f'pod "{pod.metadata.namespace}/{pod.metadata.name}": {what}: {error}') from error


def priority_of(pod: Pod) -> int:
    """What the scheduler compares; a pod that was given none has 0."""
    return pod.spec.priority or 0


def is_same_pod(one: Pod, other: Pod) -> bool:
    """By uid as in the scheduler; pods that were never stored have none, and then names tell."""
    if one.metadata.uid or other.metadata.uid:
        return one.metadata.uid == other.metadata.uid
    return (one.metadata.namespace, one.metadata.name) == (other.metadata.namespace, other.metadata.name)
