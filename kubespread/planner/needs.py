"""Which kinds a pod's answer can depend on: what could not be read is a gap only where it does."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.objects import Pod
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.resource_names import is_extended
from kubespread.scheduler.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.constraints import controller_of
from kubespread.scheduler.profile import Profile

_STORAGE = (
    "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment",
)  # fmt: skip
_VOLUME_PLUGINS = frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"})


def needed_kinds(pod: Pod, profile: Profile, cluster: Cluster, workload: str = "", *, preemption: bool = False) -> frozenset[str]:
    """The kinds that have a say in where ``pod`` goes, and with ``preemption`` in what is evicted for it.

    ``workload`` is the kind of the workload that is grown from the replicas it has, empty for a pod by itself.
    """
    plugins = {*profile.filters, *(entry.name for entry in profile.scores)}
    return frozenset(
        {
            *_for_admission(pod),
            *_for_spreading(pod, profile, plugins),
            *(_STORAGE if plugins & _VOLUME_PLUGINS and any(volume.is_of_use for volume in pod.spec.volumes) else ()),
            *(("Namespace",) if "InterPodAffinity" in plugins and _selects_namespaces(pod, cluster) else ()),
            *(("ResourceClaim", "DeviceClass") if "DynamicResources" in plugins and _asks_for_devices(pod, profile) else ()),
            *(("PodDisruptionBudget", "PriorityClass") if preemption else ()),
            *((workload,) if workload else ()),
            *(("ReplicaSet",) if workload == "Deployment" else ()),
        }
    )


def _for_admission(pod: Pod) -> Iterator[str]:
    """A pod that has a uid went through admission when it was stored."""
    if pod.metadata.uid:
        return
    yield from ("LimitRange", "ResourceQuota")
    if pod.spec.priority_class_name:
        yield "PriorityClass"
    if pod.spec.runtime_class_name:
        yield "RuntimeClass"


def _for_spreading(pod: Pod, profile: Profile, plugins: set[str]) -> Iterator[str]:
    """Default constraints take their selector from Services and from the pod's controller."""
    spread = profile.args.spread
    if "PodTopologySpread" not in plugins or pod.spec.topology_spread_constraints:
        return
    if spread.defaulting_type == "List" and not spread.default_constraints:
        return
    yield "Service"
    if (owner := controller_of(pod)) is not None:
        yield owner.kind


def _selects_namespaces(pod: Pod, cluster: Cluster) -> bool:
    """Whether the pod, or one that runs, has affinity terms that look at the labels of namespaces."""
    return any(
        term.namespace_selector is not None
        for each in (pod, *cluster.pods)
        if each.spec.affinity is not None
        for term in each.spec.affinity.pod_terms
    )


def _asks_for_devices(pod: Pod, profile: Profile) -> bool:
    return bool(pod.spec.resource_claims) or (profile.args.version.has("DRAExtendedResource") and any(map(is_extended, pod_requests(pod))))
