"""DynamicResources: nodes that have devices for all of the pod's claims, and how well they suit, kept up as devices are
taken and freed.

What the devices of a pod's claims depend on that was not read, and what of them is not evaluated.

Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, DynamicResources, Filter, Score,
    NormalizeScore
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api import devices as api
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import Duration
from kubespread.kube.time import SECOND, nanoseconds
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.causes import Cause, Causes, ClaimElsewhereDetail, ClaimUnboundDetail, DeviceDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, Mask, Positions, extended_requests
from kubespread.scheduler.cluster.kinds import KindNumber
from kubespread.scheduler.cluster.nodes import everywhere
from kubespread.scheduler.cluster.running import ClaimHistory, Moves
from kubespread.scheduler.evaluation import Budgets, Evaluation, PostFilterPlugin, TieOrder
from kubespread.scheduler.plugin import (
    JUDGES,
    Args,
    Code,
    CountingState,
    PluginSetting,
    Point,
    ScaledToHighest,
    SchedulingError,
    Specification,
    State,
    Status,
    Verdicts,
    ZeroScores,
)
from kubespread.scheduler.plugins.dynamicresources.allocation import SearchTooLongError, allocate, has_untolerated_taint
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.claims import (
    ALL,
    AllocationError,
    Binding,
    ClaimToAllocate,
    PodClaims,
    RefusedError,
    RequestToAllocate,
    claim_to_allocate,
    claims_of,
)
from kubespread.scheduler.plugins.dynamicresources.devices import ClaimID, CounterID, Facts, OfferedDevice, Pool, Rules
from kubespread.scheduler.plugins.dynamicresources.judging import (
    NOT_AVAILABLE,
    Judge,
    NodeOutcome,
    allocate_claims,
    facts_of,
    free_claims,
    judge_of,
    ledger_of,
)
from kubespread.scheduler.plugins.dynamicresources.ledger import (
    Capacities,
    DeviceLedger,
    consumption,
    counters_left,
    lacking,
)


class DynamicResourcesState(ScaledToHighest, CountingState):
    _copied = ("_outdated", "_table", "_rows", "_scores")

    def __init__(self, cluster: Cluster, pod: Pod, rules: Rules, *, is_scored: bool = True) -> None:
        """Raises RefusedError where the claims keep the pod from every node."""
        self._pod, self._rules, self._kinds, self._is_scored = pod, rules, cluster.kinds, is_scored
        self._facts: Facts = facts_of(cluster)
        self._users: ClaimHistory | None = cluster.claim_history
        """Source of the ledger's changes; None once the state was moved on its own."""
        self._ledger: DeviceLedger = ledger_of(cluster, rules)
        self.judge: Judge = judge_of(pod, self._facts, self._ledger, rules)
        self._refused: Status | None = None
        """Reason all nodes are rejected since the state was prepared."""
        size = len(cluster)
        self._outdated: Mask = everywhere(cluster.nodes)
        self._table: dict[Status, int] = {}
        self._rows = np.zeros(size, dtype=np.int32)
        self._scores: Counts = np.zeros(size, dtype=np.int64)

    def _bring_up_to_date(self) -> None:
        for node in np.flatnonzero(self._outdated).tolist():
            outcome = NodeOutcome(self._refused) if self._refused is not None else self.judge.judge(node, self._ledger)
            status = outcome.status
            self._rows[node] = 0 if status is None else self._table.setdefault(status, len(self._table) + 1)
            self._scores[node] = outcome.score if self._is_scored else 0
        self._outdated[:] = False

    def filter(self, nodes: Positions | None = None) -> Verdicts:
        self._bring_up_to_date()
        return Verdicts(self._rows.copy(), tuple(self._table)).for_nodes(nodes)

    @property
    def may_fail(self) -> bool:
        self._bring_up_to_date()
        return any(status.code is Code.ERROR and bool((self._rows == row).any()) for status, row in self._table.items())

    def score(self, feasible: Mask) -> Counts:
        self._bring_up_to_date()
        return self._scores.copy()

    def frees_a_claim(self, filtered: Mask) -> bool:
        """True if PostFilter deallocates a claim: only this pod uses it, and some ``filtered`` node cannot reach it."""
        self._bring_up_to_date()
        row = self._table.get(NOT_AVAILABLE)
        elsewhere = set[ClaimID]()
        for node in np.flatnonzero(filtered & (self._rows == row)).tolist() if row is not None else ():
            elsewhere.update(self.judge.unusable_claims(node))
        return any(
            claim.claim is not None
            and claim.key in elsewhere
            and self._ledger.is_only_for(self._pod, claim.key, claim.claim)
            for claim in self.judge.claims.claims
        )

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        if self._refused is not None:
            return super().causes(cluster, nodes)
        return [shortages(self.judge, node, self._ledger) for node in nodes.tolist()]

    def move(self, moves: Moves) -> None:
        before = self._ledger
        self._ledger = before.copy()
        for number, node, by in zip(moves.kind.tolist(), moves.node.tolist(), moves.by.tolist(), strict=True):
            pod = self._kinds[number].pod
            for _ in range(abs(by)):
                if by > 0:
                    allocate_claims(pod, node, self._facts, self._ledger, self._rules)
                else:
                    free_claims(pod, node, self._facts, self._ledger)
        self._users = None
        self._mark_outdated(before)

    def pretend(self, kind: KindNumber, node: int, by: int) -> None:
        """Do nothing: without AddPod and RemovePod, a dry run neither takes nor frees devices."""

    def follow(self, now: Callable[[], Cluster], moves: Moves) -> None:
        """Read the allocations from the cluster, which records the order in which pods came and went."""
        cluster = now()
        if self._users is cluster.claim_history:
            return
        before, self._users = self._ledger, cluster.claim_history
        self._ledger = ledger_of(cluster, self._rules)
        self._mark_outdated(before)

    def _mark_outdated(self, before: DeviceLedger) -> None:
        """Mark verdicts as outdated on nodes that reach devices with other claims than ``before``."""
        try:
            judge = judge_of(self._pod, self._facts, self._ledger, self._rules)
        except RefusedError as refused:
            self._refused = refused.status
            self._outdated[:] = True
            return
        if judge.claims != self.judge.claims or self._refused is not None:
            self.judge, self._refused = judge, None
            self._outdated[:] = True
            return
        changed = self._ledger.changed_since(before)
        if changed:
            self.judge = judge
            self._outdated |= judge.inventory.nodes_of({(device.driver, device.pool) for device in changed})


def shortages(judge: Judge, node: int, ledger: DeviceLedger) -> Causes:
    """Claims allocated elsewhere or not bindable, else the requests that alone find too few devices."""
    if judge.unbound_claims:
        return tuple(ClaimUnboundDetail(str(key)) for key in judge.unbound_claims)
    elsewhere = judge.unusable_claims(node)
    if elsewhere:
        return tuple(ClaimElsewhereDetail(str(key)) for key in elsewhere)
    return tuple(_shortages(judge, node, ledger))


def _shortages(judge: Judge, node: int, ledger: DeviceLedger) -> Iterator[Cause]:
    pools = [pool for pool in judge.inventory.pools(node) if pool.is_usable]
    for claim in judge.to_allocate_on(node):
        for alternatives in claim.requests:
            details = [_shortage(judge, request, pools, ledger) for request in alternatives]
            if all(details):
                yield from (detail for detail in details if detail is not None)


def _shortage(
    judge: Judge, request: RequestToAllocate, pools: Sequence[Pool], ledger: DeviceLedger
) -> DeviceDetail | None:
    states, counters = Counter[str](), set[CounterID]()
    try:
        for pool in pools:
            left = counters_left(pool, ledger)
            for device in pool.devices:
                if device.id not in pool.unreached:
                    states[state := _device_state(request, device, left, ledger, judge.rules)] += 1
                    counters.update(lacking(device, left) if state == "exhausted" else ())
    except AllocationError:
        return None
    selected = states.total() - states["unselected"]
    requested = max(1, selected) if request.mode == ALL else request.count
    if requested <= states["usable"]:
        together = _count_at_once(request, pools, ledger, judge.rules)
        states.update(usable=together - states["usable"], exhausted=states["usable"] - together)
    if requested <= states["usable"]:
        return None
    return DeviceDetail(
        claim=request.claim,
        request=request.full_name,
        requested=requested,
        usable=states["usable"],
        tainted=states["tainted"],
        in_use=states["in use"],
        selected=selected,
        devices=states.total(),
        exhausted=states["exhausted"],
        counters=tuple("/".join(counter) for counter in sorted(counters)),
        full=states["full"],
    )


def _device_state(
    request: RequestToAllocate, device: OfferedDevice, left: Mapping[CounterID, int], ledger: DeviceLedger, rules: Rules
) -> str:
    """State of one device that a request looks at by itself. Raises AllocationError."""
    if not request.selects(device):
        return "unselected"
    if device.id in ledger.in_use and not request.admin_access:
        return "in use"
    if has_untolerated_taint(device.taints(rules), request.tolerations):
        return "tainted"
    capacities = Capacities(ledger, rules)
    if not (device.is_shared(rules) and capacities.is_in_use(device)) and lacking(device, left):
        return "exhausted"
    consumed = consumption(device, request.capacity or {}, rules) if rules.consumable_capacity else {}
    return "full" if consumed is None or not capacities.suffices(device, consumed) else "usable"


def _count_at_once(request: RequestToAllocate, pools: Sequence[Pool], ledger: DeviceLedger, rules: Rules) -> int:
    """Number of devices a request could have at once, up to its count; counters may not suffice for all."""
    if request.mode == ALL:
        return len([device for pool in pools for device in pool.devices])
    for count in range(request.count, 0, -1):
        claim = ClaimToAllocate(request.claim, ((replace(request, count=count),),))
        try:
            if allocate(tuple(pools), [claim], ledger, rules) is not None:
                return count
        except (AllocationError, SearchTooLongError):
            return request.count
    return 0


def claim_gaps(cluster: Cluster, pod: Pod, rules: Rules) -> Iterator[str]:
    """Yield missing data about the pod's claims."""
    claims, objects, references = _claims(cluster, pod, rules), cluster.objects, pod.spec.resource_claims
    created = {status.name for status in pod.status.resource_claim_statuses}
    if any(reference.resource_claim_name or reference.name in created for reference in references):
        yield from objects.gap(api.ResourceClaim, "where the pod's resource claims are allocated is not evaluated")
    if any(reference.resource_claim_template_name and reference.name not in created for reference in references):
        yield from objects.gap(api.ResourceClaimTemplate, "the claims made from them are not evaluated")
    if claims is None or not claims.needs_devices:
        return
    if claims.claims:
        yield from objects.gap(api.DeviceClass, "requests of the pod's resource claims are taken to select any device")
    # Few clusters have any and few people list them: a gap only if listing them was refused.
    if api.DeviceTaintRule.__name__ in objects.unread:
        yield from objects.gap(api.DeviceTaintRule, "no rules are taken to taint devices")
    yield from objects.gap(api.ResourceSlice, "no node is taken to have devices for the pod's resource claims")
    if not any(reference.resource_claim_name for reference in references):
        yield from objects.gap(api.ResourceClaim, "no device is taken to be in use")


def _claims(cluster: Cluster, pod: Pod, rules: Rules) -> PodClaims | None:
    """Claims of the pod; None where they are refused."""
    try:
        return claims_of(pod, facts_of(cluster), ledger_of(cluster, rules), rules)
    except RefusedError:
        return None


_IN_TIME = "they are taken to be met in time"


def not_evaluated(cluster: Cluster, pod: Pod, rules: Rules) -> Iterator[str]:
    """Yield features of the pod's claims that kube-scheduler uses and kubespread does not."""
    facts, claims = facts_of(cluster), _claims(cluster, pod, rules)
    if claims is None:
        return
    for claim in claims.claims if rules.binding_conditions else ():
        if claim.binding is Binding.WAITING:
            waits = f"the wait of claim {claim.key} for the binding conditions of its devices"
            yield f"DynamicResources: {waits}; {_IN_TIME}"
    if not claims.needs_devices:
        return
    specs = [claim.spec for claim in claims.claims if claim.allocation is None]
    requests = [request for spec in specs for request in _requests(spec)]
    provided = [facts.by_resource[name].metadata.name for name in claims.resources if name in facts.by_resource]
    requests += (api.ExactDeviceRequest(device_class_name=name) for name in provided)
    classes = {request.device_class_name for request in requests}
    selectors = [
        selector for name in sorted(classes) if name in facts.classes for selector in facts.classes[name].spec.selectors
    ]
    yield from _remarks([*selectors, *(selector for request in requests for selector in request.selectors)])
    inventory = facts.inventory(rules)
    if rules.binding_conditions and any(_may_get(request, facts, inventory.binding_devices) for request in requests):
        yield f"DynamicResources: the wait for the binding conditions of devices; {_IN_TIME}"
    if inventory.ambiguous_pools:
        names = ", ".join(inventory.ambiguous_pools)
        yield f"DynamicResources: which driver's counters hold for pools called {names}, of several drivers"


def _may_get(request: api.ExactDeviceRequest, facts: Facts, devices: Iterable[OfferedDevice]) -> bool:
    """True if class and request select some of ``devices``, or cannot be evaluated."""
    spec = api.ResourceClaimSpec(devices=api.DeviceClaim(requests=[api.DeviceRequest(exactly=request)]))
    (((request_to_allocate,),),) = [claim_to_allocate("", spec, facts.classes).requests]
    try:
        return any(request_to_allocate.selects(device) for device in devices)
    except AllocationError:
        return True


def _requests(spec: api.ResourceClaimSpec) -> Iterator[api.ExactDeviceRequest]:
    for request in spec.devices.requests:
        if request.exactly is not None:
            yield request.exactly
        yield from request.first_available


def _remarks(selectors: Iterable[api.DeviceSelector]) -> Iterator[str]:
    """Yield a remark on each selector that is not evaluated, or not as RE2 does."""
    from kubespread.scheduler.plugins.dynamicresources.cel.compiling import compile_selector, has_patterns
    from kubespread.scheduler.plugins.dynamicresources.cel.patterns import re2

    expressions = dict.fromkeys(selector.cel.expression for selector in selectors if selector.cel is not None)
    for expression in expressions:
        try:
            compile_selector(expression)
            is_stood_in_for = re2() is None and has_patterns(expression)
        except CompileError:
            continue  # Allocation fails with this error.
        except UnsupportedExpressionError as unsupported:
            yield f"DynamicResources: the selector {expression} uses {unsupported}; it is taken to select every device"
            continue
        if is_stood_in_for:
            yield (
                f"DynamicResources: the selector {expression} is matched by Python's patterns, since google-re2 is not "
                "installed; one that RE2 may read otherwise is taken to select every device"
            )


NO_CLAIMS, STILL_NOT = "no new claims to deallocate", "still not schedulable"
DEALLOCATED = "deallocation of ResourceClaim completed"
NOT_REACHED = "not found"
"""PostFilter's message if its own PreFilter was never reached."""


class DynamicResourcesArgs(Args):
    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.filter_timeout is not None:
            if not version.has("DRASchedulerFilterTimeout"):
                yield FieldFault(f"{path}.filterTimeout", "needs the feature gate DRASchedulerFilterTimeout")
            elif nanoseconds(self.filter_timeout or "0") < 0:
                yield FieldFault(f"{path}.filterTimeout", "must not be negative")
        if self.binding_timeout is not None:
            if not version.has("DRADeviceBindingConditions"):
                yield FieldFault(f"{path}.bindingTimeout", "needs the feature gate DRADeviceBindingConditions")
            elif nanoseconds(self.binding_timeout or "0") < SECOND:
                yield FieldFault(f"{path}.bindingTimeout", "must be at least 1 second")


class DynamicResources(PostFilterPlugin, frozen=True):
    name: ClassVar[str] = "DynamicResources"

    rules: Rules = Rules()
    is_filtering: bool = True
    """True if Filter runs; otherwise Score finds no allocation and gives 0."""
    names_claims: bool = False
    """Up to 1.36 the message names claims to be allocated again elsewhere."""

    def can_sign(self, cluster: Cluster, pod: Pod) -> bool:
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
            return ZeroScores(len(cluster))
        try:
            state = DynamicResourcesState(cluster, pod, self.rules, is_scored=self.is_filtering)
        except RefusedError as refused:
            return refused.status
        return ZeroScores(len(cluster)) if state.judge.claims.is_empty else state

    def post_filter(self, evaluation: Evaluation, budgets: Budgets, order: TieOrder) -> str:
        if not evaluation.prepared.framework.runs_pre_filter(self.name, evaluation.rejection):
            raise SchedulingError(NOT_REACHED)
        return self._deallocation(evaluation) if self.names_claims else ""

    def _deallocation(self, evaluation: Evaluation) -> str:
        """PostFilter's message; a pod that the plugin's own PreFilter rejected has no claims for it yet."""
        if evaluation.rejection is not None and evaluation.rejection.plugin == self.name:
            return NO_CLAIMS
        if not _may_need_devices(evaluation.pod):
            return NO_CLAIMS
        state = evaluation.states.get(self.name)
        if isinstance(state, DynamicResourcesState):
            return DEALLOCATED if state.frees_a_claim(evaluation.nodes_reaching(self.name)) else STILL_NOT
        return STILL_NOT if evaluation.pod.spec.resource_claims else NO_CLAIMS


def _may_need_devices(pod: Pod) -> bool:
    """True for pods with claims or extended resources; most have neither."""
    return bool(pod.spec.resource_claims or extended_requests(pod))


def _make(setting: PluginSetting) -> DynamicResources:
    version = setting.version
    return DynamicResources(
        Rules.from_version(version), is_filtering=Point.FILTER in setting.points, names_claims=not version.reaches(37)
    )


DYNAMIC_RESOURCES = Specification(
    name=DynamicResources.name,
    points=JUDGES | {Point.PRE_ENQUEUE, Point.POST_FILTER, Point.SCORE, Point.RESERVE, Point.PRE_BIND},
    make=_make,
    args=DynamicResourcesArgs,
    weight=2,
    gate="DynamicResourceAllocation",
    scores_since=35,
)
