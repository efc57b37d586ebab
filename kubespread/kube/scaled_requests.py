"""Pods whose requests of cpu and memory are multiplied, as the API server would take them: no request is above its
limit.

Source: pkg/apis/core/validation/validation.go, ValidateResourceRequirements
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Container, ContainerStatus, Pod, PodSpec, PodStatus, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.pod_requests import container_total, has_resize_status
from kubespread.kube.quantity import NANO, parse

_UNITS = {"cpu": NANO // 1000, "memory": NANO}
"""What amounts are rounded up to, in their billionths."""


class Scaling(Struct):
    """Multiplies requests of cpu and memory, each rounded up to the milli-CPU and the byte.

    Everything else that is requested stays as it is, and so do limits, except those that would be less than their
    request, which the API server refuses: they become as large. A limit without a request is a request too.
    """

    factor: Fraction
    raises_limits: bool = False
    """Whether it had to raise a limit so far."""
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
        """What the kubelet has granted, which counts as much as what is asked for."""
        resources = status.resources
        return replace(
            status,
            container_statuses=list(map(self._container_status, status.container_statuses)),
            init_container_statuses=list(map(self._container_status, status.init_container_statuses)),
            resources=None if resources is None else self._requirements(resources),
            allocated_resources={**status.allocated_resources, **self._amounts(status.allocated_resources)},
        )

    def _container_status(self, status: ContainerStatus) -> ContainerStatus:
        resources = status.resources
        return replace(
            status,
            resources=None if resources is None else self._requirements(resources),
            allocated_resources={**status.allocated_resources, **self._amounts(status.allocated_resources)},
        )
