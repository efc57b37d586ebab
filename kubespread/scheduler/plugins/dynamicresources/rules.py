"""The feature gates that the allocation of devices depends on.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, AllocatorFeatures
"""

from __future__ import annotations

from msgspec import Struct

from kubespread.kube.versions import KubeVersion


class Rules(Struct, frozen=True):
    """Which of them are on."""

    provides_resources: bool = True
    """DRAExtendedResource."""
    taints_count: bool = True
    """DRADeviceTaints."""
    taint_rules_count: bool = True
    """DRADeviceTaintRules."""
    bare_taint_rules_count: bool = False
    """Up to 1.37.0 a DeviceTaintRule without a selector was for every device, since then for none."""
    bad_pools_end_the_search: bool = True
    """Up to 1.37 a request for all devices fails on every node for the incomplete or invalid pool of one."""
    shares_bar_alone: bool = False
    """Since 1.38 nobody gets a device alone that claims share still, though its slice no longer lets it be shared."""
    capacity_names_are_one: bool = False
    """Since 1.38 a request may name a capacity with its driver's name and without, however it is published."""
    distinct_forgets: bool = False
    """Up to 1.36 distinctAttribute compares with the last device of each request, not with all."""
    alternatives_count: bool = True
    """DRAPrioritizedList."""
    admin_access_counts: bool = True
    """DRAAdminAccess."""
    partitions_count: bool = True
    """DRAPartitionableDevices."""
    shares_count: bool = True
    """DRAConsumableCapacity."""
    bindings_count: bool = True
    """DRADeviceBindingConditions, and DRAResourceClaimDeviceStatus, which it depends on."""
    fractions_count: bool = True
    """DRAFractionalCapacityRange: the range of a capacity need not be in whole numbers."""
    miscounts: bool = False
    """Up to 1.36 what was reserved for a device that is then not taken stays reserved: counters, constraints, capacity.
    Counters are kept by the names of pools, whichever driver's; a device shared without capacity counts its counters
    twice; a request for all devices leaves out those that are full; and every node looks at all slices with counters.
    """

    @property
    def knows_sharing(self) -> bool:
        """Whether the allocator is one that knows of shares, distinct attributes and binding conditions at all."""
        return self.shares_count or self.bindings_count

    @classmethod
    def of(cls, version: KubeVersion) -> Rules:
        """Those of a release with its gates."""
        has = version.has
        return cls(
            provides_resources=has("DRAExtendedResource"),
            taints_count=has("DRADeviceTaints"),
            taint_rules_count=has("DRADeviceTaintRules"),
            bare_taint_rules_count=not version.since(37, 1),
            bad_pools_end_the_search=not version.since(38),
            shares_bar_alone=version.since(38),
            capacity_names_are_one=version.since(38),
            distinct_forgets=not version.since(37),
            alternatives_count=has("DRAPrioritizedList"),
            admin_access_counts=has("DRAAdminAccess"),
            partitions_count=has("DRAPartitionableDevices"),
            shares_count=has("DRAConsumableCapacity"),
            bindings_count=has("DRADeviceBindingConditions") and has("DRAResourceClaimDeviceStatus"),
            fractions_count=has("DRAFractionalCapacityRange"),
            miscounts=not version.since(37),
        )
