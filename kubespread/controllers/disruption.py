"""PodDisruptionBudgets: what the disruption controller writes into their status.

Source of the rules: k8s.io/kubernetes/pkg/controller/disruption (trySync, getExpectedPodCount, countHealthyPods,
buildDisruptedPodMap, updatePdbStatus, failSafe) and the disruption helpers of the policy API, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from kubespread.controllers.scales import ScaleError, Scales, total_scale
from kubespread.kube.api.core import Pod
from kubespread.kube.api.policy import (
    Condition,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from kubespread.kube.int_or_string import IntOrStringError, scaled
from kubespread.kube.pod_status import is_ready
from kubespread.kube.selector import NOTHING, Selector, SelectorError, from_label_selector
from kubespread.kube.timestamps import instant

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
        scale = total_scale(matching, scales) if reads_scale(budget.spec) else 0
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
    conditions = [condition if each.type == DISRUPTION_ALLOWED else each for each in status.conditions]
    return replace(status, conditions=conditions)
