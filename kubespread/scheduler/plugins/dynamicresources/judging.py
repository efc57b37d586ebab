"""Judgment of one node for a pod with claims: the devices it would get there, or why it gets none. The ledger of a
cluster, made from all uses of claims in order, and the resulting claims, as objects again.

How many devices each node has for a resource backed by a DeviceClass, as scores count them: unlike the allocator this
looks at every slice, of any generation, complete or not.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Filter, PostFilter, computeScore, Reserve
Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go,
    createNodeSelector
Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, calculateDRAResourceTotals,
    calculateDRAExtendedResourceAllocatableRequest
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from uuid import NAMESPACE_OID, uuid5

import msgspec
import numpy as np
from msgspec import Struct, field

from kubespread.kube.api import devices as api
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodResourceClaimStatus,
)
from kubespread.kube.api.meta import ObjectMeta, OwnerReference
from kubespread.kube.selector import NODE_NAME_FIELD
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Counts, Mask
from kubespread.scheduler.cluster.memo import Memo
from kubespread.scheduler.cluster.nodes import Nodes, everywhere, matches_node_selector, nodes_named, nowhere
from kubespread.scheduler.plugin import Code, Status
from kubespread.scheduler.plugins.dynamicresources.allocation import AllocatedDevice, SearchTooLongError, allocate
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError
from kubespread.scheduler.plugins.dynamicresources.claims import (
    IN_MEMORY_NAME,
    AllocationError,
    Binding,
    ClaimToAllocate,
    NodeAllocationError,
    PodClaims,
    RefusedError,
    claim_for,
    claim_to_allocate,
    claims_of,
)
from kubespread.scheduler.plugins.dynamicresources.devices import (
    ClaimID,
    DeviceID,
    Facts,
    Inventory,
    OfferedDevice,
    Pools,
    Rules,
)
from kubespread.scheduler.plugins.dynamicresources.ledger import CreatedClaim, DeviceLedger, Holder

NOT_AVAILABLE = Status(Code.UNRESOLVABLE, ("resourceclaim not available on the node",))
NOT_ENOUGH = Status(Code.UNRESOLVABLE, ("cannot allocate all claims",))
_NO_SUCH_RESOURCE = Status(Code.UNRESOLVABLE, ("cannot fit resource",))
_LEFT_OVER = Status(Code.UNRESOLVABLE, ("cannot schedule extended resource claim",))
_TIMED_OUT = Status(Code.UNRESOLVABLE, ("timed out trying to allocate devices",))
_INVALID_POOLS = Status(Code.UNRESOLVABLE, ("invalid resource pools were encountered",))
_FAILED = 'running "DynamicResources" filter plugin: '


class NodeOutcome(Struct, frozen=True):
    """Result for a pod's claims on one node."""

    status: Status | None = None
    """Reason the node is rejected; None if it fits."""
    allocated: Sequence[Sequence[AllocatedDevice]] | None = None
    """Devices of every claim without any, in order; None if nothing had to be allocated."""
    score: int = 0


_FITS = NodeOutcome()


class Judge(Struct, frozen=True, dict=True):
    """A pod's claims, ready to be tried on every node."""

    pod: Pod
    facts: Facts
    claims: PodClaims
    rules: Rules
    _allocations: dict[tuple[int, tuple[str, ...]], NodeOutcome] = field(default_factory=dict)
    """Results shared by nodes that reach the same pools and need the same of them, until the ledger changes."""

    @cached_property
    def _available(self) -> Mask:
        """Nodes where every claim that is already allocated is available."""
        available = everywhere(self.facts.nodes)
        for claim in self.claims.claims:
            if claim.allocation is not None and claim.allocation.node_selector is not None:
                available &= matches_node_selector(self.facts.nodes, claim.allocation.node_selector)
        return nowhere(self.facts.nodes) if self.unbound_claims else available

    @cached_property
    def unbound_claims(self) -> Sequence[ClaimID]:
        """Claims with devices that could not be bound, which bar every node."""
        if not self.rules.binding_conditions:
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
    def _by_names(self) -> dict[tuple[str, ...], api.ResourceClaimSpec]:
        """The claim for extended resources, by the resources a node does not have itself."""
        return {}

    @cached_property
    def _score_of_allocated(self) -> int:
        """Score of the claims that are already allocated; read only if other claims are not."""
        return sum(
            claim_to_allocate(str(claim.key), claim.spec, self.facts.classes).score(
                {result.request for result in claim.allocation.devices.results}
            )
            for claim in self.claims.claims
            if claim.allocation is not None
        )

    def judge(self, node: int, ledger: DeviceLedger) -> NodeOutcome:
        """Result for the claims on a node."""
        names: tuple[str, ...] = ()
        if self.claims.resources:
            if self.claims.resources_are_claimed:
                return NodeOutcome(_LEFT_OVER)
            names, lacks_one = self._from_devices(node)
            if lacks_one:
                return NodeOutcome(_NO_SUCH_RESOURCE)
            if not names and not self.claims.claims:
                return _FITS
        outcome = self._allocate(node, names, ledger) if self.claims.needs_devices else _FITS
        return outcome if outcome.status is not None or self._available[node] else NodeOutcome(NOT_AVAILABLE)

    def _from_devices(self, node: int) -> tuple[tuple[str, ...], bool]:
        """Extended resources that devices must provide on a node, and True if one is not available there."""
        provided, amounts = [], self.facts.nodes.allocatable
        for name in sorted(self.claims.resources):
            has_some = name in amounts and bool(amounts[name][node])
            if name in self.facts.by_resource and not has_some:
                provided.append(name)
            elif not has_some and name not in self.facts.nodes.objects[node].status.allocatable:
                return (), True
        return tuple(provided), False

    def _allocate(self, node: int, names: tuple[str, ...], ledger: DeviceLedger) -> NodeOutcome:
        pools = self.inventory.pools(node)
        key = id(pools), names
        if key not in self._allocations:
            self._allocations[key] = self._search(pools, names, ledger)
        return self._allocations[key]

    def unusable_claims(self, node: int) -> list[ClaimID]:
        """Claims allocated to devices that the node cannot use, or that could not be bound."""
        return [
            claim.key
            for claim in self.claims.claims
            if claim.key in self.unbound_claims
            or (
                claim.allocation is not None
                and claim.allocation.node_selector is not None
                and not matches_node_selector(self.facts.nodes, claim.allocation.node_selector)[node]
            )
        ]

    def to_allocate_on(self, node: int) -> list[ClaimToAllocate]:
        """Claims that need devices of a node."""
        return self.to_allocate(self._from_devices(node)[0]) if self.claims.needs_devices else []

    def to_allocate(self, names: tuple[str, ...]) -> list[ClaimToAllocate]:
        """Claims that need devices, the one for the extended resources ``names`` last."""
        claims = list(self._to_allocate)
        if names:
            if names not in self._by_names:
                self._by_names[names] = claim_for(self.pod, names, self.facts.by_resource)
            name = f"{self.pod.metadata.namespace}/{IN_MEMORY_NAME}"
            claims.append(claim_to_allocate(name, self._by_names[names], self.facts.classes))
        return claims

    def _search(self, pools: Pools, names: tuple[str, ...], ledger: DeviceLedger) -> NodeOutcome:
        claims = self.to_allocate(names)
        try:
            allocated = allocate(pools, claims, ledger, self.rules)
        except NodeAllocationError as error:
            return NodeOutcome(Status(Code.UNRESOLVABLE, (str(error),)))
        except AllocationError as error:
            return NodeOutcome(Status(Code.ERROR, (f"{_FAILED}{error}",)))
        except SearchTooLongError:
            return NodeOutcome(_TIMED_OUT)
        if allocated is None:
            return NodeOutcome(_INVALID_POOLS if any(pool.is_invalid for pool in pools) else NOT_ENOUGH)
        score = sum(
            claim.score({device.request.full_name for device in devices})
            for claim, devices in zip(claims, allocated, strict=True)
        )
        return NodeOutcome(allocated=allocated, score=score + self._score_of_allocated)


def allocation_result(devices: Sequence[AllocatedDevice], node: str, rules: Rules) -> api.AllocationResult:
    """Allocation in the status of a claim allocated for a pod on ``node``."""
    results = [
        api.DeviceRequestAllocationResult(
            request=allocated.request.full_name,
            driver=allocated.device.id.driver,
            pool=allocated.device.id.pool,
            device=allocated.device.id.device,
            admin_access=allocated.request.admin_access,
            # kube-scheduler draws one; the same one each time does, as only that there is one counts.
            share_id=""
            if allocated.consumed is None
            else str(uuid5(NAMESPACE_OID, f"{allocated.request.claim} {node} {number}")),
            consumed_capacity={name: str(amount) for name, amount in (allocated.consumed or {}).items()},
            binding_conditions=allocated.device.device.binding_conditions if rules.binding_conditions else [],
            binding_failure_conditions=allocated.device.device.binding_failure_conditions
            if rules.binding_conditions
            else [],
        )
        for number, allocated in enumerate(devices)
    ]
    return api.AllocationResult(
        devices=api.DeviceAllocationResult(results=results), node_selector=_reach(devices, node)
    )


def _reach(devices: Sequence[AllocatedDevice], node: str) -> NodeSelector | None:
    """Nodes where the devices can be used: their own, or the ones that all their slices reach; None for every node."""
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


def device_totals(holdings: Holdings, resource: str, rules: Rules) -> tuple[Counts, Counts] | None:
    """Number of devices, and of devices in use, on each node; None if no class provides the resource."""
    facts = facts_of(holdings.cluster)
    device_class = facts.by_resource.get(resource)
    if device_class is None:
        return None
    offered = _OFFERED.get_or_make(
        holdings.cluster.results, device_class.metadata.name, lambda: _DeviceOffer(facts, device_class)
    )
    ledger = ledger_of(holdings.cluster, rules)
    used = offered.in_use(ledger.in_use | ledger.shares.keys())
    return holdings.pick(offered.capacity), holdings.pick(used) + np.int64(holdings.sums[1].get(resource, 0))


class _DeviceOffer:
    """The devices of one class, and the nodes each is for."""

    def __init__(self, facts: Facts, device_class: api.DeviceClass) -> None:
        self.capacity: Counts = np.zeros(len(facts.nodes), dtype=np.int64)
        self._nodes: dict[DeviceID, Mask] = {}
        is_failing = nowhere(facts.nodes)
        for part in facts.objects.get(api.ResourceSlice):
            for device, nodes in _offered_on(part, facts.nodes):
                offered = OfferedDevice(DeviceID(part.spec.driver, part.spec.pool.name, device.name), device, part)
                try:
                    is_selected = _is_selected(offered, device_class)
                except (CompileError, EvaluationError):
                    is_failing |= nodes
                    continue
                if is_selected:
                    self.capacity += nodes
                    self._nodes[offered.id] = nodes
        # A selector that fails on one of its devices leaves the node without any.
        self.capacity[is_failing] = 0

    def in_use(self, devices: set[DeviceID]) -> Counts:
        used: Counts = np.zeros(len(self.capacity), dtype=np.int64)
        for device in devices & self._nodes.keys():
            used += self._nodes[device]
        return used


def _is_selected(device: OfferedDevice, device_class: api.DeviceClass) -> bool:
    for selector in device_class.spec.selectors:
        try:
            if selector.cel is not None and not device.is_selected_by(selector.cel.expression):
                return False
        except UnsupportedExpressionError:
            continue  # DynamicResources reports it.
    return True


def _offered_on(part: api.ResourceSlice, nodes: Nodes) -> Iterator[tuple[api.Device, Mask]]:
    spec = part.spec
    if spec.per_device_node_selection:
        for device in spec.devices:
            reached = everywhere(nodes) if device.all_nodes else nodes_named(nodes, [device.node_name or ""])
            if device.node_selector is not None:
                reached = reached | matches_node_selector(nodes, device.node_selector)
            yield device, reached
        return
    if spec.all_nodes or not (spec.node_name or spec.node_selector):
        reached = everywhere(nodes)
    else:
        reached = nodes_named(nodes, [spec.node_name or ""])
        if spec.node_selector is not None:
            reached = reached | matches_node_selector(nodes, spec.node_selector)
    yield from ((device, reached) for device in spec.devices)


def judge_of(pod: Pod, facts: Facts, ledger: DeviceLedger, rules: Rules) -> Judge:
    """Judge of a pod's current claims. Raises RefusedError."""
    return Judge(pod, facts, claims_of(pod, facts, ledger, rules), rules)


def facts_of(cluster: Cluster) -> Facts:
    return Facts.build(cluster.objects, cluster.nodes, cluster.results)


_MOST_LEDGERS = 16


def ledger_of(cluster: Cluster, rules: Rules) -> DeviceLedger:
    """Ledger of the devices in ``cluster``; only copies of it may be changed."""
    history = cluster.claim_history
    events = (None, *history.events)
    cached = next((place for place in reversed(range(len(events))) if (rules, events[place]) in history.ledgers), None)
    ledger = DeviceLedger.build(facts_of(cluster), rules) if cached is None else history.ledgers[rules, events[cached]]
    assert isinstance(ledger, DeviceLedger)
    if uncached := history.events[cached or 0 :]:
        ledger = ledger.copy()
        for event in uncached:
            facts = Facts.build(event.objects, event.nodes, event.results)
            for pod, node, by in event.uses:
                if by > 0:
                    allocate_claims(pod, node, facts, ledger, rules)
                else:
                    free_claims(pod, node, facts, ledger)
    return history.ledgers.get_or_make((rules, events[-1]), lambda: ledger, most=_MOST_LEDGERS)


def allocate_claims(pod: Pod, node: int, facts: Facts, ledger: DeviceLedger, rules: Rules) -> None:
    """Allocate devices for a pod's claims on its node, as far as available."""
    try:
        judge = judge_of(pod, facts, ledger, rules)
    except RefusedError:
        return
    outcome = judge.judge(node, ledger)
    allocated = iter(outcome.allocated or ())
    name, created = facts.nodes.names[node], list[CreatedClaim]()
    for claim in judge.claims.claims:
        devices = next(allocated, None) if claim.allocation is None else None
        allocation = None if devices is None else allocation_result(devices, name, rules)
        if claim.claim is not None:
            ledger.reserve(claim.key, claim.claim, allocation)
        elif allocation is not None:
            created.append(CreatedClaim(claim.reference, claim.spec, allocation))
    for devices in allocated:
        created.append(CreatedClaim("", api.ResourceClaimSpec(), allocation_result(devices, name, rules)))
    ledger.record_created(pod, name, tuple(created))


def free_claims(pod: Pod, node: int, facts: Facts, ledger: DeviceLedger) -> None:
    """Free the claims of a pod that leaves its node: its own at once, others once no pod uses them."""
    ledger.free_created(pod, facts.nodes.names[node])
    for key in (*_keys(pod), facts.extended_resource_claim_of(pod)):
        if key is not None and (claim := facts.claims.get(key)) is not None:
            is_owned = any(owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references if owner.uid)
            ledger.release(key, claim, entirely=is_owned)


def written_back(
    cluster: Cluster, objects: ClusterObjects, pods: Sequence[Pod]
) -> tuple[ClusterObjects, tuple[Pod, ...]]:
    """``objects`` and ``pods`` of ``cluster`` with current claims, by the rules used last: allocated, freed, and
    created for placed pods.
    """
    history = cluster.claim_history
    if not history.events:
        return objects, tuple(pods)
    rules = next((rules for rules, _ in reversed(history.ledgers)), None)
    ledger = ledger_of(cluster, rules if isinstance(rules, Rules) else Rules())
    updated = tuple(_with_statuses(pod, ledger) for pod in pods)
    claims = [_current_claim(claim, ledger, updated) for claim in objects.get(api.ResourceClaim)]
    created = [
        _object(holder, claim) for holder, created_claims in ledger.created_claims.items() for claim in created_claims
    ]
    return objects.with_all(api.ResourceClaim, (*claims, *created)), updated


def _with_statuses(pod: Pod, ledger: DeviceLedger) -> Pod:
    """The pod with the claims created for it in its status."""
    holder = Holder.from_pod(pod, pod.spec.node_name)
    created = [
        PodResourceClaimStatus(name=claim.reference, resource_claim_name=_name(holder, claim))
        for claim in ledger.created_claims.get(holder, ())
        if claim.reference
    ]
    if not created:
        return pod
    statuses = [*pod.status.resource_claim_statuses, *created]
    return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, resource_claim_statuses=statuses))


def _current_claim(claim: api.ResourceClaim, ledger: DeviceLedger, pods: Sequence[Pod]) -> api.ResourceClaim:
    key = ClaimID(claim.metadata.namespace, claim.metadata.name)
    status = ledger.claim_changes.get(key)
    if status is None:
        return claim
    users = [_consumer(pod.metadata.name, pod.metadata.uid) for pod in pods if pod.spec.node_name and key in _keys(pod)]
    return msgspec.structs.replace(
        claim,
        status=api.ResourceClaimStatus(allocation=status.allocation, reserved_for=users if status.consumers else []),
    )


def _keys(pod: Pod) -> Iterator[ClaimID]:
    names = [reference.resource_claim_name for reference in pod.spec.resource_claims]
    names += [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    return (ClaimID(pod.metadata.namespace, name) for name in names if name)


def _object(holder: Holder, claim: CreatedClaim) -> api.ResourceClaim:
    owner = OwnerReference(api_version="v1", kind="Pod", name=holder.name, uid=holder.uid, controller=True)
    metadata = ObjectMeta(
        name=_name(holder, claim),
        namespace=holder.namespace,
        annotations={} if claim.reference else {api.EXTENDED_RESOURCE_CLAIM: "true"},
        owner_references=[owner],
    )
    status = api.ResourceClaimStatus(allocation=claim.allocation, reserved_for=[_consumer(holder.name, holder.uid)])
    return api.ResourceClaim(metadata=metadata, spec=claim.spec, status=status)


def _name(holder: Holder, claim: CreatedClaim) -> str:
    return f"{holder.name}-{claim.reference or 'extended-resources'}"


def _consumer(name: str, uid: str) -> api.ResourceClaimConsumerReference:
    return api.ResourceClaimConsumerReference(resource="pods", name=name, uid=uid)


_OFFERED = Memo[str, _DeviceOffer]()
"""Offers by the name of a DeviceClass."""
