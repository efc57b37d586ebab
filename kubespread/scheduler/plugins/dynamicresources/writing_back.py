"""A cluster's claims as objects again, once pods came and went: for a snapshot of what has become of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, PodResourceClaimStatus
from kubespread.kube.api.devices import (
    EXTENDED_RESOURCE_CLAIM,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from kubespread.kube.api.meta import ObjectMeta, OwnerReference
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.dynamicresources.facts import ClaimKey
from kubespread.scheduler.plugins.dynamicresources.following import ledger_of
from kubespread.scheduler.plugins.dynamicresources.ledger import Holder, Ledger, MadeClaim
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


def written_back(
    cluster: Cluster, objects: ClusterObjects, pods: Sequence[Pod]
) -> tuple[ClusterObjects, tuple[Pod, ...]]:
    """``objects`` and ``pods`` of ``cluster`` with the claims as they are now, by the rules somebody asked about last:
    allocated, freed, and made for pods that were placed.
    """
    rules = cluster.claim_users.last_rules()
    if cluster.claim_users.before is None:
        return objects, tuple(pods)
    ledger = ledger_of(cluster, rules if isinstance(rules, Rules) else Rules())
    told = tuple(_with_statuses(pod, ledger) for pod in pods)
    claims = [_as_it_is(claim, ledger, told) for claim in objects.of(ResourceClaim)]
    made = [_object(holder, claim) for holder, each in ledger.made.items() for claim in each]
    return objects.with_all(ResourceClaim, (*claims, *made)), told


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
