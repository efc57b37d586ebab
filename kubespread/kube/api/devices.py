"""Objects of dynamic resource allocation, as far as scheduling without allocating devices reads them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import field

from kubespread.kube.api.meta import ApiObject, KubeObject
from kubespread.kube.api.node_terms import NodeSelector


class DeviceClassSpec(KubeObject):
    extended_resource_name: str = ""


class DeviceClass(ApiObject):
    spec: DeviceClassSpec = field(default_factory=DeviceClassSpec)


class ExactDeviceRequest(KubeObject):
    device_class_name: str = ""


class DeviceSubRequest(KubeObject):
    name: str = ""
    device_class_name: str = ""


class DeviceRequest(KubeObject):
    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] = field(default_factory=list)


class DeviceClaim(KubeObject):
    requests: list[DeviceRequest] = field(default_factory=list)


class ResourceClaimSpec(KubeObject):
    devices: DeviceClaim = field(default_factory=DeviceClaim)


class AllocationResult(KubeObject):
    node_selector: NodeSelector | None = None


class ResourceClaimStatus(KubeObject):
    allocation: AllocationResult | None = None


class ResourceClaim(ApiObject):
    spec: ResourceClaimSpec = field(default_factory=ResourceClaimSpec)
    status: ResourceClaimStatus = field(default_factory=ResourceClaimStatus)


def extended_resources(classes: Iterable[DeviceClass]) -> frozenset[str]:
    """Names of resources that device classes provide, with the gate DRAExtendedResource."""
    names = set[str]()
    for device_class in classes:
        names.add(f"deviceclass.resource.kubernetes.io/{device_class.metadata.name}")
        if device_class.spec.extended_resource_name:
            names.add(device_class.spec.extended_resource_name)
    return frozenset(names)
