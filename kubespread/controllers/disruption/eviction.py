"""Evictions through the API, with the API server's answers.

Source: pkg/registry/core/pod/storage/eviction.go, Create, checkAndDecrement, canIgnorePDB, getPodDisruptionBudgets
Source: pkg/registry/core/pod/strategy.go, CheckGracefulDelete
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.disruption.budgets import SYNC_FAILED, condition_of, generation_of, with_allowed
from kubespread.kube.api.core import Pod
from kubespread.kube.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from kubespread.kube.gotext import quote
from kubespread.kube.pod_status import is_ready
from kubespread.kube.time import format_utc
from kubespread.kube.well_known import ENDED_PHASES

LET_THROUGH, FORBIDDEN, NOT_FOUND, TOO_MANY_REQUESTS, SERVER_ERROR = 201, 403, 404, 429, 500
SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
VIOLATES_BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."
_ALWAYS_ALLOW = "AlwaysAllow"
_MAX_DISRUPTED_PODS = 2000
_RETRY_SECONDS = 10


class Eviction(Struct, frozen=True):
    """What the API server answered."""

    code: int
    """The HTTP status."""
    message: str | None = None
    cause: str | None = None
    """What the budget says, where it refused."""
    retry_after_seconds: int | None = None
    gone: bool = False
    """Whether the pod was removed at once, and does not stay as a terminating one."""
    budget_after: PodDisruptionBudget | None = None
    """The budget that the eviction was charged to, None where none was."""


def no_such_pod(name: str) -> Eviction:
    """The answer for a pod that is not there."""
    return Eviction(NOT_FOUND, f"pods {quote(name)} not found")


def evict(pod: Pod, budgets: Sequence[PodDisruptionBudget], now: datetime) -> Eviction:
    """Ask at ``now`` to evict ``pod``, which ``budgets`` protect, with the status that was last written to them."""
    if _needs_no_budget(pod) or not budgets:
        return _deleted(pod)
    if len(budgets) > 1:
        return Eviction(SERVER_ERROR, SEVERAL_BUDGETS)
    (budget,) = budgets
    if not is_ready(pod) and _spares_unready(budget):
        return _deleted(pod)
    return _refusal(budget) or _deleted(pod, charged=_charged(budget, pod, now))


def _needs_no_budget(pod: Pod) -> bool:
    """A pod that has ended, or has not started, does nothing that could be disrupted."""
    return pod.status.phase in (*ENDED_PHASES, "Pending") or pod.metadata.deletion_timestamp is not None


def _spares_unready(budget: PodDisruptionBudget) -> bool:
    """Whether a pod that is not ready goes without being charged."""
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
        return Eviction(TOO_MANY_REQUESTS, VIOLATES_BUDGET, f"The disruption budget {name} {_why(status)}")
    return None


def _why(status: PodDisruptionBudgetStatus) -> str:
    condition = condition_of(status)
    if condition is not None and condition.reason == SYNC_FAILED:
        return f"does not allow evicting pods currently because it failed sync: {condition.message}"
    if status.current_healthy <= status.desired_healthy:
        return f"needs {status.desired_healthy} healthy pods and has {status.current_healthy} currently"
    return "does not allow evicting pods currently"


def _forbidden(budget: str, reason: str) -> Eviction:
    return Eviction(FORBIDDEN, f"poddisruptionbudget.policy {quote(budget)} is forbidden: {reason}")


def _charged(budget: PodDisruptionBudget, pod: Pod, now: datetime) -> PodDisruptionBudget:
    status = budget.status
    disrupted = {**status.disrupted_pods, pod.metadata.name: format_utc(now)}
    allowed = status.disruptions_allowed - 1
    # The API server touches the condition only when the last one is used.
    after = with_allowed(status, 0) if allowed == 0 else replace(status, disruptions_allowed=allowed)
    return replace(budget, status=replace(after, disrupted_pods=disrupted))


def _deleted(pod: Pod, charged: PodDisruptionBudget | None = None) -> Eviction:
    """A pod without a node, or one that has ended, has no kubelet to wait for."""
    gone = not pod.spec.node_name or pod.status.phase in ENDED_PHASES
    return Eviction(LET_THROUGH, gone=gone, budget_after=charged)
