"""DynamicResources: nodes that have devices for all of the pod's claims, and how well they suit.

What the devices of a pod's claims depend on that was not read, and what of them is not evaluated.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, DynamicResources, Filter, Score,
    NormalizeScore
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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
from kubespread.kube.time import SECOND, in_json, nanoseconds
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.amounts import requested_by_name
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.plugin import (
    FILTER,
    JUDGES,
    POST_FILTER,
    PRE_BIND,
    PRE_ENQUEUE,
    RESERVE,
    SCORE,
    Args,
    Fixed,
    SchedulingError,
    Setting,
    Specification,
    State,
    Status,
    Unprepared,
)
from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compiled
from kubespread.scheduler.plugins.dynamicresources.cel.values import UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.claims import (
    AllocationError,
    Binding,
    PodClaims,
    RefusedError,
    claim_to_allocate,
    claims_of,
)
from kubespread.scheduler.plugins.dynamicresources.devices import Facts, OfferedDevice
from kubespread.scheduler.plugins.dynamicresources.following import facts_of, ledger_of
from kubespread.scheduler.plugins.dynamicresources.rules import Rules
from kubespread.scheduler.preemption import Budgets, PostFilterPlugin


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


NO_CLAIMS, STILL_NOT = "no new claims to deallocate", "still not schedulable"
DEALLOCATED = "deallocation of ResourceClaim completed"
NOT_REACHED = "not found"
"""What PostFilter says when its own PreFilter was never reached."""


class DynamicResourcesArgs(Args):
    filter_timeout: str | None = None
    binding_timeout: str | None = None

    @property
    def durations(self) -> Mapping[str, str | None]:
        return {"filterTimeout": self.filter_timeout, "bindingTimeout": self.binding_timeout}

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.filter_timeout is not None:
            if not version.has("DRASchedulerFilterTimeout"):
                yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
            elif nanoseconds(self.filter_timeout) < 0:
                yield invalid(f"{path}.filterTimeout", in_json(self.filter_timeout), "must be zero or positive")
        if self.binding_timeout is not None:
            # The other gate of the text is on wherever this one can be.
            if not version.has("DRADeviceBindingConditions"):
                detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
                yield forbidden(f"{path}.bindingTimeout", detail)
            elif nanoseconds(self.binding_timeout) < SECOND:
                yield invalid(f"{path}.bindingTimeout", in_json(self.binding_timeout), "must be at least 1 second")


@dataclass(frozen=True)
class DynamicResources(PostFilterPlugin):
    name: ClassVar[str] = "DynamicResources"

    rules: Rules = Rules()
    is_filtering: bool = True
    """Where Filter does not run, Score finds no allocation and gives 0."""
    names_claims: bool = False
    """Up to 1.36: whether a claim should be allocated again elsewhere."""

    def signs(self, cluster: Cluster, pod: Pod) -> bool:
        return not pod.spec.resource_claims

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        if _may_need_devices(pod):
            yield from claim_gaps(cluster, pod, self.rules)

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        if _may_need_devices(pod):
            yield from not_evaluated(cluster, pod, self.rules)

    def signature(self, pod: Pod) -> Hashable:
        return None if _may_need_devices(pod) else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        if not _may_need_devices(pod):
            return NoClaims(len(cluster))
        from kubespread.scheduler.plugins.dynamicresources.claims import RefusedError
        from kubespread.scheduler.plugins.dynamicresources.state import DynamicResourcesState

        try:
            state = DynamicResourcesState(cluster, pod, self.rules, is_scored=self.is_filtering)
        except RefusedError as refused:
            return refused.status
        return NoClaims(len(cluster)) if state.has_no_claims else state

    def post_filter(self, evaluation: Evaluation, budgets: Budgets) -> str:
        if not evaluation.prepared.framework.reaches(self.name, evaluation.rejection):
            raise SchedulingError(NOT_REACHED)
        return self._deallocation(evaluation) if self.names_claims else ""

    def _deallocation(self, evaluation: Evaluation) -> str:
        """A pod that its own PreFilter rejects has no claims for it yet."""
        if evaluation.rejection is not None and evaluation.rejection.plugin == self.name:
            return NO_CLAIMS
        if not _may_need_devices(evaluation.pod):
            return NO_CLAIMS
        from kubespread.scheduler.plugins.dynamicresources.state import DynamicResourcesState

        state = evaluation.states.get(self.name)
        if isinstance(state, DynamicResourcesState):
            return DEALLOCATED if state.frees_a_claim(evaluation.reached(self.name)) else STILL_NOT
        return STILL_NOT if evaluation.pod.spec.resource_claims else NO_CLAIMS


def _may_need_devices(pod: Pod) -> bool:
    """Whether anything that knows devices has to be asked, and imported: it takes long, and most pods need none."""
    return bool(pod.spec.resource_claims or requested_by_name(pod))


@dataclass
class NoClaims(Fixed):
    """A pod without claims is scored all the same."""

    nodes: int

    def score(self) -> Counts:
        return np.zeros(self.nodes, dtype=np.int64)


def _make(setting: Setting) -> DynamicResources:
    version = setting.version
    return DynamicResources(
        Rules.of(version), is_filtering=FILTER in setting.points, names_claims=not version.since(37)
    )


SPECIFICATION = Specification(
    name=DynamicResources.name,
    points=JUDGES | {PRE_ENQUEUE, POST_FILTER, SCORE, RESERVE, PRE_BIND},
    make=_make,
    args=DynamicResourcesArgs,
    weight=2,
    gate="DynamicResourceAllocation",
    scores_since=35,
    unprepared=Unprepared(filter="not found", score_without_pre_filter="not found", reserve="not found"),
)
