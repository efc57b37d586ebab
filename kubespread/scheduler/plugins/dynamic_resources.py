"""DynamicResources without the allocation of devices: what the pod's claims and their classes alone already decide.

Source of the rules: kube-scheduler 1.36, dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, DeviceRequest, ResourceClaim
from kubespread.kube.api.node_terms import NodeSelector
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import everywhere, matches_node_selector
from kubespread.scheduler.plugin import Code, Fixed, State, Status, Verdicts

NOT_AVAILABLE = Status(Code.UNRESOLVABLE, ("resourceclaim not available on the node",))


class DynamicResources:
    name: ClassVar[str] = "DynamicResources"

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        claims = []
        # Claims that a template generates do not exist before the pod does.
        for name in filter(None, (wanted.resource_claim_name for wanted in pod.spec.resource_claims)):
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
    found = (
        claim
        for claim in cluster.objects.resource_claims
        if (claim.metadata.namespace, claim.metadata.name) == (namespace, name)
    )
    return next(found, None)


def _unknown_classes(cluster: Cluster, claim: ResourceClaim) -> Iterator[tuple[str, str]]:
    """Requests of a claim still to be allocated whose class is missing; nothing to go by where no class was listed."""
    known = {found.metadata.name for found in cluster.objects.device_classes}
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
