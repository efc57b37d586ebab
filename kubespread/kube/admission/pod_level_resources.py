"""What a pod asks for as a whole, where it says only a part of it: two ways to fill in the rest.

Source of the rules: pkg/apis/core/v1/defaults.go of Kubernetes 1.36, and pkg/api/pod/util.go
(DefaultPodLevelResources) of 1.37. Both change the pod they are given; doing it again changes nothing.
"""

from __future__ import annotations

from kubespread.kube.api.core import Pod, ResourceRequirements
from kubespread.kube.pod_requests import (
    HUGEPAGES_PREFIX,
    amounts,
    container_total,
    is_pod_level_resource,
)

_OVERCOMMITTABLE = ("cpu", "memory")


def default_pod_level_resources(pod: Pod, resources: ResourceRequirements) -> None:
    """As up to 1.36, before admission plugins see the pod: requests alone, and only where the pod has limits."""
    if not (resources.limits or resources.requests):
        return
    _default_huge_pages(pod, resources)
    if resources.limits:
        _default_requests(pod, resources)


def complete_pod_level_resources(pod: Pod) -> None:
    """As since 1.37, once the admission plugins have changed the pod: requests, and limits where each container has
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
        if name.startswith(HUGEPAGES_PREFIX) and name not in resources.requests and name not in resources.limits:
            resources.limits[name] = str(limit)


def _default_requests(pod: Pod, resources: ResourceRequirements) -> None:
    for name, request in container_total(pod, "requests").items():
        if name in _OVERCOMMITTABLE:
            resources.requests.setdefault(name, str(request))
    for name, amount in amounts(resources.limits).items():
        if is_pod_level_resource(name):
            resources.requests.setdefault(name, str(amount))
