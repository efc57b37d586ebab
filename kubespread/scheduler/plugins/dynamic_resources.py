"""DynamicResources without the allocation of devices: what the pod's claims and their classes alone already decide.

Source of the rules: kube-scheduler 1.36, dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, DeviceRequest, ResourceClaim, extended_resources
from kubespread.kube.api.node_terms import NodeSelector
from kubespread.kube.durations import SECOND, in_json, nanoseconds
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import everywhere, matches_node_selector
from kubespread.scheduler.plugin import Code, Fixed, Plugin, State, Status, Verdicts
from kubespread.scheduler.specification import (
    JUDGES,
    POST_FILTER,
    PRE_BIND,
    PRE_ENQUEUE,
    RESERVE,
    SCORE,
    Args,
    Specification,
    Unprepared,
)

NOT_AVAILABLE = Status(Code.UNRESOLVABLE, ("resourceclaim not available on the node",))


@dataclass(frozen=True)
class DynamicResources(Plugin):
    name: ClassVar[str] = "DynamicResources"

    provides_extended_resources: bool = True
    """With the gate DRAExtendedResource."""

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        objects = cluster.objects
        if any(claim.resource_claim_name for claim in pod.spec.resource_claims):
            yield from objects.gap(ResourceClaim, "where the pod's resource claims are allocated is not evaluated")
            if objects.knows(ResourceClaim):
                consequence = "whether the classes that the pod's resource claims ask for exist is not evaluated"
                yield from objects.gap(DeviceClass, consequence)

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        if pod.spec.resource_claims:
            yield (
                "DynamicResources: no devices are allocated to the pod's resource claims; take the nodes that fit as "
                "an upper bound"
            )
        provided = extended_resources(cluster.objects.device_classes) & pod_requests(pod).keys()
        if self.provides_extended_resources and provided:
            names = ", ".join(sorted(provided))
            yield f"DynamicResources: {names} may come from devices; nodes that offer none themselves are taken to fit"

    def signature(self, pod: Pod) -> Hashable:
        return None if pod.spec.resource_claims else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        claims = []
        # Claims that a template generates do not exist before the pod does.
        for name in filter(None, (reference.resource_claim_name for reference in pod.spec.resource_claims)):
            claim = _find(cluster, pod.metadata.namespace, name)
            if claim is not None:
                claims.append(claim)
            elif cluster.objects.knows(ResourceClaim):
                return Status(Code.UNRESOLVABLE, (f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"',))
        for claim in claims:
            for request, device_class in _unknown_classes(cluster, claim):
                return Status(Code.UNRESOLVABLE, (f"request {request}: device class {device_class} does not exist",))
        allocations = [claim.status.allocation.node_selector for claim in claims if claim.status.allocation is not None]
        return DynamicResourcesState(cluster.nodes, [selector for selector in allocations if selector is not None])


def _find(cluster: Cluster, namespace: str, name: str) -> ResourceClaim | None:
    named = (
        claim
        for claim in cluster.objects.resource_claims
        if (claim.metadata.namespace, claim.metadata.name) == (namespace, name)
    )
    return next(named, None)


def _unknown_classes(cluster: Cluster, claim: ResourceClaim) -> Iterator[tuple[str, str]]:
    """Requests of a claim still to be allocated whose class is missing; nothing to go by where no class was listed."""
    known = {device_class.metadata.name for device_class in cluster.objects.device_classes}
    if not cluster.objects.knows(DeviceClass) or claim.status.allocation is not None:
        return
    for request in claim.spec.devices.requests:
        yield from ((name, device_class) for name, device_class in _classes(request) if device_class not in known)


def _classes(request: DeviceRequest) -> Iterator[tuple[str, str]]:
    if request.exactly is not None:
        yield request.name, request.exactly.device_class_name
    for alternative in request.first_available:
        yield f"{request.name}/{alternative.name}", alternative.device_class_name


@dataclass
class DynamicResourcesState(Fixed):
    nodes: Nodes
    allocated_to: Sequence[NodeSelector]

    def filter(self) -> Verdicts | None:
        if not self.allocated_to:
            return None
        available = everywhere(self.nodes)
        for selector in self.allocated_to:
            available &= matches_node_selector(self.nodes, selector)
        return Verdicts.rejecting(~available, NOT_AVAILABLE)

    def score(self) -> Counts:
        return np.zeros(len(self.nodes), dtype=np.int64)


class DynamicResourcesArgs(Args):
    filter_timeout: str | None = None
    binding_timeout: str | None = None

    @property
    def durations(self) -> Mapping[str, str | None]:
        return {"filterTimeout": self.filter_timeout, "bindingTimeout": self.binding_timeout}

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.filter_timeout is not None:
            if not version.has("DRASchedulerFilterTimeout"):
                yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
            elif nanoseconds(self.filter_timeout) < 0:
                yield invalid(f"{path}.filterTimeout", in_json(self.filter_timeout), "must be zero or positive")
        if self.binding_timeout is not None:
            # The other gate of the text is on wherever this one can be.
            if not version.has("DRADeviceBindingConditions"):
                detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
                yield forbidden(f"{path}.bindingTimeout", detail)
            elif nanoseconds(self.binding_timeout) < SECOND:
                yield invalid(f"{path}.bindingTimeout", in_json(self.binding_timeout), "must be at least 1 second")


SPECIFICATION = Specification(
    name=DynamicResources.name,
    points=JUDGES | {PRE_ENQUEUE, POST_FILTER, SCORE, RESERVE, PRE_BIND},
    make=lambda setting: DynamicResources(setting.version.has("DRAExtendedResource")),
    args=DynamicResourcesArgs,
    weight=2,
    gate="DynamicResourceAllocation",
    scores_since=35,
    unprepared=Unprepared(filter="not found", score_without_pre_filter="not found", reserve="not found"),
)
