"""What the API server answers to an eviction."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kubespread.controllers.disruption import ClusterScales, Eviction, budget_status, evict, no_such_pod
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    Condition,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
)
from kubespread.kube.api.core import Pod
from tests.controllers.cluster import NOW, budget, pod

VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."


def with_status(allowed: int = 0, healthy: int = 0, desired: int = 0, **more: Any) -> PodDisruptionBudgetStatus:
    more = {"observed_generation": 1, **more}
    return PodDisruptionBudgetStatus(
        disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=desired, **more
    )


EXHAUSTED = budget(status=with_status(0, 3, 3))
SYNC_FAILED = [Condition(type="DisruptionAllowed", status="False", reason="SyncFailed", message="no such thing")]
GONE, STAYS = Eviction(201, is_immediate=True), Eviction(201)


def refused(cause: str, retry_after_seconds: int | None = None) -> Eviction:
    return Eviction(429, VIOLATES, cause, retry_after_seconds)


ANSWERS: dict[str, tuple[Pod, list[PodDisruptionBudget], Eviction]] = {
    "no budget": (pod(), [], STAYS),
    "a finished pod is gone at once, whatever its budget": (pod(phase="Succeeded"), [EXHAUSTED], GONE),
    "a failed one too": (pod(phase="Failed"), [EXHAUSTED], GONE),
    "a pod without a node is gone at once": (pod(phase="Pending", on=""), [EXHAUSTED], GONE),
    "a pending pod with a node needs no budget": (pod(phase="Pending"), [EXHAUSTED], STAYS),
    "a terminating pod needs no budget": (pod(deleted="2026-03-01T11:59:00Z"), [EXHAUSTED], STAYS),
    "two budgets are one too many, even for a pod that is not ready": (
        pod(ready=False),
        [budget("a", status=with_status(1)), budget("b", status=with_status(1))],
        Eviction(
            500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        ),
    ),
    "an exhausted budget": (
        pod(),
        [EXHAUSTED],
        refused("The disruption budget web needs 3 healthy pods and has 3 currently"),
    ),
    "an exhausted budget with more healthy pods than desired": (
        pod(),
        [budget(status=with_status(0, 4, 3))],
        refused("The disruption budget web does not allow evicting pods currently"),
    ),
    "a failed sync is said before the numbers": (
        pod(),
        [budget(status=with_status(0, 3, 3, conditions=SYNC_FAILED))],
        refused(
            "The disruption budget web does not allow evicting pods currently because it failed sync: no such thing"
        ),
    ),
    "a budget that was never synced": (
        pod(),
        [budget(status=PodDisruptionBudgetStatus())],
        refused("The disruption budget web is still being processed by the server.", 10),
    ),
    "a budget from a manifest, without a generation, was never synced either": (
        pod(),
        [budget(generation=0)],
        refused("The disruption budget web is still being processed by the server.", 10),
    ),
    "a budget that changed since the last sync": (
        pod(),
        [budget(generation=2, status=with_status(1, 4, 3))],
        refused("The disruption budget web is still being processed by the server.", 10),
    ),
    "a pod that is not ready goes for nothing while the budget is met": (pod(ready=False), [EXHAUSTED], STAYS),
    "a budget that desires nothing is not met": (
        pod(ready=False),
        [budget(status=with_status(0, 4, 0))],
        refused("The disruption budget web does not allow evicting pods currently"),
    ),
    "a pod that is not ready waits while the budget is not met": (
        pod(ready=False),
        [budget(status=with_status(0, 2, 3))],
        refused("The disruption budget web needs 3 healthy pods and has 2 currently"),
    ),
    "unless the budget always lets such pods go": (
        pod(ready=False),
        [budget(status=with_status(0, 2, 3), unhealthy_pod_eviction_policy="AlwaysAllow")],
        STAYS,
    ),
    "too many evictions that the controller has not seen yet": (
        pod(),
        [budget(status=with_status(1, 4, 3, disrupted_pods={str(count): "" for count in range(2001)}))],
        Eviction(
            403,
            'poddisruptionbudget.policy "web" is forbidden: '
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        ),
    ),
    "a budget that allows fewer than none": (
        pod(),
        [budget(status=with_status(-1))],
        Eviction(403, 'poddisruptionbudget.policy "web" is forbidden: pdb disruptions allowed is negative'),
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_the_answer(case: str) -> None:
    evicted, budgets, answer = ANSWERS[case]
    assert evict(evicted, budgets, NOW) == answer


def test_a_pod_that_is_not_there() -> None:
    assert no_such_pod("nobody") == Eviction(404, 'pods "nobody" not found')


def test_each_eviction_is_charged_and_the_last_one_turns_the_condition() -> None:
    sufficient = Condition(type="DisruptionAllowed", status="True", reason="SufficientPods")
    insufficient = Condition(type="DisruptionAllowed", status="False", reason="InsufficientPods")
    before = budget(status=with_status(2, 5, 3, conditions=[sufficient]))
    first = evict(pod("a"), [before], NOW).budget_after
    assert first is not None
    assert first.status == with_status(1, 5, 3, conditions=[sufficient], disrupted_pods={"a": "2026-03-01T12:00:00Z"})
    second = evict(pod("b"), [first], NOW).budget_after
    assert second is not None
    disrupted = {"a": "2026-03-01T12:00:00Z", "b": "2026-03-01T12:00:00Z"}
    assert second.status == with_status(0, 5, 3, conditions=[insufficient], disrupted_pods=disrupted)
    assert before.status.disrupted_pods == {}


def test_with_a_sync_after_each_eviction_as_many_go_as_were_allowed() -> None:
    scales = ClusterScales(ClusterObjects())
    pods = [pod(f"web-{ordinal}") for ordinal in range(6)]
    held, codes = budget(min_available=4), []
    for evicted in pods:
        held = replace(held, status=budget_status(held, pods, scales, NOW))
        said = evict(evicted, [held], NOW)
        held = said.budget_after or held
        codes.append(said.code)
    assert codes == [201, 201, 429, 429, 429, 429]
