"""Everything that is planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.errors import UsageError
from kubespread.kube.providers import POOLS
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.scenario.reading import parse_step
from kubespread.wording import Decisive
from tests.builders import Data, hosts, node, pod, replica
from tests.cli.support import FIXTURES, run
from tests.world.clusters import budget, deployment

SHOP = FIXTURES / "clusters" / "shop.yaml"


def autoscaler(name: str, most: int) -> Data:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minReplicas": 1, "maxReplicas": most, "scaleTargetRef": target},
    }


def small(*edits: str) -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="1")]).edited(
        *edits
    )


DONE = "every step done in full; nothing is worse"


@pytest.mark.parametrize(
    ("edits", "verdict", "headline", "worse"),
    [
        pytest.param(["scale deploy/web=3"], "yes", DONE, [], id="room"),
        pytest.param(
            ["fail-hard n1", "scale deploy/web=9"], "no", "1 pod pending (Deployment/web)", ["web"], id="no room"
        ),
        pytest.param(["scale deploy/web=2"], "yes", DONE, [], id="nothing changes"),
        pytest.param(["fail-hard n1"], "yes", DONE, [], id="all in the one zone that is left"),
    ],
)
def test_the_headline_says_what_is_done_and_who_is_worse(
    edits: list[str], verdict: str, headline: str, worse: list[str]
) -> None:
    report = kubespread.plan(small(*edits))
    assert (report.verdict, report.answer[0]) == (verdict, headline)
    assert [workload.name for workload in report.worse] == worse


LOST = "1 pod lost for good (Pod/solo)"
GONE = "1 pod is gone for good: default/solo"


@pytest.mark.parametrize(
    ("edit", "verdict", "said"),
    [
        pytest.param("fail-hard n0", "no", [LOST], id="its node fails"),
        pytest.param("delete-node n0", "no", [LOST], id="its node is deleted"),
        pytest.param("drain n0 --force", "yes", [DONE, GONE], id="kubectl is told to take it"),
        pytest.param("evict default/solo", "yes", [DONE, GONE], id="it is named"),
    ],
)
def test_a_pod_that_nobody_makes_again_is_told_once(edit: str, verdict: str, said: list[str]) -> None:
    report = kubespread.plan(kubespread.Snapshot.from_objects([*hosts("a", "b"), replica("solo")]).edited(edit))
    assert (report.verdict, report.answer[0]) == (verdict, said[0])
    assert [text for text in report.answer if "solo" in text or text == DONE] == said


def test_nothing_planned_is_no_plan() -> None:
    with pytest.raises(UsageError, match="nothing is planned: give manifests"):
        kubespread.plan(small())


def test_what_waited_before_is_not_blamed_on_the_plan() -> None:
    report = kubespread.plan(
        kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1", None), cpu="5")]).edited(
            "cordon n0"
        )
    )
    assert (report.verdict, report.answer) == ("yes", (DONE, "1 pod pending before the first step"))


def test_a_pod_that_takes_over_the_wait_of_another_is_no_more_pending() -> None:
    """The one that waited takes the room of the one that is deleted, whose successor waits in its stead."""
    waiting = kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1", None), cpu="5")])
    gone = next(pod.metadata.name for pod in waiting.pods if pod.spec.node_name == "n1")
    report = kubespread.plan(waiting.edited(f"evict default/{gone}"))
    assert (report.verdict, report.pending) == ("yes", 0)
    assert report.answer[0] == DONE


def test_a_step_that_is_not_done_is_in_the_headline() -> None:
    report = kubespread.plan(small("delete-pods app=api"))
    assert (report.verdict, report.answer[0]) == ("no", "0 of 1 step done in full")
    assert "step 1: not done: no pods with labels app=api found in namespace default; there is web" in report.answer


def test_a_fleet_is_planned_for() -> None:
    fleet = run("fleet", "-S", str(SHOP), "plan", "fail-hard zone=c", "-q")
    assert (fleet.code, DONE in fleet.out) == (0, True)


def test_manifests_are_steps_too() -> None:
    """Once nodes are there that come first, and before anything else."""
    web = deployment("web", replicas=2, cpu="2")[0]
    new = deployment("new", replicas=3, cpu="1")[0]
    report = kubespread.plan(small("add-node n0", "cordon n1"), manifests=[web, new, budget("new", minAvailable=2)])
    assert [step.name.split(" ")[0] for step in report.steps] == ["add-node", "apply", "cordon"]
    assert report.steps[1].rollouts[0].complete
    assert [(row.workload.name, row.ready) for row in report.whole.workloads] == [("new", 3), ("web", 2)]
    assert [pod.why for step in report.steps for pod in step.pods_gone] == ["scaled down"] * 2


def test_a_step_that_applies_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="invalid step 'apply': expected apply FILE"):
        parse_step("apply replicas=3")


def pool(zone: str, name: str, **labels: str) -> Data:
    made = node(name, cpu="4", memory="8Gi")
    made["metadata"]["labels"] = {ZONE: zone, HOSTNAME: name, POOLS[0]: "web", **labels}
    return made


def pooled(*objects: Data) -> kubespread.Snapshot:
    nodes = [pool("a", "a1"), pool("a", "a2"), pool("b", "b1"), {**node("x", cpu="4"), "spec": {"unschedulable": True}}]
    return kubespread.Snapshot.from_objects([*nodes, *objects])


def texts(report: kubespread.PlanReport) -> list[str]:
    return [step.name for step in report.steps]


def test_new_nodes_reserve_as_much_as_old_ones() -> None:
    old = pool("a", "a1")
    old["status"] |= {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    old["status"]["allocatable"] = {"cpu": "3900m", "memory": "7Gi", "pods": "110"}
    edited = kubespread.Snapshot.from_objects([old]).edited("add-node a1@8x16")
    (made,) = (each for each in kubespread.topology_map(edited).nodes if each.joined)
    assert {load.resource: load.allocatable for load in made.load} == {"cpu": "7900m", "memory": "15Gi", "pods": "110"}
    report = kubespread.plan(edited)
    assert "add-node a1@8x16: as much of its CPUs and memory is reserved, and as many pods may run there, as on a1" in (
        report.all_notes
    )


@pytest.mark.parametrize(
    ("edits", "notes"),
    [
        (["add-node a1:2", "drain zone=a"], ["drain zone=a: 2 of the 3 drained nodes were added before the drain"]),
        (
            ["add-node a1", "drain cloud.google.com/gke-nodepool=web"],
            ["drain cloud.google.com/gke-nodepool=web: 1 of the 3 drained nodes was added before the drain"],
        ),
        (["add-node a1@zone=b", "drain zone=a"], []),
        (["add-node a1:2", "drain a1-2"], []),
        (["drain zone=a", "add-node a1:2"], []),
    ],
    ids=str,
)
def test_a_drain_by_labels_says_that_it_takes_nodes_that_were_just_added(edits: list[str], notes: list[str]) -> None:
    cluster = kubespread.Snapshot.from_objects([pool("a", "a1"), pool("b", "b1"), pod("one")]).edited(*edits)
    for all_notes in (kubespread.plan(cluster).all_notes, kubespread.capacity(cluster).notes):
        new = [note for note in all_notes if "added before" in note]
        assert new == [f"{note}; a name drains a single node" for note in notes]
        assert all(isinstance(note, Decisive) for note in new)


def test_an_empty_file_is_nothing_to_apply(tmp_path: Path) -> None:
    empty, configured = tmp_path / "empty.yaml", tmp_path / "configured.yaml"
    empty.write_text("# nothing yet\n")
    configured.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
    with pytest.raises(UsageError, match=r"^step 1 \(apply .*empty.yaml\): no objects passed to apply$"):
        kubespread.plan(small(), manifests=str(empty))
    assert kubespread.plan(small(), manifests=[str(empty), str(configured)]).verdict == "yes"


def test_budgets_alone_are_applied_from_several_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.json" for name in ("web", "api")]
    for file in files:
        file.write_text(json.dumps(budget(file.stem, minAvailable=2)))
    for given in ([*map(str, files)], str(tmp_path)):
        report = kubespread.plan(small("drain n0"), manifests=given)
        assert (report.verdict, report.blocked_steps) == ("no", (2,))


def test_autoscaled_workloads_at_their_maximum() -> None:
    grown = [*deployment("web", ("a1", "b1"), cpu="1"), autoscaler("web", 5)]
    report = kubespread.plan(pooled(*grown), hpa_max=True)
    assert (texts(report), report.steps[0].placed) == (["scale default/Deployment/web=5"], 3)
    with pytest.raises(UsageError, match="no autoscaler may ask for more than its workload has"):
        kubespread.plan(pooled(), hpa_max=True)


HELD = (
    "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods "
    "and has 2 currently"
)


def given(*steps: Any, **spec: Any) -> Data:
    return {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": [*steps], **spec}}


def test_a_scenario_is_planned_after_the_edits_in_its_order() -> None:
    web = deployment("web", ("a1", "b1"), cpu="1")
    steps = ["rollout deploy/web cpu=2", {"drain": "a1", "name": "first"}, "stuck deploy/web"]
    report = kubespread.plan(pooled(*web).edited("cordon b1"), scenario=given(*steps), preemption=False)
    assert texts(report) == ["cordon b1", "rollout deploy/web cpu=2", "drain a1", "stuck deploy/web"]
    assert report.preemption is False
    played = kubespread.plan(pooled(*web), given("cordon b1", *steps), preemption=False)
    assert (played.steps, played.preemption) == (report.steps, False)


def test_steps_stay_in_the_order_in_which_they_are_given() -> None:
    kept = [*deployment("web", ("a1", "b1"), cpu="1"), budget("web", minAvailable=2)]
    steps = ["drain a1", "scale deploy/web=3", "rollout deploy/web cpu=500m"]
    for report in (kubespread.plan(pooled(*kept), steps), kubespread.plan(pooled(*kept).edited(*steps[:2]), steps[2:])):
        assert ([text.replace("Deployment/", "deploy/") for text in texts(report)], report.blocked_steps) == (
            steps,
            (1,),
        )


def test_a_scenario_names_files_from_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text(json.dumps(deployment("web", replicas=2, cpu="1")[0]))
    (tmp_path / "n.json").write_text(json.dumps(pool("c", "n")))
    steps = ["add-node n.json:2", "apply web.json replicas=3", "rollout deploy/web web.json"]
    (tmp_path / "s.json").write_text(json.dumps(given(*steps)))
    report = kubespread.plan(pooled(), scenario=tmp_path / "s.json")
    assert (report.steps[0].nodes.joined, texts(report)) == (("n-1", "n-2"), steps)
    assert [step.failed for step in report.steps] == [None] * 3


def test_steps_are_the_same_however_they_are_given(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(given("scale deploy/web=5", "fail zone=c")))
    ways = (
        (file,),
        ("scale deploy/web=5", "fail zone=c"),
        ("scale=deploy/web=5", "fail=zone=c"),
        ("--scale", "deploy/web=5", "fail zone=c"),
    )
    answers = [run("plan", *words, "-S", SHOP, "-o", "json") for words in ways]
    assert {answer.code for answer in answers} == {1}
    reports = [json.loads(answer.out) for answer in answers]
    assert all(report["start"] == reports[0]["start"] for report in reports)
    # An edit names the kind in full.
    steps = [[{**step, "name": ""} for step in report["steps"]] for report in reports]
    assert all(each == steps[0] for each in steps)


def test_what_is_refused_is_said_with_whom_and_why_once() -> None:
    quota: Data = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": "3"}},
        "status": {"hard": {"pods": "3"}, "used": {"pods": "2"}},
    }
    kept = [*deployment("web", ("a1", "b1"), cpu="1"), budget("web", minAvailable=2), quota]
    report = kubespread.plan(pooled(*kept).edited("drain a1", "drain b1", "scale deploy/web=5"))
    assert report.answer[0] == (
        "1 of 3 steps done in full; 2 pods cannot be evicted (web-a, web-b), 2 pods not created (Deployment/web)"
    )
    assert [text for text in report.answer if "cannot be evicted: " in text] == [
        f"steps 1, 2: 1 pod cannot be evicted: {HELD}"
    ]
    (refused,) = (text for text in report.answer if "not created (Deployment/web): " in text)
    assert refused.startswith('step 3: 2 pods not created (Deployment/web): pods "web-')
    assert "exceeded quota: few" in refused
