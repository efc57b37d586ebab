"""What the snapshot lacks and an answer could depend on: a kind is a gap only for a question that needs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    LimitRange,
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    RuntimeClass,
    Service,
)
from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, ResourceClaim
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import SELECTING_CONTROLLERS, controller_of, find_controller
from kubespread.scheduler.cluster.affinity_terms import MalformedTermsError, PodTerms, Term, candidate_terms
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.storage_index import claim_names, storage_class_name
from kubespread.scheduler.profile.profile import Profile

_VOLUME_PLUGINS = frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"})
_BUILT_IN_CLASSES = "system-"
_NO_PROVISIONER = "kubernetes.io/no-provisioner"


def gaps(
    pod: Pod, profile: Profile, cluster: Cluster, *, preemption: bool = False, workload: str = ""
) -> tuple[str, ...]:
    """What the snapshot lacks and this pod's answer could depend on; with ``preemption`` also what evictions depend on.

    ``workload`` is Kind/name of what is grown from the replicas it has, if anything is.
    """
    objects = cluster.objects
    return (
        *_pod_gaps(cluster),
        *_replica_gaps(workload, objects),
        *_admission_gaps(pod, objects),
        *_default_constraint_gaps(pod, profile, objects),
        *_volume_gaps(pod, profile, cluster),
        *_namespace_gaps(pod, profile, cluster),
        *_claim_gaps(pod, profile, objects),
        *(
            _unless_known(objects, PodDisruptionBudget, "preemption is predicted as if there were no budgets")
            if preemption
            else ()
        ),
    )


def _unless_known(objects: ClusterObjects, kind: type[ApiObject], consequence: str) -> Iterator[str]:
    """A gap, in the words of the source that did not give the kind where it said why."""
    if not objects.knows(kind):
        yield f"{objects.unread.get(kind.__name__) or f'no {kind.__name__} objects'}: {consequence}"


def _pod_gaps(cluster: Cluster) -> Iterator[str]:
    if not cluster.pods:
        yield from _unless_known(cluster.objects, Pod, "every node counts as empty")


def _replica_gaps(workload: str, objects: ClusterObjects) -> Iterator[str]:
    """Only its ReplicaSets tell which pods are a Deployment's; the one made up for the new pod says nothing of the
    others.
    """
    if workload.startswith("Deployment/") and (refused := objects.unread.get(ReplicaSet.__name__)):
        yield f"{refused}: replicas that run already are not recognized"


def _admission_gaps(pod: Pod, objects: ClusterObjects) -> Iterator[str]:
    """A pod that has a uid was admitted when it was stored."""
    spec = pod.spec
    if pod.metadata.uid:
        return
    if (
        spec.priority is None
        and spec.priority_class_name
        and not spec.priority_class_name.startswith(_BUILT_IN_CLASSES)
    ):
        yield from _unless_known(
            objects, PriorityClass, f"the priority of class {spec.priority_class_name} is not known, and counts as 0"
        )
    if spec.runtime_class_name:
        consequence = f"overhead, node selector and tolerations of class {spec.runtime_class_name} are not added"
        yield from _unless_known(objects, RuntimeClass, consequence)
    # Few clusters have any and few people list them: a gap only where they were asked for and refused.
    if LimitRange.__name__ in objects.unread:
        yield from _unless_known(objects, LimitRange, "default requests and limits are not added")
    if "ResourceQuota" in objects.unread:
        yield f"{objects.unread['ResourceQuota']}: quotas are taken not to be exhausted"


def _default_constraint_gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> Iterator[str]:
    spread = profile.args.spread
    if pod.spec.topology_spread_constraints or (spread.defaulting_type == "List" and not spread.default_constraints):
        return
    yield from _unless_known(objects, Service, "default constraints cannot be derived from Services")
    owner = controller_of(pod)
    selects = owner is not None and (owner.api_version, owner.kind) in SELECTING_CONTROLLERS
    if owner is not None and selects and find_controller(owner, pod.metadata.namespace, objects) is None:
        name = f"{owner.kind} {pod.metadata.namespace}/{owner.name}"
        yield f"{name}, the pod's controller, is missing: default constraints cannot be derived from its selector"


def _volume_gaps(pod: Pod, profile: Profile, cluster: Cluster) -> Iterator[str]:
    objects, storage, plugins = cluster.objects, cluster.storage, _VOLUME_PLUGINS.intersection(profile.filters)
    names = claim_names(pod)
    if names and plugins and not objects.knows(PersistentVolumeClaim):
        yield from _unless_known(
            objects, PersistentVolumeClaim, "zones, binding and limits of the pod's claims are not evaluated"
        )
        return
    claims = [storage.claim(pod, name) for name in names] if plugins else []
    bound = any(claim is not None and claim.spec.volume_name for claim in claims)
    unbound = [claim for claim in claims if claim is not None and not claim.spec.volume_name]
    if bound or ("VolumeBinding" in plugins and unbound):
        yield from _unless_known(objects, PersistentVolume, "the pod's claims are judged as if there were no volumes")
    owner = controller_of(pod)
    # Without classes the claims that a StatefulSet would make are not made up.
    if unbound or (None in claims and owner is not None and owner.kind == "StatefulSet"):
        yield from _unless_known(objects, StorageClass, "whether and where the pod's claims can be bound is not known")
    if "VolumeBinding" in plugins:
        yield from _provisioning_gaps(unbound, cluster)
    if "NodeVolumeLimits" in plugins and any(storage.attached(pod)):
        yield from _unless_known(objects, CSINode, "how many volumes a node can attach is not evaluated")
        if objects.knows(CSINode):
            yield from _unless_known(
                objects, VolumeAttachment, "only volumes of pods count towards the limits of nodes"
            )


def _provisioning_gaps(unbound: Iterable[PersistentVolumeClaim], cluster: Cluster) -> Iterator[str]:
    """Volumes that are made where the pod goes: does the driver tell how much room there is, and how much is it?"""
    storage, objects = cluster.storage, cluster.objects
    delayed = [claim for claim in unbound if storage.is_delayed(claim)]
    provisioners = {storage.classes[storage_class_name(claim)].provisioner for claim in delayed} - {_NO_PROVISIONER}
    if not provisioners:
        return
    yield from _unless_known(objects, CSIDriver, "storage capacity is not evaluated")
    if any(driver.spec.storage_capacity and driver.metadata.name in provisioners for driver in objects.csi_drivers):
        yield from _unless_known(objects, CSIStorageCapacity, "every node counts as without storage capacity")


def _namespace_gaps(pod: Pod, profile: Profile, cluster: Cluster) -> Iterator[str]:
    if "InterPodAffinity" not in {*profile.filters, *(entry.name for entry in profile.scores)} or cluster.objects.knows(
        Namespace
    ):
        return
    try:
        own = _all_terms(candidate_terms(pod))
    except MalformedTermsError:
        own = []
    if any(term.namespace_selector.requirements for term in own):
        yield from _unless_known(cluster.objects, Namespace, "the pod's namespaceSelectors see no labels")
    meta = pod.metadata
    for kind in cluster.nodes_of_kind:
        for term in _all_terms(cluster.kinds[kind].terms or PodTerms()):
            if (
                term.namespace_selector.requirements
                and meta.namespace not in term.namespaces
                and term.selector.matches(meta.labels)
            ):
                yield from _unless_known(
                    cluster.objects, Namespace, "the namespaceSelectors of other pods' affinity see no labels"
                )
                return


def _all_terms(terms: PodTerms) -> list[Term]:
    return [*terms.required, *terms.required_anti, *terms.preferred, *terms.preferred_anti]


def _claim_gaps(pod: Pod, profile: Profile, objects: ClusterObjects) -> Iterator[str]:
    if "DynamicResources" not in profile.filters or not any(
        claim.resource_claim_name for claim in pod.spec.resource_claims
    ):
        return
    yield from _unless_known(objects, ResourceClaim, "where the pod's resource claims are allocated is not evaluated")
    if objects.knows(ResourceClaim):
        consequence = "whether the classes that the pod's resource claims ask for exist is not evaluated"
        yield from _unless_known(objects, DeviceClass, consequence)
