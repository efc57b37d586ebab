"""Services, and how many endpoints that are ready each domain has.

Source: staging/src/k8s.io/endpointslice/reconciler.go, reconcileByAddressType
Source: staging/src/k8s.io/endpointslice/utils.go, podToEndpoint
Source: staging/src/k8s.io/endpointslice/util/controller_utils.go, ShouldPodBeInEndpoints
Source: pkg/controller/endpointslice/endpointslice_controller.go, syncService
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from msgspec import Struct

from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod, Service
from kubespread.kube.api.kinds import SERVICE
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_ready, is_terminating
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.questions.audit.effects import pods_in_domains
from kubespread.questions.audit.report import AuditedService
from kubespread.scheduler.cluster.labels import ABSENT
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.owners import in_order

_EXTERNAL = "ExternalName"


def _selector(service: Service) -> dict[str, str]:
    """Empty where nobody but whoever writes its EndpointSlices knows the endpoints."""
    return {} if service.spec.type == _EXTERNAL else dict(service.spec.selector or {})


class Backed(Struct, frozen=True):
    """A Service with the pods that may be its endpoints."""

    service: Service
    pods: Sequence[Pod]
    """Those that it selects that have a node and have not ended."""

    @classmethod
    def of(cls, service: Service, pods: Mapping[str, Sequence[Pod]], world: World) -> Self:
        """``pods`` are by namespace. One on a node that is gone is an endpoint only of a Service that publishes all."""
        wanted, nodes = _selector(service), world.living.nodes.index
        return cls(
            service,
            [
                pod
                for pod in (pods.get(service.metadata.namespace, ()) if wanted else ())
                if wanted.items() <= pod.metadata.labels.items()
                and (pod.spec.node_name in nodes or service.spec.publish_not_ready_addresses)
            ],
        )

    @property
    def name(self) -> WorkloadName:
        metadata = self.service.metadata
        return WorkloadName(SERVICE.kind, metadata.namespace, metadata.name)

    def workloads(self, world: World) -> list[WorkloadName]:
        """Whose pods these are."""
        return sorted({workload_of(world, pod) for pod in self.pods}, key=in_order)

    def counted(self, world: World, key: str) -> AuditedService:
        """Its endpoints by domain of ``key``."""
        index, column = world.living.nodes.index, world.living.nodes.label(key)
        ready = [pod.spec.node_name for pod in self.pods if self._serves(pod)]
        # An empty zone is none to an EndpointSlice.
        empty = column.index.get("")
        inside = {name for name in ready if name in index and column.codes[index[name]] not in (ABSENT, empty)}
        positions = [index[name] for name in ready if name in inside]
        return AuditedService(
            service=self.name,
            selector=_selector(self.service) or None,
            publishes_not_ready=self.service.spec.publish_not_ready_addresses,
            ready=len(ready),
            not_ready=len(self.pods) - len(ready),
            domains=tuple(domain for domain in pods_in_domains(world.cluster, key, positions) if domain.value),
            nodes_elsewhere=tuple(sorted({*ready} - inside)),
            workloads=tuple(self.workloads(world)),
        )

    def _serves(self, pod: Pod) -> bool:
        """Whether its endpoint is ready."""
        return self.service.spec.publish_not_ready_addresses or (is_ready(pod) and not is_terminating(pod))


def backed(services: Sequence[WorkloadName], world: World) -> Iterator[Backed]:
    """Each of the named Services. Raises UsageError, a line for each that is not there."""
    objects = world.workloads.objects
    found = [objects.named(Service, name.name, name.namespace) for name in services]
    if missing := [name for name, service in zip(services, found, strict=True) if service is None]:
        raise UsageError(*(_not_found(world, name) for name in missing))
    of_namespace: dict[str, list[Pod]] = {}
    for pod in world.book:
        if pod.spec.node_name and pod.status.phase not in ENDED_PHASES:
            of_namespace.setdefault(pod.metadata.namespace, []).append(pod)
    yield from (Backed.of(service, of_namespace, world) for service in found if service is not None)


def _not_found(world: World, name: WorkloadName) -> str:
    objects = world.workloads.objects
    if unread := [*objects.gap(Service, f"{name.called} is not known")]:
        return unread[0]
    services = objects.of(Service)
    elsewhere = sorted(service.metadata.namespace for service in services if service.metadata.name == name.name)
    here = [service.metadata.name for service in services if service.metadata.namespace == name.namespace]
    hint = f"; there is one in namespace {', '.join(elsewhere)}" if elsewhere else alternatives(name.name, here)
    return f"{SERVICE.resource} {quote(name.name)} not found in namespace {name.namespace}{hint}"
