"""The claims of one pod: named ones, ones created from templates, and the one for its extended resources.

Requests of a claim, with their device classes looked up.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, PreFilter, foreachPodResourceClaim
Source: pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go, preFilterExtendedResources,
    findExtendedResourceClaim, createRequestsAndMappings
Source: staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go,
    validateDeviceRequest
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct, field

from kubespread.kube.api import devices as api
from kubespread.kube.api.core import Container, Pod, PodResourceClaim
from kubespread.kube.pod_requests import amounts, is_sidecar
from kubespread.kube.quantity import QuantityText
from kubespread.scheduler.cluster.columns import extended_requests
from kubespread.scheduler.plugin import Code, Status
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimID, DeviceID, Facts, OfferedDevice, Rules
from kubespread.scheduler.plugins.dynamicresources.ledger import DeviceLedger

MAX_DEVICES = 32
"""Most devices in the allocation of one claim."""
MAX_ALTERNATIVES = 8
EXACT_COUNT, ALL = "ExactCount", "All"


class AllocationError(Exception):
    """Allocation fails on every node; the text is kube-scheduler's."""


class NodeAllocationError(AllocationError):
    """Allocation fails on this node alone."""


class RequestToAllocate(Struct, frozen=True):
    """A request, or one of its alternatives."""

    claim: str
    """``namespace/name``."""
    request: str
    alternative: str
    """Empty without alternatives."""
    mode: str
    count: int
    selectors: tuple[tuple[str, str], ...]
    """CEL expressions, each with the prefix of its error."""
    tolerations: Sequence[api.DeviceToleration] = ()
    admin_access: bool = False
    names_admin_access: bool = False
    """True if it sets admin access, even to false."""
    capacity: Mapping[str, QuantityText | None] | None = None
    """Amounts that it needs of a device's capacities."""

    @property
    def name(self) -> str:
        """Its own name, without the request that it is an alternative of."""
        return self.alternative or self.request

    @property
    def full_name(self) -> str:
        """Name used in allocation results."""
        return f"{self.request}/{self.alternative}" if self.alternative else self.request

    def selects(self, device: OfferedDevice) -> bool:
        """True if class and request select the device. Raises AllocationError.

        A selector that cannot be evaluated here selects every device.
        """
        for expression, owner in self.selectors:
            try:
                if not device.is_selected_by(expression):
                    return False
            except UnsupportedExpressionError:
                continue
            except CompileError as error:
                raise AllocationError(f"{owner}: CEL compile error: {error}") from error
            except EvaluationError as error:
                raise AllocationError(f"{owner}: CEL runtime error: {error}") from error
        return True


class ClaimToAllocate(Struct, frozen=True):
    """One claim without an allocation."""

    name: str
    """``namespace/name``."""
    requests: tuple[tuple[RequestToAllocate, ...], ...]
    """Alternatives of each request, or the request itself."""
    constraints: Sequence[api.DeviceConstraint] = field(default_factory=list)

    def score(self, chosen: set[str]) -> int:
        """Score of alternatives, higher for ones listed earlier; ``chosen`` are the full names that got devices."""
        return sum(
            MAX_ALTERNATIVES - rank
            for alternatives in self.requests
            for rank, request in enumerate(alternatives)
            if request.alternative and request.full_name in chosen
        )


def claim_to_allocate(
    name: str, spec: api.ResourceClaimSpec, classes: Mapping[str, api.DeviceClass]
) -> ClaimToAllocate:
    """Claim as the allocator sees it; a class that is not in ``classes`` selects every device."""
    requests = (
        (request.name, request.first_available if request.exactly is None else [request.exactly])
        for request in spec.devices.requests
    )
    alternatives = tuple(
        tuple(_request_to_allocate(name, request, alternative, classes) for alternative in listed)
        for request, listed in requests
    )
    return ClaimToAllocate(name, alternatives, spec.devices.constraints)


def _request_to_allocate(
    claim: str,
    request: str,
    device_request: api.ExactDeviceRequest | api.DeviceSubRequest,
    classes: Mapping[str, api.DeviceClass],
) -> RequestToAllocate:
    device_class = classes.get(device_request.device_class_name)
    owners = (
        (f"class {device_request.device_class_name}", device_class.spec.selectors if device_class is not None else []),
        (f"claim {claim}", device_request.selectors),
    )
    return RequestToAllocate(
        claim=claim,
        request=request,
        alternative=device_request.name if isinstance(device_request, api.DeviceSubRequest) else "",
        mode=device_request.allocation_mode or EXACT_COUNT,
        count=device_request.count or 1,
        selectors=tuple(
            (selector.cel.expression, f"{owner}: selector #{position}")
            for owner, selectors in owners
            for position, selector in enumerate(selectors)
            if selector.cel is not None
        ),
        tolerations=device_request.tolerations,
        admin_access=bool(device_request.admin_access) and not isinstance(device_request, api.DeviceSubRequest),
        names_admin_access=device_request.admin_access is not None
        and not isinstance(device_request, api.DeviceSubRequest),
        capacity=None if device_request.capacity is None else device_request.capacity.requests,
    )


IN_MEMORY_NAME = "<extended-resources>"
"""Name of the claim before it is written."""


def claim_for(pod: Pod, names: Collection[str], classes: Mapping[str, api.DeviceClass]) -> api.ResourceClaimSpec:
    """Claim of a pod for the resources ``names`` that a node lacks; ``classes`` are by resource."""
    requests = [request for name in names for request in _requests(pod, name, classes[name].metadata.name)]
    return api.ResourceClaimSpec(devices=api.DeviceClaim(requests=sorted(requests, key=lambda request: request.name)))


def _requests(pod: Pod, name: str, device_class: str) -> Iterator[api.DeviceRequest]:
    """Yield a request per container that keeps running, and one for the most that any other needs beyond them.

    Init containers that end use the devices of the containers after them.
    """
    spec = pod.spec
    init_containers = len(spec.init_containers)
    containers = [*spec.init_containers, *spec.containers]
    counts = [_count(container, name) for container in containers]
    ends = [number < init_containers and not is_sidecar(container) for number, container in enumerate(containers)]
    largest, asks_for_it = 0, 0
    for number, count in enumerate(counts):
        if not ends[number]:
            if count:
                yield _request(containers, number, name, device_class, count)
            continue
        later = sum(count for count, end in zip(counts[number:], ends[number:], strict=True) if not end)
        if count - later > largest:
            largest, asks_for_it = count - later, number
    if largest:
        yield _request(containers, asks_for_it, name, device_class, largest)


def _request(
    containers: Sequence[Container], number: int, name: str, device_class: str, count: int
) -> api.DeviceRequest:
    place = sorted(containers[number].resources.requests).index(name)
    exactly = api.ExactDeviceRequest(device_class_name=device_class, count=count)
    return api.DeviceRequest(name=f"container-{number}-request-{place}", exactly=exactly)


def _count(container: Container, name: str) -> int:
    requested = amounts(container.resources.requests)
    return requested[name].value if name in requested else 0


class RefusedError(Exception):
    """The pod's claims bar every node; the text is kube-scheduler's reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.status = Status(Code.UNRESOLVABLE, (reason,))


class PodClaim(Struct, frozen=True):
    key: ClaimID
    spec: api.ResourceClaimSpec
    claim: api.ResourceClaim | None = None
    """None for one created for this pod when it is placed."""
    allocation: api.AllocationResult | None = None
    reference: str = ""
    """Name of the claim in the pod."""

    @property
    def binding(self) -> Binding:
        """Binding conditions of its devices, as their driver reports them."""
        if self.allocation is None or self.claim is None or self.allocation is not self.claim.status.allocation:
            return Binding.MET  # Devices that were allocated just now have all the time they need.
        for result in self.allocation.devices.results:
            if not result.binding_conditions:
                continue
            device = DeviceID(result.driver, result.pool, result.device)
            statuses = self.claim.status.devices
            status = next((entry for entry in statuses if (entry.driver, entry.pool, entry.device) == device), None)
            if status is None:
                return Binding.WAITING
            conditions: dict[str, str] = {}
            for condition in status.conditions:
                conditions.setdefault(condition.type, condition.status)
            if any(conditions.get(condition) == "True" for condition in result.binding_failure_conditions):
                return Binding.FAILED
            if any(conditions.get(condition) != "True" for condition in result.binding_conditions):
                return Binding.WAITING
        return Binding.MET


class Binding(Enum):
    """State of the binding conditions of a claim's devices."""

    MET = "met"
    WAITING = "waiting"
    FAILED = "failed"


class PodClaims(Struct, frozen=True):
    """All claims of a pod at one time."""

    claims: Sequence[PodClaim] = ()
    resources: Mapping[str, int] = field(default_factory=dict)
    """Requested extended resources that devices provide."""
    resources_are_claimed: bool = False
    """True if an earlier scheduling cycle left a claim for them, which must be deleted first."""

    @property
    def is_empty(self) -> bool:
        return not self.claims and not self.resources

    @property
    def needs_devices(self) -> bool:
        """True if anything must still be allocated."""
        return bool(self.resources) or any(claim.allocation is None for claim in self.claims)


def claims_of(pod: Pod, facts: Facts, ledger: DeviceLedger, rules: Rules) -> PodClaims:
    """Current claims of a pod. Raises RefusedError."""
    claims = list(_named_claims(pod, facts, ledger, rules))
    for claim in claims:
        if claim.allocation is None:
            _check_requests(claim, facts, rules)
    resources = extended_requests(pod) if rules.extended_resource and facts.by_resource else {}
    if facts.by_resource.keys().isdisjoint(resources):
        return PodClaims(claims)
    key = facts.extended_resource_claim_of(pod)
    return PodClaims(claims, resources, key is not None and bool(facts.claims[key].spec.devices.requests))


def _named_claims(pod: Pod, facts: Facts, ledger: DeviceLedger, rules: Rules) -> Iterator[PodClaim]:
    for reference in pod.spec.resource_claims:
        key, is_made = _key_of(pod, reference)
        if key is None:
            continue
        claim = facts.claims.get(key)
        if claim is not None and (reference.resource_claim_name or is_made):
            yield _existing(pod, key, claim, ledger, owner_kind=rules.owner_kind if is_made else "")
        elif reference.resource_claim_name or is_made:
            # If claims were not listed, none is missing.
            if facts.objects.knows(api.ResourceClaim):
                raise RefusedError(f'could not find ResourceClaim "{key}"')
        elif (template := _template(pod, reference, facts)) is not None:
            yield PodClaim(key, template.spec.spec, reference=reference.name)


def _key_of(pod: Pod, reference: PodResourceClaim) -> tuple[ClaimID | None, bool]:
    """Key of a claim, None where none was needed, and True if the claim was already made for this pod."""
    namespace = pod.metadata.namespace
    if reference.resource_claim_name:
        return ClaimID(namespace, reference.resource_claim_name), False
    for status in pod.status.resource_claim_statuses:
        if status.name == reference.name:
            name = status.resource_claim_name
            return (ClaimID(namespace, name), True) if name else (None, True)
    return ClaimID(namespace, f"{pod.metadata.name}-{reference.name}"), False


def _existing(pod: Pod, key: ClaimID, claim: api.ResourceClaim, ledger: DeviceLedger, *, owner_kind: str) -> PodClaim:
    """Take an existing claim, which the pod must own if ``owner_kind`` says that it was made for the pod."""
    if claim.metadata.deletion_timestamp is not None:
        raise RefusedError(f'resourceclaim "{key.name}" is being deleted')
    meta = pod.metadata
    if owner_kind and not any(owner.controller and owner.uid == meta.uid for owner in claim.metadata.owner_references):
        owner_text = f"{owner_kind} {meta.namespace}/{meta.name} ({owner_kind} is not owner)"
        raise RefusedError(f"ResourceClaim {key} was not created for {owner_text}")
    return PodClaim(key, claim.spec, claim, ledger.status(key, claim).allocation)


def _template(pod: Pod, reference: PodResourceClaim, facts: Facts) -> api.ResourceClaimTemplate | None:
    """Template that the claim will be created from; None if it was not listed. Raises RefusedError if the pod waits."""
    name = reference.resource_claim_template_name or ""
    template = facts.templates.get(ClaimID(pod.metadata.namespace, name))
    if template is None and (facts.objects.knows(api.ResourceClaimTemplate) or pod.metadata.uid):
        raise RefusedError(f'pod "{pod.metadata.namespace}/{pod.metadata.name}": ResourceClaim not created yet')
    return template


def _check_requests(claim: PodClaim, facts: Facts, rules: Rules) -> None:
    """Refuse malformed requests, and requests of unknown classes if classes were listed."""
    for request in claim.spec.devices.requests:
        if request.first_available and not rules.prioritized_list:
            disabled = "has subrequests, but the DRAPrioritizedList feature is disabled"
            raise RefusedError(f"resource claim {claim.key}, request {request.name}: {disabled}")
        if request.exactly is None and not request.first_available:
            raise RefusedError(f"resource claim {claim.key}, request {request.name}: unknown request type")
        names = [(request.name, request.exactly.device_class_name)] if request.exactly is not None else []
        names += [
            (f"{request.name}/{alternative.name}", alternative.device_class_name)
            for alternative in request.first_available
        ]
        for name, device_class in names:
            if device_class not in facts.classes and facts.objects.knows(api.DeviceClass):
                raise RefusedError(f"request {name}: device class {device_class} does not exist")
