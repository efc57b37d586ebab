"""What the API server does to an object before anyone reads it: defaulting, and mutation when a pod is created.

Source of the rules: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go and the create strategy of pods (Kubernetes 1.36).
Defaulting changes the objects it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubespread.kube.admission.pod_level_resources import default_pod_level_resources
from kubespread.kube.api.annotations import DEFAULT_CLASS
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Namespace, Node, Pod
from kubespread.kube.api.kinds import NAMESPACED
from kubespread.kube.api.meta import LabelSelector, LabelSelectorRequirement
from kubespread.kube.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_NAMESPACE = "default"


def default_node(node: Node) -> None:
    """A node that does not say what it can allocate offers its capacity; a partial list stays partial."""
    if not node.status.allocatable:
        node.status.allocatable = node.status.capacity


def default_cluster_objects(objects: ClusterObjects) -> None:
    """API defaulting of everything else: namespaces, the label every Namespace carries, binding and volume modes."""
    for cls in NAMESPACED:
        for obj in objects.of(cls):
            obj.metadata.namespace = obj.metadata.namespace or DEFAULT_NAMESPACE
    for namespace in objects.of(Namespace):
        namespace.metadata.labels["kubernetes.io/metadata.name"] = namespace.metadata.name
    for storage_class in objects.of(StorageClass):
        storage_class.volume_binding_mode = storage_class.volume_binding_mode or "Immediate"
    for volume in objects.of(PersistentVolume):
        volume.spec.volume_mode = volume.spec.volume_mode or "Filesystem"
    for claim in objects.of(PersistentVolumeClaim):
        default_claim(claim)


def default_claim(claim: PersistentVolumeClaim) -> None:
    claim.spec.volume_mode = claim.spec.volume_mode or "Filesystem"


def default_storage_class(claim: PersistentVolumeClaim, classes: Sequence[StorageClass]) -> None:
    """DefaultStorageClass: a claim without a class gets the default one, of several the smallest name."""
    default = [
        each.metadata.name
        for each in classes
        if any(each.metadata.annotations.get(key) == "true" for key in DEFAULT_CLASS)
    ]
    if claim.spec.storage_class_name is None and default:
        claim.spec.storage_class_name = min(default)


_GRACE_PERIOD = 30


def default_pod(pod: Pod, *, pod_level: bool = True) -> None:
    """API defaulting of a Pod, as far as anybody reads the result. Applying it again changes nothing.

    Without ``pod_level`` what the pod asks for as a whole is left for later.
    """
    spec = pod.spec
    pod.metadata.namespace = pod.metadata.namespace or DEFAULT_NAMESPACE
    spec.scheduler_name = spec.scheduler_name or DEFAULT_SCHEDULER
    spec.restart_policy = spec.restart_policy or "Always"
    if spec.termination_grace_period_seconds is None:
        spec.termination_grace_period_seconds = _GRACE_PERIOD
    for containers in (spec.containers, spec.init_containers):
        for container in containers:
            resources = container.resources
            if resources.limits:
                resources.requests = {**resources.limits, **resources.requests}
            for port in container.ports:
                port.protocol = port.protocol or "TCP"
                if spec.host_network:
                    port.host_port = port.host_port or port.container_port
    if spec.resources is not None and pod_level:
        default_pod_level_resources(pod, spec.resources)


def merge_label_keys(pod: Pod) -> None:
    """Write matchLabelKeys and mismatchLabelKeys into the selectors beside them, as the API server does at creation.

    Only keys the pod's labels contain, only where there is a selector; pod templates and stored pods are left alone.
    """
    labels = pod.metadata.labels
    for constraint in pod.spec.topology_spread_constraints:
        _merge(constraint.label_selector, constraint.match_label_keys, "In", labels)
    for term in pod.spec.affinity.pod_terms if pod.spec.affinity is not None else ():
        _merge(term.label_selector, term.match_label_keys, "In", labels)
        _merge(term.label_selector, term.mismatch_label_keys, "NotIn", labels)


def _merge(selector: LabelSelector | None, keys: Iterable[str], operator: str, labels: dict[str, str]) -> None:
    if selector is None:
        return
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=[labels[key]]) for key in keys if key in labels
    ]
    selector.match_expressions = [*selector.match_expressions, *added]
