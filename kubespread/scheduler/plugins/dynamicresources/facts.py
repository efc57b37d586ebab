"""What the objects of a cluster say about devices, looked up by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import (
    EXTENDED_RESOURCE_CLAIM,
    AllocationResult,
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    extended_resources,
)
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.plugins.dynamicresources.devices import DeviceID, Inventory

_MEMO = "devices"


class ClaimKey(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Facts:
    """Classes, claims, templates and slices of one cluster, and its nodes."""

    def __init__(self, objects: ClusterObjects, nodes: Nodes) -> None:
        self.objects, self.nodes = objects, nodes

    @classmethod
    def of(cls, objects: ClusterObjects, nodes: Nodes, memo: dict[Hashable, object]) -> Facts:
        """The same for everyone who asks about these nodes; ``memo`` keeps it."""
        known = memo.get(_MEMO)
        if not isinstance(known, Facts):
            known = memo[_MEMO] = cls(objects, nodes)
        return known

    @cached_property
    def classes(self) -> Mapping[str, DeviceClass]:
        return {each.metadata.name: each for each in self.objects.of(DeviceClass)}

    @cached_property
    def by_resource(self) -> Mapping[str, DeviceClass]:
        """The class behind each resource that stands for devices."""
        return extended_resources(self.objects.of(DeviceClass))

    @cached_property
    def claims(self) -> Mapping[ClaimKey, ResourceClaim]:
        return {ClaimKey(each.metadata.namespace, each.metadata.name): each for each in self.objects.of(ResourceClaim)}

    @cached_property
    def templates(self) -> Mapping[ClaimKey, ResourceClaimTemplate]:
        return {
            ClaimKey(each.metadata.namespace, each.metadata.name): each
            for each in self.objects.of(ResourceClaimTemplate)
        }

    @cached_property
    def inventory(self) -> Inventory:
        return Inventory(self.objects.of(ResourceSlice), self.nodes, self.objects.of(DeviceTaintRule))

    @cached_property
    def allocated(self) -> frozenset[DeviceID]:
        """The devices that claims hold; admin access holds none."""
        return frozenset(
            device
            for claim in self.objects.of(ResourceClaim)
            if claim.status.allocation is not None
            for device in devices_of(claim.status.allocation)
        )

    @cached_property
    def _made_for_resources(self) -> Mapping[tuple[str, str, str], ClaimKey]:
        """The claims that stand for extended resources, by namespace, name and UID of their pod."""
        return {
            (key.namespace, owner.name, owner.uid): key
            for key, claim in self.claims.items()
            if claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true"
            for owner in claim.metadata.owner_references
            if owner.controller
        }

    def made_for_resources_of(self, pod: Pod) -> ClaimKey | None:
        """The claim that an earlier scheduling cycle made for the extended resources of this very pod."""
        return self._made_for_resources.get((pod.metadata.namespace, pod.metadata.name, pod.metadata.uid))


def devices_of(allocation: AllocationResult) -> Iterator[DeviceID]:
    """The devices that nobody else may have."""
    for result in allocation.devices.results:
        if not result.admin_access:
            yield DeviceID(result.driver, result.pool, result.device)
