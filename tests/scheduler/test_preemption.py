"""DefaultPreemption: eligibility, victims, budgets, the choice of the node, and the text when nothing helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from tests.builders import node, pod
from tests.cli.support import run
from tests.scheduler.asking import with_args

Data = dict[str, Any]


def ask(candidate: Data, *objects: Data) -> Data:
    report = kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate)
    assert report.preemption is not None
    found = report.to_dict()["preemption"]
    assert isinstance(found, dict)
    return found


def running(
    name: str,
    on: str,
    cpu: str,
    priority: int = 0,
    *,
    start: str | None = None,
    labels: Data | None = None,
    **spec: Any,
) -> Data:
    plain = pod(name, on, labels=labels or {"app": name}, requests={"cpu": cpu}, priority=priority, **spec)
    return {**plain, "status": {"phase": "Running", **({"startTime": start} if start else {})}}


def wanting(cpu: str, priority: int = 10, **spec: Any) -> Data:
    return pod(requests={"cpu": cpu}, priority=priority, **spec)


def small(name: str) -> Data:
    return node(name, cpu="4")


def test_it_is_answered_only_where_nothing_fits() -> None:
    free = kubespread.Snapshot.from_objects([small("n1")])
    assert kubespread.explain(free, wanting("4")).preemption is None


def test_priority_comes_from_the_snapshots_classes() -> None:
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    candidate = pod(requests={"cpu": "4"}, priorityClassName="urgent")
    assert ask(candidate, small("n1"), running("a", "n1", "4", 999), urgent)["node"] == "n1"


BLOCKED = "0/1 nodes are available: 1 No preemption victims found for incoming pod."


@pytest.mark.parametrize(
    ("plugins", "tail", "tail_in_1_36"),
    [
        ("{}", f"preemption: {BLOCKED}", f"no new claims to deallocate, preemption: {BLOCKED}"),
        ("{postFilter: {disabled: [{name: DynamicResources}]}}", f"preemption: {BLOCKED}", f"preemption: {BLOCKED}"),
        ("{postFilter: {disabled: [{name: DefaultPreemption}]}}", None, "no new claims to deallocate"),
        ("{multiPoint: {disabled: [{name: DefaultPreemption}]}}", None, "no new claims to deallocate"),
        ("{postFilter: {disabled: [{name: '*'}]}}", None, None),
        (
            "{postFilter: {disabled: [{name: '*'}], enabled: [{name: DefaultPreemption}]}}",
            f"preemption: {BLOCKED}",
            f"preemption: {BLOCKED}",
        ),
    ],
)
def test_the_profile_says_who_is_asked(plugins: str, tail: str | None, tail_in_1_36: str | None) -> None:
    config = f"{{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{{plugins: {plugins}}}]}}"
    snapshot = kubespread.Snapshot.from_objects(
        [node("n1", cpu="1"), pod("low", "n1", requests={"cpu": "500m"}, priority=7)]
    )
    for version, said in (("1.37", tail), ("1.36", tail_in_1_36)):
        report = kubespread.explain(
            snapshot, pod(requests={"cpu": "1"}, priority=7), kubespread.Scheduler(config, kube_version=version)
        )
        assert report.preemption is not None
        assert (report.preemption.node, report.preemption.tail, report.not_modelled) == (None, said, ())


def test_a_pod_with_claims_hears_so_up_to_1_36() -> None:
    report = kubespread.explain(
        kubespread.Snapshot.from_objects([node("n1", cpu="1")]),
        pod(requests={"cpu": "2"}, priority=7, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}]),
        kubespread.Scheduler(kube_version="1.36"),
    )
    assert report.preemption is not None
    assert (
        report.preemption.tail
        == "still not schedulable, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(
    ("given", "nominated"), [({}, "b"), ({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}, "a")]
)
def test_the_search_ends_with_enough_candidates(given: Data, nominated: str) -> None:
    full = [small("a"), running("x", "a", "4", 5), small("b"), running("y", "b", "4", 1)]
    config = with_args("DefaultPreemption", **given)
    report = kubespread.explain(
        kubespread.Snapshot.from_objects(full), wanting("4"), kubespread.Scheduler(config=config)
    )
    assert report.preemption is not None
    assert report.preemption.node == nominated


@pytest.mark.parametrize(
    ("victim", "sentence", "command"),
    [
        pytest.param(0, "preemption could free n1 by evicting default/a", "simulate", id="of lower priority"),
        pytest.param(10, None, "explain", id="of the same"),
    ],
)
def test_explain_says_which_preemption_makes_room(
    victim: int, sentence: str | None, command: str, tmp_path: Path
) -> None:
    cluster, candidate = tmp_path / "cluster.json", tmp_path / "pod.json"
    cluster.write_text(json.dumps({"kind": "List", "items": [small("n1"), running("a", "n1", "4", victim)]}))
    candidate.write_text(json.dumps(wanting("4")))
    shown = run("explain", candidate, "-S", cluster, terminal=200, env={"NO_COLOR": "1"})
    lines = shown.out.splitlines()
    assert shown.code == 1
    assert lines[0] == "No: 0 of 1 node fit"
    assert [line for line in lines if line.startswith("preemption")] == ([] if sentence is None else [sentence])
    assert [line.split()[2] for line in lines if line.startswith("next: ")] == [command]


def test_the_sentence_counts_the_pods_that_are_evicted_against_a_budget() -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "a"}}},
    }
    pods = [running(name, "n1", "2", labels={"app": "a"}) for name in ("a", "b")]
    report = kubespread.explain(kubespread.Snapshot.from_objects([small("n1"), *pods, budget]), wanting("4"))
    assert report.preemption is not None
    assert report.preemption.sentence == (
        "preemption could free n1 by evicting default/b, default/a, 2 of them against a disruption budget"
    )


def test_no_pod_makes_room_for_one_that_a_quota_refuses() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
        "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}},
    }
    snapshot = kubespread.Snapshot.from_objects([small("n1"), running("a", "n1", "4"), quota])
    report = kubespread.explain(snapshot, wanting("4"))
    assert (report.verdict, report.preemption, "exceeded quota: q" in str(report.message)) == ("no", None, True)
