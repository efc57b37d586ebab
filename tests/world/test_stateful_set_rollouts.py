"""StatefulSets that are rolled out: how many pods go at a time is a matter of the release and its gates."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import Scheduler
from kubespread.reports.rollout import RolloutReport
from tests.builders import hosts
from tests.world.clusters import stateful_set

ON = Scheduler(kube_version="1.36", feature_gates="MaxUnavailableStatefulSet=true")
OFF = Scheduler(kube_version="1.37", feature_gates="MaxUnavailableStatefulSet=false")
# The scheduler, what the rolling update says; how many may be unavailable, and how many pods are ready at worst.
CASES: dict[str, tuple[Scheduler, dict[str, Any], tuple[int, int]]] = {
    "1.36 knows the field only behind a gate that is off": (
        Scheduler(kube_version="1.36"),
        {"maxUnavailable": 2},
        (1, 3),
    ),
    "the first patches of 1.35 had it on": (Scheduler(kube_version="1.35.3"), {"maxUnavailable": 2}, (2, 2)),
    "later ones do not": (Scheduler(kube_version="1.35.4"), {"maxUnavailable": 2}, (1, 3)),
    "1.36 with the gate": (ON, {"maxUnavailable": 2}, (2, 2)),
    "1.37 honors it": (Scheduler(kube_version="1.37"), {"maxUnavailable": 2}, (2, 2)),
    "a percentage of the replicas, rounded down": (Scheduler(kube_version="1.37"), {"maxUnavailable": "80%"}, (3, 1)),
    "1.37 with the gate off": (OFF, {"maxUnavailable": 2}, (1, 3)),
    "without the field it is one": (Scheduler(kube_version="1.37"), {}, (1, 3)),
}


def rolled_out(scheduler: Scheduler, *, stuck: bool = False, **rolling: Any) -> RolloutReport:
    """db of four replicas, restarted; ``stuck``: its new pods never become ready."""
    made, *pods = stateful_set("db", ("n0", "n1", "n2", "n3"), parallel=True)
    made["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    cluster = kubespread.Snapshot.from_objects([*hosts("a", "a", "b", "b"), made, *pods])
    scenario = {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "Scenario",
        "spec": {"steps": ["rollout sts/db"], "readiness": {"stuck": ["sts/db"] if stuck else []}},
    }
    (step,) = kubespread.plan(cluster, scenario, scheduler).steps
    (rollout,) = step.rollouts
    return rollout


@pytest.mark.parametrize("case", CASES)
def test_as_many_pods_go_at_a_time_as_the_release_allows(case: str) -> None:
    scheduler, rolling, expected = CASES[case]
    rollout = rolled_out(scheduler, **rolling)
    assert rollout.complete
    assert (rollout.max_unavailable, rollout.fewest_ready) == expected


def test_pods_that_never_become_ready_stop_it_once_as_many_are_unavailable() -> None:
    rollout = rolled_out(Scheduler(kube_version="1.37"), stuck=True, maxUnavailable=2)
    assert (rollout.complete, rollout.fewest_ready, rollout.wedged_on) == (False, 2, "new pods never become ready")


def test_a_limit_that_is_no_percentage_stops_the_step() -> None:
    made, *pods = stateful_set("db", ("n0", "n1"))
    made["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "many"}}
    cluster = kubespread.Snapshot.from_objects([*hosts("a", "a"), made, *pods])
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": ["rollout sts/db"]}}
    (step,) = kubespread.plan(cluster, scenario, Scheduler(kube_version="1.37")).steps
    assert step.failed == "invalid value for IntOrString: invalid type: string is not a percentage"
