"""Requests of a pod: containers, init containers, sidecars, pod-level resources and overhead, exactly.

As of 1.37. What older releases make of a resize: `kube/admission/gated_fields.py`. Pods whose requests of cpu and
memory are multiplied, as the API server would take them: no request is above its limit.

Source: staging/src/k8s.io/component-helpers/resource/helpers.go, PodRequests, AggregateContainerRequests,
    IsPodResizeInfeasible
Source: pkg/apis/core/validation/validation.go, ValidateResourceRequirements
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Container, ContainerStatus, Pod, PodSpec, PodStatus, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.quantity import NANO, Quantity, parse

S = TypeVar("S", PodStatus, ContainerStatus)

_UNITS = {"cpu": NANO // 1000, "memory": NANO}
"""Units that amounts are rounded up to, in their billionths."""


class Scaling(Struct):
    """Multiplies requests of cpu and memory, each rounded up to the milli-CPU and the byte.

    Everything else that is requested stays as it is, and so do limits, except those that would be less than their
    request, which the API server refuses: they become as large. A limit without a request is a request too.
    """

    factor: Fraction
    raises_limits: bool = False
    """True if it had to raise a limit so far."""
    _done: dict[int, tuple[list[Container], list[Container]]] = field(default_factory=dict)
    """By the containers before, which pods of one template may share and which are kept for that."""

    def pod(self, pod: Pod) -> Pod:
        status = self._status(pod.status) if has_resize_status(pod) else pod.status
        return replace(pod, spec=self.spec(pod.spec), status=status)

    def spec(self, spec: PodSpec) -> PodSpec:
        after = replace(
            spec, containers=self._containers(spec.containers), init_containers=self._containers(spec.init_containers)
        )
        if spec.resources is None:
            return after
        resources = self._requirements(spec.resources)
        # Rounded one by one, containers may ask for more than their pod.
        total = container_total(Pod(spec=after), "requests")
        for name in _UNITS.keys() & resources.requests.keys() & total.keys():
            if total[name].nano > parse(resources.requests[name]).nano:
                resources = replace(resources, requests={**resources.requests, name: str(total[name])})
        return replace(after, resources=self._with_limits(resources))

    def amount(self, name: str, quantity: str | float | None) -> str:
        """A request of cpu or memory multiplied: ``1600m``, ``858993460``."""
        units = -(-parse(quantity).nano * self.factor // _UNITS[name])
        return f"{units}m" if name == "cpu" else str(units)

    def _containers(self, containers: list[Container]) -> list[Container]:
        if id(containers) not in self._done:
            scaled = [replace(each, resources=self._requirements(each.resources)) for each in containers]
            self._done[id(containers)] = containers, scaled
        return self._done[id(containers)][1]

    def _requirements(self, resources: ResourceRequirements) -> ResourceRequirements:
        before = {name: resources.limits[name] for name in _UNITS if name in resources.limits} | resources.requests
        return self._with_limits(replace(resources, requests={**resources.requests, **self._amounts(before)}))

    def _with_limits(self, resources: ResourceRequirements) -> ResourceRequirements:
        raised = {
            name: resources.requests[name]
            for name in _UNITS.keys() & resources.requests.keys() & resources.limits.keys()
            if parse(resources.requests[name]).nano > parse(resources.limits[name]).nano
        }
        self.raises_limits |= bool(raised)
        return replace(resources, limits={**resources.limits, **raised}) if raised else resources

    def _amounts(self, given: ResourceList) -> ResourceList:
        return {name: self.amount(name, given[name]) for name in _UNITS if name in given}

    def _status(self, status: PodStatus) -> PodStatus:
        return replace(
            self._granted(status),
            container_statuses=list(map(self._granted, status.container_statuses)),
            init_container_statuses=list(map(self._granted, status.init_container_statuses)),
        )

    def _granted(self, status: S) -> S:
        """Add the stand-ins to what the kubelet has granted, which counts as much as what is asked for."""
        resources = status.resources
        return replace(
            status,
            resources=None if resources is None else self._requirements(resources),
            allocated_resources={**status.allocated_resources, **self._amounts(status.allocated_resources)},
        )


Amounts = dict[str, Quantity]

HUGEPAGES_PREFIX = "hugepages-"
SIDECAR_RESTART_POLICY = "Always"
RESIZE_PENDING = "PodResizePending"


def amounts(resources: ResourceList) -> Amounts:
    """A resource list as the API server stores it: every quantity rounded up to 1/1000. Raises QuantityError."""
    return {name: parse(quantity).rounded_up() for name, quantity in resources.items()}


def is_pod_level_resource(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith(HUGEPAGES_PREFIX)


def is_sidecar(container: Container) -> bool:
    return container.restart_policy == SIDECAR_RESTART_POLICY


def pod_requests(
    pod: Pod, stand_ins: Mapping[str, Quantity] | None = None, *, pod_level: bool = True, use_status: bool = False
) -> Amounts:
    """Sum what the pod requests, by resource name.

    ``stand_ins`` replace a request that a container does not make. With ``use_status`` a running pod counts with the
    largest of its requests, the admitted part of an in-place resize and what its containers have, each summed over the
    pod.
    """
    total = _containers_total(pod, stand_ins or {}, use_status=use_status)
    spec = pod.spec
    if pod_level and spec.resources is not None:
        total |= _pod_level_requests(pod, use_status=use_status)
    return _sum((total, amounts(spec.overhead)))


def container_total(pod: Pod, kind: str) -> Amounts:
    """Containers, init containers and sidecars aggregated over their ``requests`` or ``limits``."""
    return _aggregate(
        pod,
        [amounts(getattr(c.resources, kind)) for c in pod.spec.containers],
        [amounts(getattr(c.resources, kind)) for c in pod.spec.init_containers],
    )


def _containers_total(pod: Pod, stand_ins: Mapping[str, Quantity], *, use_status: bool) -> Amounts:
    def total(view: _View) -> Amounts:
        def requests(container: Container) -> Amounts:
            return {**stand_ins, **amounts(view(container))}

        return _aggregate(
            pod, [requests(c) for c in pod.spec.containers], [requests(c) for c in pod.spec.init_containers]
        )

    if not (use_status and has_resize_status(pod)):
        return total(_written)
    views = [] if resize_infeasible(pod) else [total(_written)]
    status = pod.status
    if status.allocated_resources and status.resources is not None and status.resources.requests:
        views += [amounts(status.allocated_resources), amounts(status.resources.requests)]
    else:
        views += [total(view) for view in _granted_views(pod)]
    return _max(views)


_View = Callable[[Container], ResourceList]
"""Requests of a container of a pod, looked at in one way."""


def _written(container: Container) -> ResourceList:
    return container.resources.requests


def _granted_views(pod: Pod) -> tuple[_View, _View]:
    """Requests that the kubelet has admitted for each container, and those that the container really has."""
    statuses = {status.name: status for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)}
    infeasible = resize_infeasible(pod)

    def allocated(container: Container) -> ResourceList:
        status = statuses.get(container.name)
        if status is not None and status.allocated_resources:
            return status.allocated_resources
        return {} if infeasible else container.resources.requests

    def actuated(container: Container) -> ResourceList:
        status = statuses.get(container.name)
        if status is not None and status.resources is not None and status.resources.requests:
            return status.resources.requests
        return allocated(container)

    return allocated, actuated


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
    """True if the pod's status says anything of what was granted, or that nothing can be."""
    status = pod.status
    statuses = (*status.container_statuses, *status.init_container_statuses)
    return (
        any(container.resources is not None or container.allocated_resources for container in statuses)
        or status.resources is not None
        or bool(status.allocated_resources)
        or resize_infeasible(pod)
    )


def resize_infeasible(pod: Pod) -> bool:
    """True if the node can never grant the resize that is asked for."""
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
