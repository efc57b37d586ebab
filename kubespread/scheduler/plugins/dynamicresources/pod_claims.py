"""The claims of one pod: those it names, those made for it from templates, and the one for its extended resources.

Source of the rules: kube-scheduler 1.36, dynamicresources/dynamicresources.go (PreFilter, foreachPodResourceClaim).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kubespread.kube.api.core import Pod, PodResourceClaim
from kubespread.kube.api.devices import (
    AllocationResult,
    DeviceClass,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from kubespread.scheduler.plugin import Code, Status
from kubespread.scheduler.plugins.dynamicresources.extended import requested_by_name
from kubespread.scheduler.plugins.dynamicresources.facts import ClaimKey, Facts
from kubespread.scheduler.plugins.dynamicresources.ledger import Ledger
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


class RefusedError(Exception):
    """The pod's claims keep it from every node; the text is kube-scheduler's reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.status = Status(Code.UNRESOLVABLE, (reason,))


@dataclass(frozen=True, slots=True)
class PodClaim:
    """One claim of a pod."""

    key: ClaimKey
    spec: ResourceClaimSpec
    claim: ResourceClaim | None = None
    """None for one that is made for this pod when it is placed."""
    allocation: AllocationResult | None = None
    reference: str = ""
    """The pod's own name for it."""


@dataclass(frozen=True, slots=True)
class PodClaims:
    """All claims of a pod at one time."""

    claims: Sequence[PodClaim] = ()
    resources: Mapping[str, int] = field(default_factory=dict)
    """The extended resources it requests, where some of them stand for devices."""
    resources_are_claimed: bool = False
    """Whether an earlier scheduling cycle left a claim for them, which has to go first."""

    @property
    def is_empty(self) -> bool:
        return not self.claims and not self.resources

    @property
    def needs_devices(self) -> bool:
        """Whether something is still to be allocated."""
        return bool(self.resources) or any(claim.allocation is None for claim in self.claims)


def claims_of(pod: Pod, facts: Facts, ledger: Ledger, rules: Rules) -> PodClaims:
    """The claims of a pod as they stand. Raises RefusedError."""
    claims = list(_named_claims(pod, facts, ledger))
    for each in claims:
        if each.allocation is None:
            _check_requests(each, facts, rules)
    resources = requested_by_name(pod) if rules.provides_resources and facts.by_resource else {}
    if facts.by_resource.keys().isdisjoint(resources):
        return PodClaims(claims)
    made = facts.made_for_resources_of(pod)
    return PodClaims(claims, resources, made is not None and bool(facts.claims[made].spec.devices.requests))


def _named_claims(pod: Pod, facts: Facts, ledger: Ledger) -> Iterator[PodClaim]:
    for reference in pod.spec.resource_claims:
        key, is_made = _key_of(pod, reference)
        if key is None:
            continue
        claim = facts.claims.get(key)
        if claim is not None and (reference.resource_claim_name or is_made):
            yield _existing(pod, key, claim, ledger, must_be_owned=is_made)
        elif reference.resource_claim_name or is_made:
            # Without a single claim they were not listed, and nothing can be said about any.
            if facts.objects.knows(ResourceClaim):
                raise RefusedError(f'could not find ResourceClaim "{key}"')
        elif (template := _template(pod, reference, facts)) is not None:
            yield PodClaim(key, template.spec.spec, reference=reference.name)


def _key_of(pod: Pod, reference: PodResourceClaim) -> tuple[ClaimKey | None, bool]:
    """What a claim is called, None where none was needed; and whether it was made for this pod already."""
    namespace = pod.metadata.namespace
    if reference.resource_claim_name:
        return ClaimKey(namespace, reference.resource_claim_name), False
    for status in pod.status.resource_claim_statuses:
        if status.name == reference.name:
            name = status.resource_claim_name
            return (ClaimKey(namespace, name), True) if name else (None, True)
    return ClaimKey(namespace, f"{pod.metadata.name}-{reference.name}"), False


def _existing(pod: Pod, key: ClaimKey, claim: ResourceClaim, ledger: Ledger, *, must_be_owned: bool) -> PodClaim:
    if claim.metadata.deletion_timestamp is not None:
        raise RefusedError(f'resourceclaim "{key.name}" is being deleted')
    meta = pod.metadata
    if must_be_owned and not any(
        owner.controller and owner.uid == meta.uid for owner in claim.metadata.owner_references
    ):
        owner_said = f"pod {meta.namespace}/{meta.name} (pod is not owner)"
        raise RefusedError(f"ResourceClaim {key} was not created for {owner_said}")
    return PodClaim(key, claim.spec, claim, ledger.status(key, claim).allocation)


def _template(pod: Pod, reference: PodResourceClaim, facts: Facts) -> ResourceClaimTemplate | None:
    """What a claim is made from; None where templates were not listed."""
    name = reference.resource_claim_template_name or ""
    template = facts.templates.get(ClaimKey(pod.metadata.namespace, name))
    if template is None and facts.objects.knows(ResourceClaimTemplate):
        raise RefusedError(f'pod "{pod.metadata.namespace}/{pod.metadata.name}": ResourceClaim not created yet')
    return template


def _check_requests(claim: PodClaim, facts: Facts, rules: Rules) -> None:
    """Where no class was listed, whether those of the requests exist is not known."""
    for request in claim.spec.devices.requests:
        if request.first_available and not rules.alternatives_count:
            disabled = "has subrequests, but the DRAPrioritizedList feature is disabled"
            raise RefusedError(f"resource claim {claim.key}, request {request.name}: {disabled}")
        if request.exactly is None and not request.first_available:
            raise RefusedError(f"resource claim {claim.key}, request {request.name}: unknown request type")
        names = [(request.name, request.exactly.device_class_name)] if request.exactly is not None else []
        names += [(f"{request.name}/{each.name}", each.device_class_name) for each in request.first_available]
        for name, device_class in names:
            if device_class not in facts.classes and facts.objects.knows(DeviceClass):
                raise RefusedError(f"request {name}: device class {device_class} does not exist")
