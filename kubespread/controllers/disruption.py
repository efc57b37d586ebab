"""Disruptions of pods: the checks of ``kubectl drain``, evictions with the API server's answers, and the status that
the disruption controller writes for PodDisruptionBudgets.

Source: pkg/controller/disruption/disruption.go, trySync, getExpectedScale, getExpectedPodCount, countHealthyPods,
    buildDisruptedPodMap, updatePdbStatus, failSafe
Source: staging/src/k8s.io/component-helpers/apps/poddisruptionbudget/helpers.go, UpdateDisruptionAllowedCondition
Source: pkg/registry/core/pod/storage/eviction.go, Create, checkAndDecrement, canIgnorePDB, getPodDisruptionBudgets
Source: pkg/registry/core/pod/strategy.go, CheckGracefulDelete
Source: staging/src/k8s.io/kubectl/pkg/drain/filters.go, makeFilters, daemonSetFilter, mirrorPodFilter,
    localStorageFilter, unreplicatedFilter
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.deployment import replicas_of
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    Condition,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KIND_OF, KINDS, group_of
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.workloads import DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.gotext import quote
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of, full_name, is_ready
from kubespread.kube.quantity import IntOrStringError, scaled_value
from kubespread.kube.selector import NOTHING, Selector, SelectorError, from_label_selector
from kubespread.kube.taint import DrainFlags
from kubespread.kube.time import format_utc, instant
from kubespread.kube.well_known import ENDED_PHASES, MIRROR_POD

DAEMON_SET_WARNING = "ignoring DaemonSet-managed Pods"
DAEMON_SET_ERROR = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE_ERROR = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED_WARNING = "deleting Pods that declare no controller"
UNMANAGED_ERROR = "Pods that declare no controller (use --force to override)"


class DrainPlan(Struct, frozen=True):
    """Pods that a drain would evict all at once, in listed order.

    Warnings and errors are sorted, while kubectl prints them in any order. With an error nothing is evicted at all, and
    ``evict`` holds the pods without one.
    """

    evict: tuple[Pod, ...] = ()
    warnings: tuple[str, ...] = ()
    refused: Mapping[str, Sequence[NamespacedName]] = field(default_factory=dict)
    """Pods concerned, by error."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Errors as kubectl prints them."""
        return _lines({f"cannot delete {error}": pods for error, pods in self.refused.items()})


class _Verdict(NamedTuple):
    """Verdict of the last filter consulted on a pod: the others' warnings are never printed."""

    evicts: bool
    warning: str = ""
    error: str = ""


_PASSES, _SKIPPED = _Verdict(evicts=True), _Verdict(evicts=False)


def plan_drain(node_name: str, pods: Sequence[Pod], daemon_sets: Sequence[DaemonSet], flags: DrainFlags) -> DrainPlan:
    """Sort the ``pods`` on the node into evicted and refused ones; ``daemon_sets`` are all that exist."""
    existing = {(daemon_set.metadata.namespace, daemon_set.metadata.name) for daemon_set in daemon_sets}
    evict: list[Pod] = []
    warnings: dict[str, list[str]] = {}
    refused: dict[str, list[NamespacedName]] = {}
    for pod in pods:
        meta = pod.metadata
        if pod.spec.node_name != node_name:
            continue
        verdict = _judge(pod, existing, flags)
        if verdict.evicts:
            evict.append(pod)
        if verdict.warning:
            warnings.setdefault(verdict.warning, []).append(f"{meta.namespace}/{meta.name}")
        if verdict.error:
            refused.setdefault(verdict.error, []).append(full_name(pod))
    return DrainPlan(tuple(evict), _lines(warnings), dict(sorted(refused.items())))


def _lines(named: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted(f"{message}: {', '.join(pods)}" for message, pods in named.items()))


def _judge(pod: Pod, daemon_sets: set[tuple[str, str]], flags: DrainFlags) -> _Verdict:
    has_ended = pod.status.phase in ENDED_PHASES
    of_daemon_set = _PASSES if has_ended else _of_daemon_set(pod, daemon_sets, flags)
    if not of_daemon_set.evicts:
        return of_daemon_set
    if MIRROR_POD in pod.metadata.annotations:
        return _SKIPPED
    if has_ended:
        return _PASSES
    if not flags.delete_emptydir_data and any(volume.empty_dir is not None for volume in pod.spec.volumes):
        return _Verdict(evicts=False, error=LOCAL_STORAGE_ERROR)
    if controller_of(pod) is not None:
        return _PASSES
    if flags.force:
        return _Verdict(evicts=True, warning=UNMANAGED_WARNING)
    return _Verdict(evicts=False, error=UNMANAGED_ERROR)


def _of_daemon_set(pod: Pod, daemon_sets: set[tuple[str, str]], flags: DrainFlags) -> _Verdict:
    """Verdict on a pod of a DaemonSet, which kubectl looks up by name, without comparing UIDs."""
    owner, row = controller_of(pod), KIND_OF[DaemonSet]
    if owner is None or (owner.api_version, owner.kind) != (row.api_version, row.kind):
        return _PASSES
    if (pod.metadata.namespace, owner.name) not in daemon_sets:
        return _PASSES if flags.force else _Verdict(evicts=False, error=f"{row.resource} {quote(owner.name)} not found")
    if not flags.ignore_daemonsets:
        return _Verdict(evicts=False, error=DAEMON_SET_ERROR)
    return _Verdict(evicts=False, warning=DAEMON_SET_WARNING)


_Scalable = Deployment | ReplicaSet | StatefulSet | ReplicationController

_RESOURCES = {(row.api_version, row.kind): row.resource for row in KINDS}
# The group extensions was removed long ago, but the disruption controller still treats it like apps.
_GROUPS: Mapping[type[_Scalable], tuple[str, ...]] = {
    Deployment: ("apps", "extensions"),
    ReplicaSet: ("apps", "extensions"),
    StatefulSet: ("apps",),
    ReplicationController: ("",),
}
_SCALABLE_KINDS = frozenset(cls.__name__ for cls in _GROUPS)


class ScaleError(Exception):
    """The replicas of a controller cannot be determined; the message is the disruption controller's."""


class PodScale(NamedTuple):
    """Desired replicas of ``workload``."""

    workload: WorkloadName
    replicas: int


Scales = Callable[[OwnerReference, str], PodScale | None]
"""Lookup of the scale of a pod's controller in its namespace; None without such an object. Raises ScaleError for a kind
without scales.
"""


class ClusterScales:
    """Scales of a cluster's controllers. A custom kind counts as one that the API does not serve."""

    def __init__(self, objects: ClusterObjects) -> None:
        self._workloads: dict[WorkloadName, _Scalable] = {
            _name_of(workload): workload for kind in _GROUPS for workload in objects.get(kind)
        }

    def __call__(self, controller: OwnerReference, namespace: str) -> PodScale | None:
        workload = self._find(controller, namespace)
        if isinstance(workload, ReplicaSet):
            # A ReplicaSet whose Deployment is missing counts by itself.
            workload = self._deployment(workload) or workload
        if workload is not None:
            return PodScale(_name_of(workload), replicas_of(workload))
        resource = _RESOURCES.get((controller.api_version, controller.kind))
        if resource is None:
            raise ScaleError(f"no matches for kind {quote(controller.kind)} in version {quote(controller.api_version)}")
        if controller.kind not in _SCALABLE_KINDS:
            raise ScaleError(f"{resource} does not implement the scale subresource")
        return None

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


def _total_scale(pods: Sequence[Pod], scales: Scales) -> int:
    """Total replicas of the controllers of ``pods``, each counted once.

    A pod without a controller adds nothing. Raises ScaleError, also for a missing controller.
    """
    controllers: set[tuple[str, ...]] = set()
    replicas: dict[WorkloadName, int] = {}
    for pod in pods:
        controller = controller_of(pod)
        if controller is None:
            continue
        key = pod.metadata.namespace, controller.api_version, controller.kind, controller.name, controller.uid
        if key in controllers:
            continue
        controllers.add(key)
        scale = scales(controller, pod.metadata.namespace)
        if scale is None:
            raise ScaleError(f"found no controllers for pod {quote(pod.metadata.name)}")
        # Several ReplicaSets may lead to one Deployment.
        replicas[scale.workload] = scale.replicas
    return sum(replicas.values())


def _name_of(workload: ApiObject) -> WorkloadName:
    return WorkloadName(type(workload).__name__, workload.metadata.namespace, workload.metadata.name)


def _is(owner: OwnerReference, uid: str) -> bool:
    """True if the UIDs are equal, or if one is missing: objects that were never stored have none."""
    return not owner.uid or not uid or owner.uid == uid


DISRUPTION_ALLOWED = "DisruptionAllowed"
SUFFICIENT_PODS, INSUFFICIENT_PODS, SYNC_FAILED = "SufficientPods", "InsufficientPods", "SyncFailed"
DELETION_TIMEOUT = timedelta(minutes=2)
"""Time for which an evicted pod counts as deleted though it still exists."""


class Expectation(NamedTuple):
    """Number of pods a budget expects, and number of healthy pods it requires."""

    expected: int
    desired: int


def selector_of(budget: PodDisruptionBudget) -> Selector:
    """Selector of the pods that the budget protects in its namespace: ``{}`` all, an absent or malformed one none."""
    try:
        return from_label_selector(budget.spec.selector)
    except SelectorError:
        return NOTHING


def protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    same_namespace = budget.metadata.namespace == pod.metadata.namespace
    return same_namespace and selector_of(budget).matches(pod.metadata.labels)


def reads_scale(spec: PodDisruptionBudgetSpec) -> bool:
    """True if the budget counts desired replicas of the pods' controllers, not existing pods."""
    return spec.max_unavailable is not None or isinstance(spec.min_available, str)


def desired_and_expected(spec: PodDisruptionBudgetSpec, matching: int, scale: int) -> Expectation:
    """Expectation of a budget over ``matching`` pods with ``scale`` desired replicas together.

    ``scale`` is read only if `reads_scale`. Raises IntOrStringError.
    """
    if spec.max_unavailable is not None:
        return Expectation(scale, max(0, scale - scaled_value(spec.max_unavailable, scale, round_up=True)))
    if spec.min_available is None:
        return Expectation(0, 0)
    if isinstance(spec.min_available, int):
        return Expectation(matching, spec.min_available)
    return Expectation(scale, scaled_value(spec.min_available, scale, round_up=True))


def disruptions_allowed(expectation: Expectation, healthy: int) -> int:
    """Number of evictions that the budget allows now; none without expected pods, which keeps the first ones safe."""
    return max(0, healthy - expectation.desired) if expectation.expected > 0 else 0


def budget_status(
    budget: PodDisruptionBudget, matching: Sequence[Pod], scales: Scales, now: datetime
) -> PodDisruptionBudgetStatus:
    """Status after one sync, at ``now``, over the pods that `protects` finds.

    A failed sync allows nothing, says why in its condition and keeps all other numbers.
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
    """``status`` with ``allowed`` evictions, and the matching condition."""
    reason = SUFFICIENT_PODS if allowed > 0 else INSUFFICIENT_PODS
    return _with_condition(replace(status, disruptions_allowed=allowed), reason)


def condition_of(status: PodDisruptionBudgetStatus) -> Condition | None:
    """Condition DisruptionAllowed."""
    return next((condition for condition in status.conditions if condition.type == DISRUPTION_ALLOWED), None)


def generation_of(budget: PodDisruptionBudget) -> int:
    """Generation, by default 1: the API server counts from 1."""
    return max(1, budget.metadata.generation)


def _is_healthy(pod: Pod, disrupted: Mapping[str, str], now: datetime) -> bool:
    if pod.metadata.deletion_timestamp is not None or not is_ready(pod):
        return False
    since = instant(disrupted.get(pod.metadata.name))
    return since is None or now - since >= DELETION_TIMEOUT


def _still_disrupted(disrupted: Mapping[str, str], pods: Sequence[Pod], now: datetime) -> dict[str, str]:
    """Evicted pods that are still expected to be deleted."""
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


LET_THROUGH, FORBIDDEN, NOT_FOUND, TOO_MANY_REQUESTS, SERVER_ERROR = 201, 403, 404, 429, 500
SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
VIOLATES_BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."
_ALWAYS_ALLOW = "AlwaysAllow"
_MAX_DISRUPTED_PODS = 2000
_RETRY_SECONDS = 10


class Eviction(Struct, frozen=True):
    """API server's answer to an eviction."""

    code: int
    """HTTP status."""
    message: str | None = None
    cause: str | None = None
    """Message of the budget that refused it; None if none did."""
    retry_after_seconds: int | None = None
    is_immediate: bool = False
    """True if the pod was removed at once, without terminating."""
    budget_after: PodDisruptionBudget | None = None
    """Budget charged with the eviction; None for none."""


def no_such_pod(name: str) -> Eviction:
    return Eviction(NOT_FOUND, f"pods {quote(name)} not found")


def evict(pod: Pod, budgets: Sequence[PodDisruptionBudget], now: datetime) -> Eviction:
    """Ask at ``now`` to evict ``pod``, which ``budgets`` protect, with their last written status."""
    if _needs_no_budget(pod) or not budgets:
        return _delete(pod)
    if len(budgets) > 1:
        return Eviction(SERVER_ERROR, SEVERAL_BUDGETS)
    (budget,) = budgets
    if not is_ready(pod) and _spares_unready(budget):
        return _delete(pod)
    return _refusal(budget) or _delete(pod, charged=_charge(budget, pod, now))


def _needs_no_budget(pod: Pod) -> bool:
    """A pod that has ended, or has not started, does nothing that could be disrupted."""
    return pod.status.phase in (*ENDED_PHASES, "Pending") or pod.metadata.deletion_timestamp is not None


def _spares_unready(budget: PodDisruptionBudget) -> bool:
    """True if a pod that is not ready may go without being charged."""
    if budget.spec.unhealthy_pod_eviction_policy == _ALWAYS_ALLOW:
        return True
    return budget.status.current_healthy >= budget.status.desired_healthy > 0


def _refusal(budget: PodDisruptionBudget) -> Eviction | None:
    name, status = budget.metadata.name, budget.status
    if status.observed_generation < generation_of(budget):
        cause = f"The disruption budget {name} is still being processed by the server."
        return Eviction(TOO_MANY_REQUESTS, VIOLATES_BUDGET, cause, _RETRY_SECONDS)
    if status.disruptions_allowed < 0:
        return _forbidden(name, "pdb disruptions allowed is negative")
    if len(status.disrupted_pods) > _MAX_DISRUPTED_PODS:
        return _forbidden(name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    if status.disruptions_allowed == 0:
        return Eviction(TOO_MANY_REQUESTS, VIOLATES_BUDGET, f"The disruption budget {name} {_reason(status)}")
    return None


def _reason(status: PodDisruptionBudgetStatus) -> str:
    condition = condition_of(status)
    if condition is not None and condition.reason == SYNC_FAILED:
        return f"does not allow evicting pods currently because it failed sync: {condition.message}"
    if status.current_healthy <= status.desired_healthy:
        return f"needs {status.desired_healthy} healthy pods and has {status.current_healthy} currently"
    return "does not allow evicting pods currently"


def _forbidden(budget: str, reason: str) -> Eviction:
    return Eviction(FORBIDDEN, f"poddisruptionbudget.policy {quote(budget)} is forbidden: {reason}")


def _charge(budget: PodDisruptionBudget, pod: Pod, now: datetime) -> PodDisruptionBudget:
    status = budget.status
    disrupted = {**status.disrupted_pods, pod.metadata.name: format_utc(now)}
    allowed = status.disruptions_allowed - 1
    # The API server touches the condition only when the last one is used.
    after = with_allowed(status, 0) if allowed == 0 else replace(status, disruptions_allowed=allowed)
    return replace(budget, status=replace(after, disrupted_pods=disrupted))


def _delete(pod: Pod, charged: PodDisruptionBudget | None = None) -> Eviction:
    """Deletion of the pod: immediate without a node or once it has ended, when there is no kubelet to wait for."""
    is_immediate = not pod.spec.node_name or pod.status.phase in ENDED_PHASES
    return Eviction(LET_THROUGH, is_immediate=is_immediate, budget_after=charged)
