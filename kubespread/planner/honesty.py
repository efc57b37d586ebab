"""What an answer leaves out: gaps of the snapshot, and features the input uses that kubespread does not model."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.cluster_objects import ClusterObjects, Namespace, Service
from kubespread.kube.devices import DeviceClass, ResourceClaim
from kubespread.kube.feature_gates import MODELLED
from kubespread.kube.gotext import compact_json
from kubespread.kube.objects import Pod
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.storage import PersistentVolumeClaim
from kubespread.kube.versions import EXACT_SCORES_SINCE, SCORES_SINCE
from kubespread.planner.other_admission import other_admission
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.scheduler.plugins.noderesources.fit import delegated_resources
from kubespread.scheduler.plugins.podtopologyspread.constraints import controller_of, find_controller
from kubespread.scheduler.profile import Profile

_OWNER_KINDS = frozenset({("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")})


_VOLUME_PLUGINS = frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"})


def gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> tuple[str, ...]:
    """What the snapshot lacks and this pod's answer could depend on."""
    return (
        *_default_constraint_gaps(pod, profile, objects),
        *_volume_gaps(pod, profile, objects),
        *_namespace_gaps(pod, objects),
        *_claim_gaps(pod, profile, objects),
    )


def _default_constraint_gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> Iterator[str]:
    spread = profile.args.spread
    if pod.spec.topology_spread_constraints or (spread.defaulting_type == "List" and not spread.default_constraints):
        return
    if not objects.knows(Service):
        yield "no Service objects: default constraints cannot be derived from Services"
    owner = controller_of(pod)
    selects = owner is not None and (owner.api_version, owner.kind) in _OWNER_KINDS
    if owner is not None and selects and find_controller(owner, pod.metadata.namespace, objects) is None:
        name = f"{owner.kind} {pod.metadata.namespace}/{owner.name}"
        yield f"{name}, the pod's controller, is missing: default constraints cannot be derived from its selector"


def _volume_gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> Iterator[str]:
    if claim_names(pod) and _VOLUME_PLUGINS & set(profile.filters) and not objects.knows(PersistentVolumeClaim):
        yield "no PersistentVolumeClaim objects: zones, binding and limits of the pod's claims are not evaluated"


def _namespace_gaps(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    terms = pod.spec.affinity.pod_terms if pod.spec.affinity is not None else ()
    if any(term.namespace_selector is not None for term in terms) and not objects.knows(Namespace):
        yield "no Namespace objects: the pod's namespaceSelectors see no labels"


def _claim_gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> Iterator[str]:
    if "DynamicResources" not in profile.filters or not any(claim.resource_claim_name for claim in pod.spec.resource_claims):
        return
    if not objects.knows(ResourceClaim):
        yield "no ResourceClaim objects: where the pod's resource claims are allocated is not evaluated"
    elif not objects.knows(DeviceClass):
        yield "no DeviceClass objects: whether the classes that the pod's resource claims ask for exist is not evaluated"


def not_modelled(cluster: Cluster, pod: Pod, profile: Profile) -> tuple[str, ...]:
    """What kube-scheduler would take into account for this input and kubespread does not."""
    return tuple(_not_modelled(cluster, pod, profile))


def _not_modelled(cluster: Cluster, pod: Pod, profile: Profile) -> Iterator[str]:
    spec, version = pod.spec, profile.args.version
    yield from other_admission(pod, cluster.objects)
    if spec.scheduling_gates:
        names = " ".join(gate.name for gate in spec.scheduling_gates)
        yield f"waiting for scheduling gates: [{names}]; the pod is judged as if they were removed"
    if spec.resource_claims:
        yield "DynamicResources: no devices are allocated to the pod's resource claims; take the nodes that fit as an upper bound"
    if version.has("DRAExtendedResource") and (delegated := sorted(delegated_resources(cluster) & pod_requests(pod).keys())):
        names = ", ".join(delegated)
        yield f"DynamicResources: {names} may come from devices; nodes that offer none themselves are taken to fit"
    for name, value in version.changed_gates.items():
        if name not in MODELLED:
            yield f"feature gate {name}={compact_json(value)}"
    for point in profile.unread_points:
        yield f"scheduler configuration: plugins.{point}"
    if not version.since(SCORES_SINCE):
        yield f"scores of kube-scheduler {version}: nodes that fit are listed by name"
    elif not version.since(EXACT_SCORES_SINCE):
        yield f"scores of kube-scheduler {version}: those of 1.{EXACT_SCORES_SINCE} stand in for them"
    if not version.since(22) and profile.args.spread.default_constraints:
        yield f"default constraints of kube-scheduler {version}: their selector is derived as since 1.22, from the pod's controller"
    if profile.has_extenders:
        yield "extenders: what they would filter or score"
