"""Work of the API server on an object before anyone reads it: defaulting, and mutation when a pod is created.

Incomplete pod-level resources are filled in at different times: up to 1.36 before admission plugins see the pod, since
1.37 after they have changed it.

Defaulting changes the objects themselves; doing it again changes nothing. DefaultPodLevelResources is of 1.37.

Source: pkg/apis/core/v1/defaults.go, SetDefaults_Pod, SetDefaults_PodSpec, SetDefaults_Container,
    SetDefaults_ResourceList, defaultPodRequests, defaultHugePagePodLimits, defaultHostNetworkPorts
Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeysAndMismatchLabelKeys, applyMatchLabelKeys
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubespread.kube.api.core import Namespace, Node, Pod, ResourceRequirements, TopologySpreadConstraint
from kubespread.kube.api.kinds import NAMESPACED
from kubespread.kube.api.meta import LabelSelectorRequirement
from kubespread.kube.name_rules import is_hugepages
from kubespread.kube.pod_requests import amounts, container_total, is_pod_level_resource
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DEFAULT_CLASS, SELECTOR_MERGE_GATE

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_NAMESPACE = "default"
_OVERCOMMITTABLE = ("cpu", "memory")


def default_node(node: Node) -> None:
    """Default a node's missing allocatable to its capacity; a partial list stays partial."""
    if not node.status.allocatable:
        node.status.allocatable = node.status.capacity


def default_cluster_objects(objects: ClusterObjects) -> None:
    """Default all other objects: namespaces, the label every Namespace has, binding and volume modes."""
    for cls in NAMESPACED:
        for obj in objects.get(cls):
            obj.metadata.namespace = obj.metadata.namespace or DEFAULT_NAMESPACE
    for namespace in objects.get(Namespace):
        namespace.metadata.labels["kubernetes.io/metadata.name"] = namespace.metadata.name
    for storage_class in objects.get(StorageClass):
        storage_class.volume_binding_mode = storage_class.volume_binding_mode or "Immediate"
    for volume in objects.get(PersistentVolume):
        volume.spec.volume_mode = volume.spec.volume_mode or "Filesystem"
    for claim in objects.get(PersistentVolumeClaim):
        default_claim(claim)


def default_claim(claim: PersistentVolumeClaim) -> None:
    claim.spec.volume_mode = claim.spec.volume_mode or "Filesystem"


def default_storage_class(claim: PersistentVolumeClaim, classes: Sequence[StorageClass]) -> None:
    """Give a claim without a class the default one, of several the one with the smallest name (DefaultStorageClass)."""
    default = [
        storage_class.metadata.name
        for storage_class in classes
        if any(storage_class.metadata.annotations.get(key) == "true" for key in DEFAULT_CLASS)
    ]
    if claim.spec.storage_class_name is None and default:
        claim.spec.storage_class_name = min(default)


_GRACE_PERIOD = 30


def default_pod(pod: Pod, *, pod_level: bool = True) -> None:
    """Default the fields of a Pod that are read. Applying it again changes nothing.

    Without ``pod_level`` pod-level resources are left for later.
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
        _default_pod_level_resources(pod, spec.resources)


def merge_label_keys(pod: Pod, version: KubeVersion) -> None:
    """Merge matchLabelKeys and mismatchLabelKeys into the selectors beside them, as the API server does at creation.

    Only keys the pod's labels contain, only where there is a selector; pod templates and stored pods are left alone.
    Those of spread constraints are merged since 1.34; kube-scheduler itself heeds them in either case.
    """
    labels, merges_constraints = pod.metadata.labels, version.has(SELECTOR_MERGE_GATE)
    for counting in pod.spec.counting:
        selector = counting.label_selector
        if selector is not None and (merges_constraints or not isinstance(counting, TopologySpreadConstraint)):
            added = [
                LabelSelectorRequirement(key, operator, [labels[key]])
                for key, operator in counting.label_keys
                if key in labels
            ]
            selector.match_expressions = [*selector.match_expressions, *added]


def relabel(pod: Pod, labels: dict[str, str]) -> Pod:
    """``pod``, with merged label keys, with other ``labels`` and selectors to match."""
    before, spec, metadata = pod.metadata.labels, pod.spec, replace(pod.metadata, labels=labels)
    changed = {key for key, value in labels.items() if before.get(key, value) != value}
    if changed.isdisjoint(key for counting in spec.counting for key, _ in counting.label_keys):
        return replace(pod, metadata=metadata)
    constraints, affinity = deepcopy((spec.topology_spread_constraints, spec.affinity))
    spec = replace(spec, topology_spread_constraints=constraints, affinity=affinity)
    for counting in spec.counting:
        merged = [(key, operator, [before[key]]) for key, operator in counting.label_keys if key in changed]
        for expression in counting.label_selector.match_expressions if counting.label_selector is not None else ():
            if (expression.key, expression.operator, expression.values) in merged:
                expression.values = [labels[expression.key]]
    return replace(pod, metadata=metadata, spec=spec)


def _default_pod_level_resources(pod: Pod, resources: ResourceRequirements) -> None:
    """Default them as up to 1.36, before admission plugins see the pod: requests alone, and only where the pod has
    limits.
    """
    if not (resources.limits or resources.requests):
        return
    _default_huge_pages(pod, resources)
    if resources.limits:
        _default_requests(pod, resources)


def complete_pod_level_resources(pod: Pod) -> None:
    """Default pod-level resources as since 1.37, after admission plugins: requests, and limits if each container has
    one.
    """
    resources = pod.spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return
    _default_huge_pages(pod, resources)
    _default_requests(pod, resources)
    containers, limits = (*pod.spec.init_containers, *pod.spec.containers), container_total(pod, "limits")
    for name, request in amounts(resources.requests).items():
        limited = all(name in container.resources.limits for container in containers)
        if is_pod_level_resource(name) and name not in resources.limits and limited:
            resources.limits[name] = str(max(request, limits[name], key=lambda quantity: quantity.nano))


def _default_huge_pages(pod: Pod, resources: ResourceRequirements) -> None:
    for name, limit in container_total(pod, "limits").items():
        if is_hugepages(name) and name not in resources.requests and name not in resources.limits:
            resources.limits[name] = str(limit)


def _default_requests(pod: Pod, resources: ResourceRequirements) -> None:
    for name, request in container_total(pod, "requests").items():
        if name in _OVERCOMMITTABLE:
            resources.requests.setdefault(name, str(request))
    for name, amount in amounts(resources.limits).items():
        if is_pod_level_resource(name):
            resources.requests.setdefault(name, str(amount))
