"""Requests of a pod: containers, init containers, sidecars, pod-level resources and overhead, exactly.

As of 1.37; for resizes in older releases see `kube/admission/gated_fields.py`.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests, AggregateContainerRequests,
    IsPodResizeInfeasible
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kubespread.kube.api.core import Container, Pod
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.name_rules import is_hugepages
from kubespread.kube.quantity import Quantity, parse

Amounts = dict[str, Quantity]

SIDECAR_RESTART_POLICY = "Always"
RESIZE_PENDING = "PodResizePending"


def amounts(resources: ResourceList) -> Amounts:
    """Resource list as the API server stores it, quantities rounded up to 1/1000. Raises QuantityError."""
    return {name: parse(quantity).rounded_up() for name, quantity in resources.items()}


def is_pod_level_resource(name: str) -> bool:
    return name in ("cpu", "memory") or is_hugepages(name)


def is_sidecar(container: Container) -> bool:
    return container.restart_policy == SIDECAR_RESTART_POLICY


def pod_requests(
    pod: Pod, stand_ins: Mapping[str, Quantity] | None = None, *, pod_level: bool = True, use_status: bool = False
) -> Amounts:
    """Requests of the pod by resource name.

    ``stand_ins`` replace missing requests of a container. With ``use_status`` a running pod counts with the largest of
    its requests, the admitted part of an in-place resize and what its containers have, each summed over the pod.
    """
    total = _containers_total(pod, stand_ins or {}, use_status=use_status)
    spec = pod.spec
    if pod_level and spec.resources is not None:
        total |= _pod_level_requests(pod, use_status=use_status)
    return _sum((total, amounts(spec.overhead)))


def container_total(pod: Pod, kind: str) -> Amounts:
    """``requests`` or ``limits`` aggregated over containers, init containers and sidecars."""
    return _aggregate(
        pod,
        [amounts(getattr(c.resources, kind)) for c in pod.spec.containers],
        [amounts(getattr(c.resources, kind)) for c in pod.spec.init_containers],
    )


def pod_total(pod: Pod, kind: str) -> Amounts:
    """`container_total`, overridden by pod-level resources; overhead is left out."""
    own: ResourceList = getattr(pod.spec.resources, kind) if pod.spec.resources is not None else {}
    return container_total(pod, kind) | {
        name: amount for name, amount in amounts(own).items() if is_pod_level_resource(name)
    }


def _containers_total(pod: Pod, stand_ins: Mapping[str, Quantity], *, use_status: bool) -> Amounts:
    def total(view: _View) -> Amounts:
        def requests(container: Container) -> Amounts:
            return {**stand_ins, **amounts(view(container))}

        return _aggregate(
            pod, [requests(c) for c in pod.spec.containers], [requests(c) for c in pod.spec.init_containers]
        )

    if not (use_status and has_resize_status(pod)):
        return total(_spec_requests)
    views = [] if resize_infeasible(pod) else [total(_spec_requests)]
    status = pod.status
    if status.allocated_resources and status.resources is not None and status.resources.requests:
        views += [amounts(status.allocated_resources), amounts(status.resources.requests)]
    else:
        views += [total(view) for view in _granted_views(pod)]
    return _max(views)


_View = Callable[[Container], ResourceList]
"""View of a container's requests: in the spec, allocated or actuated."""


def _spec_requests(container: Container) -> ResourceList:
    return container.resources.requests


def _granted_views(pod: Pod) -> tuple[_View, _View]:
    """Requests that the kubelet has allocated to each container, and requests that it has actuated."""
    statuses = {status.name: status for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)}
    infeasible = resize_infeasible(pod)

    def allocated_requests(container: Container) -> ResourceList:
        status = statuses.get(container.name)
        if status is not None and status.allocated_resources:
            return status.allocated_resources
        return {} if infeasible else container.resources.requests

    def actuated_requests(container: Container) -> ResourceList:
        status = statuses.get(container.name)
        if status is not None and status.resources is not None and status.resources.requests:
            return status.resources.requests
        return allocated_requests(container)

    return allocated_requests, actuated_requests


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
    effective = amounts(pod.spec.resources.requests)
    status = pod.status
    if not any(map(is_pod_level_resource, effective)):
        return {}
    if use_status and (status.resources is not None or status.allocated_resources):
        granted = [amounts(status.resources.requests if status.resources is not None else {})]
        granted.append(amounts(status.allocated_resources))
        effective = _max(granted if resize_infeasible(pod) else [effective, *granted])
    return {name: quantity for name, quantity in effective.items() if is_pod_level_resource(name)}


def has_resize_status(pod: Pod) -> bool:
    """True if the pod's status reports granted resources, or that none can be granted."""
    status = pod.status
    statuses = (*status.container_statuses, *status.init_container_statuses)
    return (
        any(container.resources is not None or container.allocated_resources for container in statuses)
        or status.resources is not None
        or bool(status.allocated_resources)
        or resize_infeasible(pod)
    )


def resize_infeasible(pod: Pod) -> bool:
    """True if the node can never grant the requested resize."""
    pending = next((condition for condition in pod.status.conditions if condition.type == RESIZE_PENDING), None)
    return pending is not None and pending.reason == "Infeasible"


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
