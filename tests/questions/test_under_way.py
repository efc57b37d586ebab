"""Snapshots taken in mid-flight: what goes on before the first step, what stays as it is, and who says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kubespread
from kubespread import Snapshot
from tests.builders import Data, ago, hosts
from tests.questions.test_play import scenario
from tests.world.clusters import deployment, job, stateful_set

HOSTS = hosts("a", "a", "b", "b")
WEB = "default/Deployment/web"
TAKEN = "Deployment/web: its new pods are taken not to become ready, like those of their template in the snapshot"


def revised(on: tuple[str, ...], *, ready: bool, replicas: int = 3) -> list[Data]:
    """A Deployment ``web`` with two old pods, and new ones on nodes."""
    made = deployment("web", ("n0", "n1"), replicas=replicas, strategy={"rollingUpdate": {"maxSurge": 1}})
    above, old, *pods = made
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**above["spec"]["template"]["spec"], "priority": 1}}
    hashed = {"app": "web", "pod-template-hash": "new"}
    newer = {
        **old,
        "metadata": {**old["metadata"], "name": "web-new", "uid": "uid-web-new", "creationTimestamp": ago(60)},
    }
    newer["metadata"]["annotations"] = {**old["metadata"]["annotations"], "deployment.kubernetes.io/revision": "2"}
    newer["spec"] = {
        "replicas": len(on),
        "selector": {"matchLabels": hashed},
        "template": {"metadata": {"labels": hashed}, "spec": template["spec"]},
    }
    above["spec"]["template"], old["spec"]["replicas"] = template, 2
    there = deployment("web", on)[2:]
    for number, pod in enumerate(there):
        pod["metadata"] |= {"name": f"new-{number}", "uid": f"new-{number}", "labels": hashed}
        pod["metadata"]["ownerReferences"][0]["name"] = "web-new"
        pod["spec"] = {**template["spec"], "nodeName": pod["spec"]["nodeName"]}
        pod["status"]["conditions"][0]["status"] = "True" if ready else "False"
    return [above, old, newer, *pods, *there]


def shrunk(job_objects: list[Data], parallelism: int, **more: Any) -> list[Data]:
    made, *pods = job_objects
    made["spec"] |= {"parallelism": parallelism, **more}
    return [made, *pods]


SUCCEEDED = {"phase": "Succeeded"}

JOBS: dict[str, tuple[list[Data], str]] = {
    "a Job that is to have more pods makes them": (shrunk(job("run", ("n0",)), 3, completions=9), "2 created, 0 gone"),
    "one that is to have fewer deletes some": (shrunk(job("run", ("n0", "n1", "n2")), 1), "0 created, 2 gone"),
    "one that needs no more than it has completed makes as many as are left": (
        [
            {**made, "status": {"succeeded": 2}} if made["kind"] == "Job" else made
            for made in shrunk(job("run", ("n0",)), 5, completions=4)
        ],
        "1 created, 0 gone",
    ),
    "pods that have ended and are counted do not count twice": (
        [
            {**made, "status": {"succeeded": 1} if made["kind"] == "Job" else SUCCEEDED}
            for made in shrunk(job("run", ("n0",)), 5, completions=3)
        ],
        "2 created, 0 gone",
    ),
    "one that is suspended has none": (shrunk(job("run", ("n0",)), 1, suspend=True), "0 created, 1 gone"),
    "one that is complete is left alone": (
        [
            {**made, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
            for made in shrunk(job("run", ()), 2, completions=2)
        ],
        "0 created, 0 gone",
    ),
    "one that has what it is to have is left alone": (job("run", ("n0", "n1")), "0 created, 0 gone"),
}


@pytest.mark.parametrize("case", JOBS)
def test_jobs_go_on_before_the_first_step(case: str) -> None:
    objects, expected = JOBS[case]
    snapshot = Snapshot.from_objects([*HOSTS, *objects])
    start = kubespread.plan(snapshot, scenario("cordon n3")).start
    settled = kubespread.after_steps(snapshot, scenario("cordon n3"), 0)
    created = {pod.metadata.name for pod in settled.pods} - {pod.metadata.name for pod in snapshot.pods}
    assert f"{len(created)} created, {start.gone} gone" == expected


def ready_of(report: Any) -> list[str]:
    """``2 of 3`` ready pods of web after each step that touched it."""
    rows = [row for step in report.steps for row in step.workloads if row.workload == WEB]
    return [f"{row.ready} of {row.wanted}" for row in rows]


def test_a_template_whose_pods_are_not_ready_is_not_healed_by_scaling() -> None:
    snapshot = Snapshot.from_objects([*HOSTS, *revised(("n2",), ready=False)])
    report = kubespread.plan(snapshot, scenario("scale deploy/web=6", "ready deploy/web"))
    assert ready_of(report) == ["3 of 6", "6 of 6"]
    assert TAKEN in report.steps[0].notes


def test_one_whose_pods_are_ready_goes_on() -> None:
    snapshot = Snapshot.from_objects([*HOSTS, *revised(("n2",), ready=True)])
    report = kubespread.plan(snapshot, scenario("scale deploy/web=6"))
    assert ready_of(report) == ["6 of 6"]
    assert [note for step in report.steps for note in step.notes] == []


GOES_ON = "Deployment/web: its rollout is under way in the snapshot and goes on"
QUESTIONS: dict[str, tuple[Callable[[Snapshot], Any], str]] = {
    "survive": (kubespread.survive, GOES_ON),
    "removable": (kubespread.removable, GOES_ON),
    "pending": (
        kubespread.pending,
        f"under way in the snapshot, and judged as it stands: {WEB}, default/StatefulSet/db",
    ),
    "upgrade": (lambda snapshot: kubespread.upgrade(snapshot, "n0"), GOES_ON),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_who_judges_a_cluster_names_what_is_under_way_in_it(question: str) -> None:
    db = stateful_set("db", ("n0", "n1"))
    db[0]["spec"]["replicas"] = 1
    moving = Snapshot.from_objects([*HOSTS, *revised(("n2",), ready=True), *db])
    at_rest = Snapshot.from_objects([*HOSTS, *deployment("web", ("n0",)), *stateful_set("db", ("n0", "n1"))])
    ask, said = QUESTIONS[question]
    assert said in ask(moving).notes
    assert not [note for note in ask(at_rest).notes if "under way" in note]


@pytest.mark.parametrize(
    "strategy", [{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}]
)
def test_a_stateful_set_that_keeps_older_pods_is_at_rest(strategy: Data) -> None:
    made, *pods = stateful_set("db", ("n0", "n1"))
    made["spec"]["updateStrategy"], made["status"]["updateRevision"] = strategy, "r2"
    notes = kubespread.survive(Snapshot.from_objects([*HOSTS, made, *pods])).notes
    assert not [note for note in notes if "under way" in note]


PAUSED = "Deployment/web: its rollout is paused in the snapshot and stays so"


@pytest.mark.parametrize(
    "ask",
    [
        lambda snapshot: kubespread.survive(snapshot, ["zone"]),
        lambda snapshot: kubespread.plan(snapshot.edited("cordon n3")),
        kubespread.removable,
    ],
)
def test_a_paused_rollout_does_not_go_on_and_that_is_said(ask: Callable[[Snapshot], Any]) -> None:
    """Its pods of both templates stay: gone on, none of the old ones would be left."""
    above, old, newer, *pods = revised(("n2",), ready=True)
    above["spec"] |= {"paused": True, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
    report = ask(Snapshot.from_objects([*HOSTS, above, old, newer, *pods]))
    assert PAUSED in getattr(report, "all_notes", report.notes)
    going_on = {**above, "spec": {**above["spec"], "paused": False}}
    goes_on = ask(Snapshot.from_objects([*HOSTS, going_on, old, newer, *pods]))
    assert PAUSED not in getattr(goes_on, "all_notes", goes_on.notes)
