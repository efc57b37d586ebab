"""The ledger of a cluster: the snapshot's, and then what every pod with claims took and gave back, in order; and the
resulting claims, as objects again.

How many devices each node has for a resource backed by a DeviceClass, as scores count them. Unlike the allocator this
looks at every slice, of any generation, complete or not.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Reserve
Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, calculateDRAResourceTotals,
    calculateDRAExtendedResourceAllocatableRequest
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, PodResourceClaimStatus
from kubespread.kube.api.devices import (
    EXTENDED_RESOURCE_CLAIM,
    Device,
    DeviceClass,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceSlice,
)
from kubespread.kube.api.meta import ObjectMeta, OwnerReference
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Counts, Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.running import ClaimUsers
from kubespread.scheduler.node_matching import everywhere, matches_node_selector, nowhere
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.claims import RefusedError, claims_of
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimKey, DeviceID, Facts, OfferedDevice
from kubespread.scheduler.plugins.dynamicresources.judging import Judge, allocation_result
from kubespread.scheduler.plugins.dynamicresources.ledger import Holder, Ledger, MadeClaim
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


def device_totals(held: Holdings, resource: str, rules: Rules) -> tuple[Counts, Counts] | None:
    """Devices and devices in use, per node; None if no class backs the resource."""
    facts = facts_of(held.cluster)
    device_class = facts.by_resource.get(resource)
    if device_class is None:
        return None
    key = "device totals", device_class.metadata.name
    cached = held.cluster.memo.get(key)
    offered = (
        cached if isinstance(cached, _Offered) else held.cluster.memo.setdefault(key, _Offered(facts, device_class))
    )
    assert isinstance(offered, _Offered)
    more = sum(by * kind.requests[0].get(resource, 0) for kind, by in held.more)
    ledger = ledger_of(held.cluster, rules)
    used = offered.in_use(ledger.in_use | ledger.shares.keys())
    return held.pick(offered.capacity), held.pick(used) + np.int64(more)


class _Offered:
    """The devices of one class, and the nodes each is for."""

    def __init__(self, facts: Facts, device_class: DeviceClass) -> None:
        self.capacity: Counts = np.zeros(len(facts.nodes), dtype=np.int64)
        self._nodes: dict[DeviceID, Mask] = {}
        is_failing = nowhere(facts.nodes)
        for part in facts.objects.of(ResourceSlice):
            for device, nodes in _reach(part, facts.nodes):
                offered = OfferedDevice(
                    DeviceID(part.spec.driver, part.spec.pool.name, device.name), device, part
                )  # fmt: skip
                try:
                    is_selected = _is_selected(offered, device_class)
                except EvaluationError:
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


def _is_selected(device: OfferedDevice, device_class: DeviceClass) -> bool:
    for selector in device_class.spec.selectors:
        try:
            if selector.cel is not None and not device.is_selected_by(selector.cel.expression):
                return False
        except UnsupportedExpressionError:
            continue  # DynamicResources says so.
    return True


def _reach(part: ResourceSlice, nodes: Nodes) -> Iterator[tuple[Device, Mask]]:
    spec = part.spec
    if spec.per_device_node_selection:
        for device in spec.devices:
            reached = everywhere(nodes) if device.all_nodes else _named(nodes, device.node_name or "")
            if device.node_selector is not None:
                reached = reached | matches_node_selector(nodes, device.node_selector)
            yield device, reached
        return
    if spec.all_nodes or not (spec.node_name or spec.node_selector):
        reached = everywhere(nodes)
    else:
        reached = _named(nodes, spec.node_name or "")
        if spec.node_selector is not None:
            reached = reached | matches_node_selector(nodes, spec.node_selector)
    yield from ((device, reached) for device in spec.devices)


def _named(nodes: Nodes, name: str) -> Mask:
    named = nowhere(nodes)
    if name in nodes.index:
        named[nodes.index[name]] = True
    return named


def judge_of(pod: Pod, facts: Facts, ledger: Ledger, rules: Rules) -> Judge:
    """A pod's claims as they stand. Raises RefusedError."""
    return Judge(pod, facts, claims_of(pod, facts, ledger, rules), rules)


def facts_of(cluster: Cluster) -> Facts:
    return Facts.of(cluster.objects, cluster.nodes, cluster.memo)


def ledger_of(cluster: Cluster, rules: Rules) -> Ledger:
    """Who has which devices in ``cluster``; not to be moved, only its copies are."""
    users = cluster.claim_users
    unknown = list(users.unknown(rules))
    base = users if not unknown else unknown[-1].before
    remembered = base.recall(rules) if base is not None else None
    ledger = remembered if isinstance(remembered, Ledger) else Ledger.of(facts_of(cluster), rules)
    if unknown:
        ledger = ledger.copy()
        for step in reversed(unknown):
            _replay(step, ledger, rules)
        users.remember(rules, ledger)
    return ledger


def _replay(users: ClaimUsers, ledger: Ledger, rules: Rules) -> None:
    happening = users.happening
    if happening is None:
        return
    facts = Facts.of(users.objects, happening.nodes, happening.memo)
    for pod, node, by in happening.uses:
        if by > 0:
            place(pod, node, facts, ledger, rules)
        else:
            remove(pod, node, facts, ledger)


def place(pod: Pod, node: int, facts: Facts, ledger: Ledger, rules: Rules) -> None:
    """Allocate for a pod that comes to a node what its claims need there, as far as it is available."""
    try:
        judge = judge_of(pod, facts, ledger, rules)
    except RefusedError:
        return
    outcome = judge.judge(node, ledger)
    allocated = iter(outcome.allocated or ())
    name, made = facts.nodes.names[node], list[MadeClaim]()
    for claim in judge.claims.claims:
        devices = next(allocated, None) if claim.allocation is None else None
        allocation = None if devices is None else allocation_result(devices, name, rules)
        if claim.claim is not None:
            ledger.reserve(claim.key, claim.claim, allocation)
        elif allocation is not None:
            made.append(MadeClaim(claim.reference, claim.spec, allocation))
    for devices in allocated:
        made.append(MadeClaim("", ResourceClaimSpec(), allocation_result(devices, name, rules)))
    ledger.take(pod, name, tuple(made))


def remove(pod: Pod, node: int, facts: Facts, ledger: Ledger) -> None:
    """Free the claims of a pod that leaves its node: those made for it at once, others once no pod uses them."""
    ledger.give_back(pod, facts.nodes.names[node])
    for key in _claims_in_use(pod, facts):
        claim = facts.claims.get(key)
        if claim is not None:
            is_owned = any(owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references if owner.uid)
            ledger.release(key, claim, entirely=is_owned)


def _claims_in_use(pod: Pod, facts: Facts) -> Iterator[ClaimKey]:
    names = [reference.resource_claim_name for reference in pod.spec.resource_claims]
    names += [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    yield from (ClaimKey(pod.metadata.namespace, name) for name in names if name)
    made = facts.made_for_resources_of(pod)
    if made is not None:
        yield made


def written_back(
    cluster: Cluster, objects: ClusterObjects, pods: Sequence[Pod]
) -> tuple[ClusterObjects, tuple[Pod, ...]]:
    """``objects`` and ``pods`` of ``cluster`` with the current claims, by the rules used last: allocated, freed, and
    made for pods that were placed.
    """
    rules = cluster.claim_users.last_rules()
    if cluster.claim_users.before is None:
        return objects, tuple(pods)
    ledger = ledger_of(cluster, rules if isinstance(rules, Rules) else Rules())
    updated = tuple(_with_statuses(pod, ledger) for pod in pods)
    claims = [_as_it_is(claim, ledger, updated) for claim in objects.of(ResourceClaim)]
    made = [_object(holder, claim) for holder, claims_made in ledger.made.items() for claim in claims_made]
    return objects.with_all(ResourceClaim, (*claims, *made)), updated


def _with_statuses(pod: Pod, ledger: Ledger) -> Pod:
    """A pod that knows the claims made for it."""
    holder = Holder.of(pod, pod.spec.node_name)
    made = [
        PodResourceClaimStatus(name=claim.reference, resource_claim_name=_name(holder, claim))
        for claim in ledger.made.get(holder, ())
        if claim.reference
    ]
    if not made:
        return pod
    statuses = [*pod.status.resource_claim_statuses, *made]
    return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, resource_claim_statuses=statuses))


def _as_it_is(claim: ResourceClaim, ledger: Ledger, pods: Sequence[Pod]) -> ResourceClaim:
    key = ClaimKey(claim.metadata.namespace, claim.metadata.name)
    status = ledger.changed.get(key)
    if status is None:
        return claim
    users = [_consumer(pod.metadata.name, pod.metadata.uid) for pod in pods if pod.spec.node_name and key in _keys(pod)]
    return msgspec.structs.replace(
        claim, status=ResourceClaimStatus(allocation=status.allocation, reserved_for=users if status.consumers else [])
    )


def _keys(pod: Pod) -> Iterator[ClaimKey]:
    names = [reference.resource_claim_name for reference in pod.spec.resource_claims]
    names += [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    return (ClaimKey(pod.metadata.namespace, name) for name in names if name)


def _object(holder: Holder, claim: MadeClaim) -> ResourceClaim:
    owner = OwnerReference(api_version="v1", kind="Pod", name=holder.name, uid=holder.uid, controller=True)
    metadata = ObjectMeta(
        name=_name(holder, claim),
        namespace=holder.namespace,
        annotations={} if claim.reference else {EXTENDED_RESOURCE_CLAIM: "true"},
        owner_references=[owner],
    )
    status = ResourceClaimStatus(allocation=claim.allocation, reserved_for=[_consumer(holder.name, holder.uid)])
    return ResourceClaim(metadata=metadata, spec=claim.spec, status=status)


def _name(holder: Holder, claim: MadeClaim) -> str:
    return f"{holder.name}-{claim.reference or 'extended-resources'}"


def _consumer(name: str, uid: str) -> ResourceClaimConsumerReference:
    return ResourceClaimConsumerReference(resource="pods", name=name, uid=uid)
