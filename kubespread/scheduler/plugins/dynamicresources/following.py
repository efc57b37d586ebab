"""The ledger of a cluster: the snapshot's, and then what every pod with claims took and gave back, in order; and the
resulting claims, as objects again.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Reserve
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, PodResourceClaimStatus
from kubespread.kube.api.devices import (
    EXTENDED_RESOURCE_CLAIM,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
    ResourceClaimStatus,
)
from kubespread.kube.api.meta import ObjectMeta, OwnerReference
from kubespread.scheduler.cluster.claim_users import ClaimUsers
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.dynamicresources.claims import RefusedError, claims_of
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimKey, Facts
from kubespread.scheduler.plugins.dynamicresources.judging import Judge, allocation_result
from kubespread.scheduler.plugins.dynamicresources.ledger import Holder, Ledger, MadeClaim
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


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
