"""Who has which devices: what the claims of the snapshot hold, and what pods took and gave back since.

Source of the rules: kube-scheduler, dynamicresources/dynamicresources.go (Reserve, PreBind), and the
resourceclaim controller, which frees what no pod uses any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import AllocationResult, ResourceClaim, ResourceClaimSpec
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimKey, DeviceID, Facts, devices_of


@dataclass(frozen=True, slots=True)
class ClaimStatus:
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


@dataclass
class Ledger:
    """Devices and claims at one time. Copies are moved apart."""

    in_use: set[DeviceID] = field(default_factory=set)
    _changed: dict[ClaimKey, ClaimStatus] = field(default_factory=dict)
    _made: dict[Holder, tuple[tuple[MadeClaim, ...], ...]] = field(default_factory=dict)
    """The devices of claims that were made for a pod since, by the pod and its node; copies of a pod have several."""

    @classmethod
    def of(cls, facts: Facts) -> Ledger:
        """As the snapshot has it."""
        return cls(set(facts.allocated))

    def copy(self) -> Ledger:
        return Ledger(set(self.in_use), dict(self._changed), dict(self._made))

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
            self.in_use.update(devices_of(allocation))
            status = replace(status, allocation=allocation)
        self._changed[key] = replace(status, consumers=status.consumers + 1)

    def release(self, key: ClaimKey, claim: ResourceClaim, *, entirely: bool = False) -> None:
        """One pod less uses a claim, or it goes ``entirely``, with its pod; the last one leaves it unallocated."""
        status = self.status(key, claim)
        consumers = 0 if entirely else max(0, status.consumers - 1)
        if consumers == 0 and status.allocation is not None:
            self.in_use.difference_update(devices_of(status.allocation))
            status = replace(status, allocation=None)
        self._changed[key] = replace(status, consumers=consumers)

    def take(self, pod: Pod, node: str, claims: tuple[MadeClaim, ...]) -> None:
        """Claims that were made for a pod; a pod without such claims has none."""
        holder = Holder.of(pod, node)
        for claim in claims:
            self.in_use.update(devices_of(claim.allocation))
        self._made[holder] = (*self._made.get(holder, ()), claims)

    def give_back(self, pod: Pod, node: str) -> None:
        """Free what a pod took when it came to its node, the last of its copies first."""
        holder = Holder.of(pod, node)
        *others, last = self._made.get(holder) or ((),)
        for claim in last:
            self.in_use.difference_update(devices_of(claim.allocation))
        self._made[holder] = tuple(others)

    @property
    def made(self) -> Mapping[Holder, Sequence[MadeClaim]]:
        """The claims made for each pod that is still there."""
        return {holder: copies[-1] for holder, copies in self._made.items() if copies and copies[-1]}

    @property
    def changed(self) -> Mapping[ClaimKey, ClaimStatus]:
        """The states of claims that pods have started or stopped using since the snapshot."""
        return self._changed
