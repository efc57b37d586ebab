"""What the devices of a pod's claims depend on that was not read, and what of them is not evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceTaintRule,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compiled
from kubespread.scheduler.plugins.dynamicresources.cel.values import UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.claims import Binding, PodClaims, RefusedError, claims_of
from kubespread.scheduler.plugins.dynamicresources.devices import Facts, OfferedDevice
from kubespread.scheduler.plugins.dynamicresources.following import facts_of, ledger_of
from kubespread.scheduler.plugins.dynamicresources.requests import AllocationError, claim_to_allocate
from kubespread.scheduler.plugins.dynamicresources.rules import Rules


def claim_gaps(cluster: Cluster, pod: Pod, rules: Rules) -> Iterator[str]:
    """What the pod's claims depend on."""
    claims, objects, references = _claims(cluster, pod, rules), cluster.objects, pod.spec.resource_claims
    made = {status.name for status in pod.status.resource_claim_statuses}
    if any(reference.resource_claim_name or reference.name in made for reference in references):
        yield from objects.gap(ResourceClaim, "where the pod's resource claims are allocated is not evaluated")
    if any(reference.resource_claim_template_name and reference.name not in made for reference in references):
        yield from objects.gap(ResourceClaimTemplate, "the claims made from them are not evaluated")
    if claims is None or not claims.needs_devices:
        return
    if claims.claims:
        yield from objects.gap(DeviceClass, "requests of the pod's resource claims are taken to select any device")
    # Few clusters have any and few people list them: a gap only where they were asked for and refused.
    if DeviceTaintRule.__name__ in objects.unread:
        yield from objects.gap(DeviceTaintRule, "no rules are taken to taint devices")
    yield from objects.gap(ResourceSlice, "no node is taken to have devices for the pod's resource claims")
    if not any(reference.resource_claim_name for reference in references):
        yield from objects.gap(ResourceClaim, "no device is taken to be in use")


def _claims(cluster: Cluster, pod: Pod, rules: Rules) -> PodClaims | None:
    """None where they are refused."""
    try:
        return claims_of(pod, facts_of(cluster), ledger_of(cluster, rules), rules)
    except RefusedError:
        return None


_IN_TIME = "they are taken to be met in time"


def not_evaluated(cluster: Cluster, pod: Pod, rules: Rules) -> Iterator[str]:
    """What kube-scheduler takes into account for the pod's claims and this does not."""
    facts, claims = facts_of(cluster), _claims(cluster, pod, rules)
    if claims is None:
        return
    for claim in claims.claims if rules.bindings_count else ():
        if claim.binding is Binding.WAITING:
            waits = f"the wait of claim {claim.key} for the binding conditions of its devices"
            yield f"DynamicResources: {waits}; {_IN_TIME}"
    if not claims.needs_devices:
        return
    specs = [claim.spec for claim in claims.claims if claim.allocation is None]
    requests = [request for spec in specs for request in _requests(spec)]
    provided = [facts.by_resource[name].metadata.name for name in claims.resources if name in facts.by_resource]
    requests += (ExactDeviceRequest(device_class_name=name) for name in provided)
    classes = {request.device_class_name for request in requests}
    selectors = [
        selector for name in sorted(classes) if name in facts.classes for selector in facts.classes[name].spec.selectors
    ]
    for expression, what in _unsupported(
        [*selectors, *(selector for request in requests for selector in request.selectors)]
    ):
        yield f"DynamicResources: the selector {expression} uses {what}; it is taken to select every device"
    inventory = facts.inventory(rules)
    if rules.bindings_count and any(_may_get(request, facts, inventory.bound_late) for request in requests):
        yield f"DynamicResources: the wait for the binding conditions of devices; {_IN_TIME}"
    if inventory.mixed_up:
        names = ", ".join(inventory.mixed_up)
        yield f"DynamicResources: which driver's counters hold for pools called {names}, of several drivers"


def _may_get(request: ExactDeviceRequest, facts: Facts, devices: Iterable[OfferedDevice]) -> bool:
    """Whether class and request select some of ``devices``, or cannot tell."""
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=[DeviceRequest(exactly=request)]))
    (((wanted,),),) = [claim_to_allocate("", spec, facts.classes).requests]
    try:
        return any(wanted.selects(device) for device in devices)
    except AllocationError:
        return True


def _requests(spec: ResourceClaimSpec) -> Iterator[ExactDeviceRequest]:
    for request in spec.devices.requests:
        if request.exactly is not None:
            yield request.exactly
        yield from request.first_available


def _unsupported(selectors: Iterable[DeviceSelector]) -> Iterator[tuple[str, str]]:
    expressions = dict.fromkeys(selector.cel.expression for selector in selectors if selector.cel is not None)
    for expression in expressions:
        try:
            compiled(expression)
        except UnsupportedExpressionError as unsupported:
            yield expression, str(unsupported)
