"""Objects of dynamic resource allocation: claims for devices, offers of drivers, and allocations.

The fields of resource.k8s.io/v1; v1beta2 has the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import field

from kubespread.kube.api.cluster_objects import Condition
from kubespread.kube.api.core import NodeSelector
from kubespread.kube.api.meta import ApiObject, Int64, KubeObject, ObjectMeta
from kubespread.kube.quantity import QuantityText

EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"
"""Annotation of a claim that kube-scheduler created for a pod's extended resources."""
DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"


class CELDeviceSelector(KubeObject):
    expression: str = ""


class DeviceSelector(KubeObject):
    cel: CELDeviceSelector | None = None


class DeviceClassSpec(KubeObject):
    selectors: list[DeviceSelector] = field(default_factory=list)
    extended_resource_name: str = ""


class DeviceClass(ApiObject):
    spec: DeviceClassSpec = field(default_factory=DeviceClassSpec)


class DeviceToleration(KubeObject):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class CapacityRequirements(KubeObject):
    requests: dict[str, QuantityText | None] = field(default_factory=dict)


class ExactDeviceRequest(KubeObject):
    """Number and kind of devices; by default ``count`` 1 and ``allocation_mode`` ExactCount."""

    device_class_name: str = ""
    selectors: list[DeviceSelector] = field(default_factory=list)
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] = field(default_factory=list)
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(ExactDeviceRequest):
    """An alternative of a request, without admin access."""

    name: str = ""


class DeviceRequest(KubeObject):
    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] = field(default_factory=list)


class DeviceConstraint(KubeObject):
    requests: list[str] = field(default_factory=list)
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(KubeObject):
    requests: list[DeviceRequest] = field(default_factory=list)
    constraints: list[DeviceConstraint] = field(default_factory=list)


class ResourceClaimSpec(KubeObject):
    devices: DeviceClaim = field(default_factory=DeviceClaim)


class DeviceRequestAllocationResult(KubeObject):
    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    share_id: str = field(default="", name="shareID")
    """ID of this allocation; set if the device allows several."""
    consumed_capacity: dict[str, QuantityText | None] = field(default_factory=dict)
    binding_conditions: list[str] = field(default_factory=list)
    binding_failure_conditions: list[str] = field(default_factory=list)


class DeviceAllocationResult(KubeObject):
    results: list[DeviceRequestAllocationResult] = field(default_factory=list)


class AllocationResult(KubeObject):
    devices: DeviceAllocationResult = field(default_factory=DeviceAllocationResult)
    node_selector: NodeSelector | None = None
    allocation_timestamp: str = ""


class ResourceClaimConsumerReference(KubeObject):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(KubeObject):
    """A driver's status of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    conditions: list[Condition] = field(default_factory=list)


class ResourceClaimStatus(KubeObject):
    allocation: AllocationResult | None = None
    devices: list[AllocatedDeviceStatus] = field(default_factory=list)
    reserved_for: list[ResourceClaimConsumerReference] = field(default_factory=list)


class ResourceClaim(ApiObject):
    spec: ResourceClaimSpec = field(default_factory=ResourceClaimSpec)
    status: ResourceClaimStatus = field(default_factory=ResourceClaimStatus)


class ResourceClaimTemplateSpec(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: ResourceClaimSpec = field(default_factory=ResourceClaimSpec)


class ResourceClaimTemplate(ApiObject):
    spec: ResourceClaimTemplateSpec = field(default_factory=ResourceClaimTemplateSpec)


class DeviceAttribute(KubeObject):
    """One of the fields is set."""

    int_value: Int64 | None = field(default=None, name="int")
    bool_value: bool | None = field(default=None, name="bool")
    string_value: str | None = field(default=None, name="string")
    version_value: str | None = field(default=None, name="version")


class CapacityRequestPolicyRange(KubeObject):
    min: QuantityText | None = None
    max: QuantityText | None = None
    step: QuantityText | None = None


class CapacityRequestPolicy(KubeObject):
    """Amounts of a capacity that a request may consume; a smaller one is rounded up to one of them."""

    default: QuantityText | None = None
    valid_values: list[QuantityText] = field(default_factory=list)
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(KubeObject):
    value: QuantityText | None = None
    request_policy: CapacityRequestPolicy | None = None


class DeviceTaint(KubeObject):
    key: str = ""
    value: str = ""
    effect: str = ""


class Counter(KubeObject):
    value: QuantityText | None = None


class DeviceCounterConsumption(KubeObject):
    counter_set: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)


class CounterSet(KubeObject):
    """Counters that the devices of a pool share, such as the memory of a partitioned GPU."""

    name: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)


class Device(KubeObject):
    name: str = ""
    attributes: dict[str, DeviceAttribute] = field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = field(default_factory=dict)
    taints: list[DeviceTaint] = field(default_factory=list)
    consumes_counters: list[DeviceCounterConsumption] = field(default_factory=list)
    allow_multiple_allocations: bool = False
    binds_to_node: bool = False
    binding_conditions: list[str] = field(default_factory=list)
    binding_failure_conditions: list[str] = field(default_factory=list)
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False


class ResourcePool(KubeObject):
    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(KubeObject):
    driver: str = ""
    pool: ResourcePool = field(default_factory=ResourcePool)
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool | None = None
    devices: list[Device] = field(default_factory=list)
    shared_counters: list[CounterSet] = field(default_factory=list)


class ResourceSlice(ApiObject):
    spec: ResourceSliceSpec = field(default_factory=ResourceSliceSpec)


class DeviceTaintSelector(KubeObject):
    """Selector of devices; an unset field matches any."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(KubeObject):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = field(default_factory=DeviceTaint)


class DeviceTaintRule(ApiObject):
    spec: DeviceTaintRuleSpec = field(default_factory=DeviceTaintRuleSpec)


def extended_resources(classes: Iterable[DeviceClass]) -> dict[str, DeviceClass]:
    """Resources provided by device classes, with the gate DRAExtendedResource, and the class of each.

    Of several classes for one resource the youngest provides it, then the first by name. A class that comes, by
    name, after one that it gives way to does not even provide the resource named after it (extendedresourcecache.go,
    updateResourceName2class).
    """
    provided: dict[str, DeviceClass] = {}
    for device_class in sorted(classes, key=lambda device_class: device_class.metadata.name):
        explicit = device_class.spec.extended_resource_name
        rival = provided.get(explicit) if explicit else None
        if rival is not None and device_class.metadata.creation_timestamp <= rival.metadata.creation_timestamp:
            continue
        if explicit:
            provided[explicit] = device_class
        provided[f"{DEVICE_CLASS_PREFIX}{device_class.metadata.name}"] = device_class
    return provided
