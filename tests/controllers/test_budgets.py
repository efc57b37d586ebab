"""What the disruption controller writes into budgets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubespread.controllers.disruption import (
    ClusterScales,
    Expectation,
    budget_status,
    desired_and_expected,
    disruptions_allowed,
    protects,
    reads_scale,
    selector_of,
)
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    Condition,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from kubespread.kube.api.workloads import (
    Deployment,
    LabelSelectingWorkloadSpec,
    MapSelectingWorkloadSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from tests.controllers.cluster import NOW, budget, controlled_by, pod

# The Kubernetes documentation's case: five replicas, one of them not ready.
FIVE = [pod(f"web-{ordinal}", controlled_by("StatefulSet"), ready=ordinal > 0) for ordinal in range(5)]


def meta(name: str = "web") -> ObjectMeta:
    return ObjectMeta(name=name, namespace="default", uid=f"uid-{name}")


def replica_set(name: str, replicas: int, deployment: str | None = None) -> ReplicaSet:
    owners = [controlled_by("Deployment", deployment)] if deployment else []
    metadata = ObjectMeta(name=name, namespace="default", uid=f"uid-{name}", owner_references=owners)
    return ReplicaSet(metadata=metadata, spec=LabelSelectingWorkloadSpec(replicas=replicas))


SCALES = ClusterScales(
    ClusterObjects(
        {
            Deployment: (Deployment(metadata=meta("shop"), spec=LabelSelectingWorkloadSpec(replicas=8)),),
            ReplicaSet: (
                replica_set("shop-old", 3, "shop"),
                replica_set("shop-new", 6, "shop"),
                replica_set("left-over", 2, "gone"),
                replica_set("alone", 4),
            ),
            StatefulSet: (StatefulSet(metadata=meta(), spec=LabelSelectingWorkloadSpec(replicas=5)),),
            ReplicationController: (
                ReplicationController(metadata=meta("old"), spec=MapSelectingWorkloadSpec(replicas=None)),
            ),
        }
    )
)

BUDGETS: dict[str, tuple[dict[str, Any], tuple[int, int, int]]] = {
    "maxUnavailable 30%": ({"max_unavailable": "30%"}, (5, 3, 1)),
    "maxUnavailable 1% is one pod": ({"max_unavailable": "1%"}, (5, 4, 0)),
    "maxUnavailable 0": ({"max_unavailable": 0}, (5, 5, 0)),
    "maxUnavailable above all replicas": ({"max_unavailable": 9}, (5, 0, 4)),
    "minAvailable 100%": ({"min_available": "100%"}, (5, 5, 0)),
    "minAvailable 41%": ({"min_available": "41%"}, (5, 3, 1)),
    "minAvailable 3": ({"min_available": 3}, (5, 3, 1)),
    "minAvailable 0": ({"min_available": 0}, (5, 0, 4)),
    "minAvailable 10": ({"min_available": 10}, (5, 10, 0)),
    "neither field expects nothing and allows nothing": ({}, (0, 0, 0)),
}


@pytest.mark.parametrize("case", BUDGETS)
def test_five_replicas_of_which_four_are_ready(case: str) -> None:
    spec, (expected, desired, allowed) = BUDGETS[case]
    reason, status = ("SufficientPods", "True") if allowed else ("InsufficientPods", "False")
    assert budget_status(budget(generation=3, **spec), FIVE, SCALES, NOW) == PodDisruptionBudgetStatus(
        observed_generation=3,
        expected_pods=expected,
        current_healthy=4,
        desired_healthy=desired,
        disruptions_allowed=allowed,
        conditions=[Condition(type="DisruptionAllowed", status=status, reason=reason)],
    )


def of(kind: str, name: str, api_version: str = "apps/v1") -> Pod:
    return pod(f"{name}-pod", controlled_by(kind, name, api_version))


EXPECTED: dict[str, tuple[list[Pod], int]] = {
    "two ReplicaSets of one Deployment count its replicas once": (
        [of("ReplicaSet", "shop-old"), of("ReplicaSet", "shop-new")],
        8,
    ),
    "a ReplicaSet whose Deployment is gone counts its own": ([of("ReplicaSet", "left-over")], 2),
    "a ReplicaSet without a Deployment counts its own": ([of("ReplicaSet", "alone")], 4),
    "an old reference to the group extensions": ([of("ReplicaSet", "alone", "extensions/v1beta1")], 4),
    "a ReplicationController without replicas has one": ([of("ReplicationController", "old", "v1")], 1),
    "distinct controllers add up": ([of("ReplicaSet", "alone"), of("StatefulSet", "web")], 9),
    "pods without a controller add nothing": ([of("ReplicaSet", "alone"), pod("bare")], 4),
    "no pods": ([], 0),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_expected_pods_are_what_the_controllers_ask_for(case: str) -> None:
    pods, expected = EXPECTED[case]
    assert budget_status(budget(max_unavailable=0), pods, SCALES, NOW).expected_pods == expected


STALE = PodDisruptionBudgetStatus(
    observed_generation=1, expected_pods=7, current_healthy=6, desired_healthy=5, disruptions_allowed=1
)
FAILED_SYNCS: dict[str, tuple[Pod, str]] = {
    "the controller is gone": (of("ReplicaSet", "missing"), 'found no controllers for pod "missing-pod"'),
    "a Job": (of("Job", "j", "batch/v1"), "jobs.batch does not implement the scale subresource"),
    "a DaemonSet": (of("DaemonSet", "d"), "daemonsets.apps does not implement the scale subresource"),
    "a static pod": (of("Node", "n1", "v1"), "nodes does not implement the scale subresource"),
    "a kind the API does not serve": (
        of("Rollout", "r", "argoproj.io/v1alpha1"),
        'no matches for kind "Rollout" in version "argoproj.io/v1alpha1"',
    ),
}


@pytest.mark.parametrize("case", FAILED_SYNCS)
def test_a_failed_sync_allows_nothing_and_keeps_the_other_numbers(case: str) -> None:
    failing, message = FAILED_SYNCS[case]
    status = budget_status(budget(generation=2, status=STALE, max_unavailable=1), [failing], SCALES, NOW)
    condition = Condition(type="DisruptionAllowed", status="False", reason="SyncFailed", message=message)
    assert status == PodDisruptionBudgetStatus(
        observed_generation=1,
        expected_pods=7,
        current_healthy=6,
        desired_healthy=5,
        disruptions_allowed=0,
        conditions=[condition],
    )


def test_a_controller_with_another_uid_is_gone() -> None:
    again = controlled_by("StatefulSet")
    again.uid = "recreated"
    status = budget_status(budget(max_unavailable=1), [pod("web-0", again)], SCALES, NOW)
    assert status.conditions[0].message == 'found no controllers for pod "web-0"'


def test_text_that_is_no_percentage_fails_the_sync() -> None:
    status = budget_status(budget(min_available="most"), FIVE, SCALES, NOW)
    message = "invalid value for IntOrString: invalid type: string is not a percentage"
    assert (status.disruptions_allowed, status.conditions[0].message) == (0, message)


def test_a_later_sync_replaces_the_condition_and_leaves_others_alone() -> None:
    other = Condition(type="Other", status="True")
    failed = Condition(type="DisruptionAllowed", status="False", reason="SyncFailed", message="m")
    before = PodDisruptionBudgetStatus(conditions=[other, failed])
    status = budget_status(budget(status=before, min_available=1), FIVE, SCALES, NOW)
    assert status.conditions == [other, Condition(type="DisruptionAllowed", status="True", reason="SufficientPods")]


HEALTH: dict[str, tuple[str, int, bool]] = {
    "evicted a moment ago: gone, and remembered": ("2026-03-01T11:59:59Z", 4, True),
    "evicted two minutes ago to the second: back, but still remembered": ("2026-03-01T11:58:00Z", 5, True),
    "evicted longer ago: back and forgotten": ("2026-03-01T11:57:59Z", 5, False),
    "a time that is none": ("yesterday", 5, False),
}


@pytest.mark.parametrize("case", HEALTH)
def test_evicted_pods_count_as_gone_for_two_minutes(case: str) -> None:
    time, healthy, remembered = HEALTH[case]
    before = PodDisruptionBudgetStatus(disrupted_pods={"web-0": time, "stranger": "2026-03-01T11:59:59Z"})
    pods = [pod(f"web-{ordinal}") for ordinal in range(5)]
    status = budget_status(budget(status=before, min_available=1), pods, SCALES, NOW)
    assert (status.current_healthy, status.disrupted_pods) == (healthy, {"web-0": time} if remembered else {})


def test_terminating_pods_are_expected_but_not_healthy() -> None:
    pods = [pod("a"), pod("b", deleted="2026-03-01T12:00:00Z"), pod("c", phase="Succeeded", ready=False)]
    status = budget_status(budget(min_available=1), pods, SCALES, NOW)
    assert (status.expected_pods, status.current_healthy) == (3, 1)


def test_nothing_that_goes_in_is_changed() -> None:
    before = budget(status=PodDisruptionBudgetStatus(disrupted_pods={"web-0": "2020-01-01T00:00:00Z"}), min_available=1)
    budget_status(before, FIVE, SCALES, NOW)
    assert before.status == PodDisruptionBudgetStatus(disrupted_pods={"web-0": "2020-01-01T00:00:00Z"})


SELECTORS: dict[str, tuple[LabelSelector | None, bool]] = {
    "an empty selector protects every pod": (LabelSelector(), True),
    "an absent one protects none": (None, False),
    "a malformed one protects none": (
        LabelSelector(match_expressions=[LabelSelectorRequirement(key="app", operator="Like")]),
        False,
    ),
}


@pytest.mark.parametrize("case", SELECTORS)
def test_whom_a_budget_protects(case: str) -> None:
    selector, protected = SELECTORS[case]
    found = budget(selector=selector)
    assert (protects(found, pod()), protects(found, pod(namespace="other"))) == (protected, False)
    assert selector_of(found).nothing is not protected


amounts = st.none() | st.integers(0, 50) | st.integers(0, 120).map(lambda percent: f"{percent}%")
counts = st.integers(0, 50)


@given(least=amounts, most=amounts, matching=counts, scale=counts, healthy=counts)
def test_evicting_what_is_allowed_leaves_what_is_desired(
    least: int | str | None, most: int | str | None, matching: int, scale: int, healthy: int
) -> None:
    spec = PodDisruptionBudgetSpec(min_available=least, max_unavailable=most)
    asked = desired_and_expected(spec, matching, scale)
    allowed = disruptions_allowed(asked, healthy)
    assert 0 <= allowed <= healthy
    assert not allowed or healthy - allowed >= asked.desired
    assert asked.expected in ({scale} if reads_scale(spec) else {matching, 0})


def test_a_simulation_that_counts_itself_reaches_the_same_numbers() -> None:
    spec = PodDisruptionBudgetSpec(max_unavailable="30%")
    asked = desired_and_expected(spec, matching=0, scale=5)
    assert (asked, disruptions_allowed(asked, 4)) == (Expectation(5, 3), 1)
