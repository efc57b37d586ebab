"""Replicas that are placed together or not at all, whatever their pods say."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.errors import UsageError
from tests.builders import Data, hard, hosts, node, owned_by, owner, pod
from tests.gangs import rack_node, taken
from tests.storage import claim, on_host, storage_class, volume

ONE_CPU = {"cpu": "1"}
TWO_CPU = {"cpu": "2"}
NODES = [node(f"n{number}", zone="abc"[number % 3], cpu="2", host=f"n{number}") for number in range(6)]
"""Two in each zone, each with room for two pods of 1 cpu."""
MATCH = {"labelSelector": {"matchLabels": {"foo": "bar"}}}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": key, **MATCH} for key in ("zone", "rack")]
    }
}
CORNER = [node("n0", zone="a", rack="1"), node("n1", zone="a", rack="2"), node("n2", zone="b", rack="1")]
"""Whoever begins on n0 leaves no room for a second that is apart from it by zone and by rack."""


def ask(objects: list[Data], candidate: Data, replicas: int | None = None, **options: Any) -> kubespread.SimulateReport:
    return kubespread.simulate(kubespread.Snapshot.from_objects(objects), candidate, replicas, **options)


def told(report: kubespread.SimulateReport) -> dict[str, Any]:
    """What a gang comes to, without what is empty."""
    gang = report.to_dict()["gang"]
    kept = ("members", "gangs", "placed", "fitted", "scheduled", "chosen", "ties", "waiting")
    said = {key: gang[key] for key in kept if gang[key]}
    if gang["blocked"] is not None:
        said["blocked"] = tuple(gang["blocked"].values())
    return {**said, "on": sorted(placement.node for placement in report.placements)}


LACKING = "0/6 nodes are available: 6 Insufficient cpu."
CASES: dict[str, tuple[list[Data], Data, dict[str, Any], dict[str, Any]]] = {
    "all members fit": (
        NODES,
        pod(requests=TWO_CPU),
        {"gang": "3"},
        {"members": 3, "gangs": 1, "placed": 1, "fitted": 3, "on": ["n0", "n1", "n2"]},
    ),
    "one room short, so none is placed": (
        NODES,
        pod(requests=TWO_CPU),
        {"gang": "7"},
        {
            "members": 7,
            "gangs": 1,
            "fitted": 6,
            "blocked": (7, "web-6", LACKING, "all 6 nodes have too little cpu"),
            "on": [],
        },
    ),
    "replicas of which only whole gangs are placed": (
        NODES,
        pod(requests=TWO_CPU),
        {"gang": "4", "replicas": 8},
        {
            "members": 4,
            "gangs": 2,
            "placed": 1,
            "fitted": 2,
            "blocked": (3, "web-6", LACKING, "all 6 nodes have too little cpu"),
            "on": ["n0", "n1", "n2", "n3"],
        },
    ),
    "as many gangs as fit": (
        NODES,
        pod(requests=TWO_CPU),
        {"gang": "3", "replicas": "max"},
        {
            "members": 3,
            "placed": 2,
            "blocked": (1, "web-6", LACKING, "all 6 nodes have too little cpu"),
            "on": ["n0", "n1", "n2", "n3", "n4", "n5"],
        },
    ),
    "kube-scheduler's order gets stuck where another would work, and no other is tried": (
        CORNER,
        pod(affinity=APART),
        {"gang": "2"},
        {
            "members": 2,
            "gangs": 1,
            "fitted": 1,
            "blocked": (
                2,
                "web-1",
                "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.",
                "all 3 nodes fail anti-affinity",
            ),
            "on": [],
        },
    ),
    "a gang that has to be spread and is": (
        NODES,
        pod(requests=ONE_CPU, constraints=[hard("zone")]),
        {"gang": "12"},
        {
            "members": 12,
            "gangs": 1,
            "placed": 1,
            "fitted": 12,
            "on": sorted(f"n{number}" for number in range(6) for _ in range(2)),
        },
    ),
    "a gang that has to be spread and so is not in one zone": (
        NODES,
        pod(requests=ONE_CPU, constraints=[hard("zone")]),
        {"gang": "4:zone"},
        {
            "members": 4,
            "gangs": 1,
            "fitted": 1,
            "blocked": (
                2,
                "web-1",
                "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.",
                None,
            ),
            "on": [],
        },
    ),
    "a gang that is too large to be spread, though the nodes have room for it": (
        [*NODES, *(node(f"m{number}", zone="a", cpu="2") for number in range(2))],
        pod(requests=ONE_CPU, constraints=[hard("zone")]),
        {"gang": "14"},
        {
            "members": 14,
            "gangs": 1,
            "fitted": 13,
            "blocked": (
                14,
                "web-13",
                "0/8 nodes are available: 3 node(s) didn't match pod topology spread constraints, 5 Insufficient cpu.",
                "zone constraint allows only b and c; there all 4 nodes have too little cpu",
            ),
            "on": [],
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_gang(case: str) -> None:
    objects, candidate, options, expected = CASES[case]
    assert told(ask(objects, candidate, **options)) == expected


RACKS_3_2_1 = [
    *(rack_node(f"node{number}", "rack-1") for number in (1, 2)),
    *(rack_node(f"node{number}", "rack-2", "zone-2") for number in (3, 4, 5)),
    *(rack_node(f"node{number}", "rack-3", "zone-2") for number in (6, 7, 8)),
    rack_node("node9", "rack-4", "zone-2"),
]
FULL_1, FULL_2 = ("0/1 nodes are available: 1 Insufficient cpu.", "0/2 nodes are available: 2 Insufficient cpu.")
# Kubernetes' own cases: test/integration/scheduler/podgroup/topology_aware_scheduling/tas_test.go, by their names.
ONE_RACK: dict[str, tuple[list[Data], Data, list[tuple[Any, ...]], int]] = {
    "gang schedules on a single rack, when only one feasible rack is available": (
        [
            *(rack_node(f"node{number}", "rack-1") for number in (1, 2, 3)),
            *(rack_node(f"node{number}", "rack-2") for number in (4, 5)),
            rack_node("node6", "rack-3", "zone-2"),
            taken("existing1", "node4", "2"),
        ],
        pod(requests=ONE_CPU),
        [
            ("rack-1", 3, 3, None, 100, 50, 150),
            ("rack-2", 2, 2, FULL_2, None, None, None),
            ("rack-3", 1, 2, FULL_1, None, None, None),
        ],
        1,
    ),
    "gang remains pending when no feasible resources are found": (
        [rack_node("node1", "rack-1"), rack_node("node2", "rack-1"), rack_node("node3", "rack-2")],
        pod(requests=TWO_CPU),
        [("rack-1", 2, 2, FULL_2, None, None, None), ("rack-2", 1, 1, FULL_1, None, None, None)],
        0,
    ),
    "gang schedules on a single rack, choosing placement with the highest score": (
        [*RACKS_3_2_1[:5], rack_node("node6", "rack-3", "zone-2")],
        pod(requests=ONE_CPU),
        [
            ("rack-1", 2, 3, None, 100, 75, 175),
            ("rack-2", 3, 3, None, 100, 50, 150),
            ("rack-3", 1, 2, FULL_1, None, None, None),
        ],
        1,
    ),
    "choosing placement with highest allocation percentage with pre-existing pods in cluster": (
        [*RACKS_3_2_1, taken("existing1", "node3", "2"), taken("existing2", "node8", "1")],
        pod(requests=ONE_CPU),
        [
            ("rack-2", 3, 3, None, 100, 83, 183),
            ("rack-1", 2, 3, None, 100, 75, 175),
            ("rack-3", 3, 3, None, 100, 66, 166),
            ("rack-4", 1, 2, FULL_1, None, None, None),
        ],
        1,
    ),
}


@pytest.mark.parametrize("case", ONE_RACK)
def test_the_verdict_of_every_domain(case: str) -> None:
    objects, candidate, expected, ties = ONE_RACK[case]
    report = ask(objects, candidate, gang="3:rack")
    assert report.gang is not None
    assert [
        (
            domain.value,
            domain.nodes,
            domain.members,
            domain.stopped,
            domain.pods_score,
            domain.resources_score,
            domain.total,
        )
        for domain in report.gang.domains
    ] == expected
    chosen = [expected[0][0]] * bool(ties)
    racks = {each["metadata"]["name"]: each["metadata"]["labels"].get("rack") for each in objects}
    assert (list(report.gang.chosen), report.gang.ties) == (chosen, ties)
    assert {racks[placement.node] for placement in report.placements} == set(chosen)


def test_domains_that_score_alike_are_named_and_a_seed_takes_any_of_them() -> None:
    reports = [ask(NODES, pod(requests=ONE_CPU), gang="4:zone", seed=seed) for seed in (None, *range(9))]
    assert {report.gang.ties for report in reports if report.gang is not None} == {3}
    assert [report.gang.chosen for report in reports if report.gang is not None][0] == ("a",)
    assert {report.gang.chosen[0] for report in reports if report.gang is not None} == {"a", "b", "c"}


def web(replicas: int, *nodes: str, kind: str = "ReplicaSet") -> list[Data]:
    """A workload with its pods, one on each of the nodes given."""
    made = owner(kind, "web", {"matchLabels": {"foo": "bar"}})
    made["spec"] |= {"replicas": replicas, "template": {"metadata": {"labels": {"foo": "bar"}}}}
    made["spec"]["template"]["spec"] = pod(requests=ONE_CPU)["spec"]
    pods = []
    for number, name in enumerate(nodes):
        running = pod(f"web-{number}", name, requests=ONE_CPU)
        running["metadata"] |= {"ownerReferences": owned_by(kind, "web"), "uid": f"web-{number}"}
        pods.append(running)
    return [made, *pods]


def test_replicas_that_run_are_members_and_say_which_domain() -> None:
    """Zone b would score as well."""
    objects = [*NODES, *web(2, "n2", "n5")]
    report = kubespread.simulate(kubespread.Snapshot.from_objects(objects), "rs/web", gang="4:zone")
    assert told(report) == {
        "members": 2,
        "gangs": 1,
        "placed": 1,
        "fitted": 2,
        "scheduled": 2,
        "chosen": ["c"],
        "ties": 1,
        "on": ["n2", "n5"],
    }
    assert (report.present, report.placed, report.replicas) == (2, 2, 4)


def test_a_gang_that_runs_already_is_a_yes() -> None:
    report = kubespread.simulate(kubespread.Snapshot.from_objects([*NODES, *web(2, "n1", "n2")]), "rs/web", gang="2")
    assert (report.placed, report.pending, report.gang and report.gang.fits) == (0, 0, True)


def test_replicas_that_run_in_two_domains_leave_none_for_the_others() -> None:
    objects = [*NODES, *web(2, "n1", "n2")]
    report = kubespread.simulate(kubespread.Snapshot.from_objects(objects), "rs/web", gang="4:zone")
    fault = "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: b, c"
    assert told(report) == {"members": 2, "gangs": 1, "scheduled": 2, "waiting": fault, "on": []}
    assert (report.stopped, report.pending) == (fault, 2)


def test_replicas_that_run_are_whole_gangs_before_further_ones() -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *web(2, "n1", "n2")])
    report = kubespread.simulate(snapshot, "rs/web", 6, gang="2:zone")
    assert told(report)["chosen"] == ["b", "c"]
    with pytest.raises(UsageError, match="web runs 2 replicas, no multiple of the gang of 3"):
        kubespread.simulate(snapshot, "rs/web", 6, gang="3")
    assert told(kubespread.simulate(snapshot, "rs/web", 6, gang="3", from_scratch=True))["placed"] == 2


def test_the_snapshot_is_as_it_was() -> None:
    snapshot = kubespread.Snapshot.from_objects(NODES)
    before = kubespread.simulate(snapshot, pod(requests=ONE_CPU), 12)
    kubespread.simulate(snapshot, pod(requests=ONE_CPU), gang="13")
    assert kubespread.simulate(snapshot, pod(requests=ONE_CPU), 12) == before


def test_several_workloads_are_gangs_each_and_go_by_priority() -> None:
    low, high = pod("low", requests=ONE_CPU), pod("high", requests=ONE_CPU, priority=10)
    first, second = kubespread.simulate(kubespread.Snapshot.from_objects(NODES), [low, high], gang="8")
    assert (first.placed, first.pending, second.placed, second.pending) == (0, 8, 8, 0)


def daemon_set() -> Data:
    (made,) = web(0, kind="DaemonSet")
    made["metadata"]["name"] = "agent"
    del made["spec"]["replicas"]
    return made


REFUSED: dict[str, tuple[Data, dict[str, Any], str]] = {
    "no whole number of gangs": (
        pod(),
        {"gang": "4", "replicas": 6},
        "replicas must be a multiple of the gang of 4, not 6",
    ),
    "no replicas": (pod(), {"gang": "4", "replicas": 0}, "replicas must be a multiple of the gang of 4, not 0"),
    "an empty gang": (pod(), {"gang": "0"}, "invalid --gang '0': expected N or N:KEY, such as 8:zone"),
    "a key that no node has": (pod(), {"gang": "2:zoen"}, "no node has the topology key 'zoen'; did you mean zone?"),
    "an autoscaler": (
        pod(),
        {"gang": "2", "autoscaler": "ca"},
        "--gang and --autoscaler do not go together: that is not modeled of gangs",
    ),
    "a DaemonSet": (
        daemon_set(),
        {"gang": "2"},
        "DaemonSet/agent: a DaemonSet has no replicas, it runs one pod on every node it may run on",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_gang_is_refused(case: str) -> None:
    candidate, options, said = REFUSED[case]
    with pytest.raises(UsageError) as error:
        ask(NODES, candidate, **options)
    assert str(error.value) == said


def test_more_replicas_than_the_gang_has_are_refused() -> None:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *web(3, "n0", "n1", "n2")])
    with pytest.raises(UsageError, match="web runs 3 replicas, more than are asked for as a gang"):
        kubespread.simulate(snapshot, "rs/web", gang="2")


NOTES = {
    "1.37": "kube-scheduler v1.37 places gangs only with the feature gate GenericWorkload: without it each pod is bound as soon as it has a node",
    "1.34": "kube-scheduler v1.34 places no gangs: each pod is bound as soon as it has a node",
}


@pytest.mark.parametrize("version", NOTES)
def test_what_the_release_does_without_being_asked_is_said(version: str) -> None:
    report = ask(NODES, pod(), gang="2", scheduler=kubespread.Scheduler(kube_version=version))
    assert report.notes == (NOTES[version],)


def test_members_that_bind_claims_are_all_or_none() -> None:
    """Volumes for two of three; once there is a third, each member has its own."""
    storage = [storage_class("local", "kubernetes.io/no-provisioner"), claim("other")]
    volumes = [volume(f"v{at}", "local", only=on_host(f"n{at}")) for at in range(3)]
    (grown,) = web(0, kind="StatefulSet")
    claimed = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "resources": {"requests": {"storage": "5Gi"}},
    }
    grown["spec"] |= {
        "podManagementPolicy": "Parallel",
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claimed}],
    }
    hosted = hosts("a", "a", "b")
    stuck = ask([*hosted, *storage, *volumes[:2]], grown, gang="3")
    assert (stuck.placed, stuck.gang and stuck.gang.fitted) == (0, 2)
    placed = ask([*hosted, *storage, *volumes], grown, 3, gang="3")
    assert sorted(placement.node for placement in placed.placements) == ["n0", "n1", "n2"]
    one_by_one = ask([*hosted, *storage, *volumes], grown, 3, gang="1")
    assert sorted(placement.node for placement in one_by_one.placements) == ["n0", "n1", "n2"]


def test_a_quota_that_lets_too_few_be_created_leaves_no_gang() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": "3"}},
        "status": {"hard": {"pods": "3"}, "used": {"pods": "0"}},
    }
    (made,) = web(0)
    report = ask([*NODES, quota], made, gang="4")
    assert (report.placed, report.pending, report.not_created, report.gang and report.gang.fits) == (0, 3, 1, False)
    assert "exceeded quota: few" in (report.stopped or "")
