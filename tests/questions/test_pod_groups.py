"""Pods that say which group they belong to, with the feature gates on that make kube-scheduler look at it."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.api.cluster_objects import GangSchedulingPolicy, PodGroup
from kubespread.snapshot.anonymize import anonymize
from tests.builders import Data, node, pod
from tests.gangs import deployment, pod_group, rack_node, scheduler, taken

NODES = [node(f"n{number}", zone="abc"[number % 3], cpu="2", host=f"n{number}") for number in range(6)]
"""Two in each zone, each with room for two pods of 1 cpu: 12 in all."""
LACKING = "0/6 nodes are available: 6 Insufficient cpu."
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"
WAITS = "waiting for minCount pods from a gang to be scheduled"
ONE_AT_A_TIME = (
    "pod group ring (spec.schedulingGroup): pods are judged one at a time, not all or none (simulate --gang N does)"
)
EVICTS_NOBODY = "preemption for a pod group: its pods evict nobody"


def member(name: str, on: str | None = None) -> Data:
    """A pod of the group that is nobody's who is asked about."""
    return pod(name, on, labels={"app": "other"}, requests={"cpu": "1"}, schedulingGroup={"podGroupName": "ring"})


def ask(objects: list[Data], candidate: Data, version: str = "1.36", **options: Any) -> kubespread.SimulateReport:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *objects])
    return kubespread.simulate(snapshot, candidate, scheduler=scheduler(version), **options)


def told(report: kubespread.SimulateReport) -> tuple[Any, ...]:
    """How many are placed, the message of the first that is not, what the others wait for, minCount and who runs."""
    gang = report.gang
    return report.placed, report.stopped, *((gang.waiting, gang.size, gang.scheduled) if gang is not None else ())


CASES: dict[str, tuple[list[Data], Data, tuple[Any, ...]]] = {
    "all of the group fit": ([pod_group(min_count=3)], deployment(5), (5, None, None, 3, 0)),
    "enough of the group fit, and the others follow as they can": (
        [pod_group(min_count=12)],
        deployment(14),
        (12, LACKING, None, 12, 0),
    ),
    "one short of minCount, so none is bound": ([pod_group(min_count=13)], deployment(14), (0, LACKING, WAITS, 13, 0)),
    "fewer pods than minCount are not tried": ([pod_group(min_count=6)], deployment(5), (0, TOO_FEW, TOO_FEW, 6, 0)),
    "pods of others that run count": (
        [pod_group(min_count=6), member("a", "n0")],
        deployment(5),
        (5, None, None, 6, 1),
    ),
    "pods of others that wait make the group complete, though they are not placed": (
        [pod_group(min_count=5), member("a")],
        deployment(4),
        (0, WAITS, WAITS, 5, 0),
    ),
    "a PodGroup that is not there": (
        [pod_group("other", 3)],
        deployment(5),
        (
            0,
            'waiting for pods\'s pod group "ring" to appear in scheduling queue',
            'waiting for pods\'s pod group "ring" to appear in scheduling queue',
            1,
            0,
        ),
    ),
    "a namesake of Volcano is not it": (
        [pod_group(min_count=3, api_version="scheduling.volcano.sh/v1beta1", schedulingPolicy=None)],
        deployment(1),
        (
            0,
            'waiting for pods\'s pod group "ring" to appear in scheduling queue',
            'waiting for pods\'s pod group "ring" to appear in scheduling queue',
            1,
            0,
        ),
    ),
    "the policy basic places pods one at a time": ([pod_group()], deployment(13), (12, LACKING)),
    "the policy basic with a topology key places as many as fit in one domain": (
        [pod_group(key="zone")],
        deployment(5),
        (4, "0/2 nodes are available: 2 Insufficient cpu.", None, 1, 0),
    ),
    "a gang with a topology key is in one domain": (
        [pod_group(min_count=3, key="zone")],
        deployment(4),
        (4, None, None, 3, 0),
    ),
    "no domain takes minCount": (
        [pod_group(min_count=5, key="zone")],
        deployment(6),
        (0, "0/2 nodes are available: 2 Insufficient cpu.", WAITS, 5, 0),
    ),
    "no node has the topology key": (
        [pod_group(min_count=2, key="rack")],
        deployment(2),
        (0, "no feasible placements found", None, 2, 0),
    ),
    "a StatefulSet creates its next pod once the last one runs, and so never is a gang": (
        [pod_group(min_count=2)],
        deployment(3, kind="StatefulSet"),
        (0, TOO_FEW, TOO_FEW, 2, 0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pod_group(case: str) -> None:
    objects, candidate, expected = CASES[case]
    assert told(ask(objects, candidate)) == expected


RELEASES: dict[str, tuple[str, Data, Data, str]] = {
    "a PodGroup of 1.36": ("1.36", pod_group(min_count=13), deployment(13), WAITS),
    "a PodGroup of 1.37, alpha": (
        "1.37",
        pod_group(min_count=13, api_version="scheduling.k8s.io/v1alpha3"),
        deployment(13),
        WAITS,
    ),
    "a PodGroup of 1.37, beta": (
        "1.37",
        pod_group(min_count=13, api_version="scheduling.k8s.io/v1beta1"),
        deployment(13),
        WAITS,
    ),
}


@pytest.mark.parametrize("case", RELEASES)
def test_what_describes_a_group_in_a_release(case: str) -> None:
    version, described, candidate, waits = RELEASES[case]
    assert told(ask([described], candidate, version)) == (0, LACKING, waits, 13, 0)


def test_groups_of_1_35_are_not_modelled() -> None:
    gates = "GenericWorkload=true,GangScheduling=true"
    asked = kubespread.Scheduler(kube_version="1.35", feature_gates=gates)
    report = kubespread.simulate(
        kubespread.Snapshot.from_objects(NODES), deployment(2, schedulingGroup=None), scheduler=asked
    )
    assert (report.placed, report.not_modelled) == (
        2,
        ("feature gate GenericWorkload=true", "feature gate GangScheduling=true"),
    )


@pytest.mark.parametrize("gates", [None, "GenericWorkload=true"])
def test_with_the_gates_off_pods_are_placed_one_at_a_time_and_that_is_said(gates: str | None) -> None:
    off = kubespread.Scheduler(kube_version="1.36", feature_gates=gates)
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=13)])
    report = kubespread.simulate(snapshot, deployment(13), scheduler=off)
    assert (report.placed, report.gang, report.not_modelled) == (12, None, (ONE_AT_A_TIME,))


def test_the_topology_key_needs_its_gate() -> None:
    gates = "GenericWorkload=true,GangScheduling=true"
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=6, key="zone")])
    on = kubespread.Scheduler(kube_version="1.36", feature_gates=gates)
    report = kubespread.simulate(snapshot, deployment(6), scheduler=on)
    assert (report.placed, report.gang and report.gang.topology_key) == (6, None)


def test_nothing_is_known_of_groups_where_none_is_in_the_snapshot() -> None:
    report = ask([], deployment(5))
    assert (report.placed, report.gang, report.not_modelled) == (5, None, (ONE_AT_A_TIME,))
    assert "no PodGroup objects: pods of a group are placed one at a time" in report.gaps


def test_a_manifest_brings_its_pod_group(tmp_path: Any) -> None:
    import json

    path = tmp_path / "gang.json"
    path.write_text("\n".join(map(json.dumps, (pod_group(min_count=13), deployment(13)))))
    snapshot = kubespread.Snapshot.from_objects(NODES)
    report = kubespread.simulate(snapshot, path, scheduler=scheduler())
    assert told(report) == (0, LACKING, WAITS, 13, 0)


def test_workloads_of_one_group_are_one_gang() -> None:
    """Neither alone would be complete; together they are one too many for the room."""
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=13)])
    leaders = kubespread.simulate(snapshot, [deployment(6, "a"), deployment(7, "b")], scheduler=scheduler())
    assert [told(report)[:2] for report in leaders] == [(0, WAITS), (0, LACKING)]
    fewer = kubespread.simulate(snapshot, [deployment(6, "a"), deployment(6, "b")], scheduler=scheduler())
    assert [told(report)[:2] for report in fewer] == [(0, TOO_FEW), (0, TOO_FEW)]
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=12)])
    both = kubespread.simulate(snapshot, [deployment(6, "a"), deployment(7, "b")], scheduler=scheduler())
    assert [told(report)[:2] for report in both] == [(6, None), (6, LACKING)]


def test_a_workload_without_a_group_finds_what_a_gang_leaves() -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=13), pod_group("small", 8)])
    big, small = deployment(13, "big"), deployment(8, "small", schedulingGroup={"podGroupName": "small"})
    alone = deployment(6, "alone", schedulingGroup=None)
    reports = kubespread.simulate(snapshot, [big, small, alone], scheduler=scheduler())
    assert [report.placed for report in reports] == [0, 8, 4]


def test_members_that_run_say_which_rack() -> None:
    """tas_test.go: the pods of a group that come later land where the others are, or wait."""
    racks = [rack_node(f"r{number}", f"rack-{number % 2}") for number in range(4)]
    group = pod_group(min_count=2, key="rack")
    running = [member("a", "r1"), member("b", "r3")]
    snapshot = kubespread.Snapshot.from_objects([*racks, group, *running, taken("c", "r3", "1")])
    report = kubespread.simulate(snapshot, deployment(2), scheduler=scheduler())
    assert [placement.node for placement in report.placements] == ["r1"]
    assert report.stopped == "0/2 nodes are available: 2 Insufficient cpu."


def test_what_is_not_modelled_of_a_group_is_named() -> None:
    part = pod_group(min_count=2, parentCompositePodGroupName="all")
    assert ask([part], deployment(2)).not_modelled == (
        EVICTS_NOBODY,
        "CompositePodGroup all: the pod group is judged by itself",
    )


def test_as_many_of_a_group_as_fit() -> None:
    assert told(ask([pod_group(min_count=12)], deployment(1), replicas="max")) == (12, LACKING, None, 12, 0)
    assert told(ask([pod_group(min_count=13)], deployment(1), replicas="max")) == (0, LACKING, WAITS, 13, 0)
    in_one_zone = ask([pod_group(min_count=3, key="zone")], deployment(1), replicas="max")
    assert (in_one_zone.placed, in_one_zone.gang and in_one_zone.gang.members) == (4, 4)


COSCHEDULED = pod("a", "n0", labels={"scheduling.x-k8s.io/pod-group": "ring"})


@pytest.mark.parametrize(
    ("running", "by", "said"),
    [
        pytest.param(member("a", "n0"), scheduler(), True, id="with the gates on"),
        pytest.param(member("a", "n0"), kubespread.Scheduler(), False, id="with the gates off nobody reads it"),
        pytest.param(COSCHEDULED, kubespread.Scheduler(), True, id="of the coscheduling plugin"),
        pytest.param(pod("a", "n0"), kubespread.Scheduler(), False, id="of none"),
    ],
)
def test_what_places_pods_of_a_group_one_at_a_time_says_so(running: Data, by: kubespread.Scheduler, said: bool) -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=3), running])
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": ["cordon n0"]}}
    gap = "pods of a group are placed one at a time, not all or none of it (simulate --gang N does)"
    answers = kubespread.plan(snapshot, scenario, by), kubespread.pending(snapshot, scheduler=by)
    assert [gap in answer.gaps for answer in answers] == [said, said]


def test_a_group_keeps_its_members_under_pseudonyms() -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=13), member("a", "n0")])
    hidden, _ = anonymize(snapshot)
    (group,), *others = hidden.objects.get(PodGroup), hidden.pods[0].spec.scheduling_group
    assert [other and other.pod_group_name for other in others] == [group.metadata.name]
    assert group.spec.scheduling_policy is not None
    assert group.spec.scheduling_policy.gang == GangSchedulingPolicy(min_count=13)


def test_explain_judges_one_pod_of_a_group_and_says_so() -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, pod_group(min_count=13)])
    assert kubespread.explain(snapshot, deployment(13), scheduler()).not_modelled == (ONE_AT_A_TIME,)


def test_a_what_if_goes_before_what_the_pods_say() -> None:
    report = ask([pod_group(min_count=13)], deployment(12), gang="12")
    assert (report.placed, report.gang and report.gang.pod_group) == (12, None)
