"""What an answer leaves out: gaps of the snapshot, and features the input uses that kubespread does not model."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.cluster_objects import ClusterObjects
from kubespread.kube.objects import Pod
from kubespread.scheduler.plugins.podtopologyspread.constraints import controller_of, find_controller
from kubespread.scheduler.profile import Profile

_OWNER_KINDS = frozenset({("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")})


def gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> tuple[str, ...]:
    """What the snapshot lacks and this pod's answer could depend on."""
    spread = profile.args.spread
    if pod.spec.topology_spread_constraints or (spread.defaulting_type == "List" and not spread.default_constraints):
        return ()
    found = []
    if not objects.services:
        found.append("no Service objects: default constraints cannot be derived from Services")
    owner = controller_of(pod)
    selects = owner is not None and (owner.api_version, owner.kind) in _OWNER_KINDS
    if owner is not None and selects and find_controller(owner, pod.metadata.namespace, objects) is None:
        name = f"{owner.kind} {pod.metadata.namespace}/{owner.name}"
        found.append(f"{name}, the pod's controller, is missing: default constraints cannot be derived from its selector")
    return tuple(found)


def not_modelled(pod: Pod, profile: Profile) -> tuple[str, ...]:
    """What kube-scheduler would take into account for this input and kubespread does not."""
    return tuple(_not_modelled(pod, profile))


def _not_modelled(pod: Pod, profile: Profile) -> Iterator[str]:
    spec = pod.spec
    filters = set(profile.filters)
    if spec.scheduling_gates:
        names = " ".join(gate.name for gate in spec.scheduling_gates)
        yield f"scheduling gates [{names}]: the pod waits until they are removed; it is judged here as if they were"
    if filters & {"VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"} and _has_claims(pod):
        yield "volume plugins: zones, binding and limits of the pod's PersistentVolumeClaims"
    if spec.resource_claims:
        yield "DynamicResources: the pod's resource claims"
    if profile.has_extenders:
        yield "extenders: what they would filter or score"


def _has_claims(pod: Pod) -> bool:
    return any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)
