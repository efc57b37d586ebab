"""Pods under an in-place resize as releases before 1.37 count them.

They took the largest of what is asked for and what was granted container by container, and added that up; 1.37 adds up
first. So a pod says here what it takes as if it had always asked for that.

Source of the rules: k8s.io/component-helpers/resource (PodRequests) of Kubernetes 1.36.
"""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.kube.api.core import Container, ContainerStatus, Pod
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.pod_requests import RESIZE_PENDING, is_sidecar, resize_infeasible
from kubespread.kube.quantity import ZERO, parse


def counted_per_container(pod: Pod) -> Pod:
    """``pod`` with the requests that 1.36 counts, its resize done; itself where no resize is under way."""
    if not _is_resizing(pod):
        return pod
    infeasible, status, spec = resize_infeasible(pod), pod.status, pod.spec
    statuses = {each.name: each for each in status.container_statuses}
    init_statuses = {each.name: each for each in status.init_container_statuses}
    resources = spec.resources
    if resources is not None and status.resources is not None:
        granted = (status.resources.requests, status.allocated_resources)
        effective = _largest(*granted) if infeasible else _largest(resources.requests, *granted)
        asked = {name: effective.get(name, str(ZERO)) for name in resources.requests}
        resources = replace(resources, requests=asked)
    return replace(
        pod,
        spec=replace(
            spec,
            containers=[_counted(each, statuses.get(each.name), infeasible=infeasible) for each in spec.containers],
            init_containers=[
                _counted(each, init_statuses.get(each.name) if is_sidecar(each) else None, infeasible=infeasible)
                for each in spec.init_containers
            ],
            resources=resources,
        ),
        status=replace(
            status,
            container_statuses=[_settled(each) for each in status.container_statuses],
            init_container_statuses=[_settled(each) for each in status.init_container_statuses],
            conditions=[condition for condition in status.conditions if condition.type != RESIZE_PENDING],
            resources=None,
            allocated_resources={},
        ),
    )


def _is_resizing(pod: Pod) -> bool:
    """Whether anything was granted that is not what the pod asks for, or nothing can be."""
    status = pod.status
    asked = {each.name: each.resources.requests for each in (*pod.spec.init_containers, *pod.spec.containers)}
    return (
        any(
            (each.resources is not None and each.resources.requests != asked.get(each.name))
            or (each.allocated_resources and each.allocated_resources != asked.get(each.name))
            for each in (*status.container_statuses, *status.init_container_statuses)
        )
        or status.resources is not None
        or bool(status.allocated_resources)
        or resize_infeasible(pod)
    )


def _counted(container: Container, status: ContainerStatus | None, *, infeasible: bool) -> Container:
    if status is None or status.resources is None:
        return container
    granted, asked = (status.resources.requests, status.allocated_resources), container.resources.requests
    requests = _largest(*granted) if infeasible else _largest(asked, *granted)
    return replace(container, resources=replace(container.resources, requests=requests))


def _settled(status: ContainerStatus) -> ContainerStatus:
    return replace(status, resources=None, allocated_resources={})


def _largest(*lists: ResourceList) -> ResourceList:
    largest: ResourceList = {}
    for given in lists:
        for name, text in given.items():
            if name not in largest or parse(text).nano > parse(largest[name]).nano:
                largest[name] = text
    return largest
