"""Ledger of the devices in use: allocated to claims in the snapshot, and allocated and freed for pods since. Devices
may share the counters of a pool, which its partitions consume, and claims the capacities of a device, which its several
allocations consume.

The resourceclaim controller frees what no pod uses any more.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Reserve, PreBind
Source: pkg/controller/resourceclaim/controller.go, syncClaim
Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go,
    checkAvailableCounters, deallocateCountersForDevice
Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go,
    CmpRequestOverCapacity, calculateConsumedCapacity, violatesPolicy
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import (
    AllocationResult,
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    ResourceClaim,
    ResourceClaimSpec,
)
from kubespread.kube.quantity import INT64_MAX, NANO, Quantity, QuantityText, parse
from kubespread.scheduler.plugins.dynamicresources.devices import (
    ClaimID,
    CounterID,
    DeviceID,
    Facts,
    OfferedDevice,
    Pool,
    PoolID,
    ReachedDevice,
    Rules,
)


class ClaimStatus(Struct, frozen=True):
    """The current state of a claim."""

    allocation: AllocationResult | None
    consumers: int


class CreatedClaim(NamedTuple):
    """A claim created for a pod when it was placed."""

    reference: str
    """Name of the claim in the pod; empty for the claim behind extended resources."""
    spec: ResourceClaimSpec
    allocation: AllocationResult


class Holder(NamedTuple):
    """A pod on a node."""

    namespace: str
    name: str
    uid: str
    node: str

    @classmethod
    def from_pod(cls, pod: Pod, node: str) -> Holder:
        return cls(pod.metadata.namespace, pod.metadata.name, pod.metadata.uid, node)


Consumed = tuple[tuple[str, int], ...]
"""Amounts that an allocation of a shared device consumes of its capacities, in units of 10^-9; empty if unspecified."""


class DeviceLedger(Struct):
    """Use of devices and claims at one time. Copies move separately."""

    consumable_capacity: bool = True
    """True if devices can be shared."""
    in_use: set[DeviceID] = field(default_factory=set)
    """Devices that one claim has exclusively."""
    shares: dict[DeviceID, tuple[Consumed, ...]] = field(default_factory=dict)
    """Allocations of each shared device."""
    _changed: dict[ClaimID, ClaimStatus] = field(default_factory=dict)
    _created: dict[Holder, tuple[tuple[CreatedClaim, ...], ...]] = field(default_factory=dict)
    """Claims created for a pod since, by the pod and its node; a tuple for each copy of the pod."""

    @classmethod
    def build(cls, facts: Facts, rules: Rules) -> DeviceLedger:
        """Ledger as the snapshot has it."""
        ledger = cls(rules.consumable_capacity)
        for claim in facts.claims.values():
            if claim.status.allocation is not None:
                ledger._hold(claim.status.allocation)
        return ledger

    def copy(self) -> DeviceLedger:
        return DeviceLedger(
            self.consumable_capacity, set(self.in_use), dict(self.shares), dict(self._changed), dict(self._created)
        )

    def changed_since(self, before: DeviceLedger) -> set[DeviceID]:
        """Devices that other claims have now."""
        shared = {
            device
            for device in self.shares.keys() | before.shares.keys()
            if self.shares.get(device) != before.shares.get(device)
        }
        return (self.in_use ^ before.in_use) | shared

    def _hold(self, allocation: AllocationResult) -> None:
        for device, consumed in self._held_devices(allocation):
            if consumed is None:
                self.in_use.add(device)
            else:
                self.shares[device] = (*self.shares.get(device, ()), consumed)

    def _free(self, allocation: AllocationResult) -> None:
        for device, consumed in self._held_devices(allocation):
            if consumed is None:
                self.in_use.discard(device)
                continue
            left = list(self.shares.pop(device))
            left.remove(consumed)
            if left:
                self.shares[device] = tuple(left)

    def _held_devices(self, allocation: AllocationResult) -> Iterator[tuple[DeviceID, Consumed | None]]:
        """Devices it holds without admin access, with the consumed amounts; None for one it holds exclusively."""
        for result in allocation.devices.results:
            if not result.admin_access:
                is_shared = self.consumable_capacity and bool(result.share_id)
                amounts = result.consumed_capacity.items() if is_shared else ()
                consumed = tuple(sorted((name, parse(amount).nano) for name, amount in amounts))
                yield DeviceID(result.driver, result.pool, result.device), consumed if is_shared else None

    def status(self, key: ClaimID, claim: ResourceClaim) -> ClaimStatus:
        changed = self._changed.get(key)
        return changed or ClaimStatus(claim.status.allocation, len(claim.status.reserved_for))

    def is_only_for(self, pod: Pod, key: ClaimID, claim: ResourceClaim) -> bool:
        """True if no other pod uses a claim."""
        consumers = self.status(key, claim).consumers
        return consumers == 0 or (
            consumers == 1 and any(consumer.uid == pod.metadata.uid for consumer in claim.status.reserved_for)
        )

    def reserve(self, key: ClaimID, claim: ResourceClaim, allocation: AllocationResult | None) -> None:
        """Record another pod that uses a claim, with its allocation if it had none."""
        status = self.status(key, claim)
        if status.allocation is None and allocation is not None:
            self._hold(allocation)
            status = replace(status, allocation=allocation)
        self._changed[key] = replace(status, consumers=status.consumers + 1)

    def release(self, key: ClaimID, claim: ResourceClaim, *, entirely: bool = False) -> None:
        """Record one user of a claim less, or its deletion (``entirely``); the last user frees its devices."""
        status = self.status(key, claim)
        consumers = 0 if entirely else max(0, status.consumers - 1)
        if consumers == 0 and status.allocation is not None:
            self._free(status.allocation)
            status = replace(status, allocation=None)
        self._changed[key] = replace(status, consumers=consumers)

    def record_created(self, pod: Pod, node: str, claims: tuple[CreatedClaim, ...]) -> None:
        """Record claims created for a pod."""
        holder = Holder.from_pod(pod, node)
        for claim in claims:
            self._hold(claim.allocation)
        self._created[holder] = (*self._created.get(holder, ()), claims)

    def free_created(self, pod: Pod, node: str) -> None:
        """Free the claims created for a pod on its node, the last of its copies first."""
        holder = Holder.from_pod(pod, node)
        *others, last = self._created.get(holder) or ((),)
        for claim in last:
            self._free(claim.allocation)
        self._created[holder] = tuple(others)

    @property
    def created_claims(self) -> Mapping[Holder, Sequence[CreatedClaim]]:
        """Claims created for each existing pod."""
        return {holder: copies[-1] for holder, copies in self._created.items() if copies and copies[-1]}

    @property
    def claim_changes(self) -> Mapping[ClaimID, ClaimStatus]:
        """States of claims that pods have started or stopped using since the snapshot."""
        return self._changed


class Counters(Struct):
    """Counters of pools during a search for devices: amounts left, and amounts reserved by the search."""

    ledger: DeviceLedger
    rules: Rules
    _left: dict[Hashable, dict[CounterID, int]] = field(default_factory=dict)
    _reserved: dict[Hashable, dict[CounterID, int]] = field(default_factory=dict)
    _overdrawn: set[Hashable] = field(default_factory=set)

    def reserve(self, device: OfferedDevice, pool: Pool) -> bool:
        """Reserve a device's counters of its pool; False if one of them has too little."""
        key = self._key(pool)
        if key not in self._left:
            self._left[key], self._reserved[key] = counters_left(pool, self.ledger), {}
            if any(amount < 0 for amount in self._left[key].values()):
                self._overdrawn.add(key)
        left, reserved = self._left[key], self._reserved[key]
        self._add(device, pool, 1)
        # A counter that is overdrawn keeps back all devices, also those that do not consume it.
        if key not in self._overdrawn and all(
            reserved[counter] <= left[counter] for counter, _ in device.consumes if counter in left
        ):
            return True
        self.release(device, pool)
        return False

    def release(self, device: OfferedDevice, pool: Pool) -> None:
        self._add(device, pool, -1)

    def _add(self, device: OfferedDevice, pool: Pool, sign: int) -> None:
        reserved = self._reserved[self._key(pool)]
        for counter, amount in device.consumes:
            reserved[counter] = reserved.get(counter, 0) + sign * amount

    def _key(self, pool: Pool) -> Hashable:
        return pool.id[1] if self.rules.miscounts else pool.id


def counters_left(pool: Pool, ledger: DeviceLedger) -> dict[CounterID, int]:
    """Counters that the allocated devices of a pool leave, negative if overdrawn."""
    left = dict(pool.counters)
    for device in pool.consumers if left else ():
        if device.id in ledger.in_use or device.id in ledger.shares:
            for counter, amount in device.consumes:
                left[counter] -= amount
    return left


def lacking(device: OfferedDevice, left: Mapping[CounterID, int]) -> set[CounterID]:
    """Counters with too little ``left`` for a device, or overdrawn."""
    if not device.consumes:
        return set()
    needs = {counter for counter, amount in device.consumes if amount > left.get(counter, -1)}
    return needs | {counter for counter, amount in left.items() if amount < 0}


def max_used_together(
    candidates: Iterable[ReachedDevice], left: Mapping[PoolID, Mapping[CounterID, int]], rules: Rules
) -> int:
    """Upper bound on devices used together: per counter set, as many as its scarcest counter allows, smallest first."""
    consuming: dict[tuple[PoolID, str], list[OfferedDevice]] = {}
    others = 0
    for device, pool in candidates:
        if device.consumes and pool.id in left and not device.is_shared(rules):
            consuming.setdefault((pool.id, device.consumes[0][0][0]), []).append(device)
        else:
            others += 1
    return others + sum(
        min(
            (
                sum(
                    total <= amount
                    for total in accumulate(sorted(dict(device.consumes).get(counter, 0) for device in devices))
                )
                for counter, amount in left[pool].items()
                if counter[0] == counters
            ),
            default=len(devices),
        )
        for (pool, counters), devices in consuming.items()
    )


Consumption = Mapping[str, Quantity]
"""Amount consumed of each capacity of a device."""


def consumption(
    device: OfferedDevice, requested: Mapping[str, QuantityText | None], rules: Rules
) -> Consumption | None:
    """Amounts that an allocation consumes; None if the device lacks a requested capacity, or allows no such request."""
    capacity = device.device.capacity
    if rules.qualifies_capacity_names:
        requested = {_as_published(name, device): amount for name, amount in requested.items()}
    if not capacity.keys() >= requested.keys():
        return None
    consumed = {}
    for name, offered in capacity.items():
        policy = offered.request_policy
        if name in requested:
            amount = _round_up(parse(requested[name]), policy, rules)
        else:
            default = policy.default if policy is not None and policy.default is not None else offered.value
            amount = parse(default)
        if amount is None or (policy is not None and not _is_valid(amount, policy, rules)):
            return None
        consumed[name] = amount
    return consumed


def _as_published(name: str, device: OfferedDevice) -> str:
    """The name of a capacity with its driver's where the device publishes it so, else without."""
    driver, _, own = name.rpartition("/")
    whole = f"{device.id.driver}/{own}"
    if driver not in ("", device.id.driver):
        return name
    return whole if whole in device.device.capacity else own


def _round_up(requested: Quantity, policy: CapacityRequestPolicy | None, rules: Rules) -> Quantity | None:
    """Request rounded up to an amount that the policy allows; None for a negative or too large one."""
    if requested.nano < 0 and not rules.miscounts:
        return None
    if policy is None:
        return requested
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_in_range(requested, policy.valid_range, parse(policy.valid_range.min), rules)
    return next((value for value in map(parse, policy.valid_values) if requested.nano <= value.nano), requested)


def _rounded_in_range(
    requested: Quantity, valid: CapacityRequestPolicyRange, least: Quantity, rules: Rules
) -> Quantity | None:
    if requested.nano < least.nano:
        return least
    start, step = _scale(least, rules), _scale(parse(valid.step), rules)
    if not step:
        return requested
    steps = -((start - _scale(requested, rules)) // step)
    nano = start + step * steps
    return Quantity(nano, "BinarySI") if nano <= INT64_MAX * NANO else None


def _is_valid(amount: Quantity, policy: CapacityRequestPolicy, rules: Rules) -> bool:
    if policy.default is not None and amount.nano == parse(policy.default).nano:
        return True
    if policy.valid_range is not None:
        most, step = policy.valid_range.max, policy.valid_range.step
        if most is not None and amount.nano > parse(most).nano:
            return False
        beyond, unit = (
            _scale(amount, rules) - _scale(parse(policy.valid_range.min), rules),
            _scale(parse(step), rules),
        )
        return not unit or beyond % unit == 0
    return not policy.valid_values or any(amount.nano == parse(value).nano for value in policy.valid_values)


def _scale(quantity: Quantity, rules: Rules) -> int:
    """Quantity in units of 10^-9, rounded up to a whole number where ranges are in whole numbers."""
    return quantity.nano if rules.fractional_capacity_range else quantity.value * NANO


class Capacities(Struct):
    """Capacities of devices during a search for devices."""

    ledger: DeviceLedger
    rules: Rules
    _reserved: dict[Hashable, dict[str, int]] = field(default_factory=dict)
    _shares: dict[Hashable, int] = field(default_factory=dict)
    """Number of allocations of each device made by the search."""

    def is_in_use(self, device: OfferedDevice) -> bool:
        """True if an allocation of a shared device has already taken its counters."""
        if not self.rules.miscounts:
            return device.id in self.ledger.shares or bool(self._shares.get(device.id))
        return any(self.ledger.shares.get(device.id, ())) or device.id in self._reserved

    def suffices(self, device: OfferedDevice, consumed: Consumption) -> bool:
        """True if a device's capacities have room for an allocation."""
        used = dict(self._reserved.get(device.id, ()))
        for share in self.ledger.shares.get(device.id, ()):
            for name, amount in share:
                used[name] = used.get(name, 0) + amount
        offered = device.device.capacity
        return all(
            amount.nano + used.get(name, 0) <= parse(offered[name].value).nano for name, amount in consumed.items()
        )

    def reserve(self, device: OfferedDevice, consumed: Consumption) -> None:
        reserved = self._reserved.setdefault(device.id, {})
        for name, amount in consumed.items():
            reserved[name] = reserved.get(name, 0) + amount.nano
        self._shares[device.id] = self._shares.get(device.id, 0) + 1

    def release(self, device: OfferedDevice, consumed: Consumption) -> None:
        self._shares[device.id] -= 1
        reserved = self._reserved.get(device.id)
        if not consumed or reserved is None:
            return
        for name, amount in consumed.items():
            reserved[name] -= amount.nano
        if not any(reserved.values()):
            del self._reserved[device.id]
