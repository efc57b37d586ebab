"""What a snapshot lacks of devices, and what of them is not evaluated here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import (
    DeviceClass,
    DeviceSelector,
    DeviceTaintRule,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compiled
from kubespread.scheduler.plugins.dynamicresources.cel.values import UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.facts import Facts
from kubespread.scheduler.plugins.dynamicresources.pod_claims import PodClaims


def claim_gaps(pod: Pod, facts: Facts, claims: PodClaims | None) -> Iterator[str]:
    """What the pod's claims depend on; ``claims`` is None where they are refused outright."""
    objects, references = facts.objects, pod.spec.resource_claims
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


def not_evaluated(facts: Facts, claims: PodClaims) -> Iterator[str]:
    """What kube-scheduler takes into account for these claims and this does not."""
    specs = [claim.spec for claim in claims.claims if claim.allocation is None]
    requests = [each for spec in specs for each in _requests(spec)]
    if not claims.needs_devices:
        return
    classes = {each.device_class_name for each in requests}
    classes |= {facts.by_resource[name].metadata.name for name in claims.resources if name in facts.by_resource}
    selectors = [
        each for name in sorted(classes) if name in facts.classes for each in facts.classes[name].spec.selectors
    ]
    for expression, what in _unsupported([*selectors, *(each for asked in requests for each in asked.selectors)]):
        yield f"DynamicResources: the selector {expression} uses {what}; it is taken to select every device"
    yield from _unmodelled_devices(facts)
    if any(asked.capacity is not None for asked in requests):
        yield "DynamicResources: how much of a device's capacity a request consumes"


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


def _unmodelled_devices(facts: Facts) -> Iterator[str]:
    devices = [device for each in facts.objects.of(ResourceSlice) for device in each.spec.devices]
    if any(device.consumes_counters for device in devices):
        yield "DynamicResources: counters that partitions of a device share; each is taken to be a device of its own"
    if any(device.allow_multiple_allocations for device in devices):
        yield "DynamicResources: devices that several claims may share; each is taken to be for one"
    if any(device.binding_conditions for device in devices):
        yield "DynamicResources: binding conditions of devices; they are taken to be met"
