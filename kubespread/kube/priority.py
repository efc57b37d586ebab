"""Which of two pods comes first, and whether they are two at all.

Source: pkg/scheduler/util/utils.go, MoreImportantPod
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go, PodPriority
"""

from __future__ import annotations

from kubespread.kube.api.core import Pod


def priority_of(pod: Pod) -> int:
    """What the scheduler compares; a pod that was given none has 0."""
    return pod.spec.priority or 0


def is_same_pod(one: Pod, other: Pod) -> bool:
    """By uid as in the scheduler; pods that were never stored have none, and then names tell."""
    if one.metadata.uid or other.metadata.uid:
        return one.metadata.uid == other.metadata.uid
    return (one.metadata.namespace, one.metadata.name) == (other.metadata.namespace, other.metadata.name)
