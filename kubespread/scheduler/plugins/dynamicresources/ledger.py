"""Who has which devices: what the claims of the snapshot hold, and what pods took and gave back since.

The resourceclaim controller frees what no pod uses any more.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Reserve, PreBind
Source: pkg/controller/resourceclaim/controller.go, syncClaim
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import AllocationResult, ResourceClaim, ResourceClaimSpec
from kubespread.kube.quantity import parse
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimKey, DeviceID, Facts
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


class ClaimStatus(Struct, frozen=True):
    """The current state of a claim."""

    allocation: AllocationResult | None
    consumers: int


class MadeClaim(NamedTuple):
    """A claim that was made for a pod when it was placed."""

    reference: str
    """The pod's own name for it; empty for the claim behind extended resources."""
    spec: ResourceClaimSpec
    allocation: AllocationResult


class Holder(NamedTuple):
    """A pod on a node."""

    namespace: str
    name: str
    uid: str
    node: str

    @classmethod
    def of(cls, pod: Pod, node: str) -> Holder:
        return cls(pod.metadata.namespace, pod.metadata.name, pod.metadata.uid, node)


Consumed = tuple[tuple[str, int], ...]
"""What one allocation of a shared device consumes of its capacities, in units of 10^-9; empty where it says nothing."""


class Ledger(Struct):
    """Devices and claims at one time. Copies are moved apart."""

    shares_count: bool = True
    """Whether a device can be shared; otherwise each is its claim's alone."""
    in_use: set[DeviceID] = field(default_factory=set)
    """Devices that one claim has for itself."""
    shares: dict[DeviceID, tuple[Consumed, ...]] = field(default_factory=dict)
    """The allocations of each device that several claims share."""
    _changed: dict[ClaimKey, ClaimStatus] = field(default_factory=dict)
    _made: dict[Holder, tuple[tuple[MadeClaim, ...], ...]] = field(default_factory=dict)
    """The devices of claims that were made for a pod since, by the pod and its node; copies of a pod have several."""

    @classmethod
    def of(cls, facts: Facts, rules: Rules) -> Ledger:
        """As the snapshot has it."""
        ledger = cls(rules.shares_count)
        for claim in facts.claims.values():
            if claim.status.allocation is not None:
                ledger._hold(claim.status.allocation)
        return ledger

    def copy(self) -> Ledger:
        return Ledger(self.shares_count, set(self.in_use), dict(self.shares), dict(self._changed), dict(self._made))

    def is_allocated(self, device: DeviceID) -> bool:
        return device in self.in_use or device in self.shares

    def changed_since(self, before: Ledger) -> set[DeviceID]:
        """The devices that others have now."""
        shared = {
            device
            for device in self.shares.keys() | before.shares.keys()
            if self.shares.get(device) != before.shares.get(device)
        }
        return (self.in_use ^ before.in_use) | shared

    def _hold(self, allocation: AllocationResult) -> None:
        for device, consumed in self._held(allocation):
            if consumed is None:
                self.in_use.add(device)
            else:
                self.shares[device] = (*self.shares.get(device, ()), consumed)

    def _free(self, allocation: AllocationResult) -> None:
        for device, consumed in self._held(allocation):
            if consumed is None:
                self.in_use.discard(device)
                continue
            left = list(self.shares.pop(device))
            left.remove(consumed)
            if left:
                self.shares[device] = tuple(left)

    def _held(self, allocation: AllocationResult) -> Iterator[tuple[DeviceID, Consumed | None]]:
        """The devices that it holds, which are those without admin access; None where one is held exclusively."""
        for result in allocation.devices.results:
            if not result.admin_access:
                is_shared = self.shares_count and bool(result.share_id)
                amounts = result.consumed_capacity.items() if is_shared else ()
                consumed = tuple(sorted((name, parse(amount).nano) for name, amount in amounts))
                yield DeviceID(result.driver, result.pool, result.device), consumed if is_shared else None

    def status(self, key: ClaimKey, claim: ResourceClaim) -> ClaimStatus:
        changed = self._changed.get(key)
        return changed or ClaimStatus(claim.status.allocation, len(claim.status.reserved_for))

    def is_only_for(self, pod: Pod, key: ClaimKey, claim: ResourceClaim) -> bool:
        """Whether no pod uses a claim, or only this one."""
        consumers = self.status(key, claim).consumers
        return consumers == 0 or (
            consumers == 1 and any(consumer.uid == pod.metadata.uid for consumer in claim.status.reserved_for)
        )

    def reserve(self, key: ClaimKey, claim: ResourceClaim, allocation: AllocationResult | None) -> None:
        """One more pod uses a claim, which is allocated now if it was not."""
        status = self.status(key, claim)
        if status.allocation is None and allocation is not None:
            self._hold(allocation)
            status = replace(status, allocation=allocation)
        self._changed[key] = replace(status, consumers=status.consumers + 1)

    def release(self, key: ClaimKey, claim: ResourceClaim, *, entirely: bool = False) -> None:
        """One pod less uses a claim, or it goes ``entirely``, with its pod; the last one leaves it unallocated."""
        status = self.status(key, claim)
        consumers = 0 if entirely else max(0, status.consumers - 1)
        if consumers == 0 and status.allocation is not None:
            self._free(status.allocation)
            status = replace(status, allocation=None)
        self._changed[key] = replace(status, consumers=consumers)

    def take(self, pod: Pod, node: str, claims: tuple[MadeClaim, ...]) -> None:
        """Claims that were made for a pod; a pod without such claims has none."""
        holder = Holder.of(pod, node)
        for claim in claims:
            self._hold(claim.allocation)
        self._made[holder] = (*self._made.get(holder, ()), claims)

    def give_back(self, pod: Pod, node: str) -> None:
        """Free what a pod took when it came to its node, the last of its copies first."""
        holder = Holder.of(pod, node)
        *others, last = self._made.get(holder) or ((),)
        for claim in last:
            self._free(claim.allocation)
        self._made[holder] = tuple(others)

    @property
    def made(self) -> Mapping[Holder, Sequence[MadeClaim]]:
        """The claims made for each pod that is still there."""
        return {holder: copies[-1] for holder, copies in self._made.items() if copies and copies[-1]}

    @property
    def changed(self) -> Mapping[ClaimKey, ClaimStatus]:
        """The states of claims that pods have started or stopped using since the snapshot."""
        return self._changed
