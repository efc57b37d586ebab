"""Tolerations that admission adds to a pod: those of its runtime class, five minutes for nodes that are not
reachable, and those of taints that reserve nodes for pods that request their extended resources.

Source: plugin/pkg/admission/defaulttolerationseconds/admission.go, Admit
Source: plugin/pkg/admission/extendedresourcetoleration/admission.go, Admit
Source: plugin/pkg/admission/runtimeclass/admission.go, setScheduling
Source: pkg/util/tolerations/tolerations.go, MergeTolerations
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from kubespread.kube.api.core import Pod, Toleration
from kubespread.kube.resource_names import is_extended
from kubespread.kube.well_known import NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY

DEFAULT_TOLERATION_SECONDS = 300
_UNREACHABLE = (NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY)


def tolerate_for_a_while(pod: Pod) -> None:
    """DefaultTolerationSeconds: each of the two taints that nothing in the pod covers is tolerated for 300 s.

    Only a toleration's key and effect decide whether it covers one; operator and value do not matter.
    """
    own = pod.spec.tolerations
    added = [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=DEFAULT_TOLERATION_SECONDS)
        for key in _UNREACHABLE
        if not any(toleration.key in (key, "") and toleration.effect in ("NoExecute", "") for toleration in own)
    ]
    pod.spec.tolerations = [*own, *added]


def tolerate_extended_resources(pod: Pod) -> list[str]:
    """ExtendedResourceToleration: a NoSchedule taint with the key of an extended resource that a container requests is
    tolerated with any value. Returns notes on the tolerations added.
    """
    own = pod.spec.tolerations
    added = [toleration for toleration in for_extended_resources(pod) if toleration not in own]
    pod.spec.tolerations = [*own, *added]
    return [f"ExtendedResourceToleration: tolerations {toleration.key}:{toleration.effect}" for toleration in added]


def for_extended_resources(pod: Pod) -> list[Toleration]:
    """The tolerations that ExtendedResourceToleration sees to, by key. It takes one that is there already for another
    unless all of it is the same.
    """
    requested = {
        name
        for container in (*pod.spec.containers, *pod.spec.init_containers)
        for name in container.resources.requests
        if is_extended(name)
    }
    return [Toleration(key=name, operator="Exists", effect="NoSchedule") for name in sorted(requested)]


def merged(first: Sequence[Toleration], second: Sequence[Toleration]) -> list[Toleration]:
    """Both, without those that another one makes superfluous."""
    together = [*first, *second]
    kept: list[Toleration] = []
    for position, toleration in enumerate(together):
        if any(_covers(other, toleration) for other in kept):
            continue
        if any(other != toleration and _covers(other, toleration) for other in together[position + 1 :]):
            continue
        kept.append(toleration)
    return kept


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Whether ``wide`` tolerates everything that ``narrow`` does, by Kubernetes' own approximate check."""
    if wide == narrow:
        return True
    if wide.key != narrow.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in (narrow.effect, ""):
        return False
    if wide.effect == "NoExecute" and _seconds(narrow) > _seconds(wide):
        return False
    if wide.operator == "Exists":
        return True
    # Kubernetes compares the narrow one's operator as it is written, though an absent one means the same.
    return wide.operator in ("Equal", "") and narrow.operator == "Equal" and wide.value == narrow.value


def _seconds(toleration: Toleration) -> float:
    return inf if toleration.toleration_seconds is None else toleration.toleration_seconds
