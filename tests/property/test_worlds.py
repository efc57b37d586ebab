"""Whatever is done to a world: its columns, budgets and pods agree with each other and with a world built anew."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import kubespread
from kubespread import Snapshot
from kubespread.controllers.disruption import ClusterScales, budget_status
from kubespread.errors import UsageError
from kubespread.kube.api.workloads import Deployment, ReplicaSet, StatefulSet
from kubespread.kube.owners import is_active, is_terminating
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import as_snapshot, objects_now, world_of
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.store.happenings import EVICTED
from kubespread.world.store.pod_book import key_of, terminate
from tests.builders import Data, hard, node, pod, soft, taint
from tests.world.clusters import budget, daemon_set, deployment, job, stateful_set

NODES = ("n0", "n1", "n2", "n3", "n4")
PLACES = st.sampled_from([*NODES, "n0", "n1"])
SPREADS: list[Data] = [
    {},
    {"topologySpreadConstraints": [hard("zone", match={"app": "web"})]},
    {"topologySpreadConstraints": [soft("zone", match={"app": "web"}), hard("host", 2, match={"app": "web"})]},
    {"priority": 7},
    {"tolerations": [{"operator": "Exists"}]},
    {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]},
]
TARGETS = st.sampled_from([*NODES, "zone=a", "zone=b", "zone in (a,b)"])
EDITS = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["cordon", "uncordon", "delete-node", "fail", "fail-hard"]), TARGETS),
    st.builds("drain {} --ignore-daemonsets --force --delete-emptydir-data".format, TARGETS),
    st.builds("taint {} gpu:{}".format, TARGETS, st.sampled_from(["NoSchedule", "NoExecute"])),
    st.builds("taint {} gpu-".format, TARGETS),
    st.builds("label {} zone={}".format, TARGETS, st.sampled_from("ab")),
    st.builds("add-node {}:{}".format, st.sampled_from(NODES), st.integers(1, 2)),
    st.builds("delete-pods app={}".format, st.sampled_from(["web", "db", "agent", "api"])),
    st.builds("scale {}={}".format, st.sampled_from(["deploy/web", "deploy/api", "sts/db"]), st.integers(0, 6)),
)
REPLACED_KINDS = ("ReplicaSet", "StatefulSet")


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Nodes in up to three zones, workloads of every kind and budgets."""
    made: list[Data] = [
        node(name, zone=draw(st.sampled_from("aabc")), host=name, cpu=draw(st.sampled_from(["2", "4", "8"])))
        for name in NODES
    ]

    def on() -> tuple[str, ...]:
        return tuple(draw(st.lists(PLACES, max_size=4)))

    made += deployment("web", on(), cpu=draw(st.sampled_from([None, "1"])), spec=draw(st.sampled_from(SPREADS)))
    made += deployment("api", on(), cpu="500m", spec=draw(st.sampled_from(SPREADS)))
    made += stateful_set("db", on(), parallel=draw(st.booleans()))
    made += daemon_set("agent", NODES, cpu="100m")
    made += job("once", on())
    made += [pod("bare", draw(PLACES), labels={"app": "bare"})]
    for app in draw(st.lists(st.sampled_from(["web", "db", "api"]), unique=True)):
        spec: Data = draw(st.sampled_from([{"maxUnavailable": 1}, {"minAvailable": 2}, {"minAvailable": "50%"}]))
        made.append(budget(app, **spec))
    return made


def world_from(objects: list[Data]) -> World:
    return world_of(Snapshot.from_objects(json.loads(json.dumps(objects))), Scheduler())


def played(world: World, edits: list[str]) -> list[str]:
    """The edits as far as they are possible; those that are not have to leave the world as it is."""
    made = []
    for edit in edits:
        before = pods_of(world)
        try:
            apply(world, parse(edit), "default")
            made.append(edit)
        except UsageError:
            assert pods_of(world) == before
    return made


def pods_of(world: World) -> list[Any]:
    return sorted(
        (key_of(each), each.spec.node_name, is_terminating(each), each.status.phase, list(each.metadata.labels.items()))
        for each in world.book
    )


PROBES = [
    pod("probe", labels={"app": "web"}, requests={"cpu": "1"}, constraints=[hard("zone", match={"app": "web"})]),
    pod("probe", labels={"app": "db"}, constraints=[hard("host", match={"app": "db"}), soft("zone")]),
]


def answers(snapshot: Snapshot) -> list[Any]:
    return [kubespread.explain(snapshot, dict(probe)).to_dict() for probe in PROBES]


def columns(cluster: Cluster) -> Any:
    running = cluster.running
    kinds = {number: cluster.kinds[number] for number in running.nodes_of_kind}
    placed = Counter(
        (tuple(sorted(kind.pod.metadata.labels.items())), kind.pod.metadata.namespace, kind.priority, node_)
        for number, kind in kinds.items()
        for node_ in running.nodes_of_kind[number].tolist()
    )
    return placed, sorted((key_of(each), int(at)) for each, at in zip(running.pods, running.node, strict=True))


def found(world: World) -> Any:
    """The pods of each node and of each owner, as the book finds them."""
    book = world.book
    on = {name: list(map(key_of, book.pods_on(name))) for name in ("", *world.living.nodes.names)}
    return on, {owner: sorted(map(key_of, book.pods_of(owner))) for owner in book.owners if book.pods_of(owner)}


def found_anew(world: World) -> Any:
    """The same, looked for among all pods."""
    on: Data = {name: [] for name in ("", *world.living.nodes.names)}
    of: Data = {}
    for each in sorted(world.book, key=key_of):
        on[each.spec.node_name].append(key_of(each))
        if (controller := world.book.owner_of(each)) is not None:
            of.setdefault(controller, []).append(key_of(each))
    return on, of


@given(clusters(), st.lists(EDITS, min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_columns_kept_up_equal_columns_built_anew(objects: list[Data], edits: list[str]) -> None:
    world = world_from(objects)
    played(world, edits)
    assert columns(world.cluster) == columns(
        Cluster.build(world.living.nodes.objects, list(world.book), objects_now(world))
    )
    assert found(world) == found_anew(world)
    snapshot = as_snapshot(world, Snapshot.from_objects([]))
    for waiting in world.waiting:
        fresh = world_of(snapshot, Scheduler())
        same = fresh.queue.waiting[key_of(waiting.pod)]
        assert world.message(waiting) == fresh.message(same)


@given(clusters(), st.lists(EDITS, min_size=1, max_size=3), st.lists(EDITS, min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_a_fork_is_a_world_of_its_own(objects: list[Data], first: list[str], then: list[str]) -> None:
    world, other = world_from(objects), world_from(objects)
    for each in (world, other):
        played(each, first)
        each.next_step()
    fork = world.fork()
    before = pods_of(world), world.living.nodes.objects, objects_now(world)
    played(fork, then)
    assert (pods_of(world), world.living.nodes.objects, objects_now(world)) == before
    assert found(world) == found_anew(world)
    played(other, then)
    assert pods_of(fork) == pods_of(other)
    played(world, then)
    assert pods_of(world) == pods_of(other)
    for each in (world, fork):
        assert found(each) == found_anew(each)
        assert columns(each.cluster) == columns(
            Cluster.build(each.living.nodes.objects, list(each.book), objects_now(each))
        )


@given(clusters(), st.lists(EDITS, min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_every_replica_is_running_pending_or_terminating_and_none_twice(objects: list[Data], edits: list[str]) -> None:
    world = world_from(objects)
    played(world, edits)
    nodes = set(world.living.nodes.names)
    for each in world.book:
        waits = key_of(each) in world.queue.waiting
        assert waits != bool(each.spec.node_name)
        assert waits or each.spec.node_name in nodes
    now = objects_now(world)
    for replica_set in now.get(ReplicaSet):
        pods = [each for each in world.book if owner(each) == ("ReplicaSet", replica_set.metadata.name)]
        assert sum(map(is_active, pods)) == replica_set.spec.replicas
    for deployed in now.get(Deployment):
        below = [
            each.spec.replicas for each in now.get(ReplicaSet) if owner(each) == ("Deployment", deployed.metadata.name)
        ]
        assert sum(each or 0 for each in below) == deployed.spec.replicas
    for stateful in now.get(StatefulSet):
        names = sorted(each.metadata.name for each in world.book if owner(each) == ("StatefulSet", "db"))
        wanted = [f"db-{ordinal}" for ordinal in range(stateful.spec.replicas or 0)]
        # What is missing waits for a lower one, or for one that is terminating.
        stopped = any(is_terminating(each) or not each.spec.node_name for each in world.book if owner(each)[1] == "db")
        assert names == wanted or (stopped and len(names) == len(set(names)))
    daemons = Counter(each.spec.node_name for each in world.book if owner(each)[0] == "DaemonSet" and is_active(each))
    assert all(count == 1 for name, count in daemons.items() if name)


def owner(controlled: Any) -> tuple[str, str]:
    found = next((each for each in controlled.metadata.owner_references if each.controller), None)
    return ("", "") if found is None else (found.kind, found.name)


@given(clusters(), st.lists(EDITS, min_size=1, max_size=4), TARGETS)
@settings(max_examples=25, deadline=None)
def test_budgets_kept_up_equal_budgets_counted_anew_and_hold(objects: list[Data], edits: list[str], last: str) -> None:
    world = world_from(objects)
    _ = world.budgets
    for edit in played(world, edits):
        assert edit
    world.next_step()
    healthy = {each.metadata.name: each.status.current_healthy for each in world.budgets.current(world.time)}
    check_budgets(world)
    if not played(world, [f"drain {last} --ignore-daemonsets --force --delete-emptydir-data"]):
        return
    check_budgets(world)
    evicted = {each.pod.metadata.labels.get("app") for each in world.happenings.departures if each.why == EVICTED}
    pushed = {each.pod.metadata.labels.get("app") for each in world.happenings.departures if each.why != EVICTED}
    for each in world.budgets.current(world.time):
        name, status = each.metadata.name, each.status
        if name in evicted and name not in pushed:
            assert status.current_healthy >= min(status.desired_healthy, healthy[name])


def check_budgets(world: World) -> None:
    now = objects_now(world)
    scales = ClusterScales(now)
    for kept in world.budgets.current(world.time):
        app = kept.metadata.name
        matching = [each for each in world.book if each.metadata.labels.get("app") == app]
        anew = budget_status(kept, matching, scales, world.time)
        assert kept.status == anew


TAINTED = taint("gpu")
BY_HAND: dict[str, Any] = {
    "cordon n0": lambda made: {
        **made,
        "spec": {
            "unschedulable": True,
            "taints": [*made["spec"].get("taints", []), taint("node.kubernetes.io/unschedulable")],
        },
    },
    "taint n0=gpu:NoSchedule": lambda made: {**made, "spec": {"taints": [TAINTED]}},
    "label n0=zone=b": lambda made: {
        **made,
        "metadata": {**made["metadata"], "labels": {**made["metadata"]["labels"], "zone": "b"}},
    },
    "delete-node n0": lambda made: None,
}


@given(clusters(), st.sampled_from(sorted(BY_HAND)))
@settings(max_examples=25, deadline=None)
def test_an_edit_is_the_same_change_made_by_hand(objects: list[Data], edit: str) -> None:
    if edit == "delete-node n0":
        objects = [each for each in objects if each["spec"].get("nodeName") != "n0"]
        objects = [*objects[: len(NODES)], *[as_many_as_run(each, objects) for each in objects[len(NODES) :]]]
    by_hand = [
        changed
        for each in objects
        if (changed := BY_HAND[edit](each) if each["metadata"]["name"] == "n0" else each) is not None
    ]
    edited = Snapshot.from_objects(objects).edited(edit)
    assert without_notes(answers(edited)) == without_notes(answers(Snapshot.from_objects(by_hand)))
    both = [kubespread.simulate(each, "deploy/web", 7) for each in (edited, Snapshot.from_objects(by_hand))]
    first, second = (without_notes([report.to_dict()]) for report in both)
    assert first == second


def as_many_as_run(made: Data, objects: list[Data]) -> Data:
    """A controller that has all its pods: nothing is to be done for it."""
    kind, name = made["kind"], made["metadata"]["name"]
    if kind not in (*REPLACED_KINDS, "Deployment"):
        return made
    label = "db" if kind == "StatefulSet" else name.removesuffix("-5d6")
    running = sum(each["kind"] == "Pod" and each["metadata"]["labels"].get("app") == label for each in objects)
    return {**made, "spec": {**made["spec"], "replicas": running}}


def without_notes(reports: list[Any]) -> list[Any]:
    return [{key: value for key, value in each.items() if key not in ("notes", "cluster")} for each in reports]


@given(clusters(), st.lists(EDITS, min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_an_edited_cluster_that_was_kept_answers_as_the_edited_question(objects: list[Data], edits: list[str]) -> None:
    snapshot = Snapshot.from_objects(objects)
    world = world_of(snapshot, Scheduler())
    made = played(world, edits)
    edited = replace(snapshot, edits=()).edited(*made)
    kept, _ = kubespread.after_edits(edited)
    assert kept.edits == ()
    assert without_notes(answers(edited)) == without_notes(answers(kept))


@given(clusters(), st.integers(0, 3))
@settings(max_examples=40)
def test_a_successor_goes_where_a_pod_goes_beside_one_that_terminates(objects: list[Data], number: int) -> None:
    """All that terminates is gone in the end, and what pods take up is what those that stay ask for."""
    world = world_from(objects)
    world.settle()
    web = [each for each in world.book if each.metadata.labels.get("app") == "web" and each.spec.node_name]
    if world.waiting or not web:
        return
    going = web[number % len(web)]
    snapshot = as_snapshot(world, Snapshot.from_objects(json.loads(json.dumps(objects))))
    left = replace(
        snapshot, pods=tuple(terminate(each, world.timestamp) if each == going else each for each in snapshot.pods)
    )
    judged = [row for row in kubespread.explain(left, "deploy/web").nodes if row.total is not None]
    best = {row.name for row in judged if row.total == max(other.total or 0 for other in judged)}
    world.next_step()
    world.delete([going], EVICTED)
    world.settle()
    assert {each.spec.node_name for each in world.happenings.placed[:1]} <= best
    assert bool(judged) <= bool(world.happenings.placed)
    assert not any(map(is_terminating, world.book))
    anew = Cluster.build(world.living.nodes.objects, list(world.book), world.objects).running.usage
    assert np.array_equal(world.cluster.running.usage.pod_count, anew.pod_count)
    for name, amounts in anew.requested.items():
        assert np.array_equal(world.cluster.running.usage.requested[name], amounts)
