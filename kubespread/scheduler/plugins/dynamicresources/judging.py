"""Judges one node for a pod with claims: which devices it would get there, or why it gets none.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Filter, PostFilter, computeScore
Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go,
    createNodeSelector
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from uuid import NAMESPACE_OID, uuid5

from msgspec import Struct, field

from kubespread.kube.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubespread.kube.api.devices import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimSpec,
)
from kubespread.kube.selector import NODE_NAME_FIELD
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.node_matching import everywhere, matches_node_selector, nowhere
from kubespread.scheduler.plugin import Code, Status
from kubespread.scheduler.plugins.dynamicresources.allocation import Allocated, SearchTooLongError, allocate
from kubespread.scheduler.plugins.dynamicresources.claims import (
    IN_MEMORY_NAME,
    AllocationError,
    Binding,
    ClaimToAllocate,
    NodeAllocationError,
    PodClaims,
    claim_for,
    claim_to_allocate,
)
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimKey, Facts, Inventory, Pools
from kubespread.scheduler.plugins.dynamicresources.ledger import Ledger
from kubespread.scheduler.plugins.dynamicresources.rules import Rules

NOT_AVAILABLE = Status(Code.UNRESOLVABLE, ("resourceclaim not available on the node",))
NOT_ENOUGH = Status(Code.UNRESOLVABLE, ("cannot allocate all claims",))
_NO_SUCH_RESOURCE = Status(Code.UNRESOLVABLE, ("cannot fit resource",))
_LEFT_OVER = Status(Code.UNRESOLVABLE, ("cannot schedule extended resource claim",))
_TIMED_OUT = Status(Code.UNRESOLVABLE, ("timed out trying to allocate devices",))
_INVALID_POOLS = Status(Code.UNRESOLVABLE, ("invalid resource pools were encountered",))
_FAILED = 'running "DynamicResources" filter plugin: '


class Outcome(Struct, frozen=True):
    """The result for a pod's claims on one node."""

    status: Status | None = None
    """Why the node is rejected; None where it fits."""
    allocated: Sequence[Sequence[Allocated]] | None = None
    """The devices of every claim that had none, in their order; None where nothing had to be allocated."""
    score: int = 0


_FITS = Outcome()


class Judge(Struct, frozen=True, dict=True):
    """A pod's claims, ready to be tried on every node."""

    pod: Pod
    facts: Facts
    claims: PodClaims
    rules: Rules
    _allocations: dict[tuple[int, tuple[str, ...]], Outcome] = field(default_factory=dict)
    """Of nodes that reach the same pools and need the same of them, as long as the ledger stays as it is."""

    @cached_property
    def _available(self) -> Mask:
        """Where all claims are that are allocated already."""
        available = everywhere(self.facts.nodes)
        for claim in self.claims.claims:
            if claim.allocation is not None and claim.allocation.node_selector is not None:
                available &= matches_node_selector(self.facts.nodes, claim.allocation.node_selector)
        return nowhere(self.facts.nodes) if self.unbound else available

    @cached_property
    def unbound(self) -> Sequence[ClaimKey]:
        """The claims whose devices could not be bound, so that they are to be had on no node."""
        if not self.rules.bindings_count:
            return []
        return [claim.key for claim in self.claims.claims if claim.binding is Binding.FAILED]

    @cached_property
    def inventory(self) -> Inventory:
        return self.facts.inventory(self.rules)

    @cached_property
    def _to_allocate(self) -> Sequence[ClaimToAllocate]:
        return [
            claim_to_allocate(str(claim.key), claim.spec, self.facts.classes)
            for claim in self.claims.claims
            if claim.allocation is None
        ]

    @cached_property
    def _by_names(self) -> dict[tuple[str, ...], ResourceClaimSpec]:
        """The claim for extended resources, by the resources a node does not have itself."""
        return {}

    @cached_property
    def _score_of_allocated(self) -> int:
        """What claims that are allocated already are worth; asked only where others are not."""
        return sum(
            claim_to_allocate(str(claim.key), claim.spec, self.facts.classes).score(
                {result.request for result in claim.allocation.devices.results}
            )
            for claim in self.claims.claims
            if claim.allocation is not None
        )

    def judge(self, node: int, ledger: Ledger) -> Outcome:
        """The result for the claims on a node."""
        names: tuple[str, ...] = ()
        if self.claims.resources:
            if self.claims.resources_are_claimed:
                return Outcome(_LEFT_OVER)
            names, lacks_one = self._from_devices(node)
            if lacks_one:
                return Outcome(_NO_SUCH_RESOURCE)
            if not names and not self.claims.claims:
                return _FITS
        outcome = self._allocated(node, names, ledger) if self.claims.needs_devices else _FITS
        return outcome if outcome.status is not None or self._available[node] else Outcome(NOT_AVAILABLE)

    def _from_devices(self, node: int) -> tuple[tuple[str, ...], bool]:
        """The extended resources that devices have to provide on a node, and whether one is not to be had there."""
        provided, amounts = [], self.facts.nodes.allocatable
        for name in sorted(self.claims.resources):
            has_some = name in amounts and bool(amounts[name][node])
            if name in self.facts.by_resource and not has_some:
                provided.append(name)
            elif not has_some and name not in self.facts.nodes.objects[node].status.allocatable:
                return (), True
        return tuple(provided), False

    def _allocated(self, node: int, names: tuple[str, ...], ledger: Ledger) -> Outcome:
        pools = self.inventory.pools(node)
        key = id(pools), names
        if key not in self._allocations:
            self._allocations[key] = self._search(pools, names, ledger)
        return self._allocations[key]

    def elsewhere(self, node: int) -> list[ClaimKey]:
        """The claims that are allocated where the node cannot reach them, or whose devices could not be bound."""
        return [
            claim.key
            for claim in self.claims.claims
            if claim.key in self.unbound
            or (
                claim.allocation is not None
                and claim.allocation.node_selector is not None
                and not matches_node_selector(self.facts.nodes, claim.allocation.node_selector)[node]
            )
        ]

    def to_allocate_on(self, node: int) -> list[ClaimToAllocate]:
        """The claims that need devices of a node."""
        return self.to_allocate(self._from_devices(node)[0]) if self.claims.needs_devices else []

    def to_allocate(self, names: tuple[str, ...]) -> list[ClaimToAllocate]:
        """The claims that need devices, the one for the extended resources ``names`` last."""
        claims = list(self._to_allocate)
        if names:
            if names not in self._by_names:
                self._by_names[names] = claim_for(self.pod, names, self.facts.by_resource)
            name = f"{self.pod.metadata.namespace}/{IN_MEMORY_NAME}"
            claims.append(claim_to_allocate(name, self._by_names[names], self.facts.classes))
        return claims

    def _search(self, pools: Pools, names: tuple[str, ...], ledger: Ledger) -> Outcome:
        claims = self.to_allocate(names)
        try:
            allocated = allocate(pools, claims, ledger, self.rules)
        except NodeAllocationError as error:
            return Outcome(Status(Code.UNRESOLVABLE, (str(error),)))
        except AllocationError as error:
            return Outcome(Status(Code.ERROR, (f"{_FAILED}{error}",)))
        except SearchTooLongError:
            return Outcome(_TIMED_OUT)
        if allocated is None:
            return Outcome(_INVALID_POOLS if any(pool.is_invalid for pool in pools) else NOT_ENOUGH)
        score = sum(
            claim.score({device.request.full_name for device in devices})
            for claim, devices in zip(claims, allocated, strict=True)
        )
        return Outcome(allocated=allocated, score=score + self._score_of_allocated)


def allocation_result(devices: Sequence[Allocated], node: str, rules: Rules) -> AllocationResult:
    """What a claim's status says once it is allocated for a pod on ``node``."""
    results = [
        DeviceRequestAllocationResult(
            request=allocated.request.full_name,
            driver=allocated.device.id.driver,
            pool=allocated.device.id.pool,
            device=allocated.device.id.device,
            admin_access=allocated.request.admin_access,
            share_id="" if allocated.consumed is None else _share_id(allocated, node, number),
            consumed_capacity={name: str(amount) for name, amount in (allocated.consumed or {}).items()},
            binding_conditions=allocated.device.device.binding_conditions if rules.bindings_count else [],
            binding_failure_conditions=allocated.device.device.binding_failure_conditions
            if rules.bindings_count
            else [],
        )
        for number, allocated in enumerate(devices)
    ]
    return AllocationResult(devices=DeviceAllocationResult(results=results), node_selector=_reach(devices, node))


def _share_id(allocated: Allocated, node: str, number: int) -> str:
    """kube-scheduler draws one; the same one each time does, as only that there is one counts."""
    return str(uuid5(NAMESPACE_OID, f"{allocated.request.claim} {node} {number}"))


def _reach(devices: Sequence[Allocated], node: str) -> NodeSelector | None:
    """Where devices can be used: on their node, or where all their slices are for; None: everywhere."""
    merged = NodeSelectorTerm()
    for allocated in devices:
        spec, device = allocated.device.slice.spec, allocated.device.device
        by_device = spec.per_device_node_selection
        if device.binds_to_node or (device.node_name if by_device else spec.node_name):
            requirement = NodeSelectorRequirement(key=NODE_NAME_FIELD, operator="In", values=[node])
            return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[requirement])])
        selector = device.node_selector if by_device else spec.node_selector
        for term in selector.node_selector_terms[:1] if selector is not None else ():
            merged.match_fields += _new(term.match_fields, merged.match_fields)
            merged.match_expressions += _new(term.match_expressions, merged.match_expressions)
    if not (merged.match_fields or merged.match_expressions):
        return None
    return NodeSelector(node_selector_terms=[merged])


def _new(
    added: Sequence[NodeSelectorRequirement], present: Sequence[NodeSelectorRequirement]
) -> list[NodeSelectorRequirement]:
    existing = [(requirement.key, requirement.operator, set(requirement.values)) for requirement in present]
    return [
        requirement
        for requirement in added
        if (requirement.key, requirement.operator, set(requirement.values)) not in existing
    ]
