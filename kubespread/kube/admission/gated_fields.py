"""Fields that an API server removes, or a scheduler ignores, if the feature gate they need is off.

Pods under an in-place resize were counted differently before 1.37: the larger of requested and granted amounts per
container, added up; 1.37 adds up first. So here a pod's requests are rewritten to what it takes under the older rule.

Source: pkg/api/pod/util.go, DropDisabledPodFields, dropDisabledFields
Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests, determineEffectiveRequests
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.kube.api.core import Container, ContainerStatus, Pod
from kubespread.kube.api.meta import KubeObject, ResourceList, attributes_of
from kubespread.kube.pod_requests import RESIZE_PENDING, is_sidecar, resize_infeasible
from kubespread.kube.quantity import ZERO, parse
from kubespread.kube.versions import KubeVersion


def _counted_per_container(pod: Pod) -> Pod:
    """``pod`` with the requests that 1.36 counts, its resize done; itself where no resize is under way."""
    if not _is_resizing(pod):
        return pod
    infeasible, status, spec = resize_infeasible(pod), pod.status, pod.spec

    def count_all(containers: Sequence[Container], statuses: Sequence[ContainerStatus]) -> list[Container]:
        granted = {status.name: status for status in statuses}
        return [_count(container, granted.get(container.name), infeasible=infeasible) for container in containers]

    sidecars = {container.name for container in spec.init_containers if is_sidecar(container)}
    resources = spec.resources
    if resources is not None and status.resources is not None:
        granted = (status.resources.requests, status.allocated_resources)
        effective = _largest(*granted) if infeasible else _largest(resources.requests, *granted)
        effective_requests = {name: effective.get(name, str(ZERO)) for name in resources.requests}
        resources = replace(resources, requests=effective_requests)
    return replace(
        pod,
        spec=replace(
            spec,
            containers=count_all(spec.containers, status.container_statuses),
            init_containers=count_all(
                spec.init_containers, [own for own in status.init_container_statuses if own.name in sidecars]
            ),
            resources=resources,
        ),
        status=replace(
            status,
            container_statuses=[_settle(status) for status in status.container_statuses],
            init_container_statuses=[_settle(status) for status in status.init_container_statuses],
            conditions=[condition for condition in status.conditions if condition.type != RESIZE_PENDING],
            resources=None,
            allocated_resources={},
        ),
    )


def _is_resizing(pod: Pod) -> bool:
    """True if resources granted to the pod may differ from its requests, or its resize is infeasible."""
    status = pod.status
    requested = {
        container.name: container.resources.requests for container in (*pod.spec.init_containers, *pod.spec.containers)
    }
    return (
        any(
            (own.resources is not None and own.resources.requests != requested.get(own.name))
            or (own.allocated_resources and own.allocated_resources != requested.get(own.name))
            for own in (*status.container_statuses, *status.init_container_statuses)
        )
        or status.resources is not None
        or bool(status.allocated_resources)
        or resize_infeasible(pod)
    )


def _count(container: Container, status: ContainerStatus | None, *, infeasible: bool) -> Container:
    if status is None or status.resources is None:
        return container
    granted, requested = (status.resources.requests, status.allocated_resources), container.resources.requests
    requests = _largest(*granted) if infeasible else _largest(requested, *granted)
    return replace(container, resources=replace(container.resources, requests=requests))


def _settle(status: ContainerStatus) -> ContainerStatus:
    return replace(status, resources=None, allocated_resources={})


def _largest(*lists: ResourceList) -> ResourceList:
    largest: ResourceList = {}
    for resources in lists:
        for name, text in resources.items():
            if name not in largest or parse(text).nano > parse(largest[name]).nano:
                largest[name] = text
    return largest


_SPEC = {
    "topologySpreadConstraints": "EvenPodsSpread",
    "schedulingGates": "PodSchedulingReadiness",
    "resources": "PodLevelResources",
    "hostUsers": "UserNamespacesSupport",
}
_CONSTRAINT = {
    "minDomains": "MinDomainsInPodTopologySpread",
    "nodeAffinityPolicy": "NodeInclusionPolicyInPodTopologySpread",
    "nodeTaintsPolicy": "NodeInclusionPolicyInPodTopologySpread",
    "matchLabelKeys": "MatchLabelKeysInPodTopologySpread",
}
_TERM = {
    "matchLabelKeys": "MatchLabelKeysInPodAffinity",
    "mismatchLabelKeys": "MatchLabelKeysInPodAffinity",
    "namespaceSelector": "PodAffinityNamespaceSelector",
}
_CONTAINER = {"restartPolicyRules": "ContainerRestartRules"}
_INIT_CONTAINER = {"restartPolicy": "SidecarContainers", **_CONTAINER}
DROPPED = frozenset({*_SPEC, *_CONSTRAINT, *_TERM, *_INIT_CONTAINER})
"""Fields that `drop_fields` may remove."""

# Part of the pod and field there that its requests are worked out from, and the gate without which they are not.
_COUNTED = (
    (("spec", "resources"), "PodLevelResources"),
    (("status", "container_statuses"), "InPlacePodVerticalScaling"),
    (("status", "resources"), "InPlacePodLevelResourcesVerticalScaling"),
    (("status", "allocated_resources"), "InPlacePodLevelResourcesVerticalScaling"),
)


def drop_fields(pod: Pod, version: KubeVersion) -> list[str]:
    """Remove fields that an API server of this version would not store; their descriptions."""
    return [f"{field} is dropped: {_reason(gate, version)}" for field, gate in _drop(pod, version)]


def as_counted(pods: Sequence[Pod], version: KubeVersion) -> Sequence[Pod]:
    """Pods as a scheduler of this version counts them; unchanged if it counts as the newest does."""
    off = [field for field, gate in _COUNTED if version.lacks(gate)]
    if off:
        pods = tuple(_clear(pod, off) for pod in pods)
    return pods if version.reaches(37) else tuple(_before_1_37(pod) for pod in pods)


def _before_1_37(pod: Pod) -> Pod:
    """A pod behind scheduling gates takes no place on the node nominated to it yet."""
    if pod.spec.scheduling_gates and pod.status.nominated_node_name:
        pod = replace(pod, status=replace(pod.status, nominated_node_name=""))
    return _counted_per_container(pod)


def _clear(pod: Pod, paths: Sequence[tuple[str, str]]) -> Pod:
    """``pod`` without the parts at ``paths``: a copy, since parts are shared, or itself where it has none."""
    counted = pod
    for part, field in paths:
        target = getattr(counted, part)
        unset = getattr(type(target)(), field)
        if getattr(target, field) != unset:
            counted = replace(counted, **{part: replace(target, **{field: unset})})
    return counted


def _reason(gate: str, version: KubeVersion) -> str:
    if gate in version.changed_gates:
        return f"feature gate {gate} is off"
    return f"Kubernetes {version} does not have it"


def _drop(pod: Pod, version: KubeVersion) -> Iterator[tuple[str, str]]:
    """Each field dropped, and the gate it needs."""
    spec = pod.spec
    for field in _reset(spec, _SPEC, version):
        yield f"spec.{field}", _SPEC[field]
    for position, constraint in enumerate(spec.topology_spread_constraints):
        for field in _reset(constraint, _CONSTRAINT, version):
            yield f"spec.topologySpreadConstraints[{position}].{field}", _CONSTRAINT[field]
    for term in spec.affinity.pod_terms if spec.affinity is not None else ():
        for field in _reset(term, _TERM, version):
            yield f"{field} of a term for {term.topology_key} in spec.affinity", _TERM[field]
    for position, container in enumerate(spec.containers):
        for field in _reset(container, _CONTAINER, version):
            yield f"spec.containers[{position}].{field}", _CONTAINER[field]
    for position, container in enumerate(spec.init_containers):
        for field in _reset(container, _INIT_CONTAINER, version):
            yield f"spec.initContainers[{position}].{field}", _INIT_CONTAINER[field]


def _reset(target: KubeObject, gates: Mapping[str, str], version: KubeVersion) -> Iterator[str]:
    """Reset the fields of gates that are off to their zero values; yield the names of fields that had another."""
    off = [name for name, gate in gates.items() if not version.has(gate)]
    if not off:
        return
    names, empty = attributes_of(type(target)), type(target)()
    for name in off:
        unset = getattr(empty, names[name])
        if getattr(target, names[name]) != unset:
            setattr(target, names[name], unset)
            yield name
