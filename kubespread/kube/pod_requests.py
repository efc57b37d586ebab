"""How much a pod asks for: containers, init containers, sidecars, pod-level resources and overhead, exactly.

Source of the rules: k8s.io/component-helpers/resource (PodRequests) and the pod lifecycle's resize status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubespread.kube.api.core import Container, ContainerStatus, Pod
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.quantity import ZERO, Quantity, parse

Amounts = dict[str, Quantity]

HUGEPAGES_PREFIX = "hugepages-"
SIDECAR_RESTART_POLICY = "Always"
RESIZE_PENDING = "PodResizePending"


def amounts(resources: ResourceList) -> Amounts:
    """A resource list as the API server stores it: every quantity rounded up to 1/1000. Raises QuantityError."""
    return {name: parse(given).rounded_up() for name, given in resources.items()}


def is_pod_level_resource(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith(HUGEPAGES_PREFIX)


def is_sidecar(container: Container) -> bool:
    return container.restart_policy == SIDECAR_RESTART_POLICY


def pod_requests(
    pod: Pod, stand_ins: Mapping[str, Quantity] | None = None, *, pod_level: bool = True, use_status: bool = False
) -> Amounts:
    """What the pod asks of its node, by resource name.

    ``stand_ins`` replace a request that a container does not make; ``use_status`` counts a pod that runs with what it
    was given by an in-place resize too.
    """
    total = _containers_total(pod, stand_ins or {}, use_status=use_status)
    spec = pod.spec
    if pod_level and spec.resources is not None:
        total |= _pod_level_requests(pod, use_status=use_status)
    return _sum((total, amounts(spec.overhead)))


def container_total(pod: Pod, kind: str) -> Amounts:
    """Containers, init containers and sidecars aggregated over their ``requests`` or ``limits``."""
    return _aggregate(pod, [amounts(getattr(c.resources, kind)) for c in pod.spec.containers],
                      [amounts(getattr(c.resources, kind)) for c in pod.spec.init_containers])  # fmt: skip


def _containers_total(pod: Pod, stand_ins: Mapping[str, Quantity], *, use_status: bool) -> Amounts:
    statuses = _by_name(pod.status.container_statuses) if use_status else {}
    init_statuses = _by_name(pod.status.init_container_statuses) if use_status else {}
    infeasible = use_status and _resize_infeasible(pod)

    def effective(container: Container, status: ContainerStatus | None) -> Amounts:
        requests = amounts(container.resources.requests)
        if status is not None and status.resources is not None:
            granted = [amounts(status.resources.requests), amounts(status.allocated_resources)]
            requests = _max(granted if infeasible else [requests, *granted])
        return {**stand_ins, **requests} if stand_ins else requests

    return _aggregate(
        pod,
        [effective(container, statuses.get(container.name)) for container in pod.spec.containers],
        [effective(c, init_statuses.get(c.name) if is_sidecar(c) else None) for c in pod.spec.init_containers],
    )


def _aggregate(pod: Pod, containers: Sequence[Amounts], init_containers: Sequence[Amounts]) -> Amounts:
    """A sidecar runs beside all that follows it; a plain init container only beside the sidecars before it."""
    total = _sum(containers)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container, requests in zip(pod.spec.init_containers, init_containers, strict=True):
        if is_sidecar(container):
            total = _sum((total, requests))
            sidecars = _sum((sidecars, requests))
            peak = _max((peak, sidecars))
        else:
            peak = _max((peak, _sum((requests, sidecars))))
    return _max((total, peak)) if peak else total


def _pod_level_requests(pod: Pod, *, use_status: bool) -> Amounts:
    """Pod-level requests replace the containers' sum for their resource, even when they are lower."""
    assert pod.spec.resources is not None
    requested = {name: q for name, q in amounts(pod.spec.resources.requests).items() if is_pod_level_resource(name)}
    if not (use_status and pod.status.resources is not None):
        return requested
    granted = [amounts(pod.status.resources.requests), amounts(pod.status.allocated_resources)]
    effective = _max(granted if _resize_infeasible(pod) else [requested, *granted])
    return {name: effective.get(name, ZERO) for name in requested}


def _resize_infeasible(pod: Pod) -> bool:
    pending = next((condition for condition in pod.status.conditions if condition.type == RESIZE_PENDING), None)
    return pending is not None and pending.reason == "Infeasible"


def _by_name(statuses: Iterable[ContainerStatus]) -> dict[str, ContainerStatus]:
    return {status.name: status for status in statuses}


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, quantity in part.items():
            total[name] = total[name] + quantity if name in total else quantity
    return total


def _max(parts: Iterable[Amounts]) -> Amounts:
    largest: Amounts = {}
    for part in parts:
        for name, quantity in part.items():
            if name not in largest or quantity.nano > largest[name].nano:
                largest[name] = quantity
    return largest
