"""PodDisruptionBudgets: what the disruption controller writes into their status.

Source: pkg/controller/disruption/disruption.go, trySync, getExpectedScale, getExpectedPodCount, countHealthyPods,
    buildDisruptedPodMap
Source: pkg/controller/disruption/disruption.go, updatePdbStatus, failSafe
Source: staging/src/k8s.io/component-helpers/apps/poddisruptionbudget/helpers.go, UpdateDisruptionAllowedCondition
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KINDS, full_kind, group_of
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.policy import (
    Condition,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from kubespread.kube.api.workloads import Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.gotext import quote
from kubespread.kube.int_or_string import IntOrStringError, scaled
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.pod_status import is_ready
from kubespread.kube.selector import NOTHING, Selector, SelectorError, from_label_selector
from kubespread.kube.time import instant

_Scalable = Deployment | ReplicaSet | StatefulSet | ReplicationController

_RESOURCES = {(row.api_version, row.kind): row.resource for row in KINDS}
# The group extensions is long gone, but the disruption controller still takes its objects for those of apps.
_GROUPS: Mapping[type[ApiObject], tuple[str, ...]] = {
    Deployment: ("apps", "extensions"),
    ReplicaSet: ("apps", "extensions"),
    StatefulSet: ("apps",),
    ReplicationController: ("",),
}
_SCALABLE_KINDS = frozenset(cls.__name__ for cls in _GROUPS)


class ScaleError(Exception):
    """A controller whose replicas cannot be determined; the message is the disruption controller's."""


class Scale(NamedTuple):
    """The replicas that ``workload`` asks for. A kind outside Kubernetes' own has its group: ``Widget.example.com``."""

    workload: WorkloadName
    replicas: int


class Scales(Protocol):
    """Finds the scale of a pod's controller: None where there is no such object. Raises ScaleError for a kind without
    scales.
    """

    def __call__(self, controller: OwnerReference, namespace: str, /) -> Scale | None: ...


class CustomScale(Struct, frozen=True):
    uid: str
    replicas: int


class CustomKind(Struct, frozen=True):
    """A kind of a custom resource definition."""

    resource: str
    """``widgets.example.com``"""
    scales: Mapping[tuple[str, str], CustomScale] | None = None
    """Those of its objects by namespace and name, None where it has no scale subresource."""


class ClusterScales:
    """The scales of a cluster's controllers.

    ``custom`` are the kinds of custom resource definitions by apiVersion and kind; any other kind that is not
    Kubernetes' own counts as one that the API does not serve.
    """

    def __init__(self, objects: ClusterObjects, custom: Mapping[tuple[str, str], CustomKind] | None = None) -> None:
        workloads: Sequence[_Scalable] = (
            *objects.of(Deployment),
            *objects.of(ReplicaSet),
            *objects.of(StatefulSet),
            *objects.of(ReplicationController),
        )
        self._workloads = {_name_of(workload): workload for workload in workloads}
        self._custom = custom or {}

    def __call__(self, controller: OwnerReference, namespace: str, /) -> Scale | None:
        workload = self._find(controller, namespace)
        if isinstance(workload, ReplicaSet):
            # A ReplicaSet whose Deployment is missing counts by itself.
            workload = self._deployment(workload) or workload
        if workload is not None:
            replicas = workload.spec.replicas
            return Scale(_name_of(workload), 1 if replicas is None else replicas)
        return self._by_subresource(controller, namespace)

    def _find(self, owner: OwnerReference, namespace: str) -> _Scalable | None:
        group = group_of(owner.api_version)
        workload = self._workloads.get(WorkloadName(owner.kind, namespace, owner.name))
        if workload is None or group not in _GROUPS[type(workload)] or not _is(owner, workload.metadata.uid):
            return None
        return workload

    def _deployment(self, replica_set: ReplicaSet) -> _Scalable | None:
        owner = controller_of(replica_set)
        if owner is None or owner.kind != Deployment.__name__:
            return None
        return self._find(owner, replica_set.metadata.namespace)

    def _by_subresource(self, owner: OwnerReference, namespace: str) -> Scale | None:
        kind = owner.api_version, owner.kind
        custom = self._custom.get(kind)
        if custom is not None and custom.scales is not None:
            scale = custom.scales.get((namespace, owner.name))
            if scale is None or not _is(owner, scale.uid):
                return None
            return Scale(WorkloadName(full_kind(*kind), namespace, owner.name), scale.replicas)
        resource = custom.resource if custom is not None else _RESOURCES.get(kind)
        if resource is None:
            raise ScaleError(f"no matches for kind {quote(owner.kind)} in version {quote(owner.api_version)}")
        if custom is not None or owner.kind not in _SCALABLE_KINDS:
            raise ScaleError(f"{resource} does not implement the scale subresource")
        return None


def _total_scale(pods: Sequence[Pod], scales: Scales) -> int:
    """The replicas that the controllers of ``pods`` ask for together, each counted once.

    A pod without a controller adds nothing. Raises ScaleError, also for a controller that is gone.
    """
    seen: set[tuple[str, ...]] = set()
    replicas: dict[WorkloadName, int] = {}
    for pod in pods:
        controller = controller_of(pod)
        if controller is None:
            continue
        key = pod.metadata.namespace, controller.api_version, controller.kind, controller.name, controller.uid
        if key in seen:
            continue
        seen.add(key)
        scale = scales(controller, pod.metadata.namespace)
        if scale is None:
            raise ScaleError(f"found no controllers for pod {quote(pod.metadata.name)}")
        # Several ReplicaSets may lead to one Deployment.
        replicas[scale.workload] = scale.replicas
    return sum(replicas.values())


def _name_of(workload: ApiObject) -> WorkloadName:
    return WorkloadName(type(workload).__name__, workload.metadata.namespace, workload.metadata.name)


def _is(owner: OwnerReference, uid: str) -> bool:
    """By uid as in Kubernetes; what was never stored has none, and then the name is all there is."""
    return not owner.uid or not uid or owner.uid == uid


DISRUPTION_ALLOWED = "DisruptionAllowed"
SUFFICIENT_PODS, INSUFFICIENT_PODS, SYNC_FAILED = "SufficientPods", "InsufficientPods", "SyncFailed"
DELETION_TIMEOUT = timedelta(minutes=2)
"""How long an evicted pod counts as gone though it is not deleted yet."""


class Expectation(NamedTuple):
    """How many pods a budget expects, and how many of them must be healthy."""

    expected: int
    desired: int


def selector_of(budget: PodDisruptionBudget) -> Selector:
    """Which pods of its namespace the budget protects: ``{}`` all, an absent or a malformed selector none."""
    try:
        return from_label_selector(budget.spec.selector)
    except SelectorError:
        return NOTHING


def protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    same_namespace = budget.metadata.namespace == pod.metadata.namespace
    return same_namespace and selector_of(budget).matches(pod.metadata.labels)


def reads_scale(spec: PodDisruptionBudgetSpec) -> bool:
    """Whether the budget expects what the pods' controllers ask for, and not the pods that are there."""
    return spec.max_unavailable is not None or isinstance(spec.min_available, str)


def desired_and_expected(spec: PodDisruptionBudgetSpec, matching: int, scale: int) -> Expectation:
    """What a budget asks for over ``matching`` pods, whose controllers ask for ``scale`` replicas together.

    ``scale`` is looked at only where `reads_scale` says so. Raises IntOrStringError.
    """
    if spec.max_unavailable is not None:
        return Expectation(scale, max(0, scale - scaled(spec.max_unavailable, scale, round_up=True)))
    if spec.min_available is None:
        return Expectation(0, 0)
    if isinstance(spec.min_available, int):
        return Expectation(matching, spec.min_available)
    return Expectation(scale, scaled(spec.min_available, scale, round_up=True))


def disruptions_allowed(expectation: Expectation, healthy: int) -> int:
    """How many evictions the budget lets through now. Without expected pods none: the first ones are safe that way."""
    return max(0, healthy - expectation.desired) if expectation.expected > 0 else 0


def budget_status(
    budget: PodDisruptionBudget, matching: Sequence[Pod], scales: Scales, now: datetime
) -> PodDisruptionBudgetStatus:
    """The status after one sync, at ``now``, over the pods that `protects` finds.

    A sync that fails allows nothing, says why in its condition and keeps all other numbers.
    """
    try:
        scale = _total_scale(matching, scales) if reads_scale(budget.spec) else 0
        expectation = desired_and_expected(budget.spec, len(matching), scale)
    except (ScaleError, IntOrStringError) as error:
        return _with_condition(replace(budget.status, disruptions_allowed=0), SYNC_FAILED, str(error))
    disrupted = _still_disrupted(budget.status.disrupted_pods, matching, now)
    healthy = sum(_is_healthy(pod, disrupted, now) for pod in matching)
    return with_allowed(
        replace(
            budget.status,
            observed_generation=generation_of(budget),
            expected_pods=expectation.expected,
            desired_healthy=expectation.desired,
            current_healthy=healthy,
            disrupted_pods=disrupted,
        ),
        disruptions_allowed(expectation, healthy),
    )


def with_allowed(status: PodDisruptionBudgetStatus, allowed: int) -> PodDisruptionBudgetStatus:
    """``status`` with ``allowed`` evictions, and the condition that goes with it."""
    reason = SUFFICIENT_PODS if allowed > 0 else INSUFFICIENT_PODS
    return _with_condition(replace(status, disruptions_allowed=allowed), reason)


def condition_of(status: PodDisruptionBudgetStatus) -> Condition | None:
    """The condition DisruptionAllowed."""
    return next((condition for condition in status.conditions if condition.type == DISRUPTION_ALLOWED), None)


def generation_of(budget: PodDisruptionBudget) -> int:
    """The API server counts from 1: a budget that does not say is one it has yet to store."""
    return max(1, budget.metadata.generation)


def _is_healthy(pod: Pod, disrupted: Mapping[str, str], now: datetime) -> bool:
    if pod.metadata.deletion_timestamp is not None or not is_ready(pod):
        return False
    since = instant(disrupted.get(pod.metadata.name))
    return since is None or now - since >= DELETION_TIMEOUT


def _still_disrupted(disrupted: Mapping[str, str], pods: Sequence[Pod], now: datetime) -> dict[str, str]:
    """Those of the evicted pods that are still expected to be deleted."""
    waiting = {}
    for pod in pods:
        since = instant(disrupted.get(pod.metadata.name))
        if pod.metadata.deletion_timestamp is None and since is not None and now - since <= DELETION_TIMEOUT:
            waiting[pod.metadata.name] = disrupted[pod.metadata.name]
    return waiting


def _with_condition(status: PodDisruptionBudgetStatus, reason: str, message: str = "") -> PodDisruptionBudgetStatus:
    allowed = "True" if reason == SUFFICIENT_PODS else "False"
    condition = Condition(type=DISRUPTION_ALLOWED, status=allowed, reason=reason, message=message)
    if condition_of(status) is None:
        return replace(status, conditions=[*status.conditions, condition])
    conditions = [condition if existing.type == DISRUPTION_ALLOWED else existing for existing in status.conditions]
    return replace(status, conditions=conditions)
