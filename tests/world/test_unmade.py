"""Pods that workloads are to have and that do not exist: a quota refuses them, or it is not yet their turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread import Scheduler, Snapshot
from kubespread.kube.api.core import ResourceQuota
from kubespread.questions.plan import PlanReport
from kubespread.questions.worlds import world_of
from tests.builders import Data, node, pod, taint
from tests.kube.test_quota import quota
from tests.world.clusters import deployment, job, lacking, on_nodes, play, stateful_set, world

NODES = [node("n0"), node("n1"), node("n2")]


def full(hard: int, *groups: list[Data]) -> list[Data]:
    """Those workloads in a namespace whose quota of pods is counted as its controller would."""
    return [each for group in groups for each in group] + [quota({"pods": str(hard)})]


def refused(name: str, pods: int, resource: str = "pods") -> str:
    said = f"exceeded quota: q, requested: {resource}=1, used: {resource}={pods}, limited: {resource}={pods}"
    return f'pods "{name}" is forbidden: {said}'


@pytest.mark.parametrize(
    ("release", "expected"),
    [("1.37", ["db-0", "db-2", "db-3"]), ("1.38", ["db-0", "db-1", "db-2"])],
    ids=["until 1.37", "since 1.38"],
)
def test_a_quota_that_refuses_a_parallel_pod_stops_scaling_down(release: str, expected: list[str]) -> None:
    gone = "db-1"
    pods = [each for each in stateful_set("db", ("n0",) * 4, parallel=True) if each["metadata"]["name"] != gone]
    snapshot = Snapshot.from_objects([*NODES, *full(3, pods)])
    living = world_of(snapshot, Scheduler(kube_version=release))
    play(living, "scale sts/db=3")
    assert sorted(pod for held in on_nodes(living).values() for pod in held) == expected


def test_a_job_that_was_refused_its_pod_makes_it_later() -> None:
    workloads = [*deployment("web", ("n0", "n0")), *job("once", ("n0",))]
    living = world([*NODES[:1], *workloads, quota({"pods": "2"}, {"pods": "3"})])
    play(living, "delete-pods job-name=once")
    assert lacking(living) == [f"Job/once 1 refused: {refused('once-1', 2)}"]
    play(living, "scale deploy/web=1")
    assert (on_nodes(living), lacking(living)) == ({"n0": ["once-1", "web-b"]}, [])


def test_a_fork_has_quotas_of_its_own() -> None:
    living = world([*NODES[:1], *full(2, deployment("web", ("n0",)))])
    other = living.fork()
    for each in (living, other):
        play(each, "scale deploy/web=3")
        assert lacking(each) == [f"ReplicaSet/web-5d6 1 refused: {refused('web-5d6-2', 2)}"]


SELECTING: Data = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "default", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "pool=x"}},
}


def with_selector(spec: Data, scheduler: Scheduler) -> tuple[dict[str, list[str]], list[str]]:
    """A pod on n0 that is made again where only n1 is in the namespace's pool."""
    objects = [node("n0"), node("n1", pool="x"), node("n2"), SELECTING, *deployment("web", ("n0",), spec=spec)]
    living = world_of(Snapshot.from_objects(objects), scheduler)
    play(living, "drain n0")
    return on_nodes(living), lacking(living)


def test_a_namespace_selects_the_nodes_of_pods_that_are_made_again() -> None:
    assert with_selector({}, Scheduler(pod_node_selector=True)) == ({"n1": ["web-5d6-1"]}, [])
    conflict = "pod node label selector conflicts with its namespace node label selector (Namespace default)"
    refusal = f'ReplicaSet/web-5d6 1 refused: pods "web-5d6-1" is forbidden: {conflict}'
    assert with_selector({"nodeSelector": {"pool": "y"}}, Scheduler(pod_node_selector=True)) == ({}, [refusal])


def test_pods_made_again_tolerate_what_keeps_nodes_for_what_they_request() -> None:
    devices = node("n1", taints=[taint("example.com/gpu")])
    for each in (devices, first := node("n0")):
        each["status"]["allocatable"]["example.com/gpu"] = "1"
    resources = dict.fromkeys(("requests", "limits"), {"example.com/gpu": "1"})
    spec = {"containers": [{"name": "c", "image": "x", "resources": resources}]}
    for is_on, expected in ((True, {"n1": ["web-5d6-1"]}), (False, {})):
        objects = [first, devices, *deployment("web", ("n0",), spec=spec)]
        living = world_of(Snapshot.from_objects(objects), Scheduler(extended_resource_toleration=is_on))
        play(living, "drain n0")
        assert on_nodes(living) == expected


def scenario(*steps: Any) -> Data:
    return {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": list(steps)}}


def played(objects: list[Data], *steps: Any) -> PlanReport:
    return kubespread.plan(Snapshot.from_objects(objects), scenario(*steps))


ONE_MORE: Data = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
ONE_LESS: Data = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
# The objects, the steps; what lacks in the end (pending, not made), the verdict and the answer.
PLAYED: dict[str, tuple[list[Data], list[Any], tuple[int, int], str, str]] = {
    "more replicas than the quota allows": (
        [*NODES, *full(2, deployment("web", ("n0", "n1")))],
        ["scale deploy/web=4"],
        (0, 2),
        "no",
        "2 pods not created (Deployment/web)",
    ),
    "a rollout that needs one pod more than the quota allows": (
        [*NODES, *full(2, deployment("web", ("n0", "n1"), strategy=ONE_MORE))],
        ["rollout deploy/web"],
        (0, 1),
        "no",
        "0 of 1 step done in full; 1 pod not created (Deployment/web)",
    ),
    "one that takes a pod away before": (
        [*NODES, *full(2, deployment("web", ("n0", "n1"), strategy=ONE_LESS))],
        ["rollout deploy/web"],
        (0, 0),
        "yes",
        "every step done in full; nothing is worse",
    ),
    "what the quota refused before the first step is nobody's fault": (
        [*NODES, *full(2, deployment("web", ("n0", "n1"), replicas=3))],
        ["cordon n2"],
        (0, 0),
        "yes",
        "every step done in full; nothing is worse",
    ),
    "a drain that leaves a StatefulSet with nothing": (
        [
            node("n0", pool="x"),
            node("n1", pool="x"),
            node("n2"),
            *stateful_set("db", ("n0", "n0", "n1", "n1"), spec={"nodeSelector": {"pool": "x"}}),
        ],
        ["drain pool=x"],
        (1, 3),
        "no",
        "3 pods not created (StatefulSet/db), 1 pod pending (StatefulSet/db), 1 workload degraded "
        "(StatefulSet/db 0 of 4 ready)",
    ),
}


@pytest.mark.parametrize("case", PLAYED)
def test_the_verdict_of_a_scenario_counts_pods_that_are_not_made(case: str) -> None:
    objects, steps, counts, verdict, answer = PLAYED[case]
    report = played(objects, *steps)
    assert (report.pending, report.unmade) == counts
    assert (report.verdict, report.answer[0]) == (verdict, answer)


# What is applied after the quota refused two of four pods; what is not created then, and the answer.
APPLIED: dict[str, tuple[Data, int, str]] = {
    "a quota that allows more": (quota({"pods": "9"}), 0, "every step done in full; in the end nothing is worse"),
    "a pod by itself": (pod("solo"), 3, "3 pods not created (Deployment/web, Pod/solo)"),
}


@pytest.mark.parametrize("case", APPLIED)
def test_what_is_applied_meets_the_quota(case: str, tmp_path: Path) -> None:
    manifest, unmade, answer = APPLIED[case]
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest))
    objects = [*NODES, *full(2, deployment("web", ("n0", "n1")))]
    report = played(objects, "scale deploy/web=4", {"apply": [str(path)]})
    assert (report.unmade, report.answer[0]) == (unmade, answer)


def test_the_rows_say_who_lacks_pods_and_why() -> None:
    report = played([*NODES, *full(2, deployment("web", ("n0", "n1"), strategy=ONE_MORE))], "rollout deploy/web")
    (step,) = report.steps
    (row,) = step.get("unmade")
    (rollout,) = step.rollouts
    assert (row.subject, row.count) == ("default/Deployment/web", 1)
    assert row.why.endswith("exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2")
    assert (rollout.complete, rollout.not_created, rollout.wedged_on) == (False, 1, row.why)
    (workload,) = step.workloads
    assert (workload.wanted, workload.ready, workload.pending, workload.unmade) == (2, 2, 0, 1)


def test_an_edit_says_what_a_quota_refuses() -> None:
    edited = Snapshot.from_objects([*NODES, *full(2, deployment("web", ("n0",)))]).edited("scale deploy/web=4")
    _, notes = kubespread.after_edits(edited)
    assert notes[:2] == (
        "scale Deployment/web=4: 1 placed",
        f"scale Deployment/web=4: 2 pods not created (Deployment/web): {refused('web-5d6-2', 2)}",
    )


def test_what_quotas_count_goes_on_from_an_edited_cluster() -> None:
    objects = [*NODES, *full(3, deployment("web", ("n0", "n1")))]
    edited = Snapshot.from_objects(objects).edited("scale deploy/web=3")
    after, _ = kubespread.after_edits(edited)
    assert [each.status.used for each in after.objects.get(ResourceQuota)] == [{"pods": "3"}]
    report = kubespread.simulate(edited, "deploy/web", 5)
    assert (report.placed, report.created) == (0, 3)


def test_a_suspended_job_makes_no_pods(tmp_path: Path) -> None:
    """Neither when it is applied nor when it loses one."""
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job("later", ("n0",), suspend=True)[0]))
    said = "Job/later is suspended: it makes no pods until it is resumed"
    (step,) = played([*NODES], {"apply": [str(path)]}).steps
    assert (step.pods_placed, step.notes) == ((), (said,))
    living = world([*NODES, *job("once", ("n0",), suspend=True)])
    play(living, "drain n0")
    assert (on_nodes(living), lacking(living)) == ({}, [])


def test_pods_that_are_made_again_get_the_defaults_of_their_namespace_before_a_quota_is_asked() -> None:
    limits: Data = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "lr", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
    }
    living = world(
        [*NODES[:1], *deployment("web", ("n0",)), limits, quota({"requests.cpu": "2"}, {"requests.cpu": "0"})]
    )
    play(living, "scale deploy/web=4")
    message = refused("web-5d6-3", 2, "requests.cpu")
    assert lacking(living) == [f"ReplicaSet/web-5d6 1 refused: {message}"]
