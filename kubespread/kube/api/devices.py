"""Objects of dynamic resource allocation, as far as scheduling without allocating devices reads them."""

from __future__ import annotations

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
