"""Whatever happens to a cluster: what follows it equals what is prepared anew on a cluster built from the objects that result."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.candidate import Surroundings
from kubespread.candidate.manifests import from_object
from kubespread.kube.api.core import Node, Pod, Taint
from kubespread.kube.versions import LATEST
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework, Prepared
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.profile.expansion import default_profile
from kubespread.scheduler.profile.loading import load_profiles
from tests.builders import node, taint
from tests.property.test_placing import everything, questions

Data = dict[str, Any]

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
DISABLED = st.lists(
    st.sampled_from(["InterPodAffinity", "PodTopologySpread", "NodeResourcesFit", "TaintToleration", "NodePorts"]),
    max_size=2,
)
WEIGHTS = st.dictionaries(
    st.sampled_from(["PodTopologySpread", "InterPodAffinity", "ImageLocality", "NodeAffinity"]),
    st.integers(1, 9),
    max_size=2,
)
ARGS = st.sampled_from(
    [
        [],
        [
            {
                "name": "NodeResourcesFit",
                "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]}},
            }
        ],
        [
            {
                "name": "InterPodAffinity",
                "args": {"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True},
            }
        ],
        [{"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}}],
    ]
)


@st.composite
def profiles(draw: st.DrawFn) -> Framework:
    """The default profile, or one with plugins switched off, reweighted and given other arguments."""
    if draw(st.booleans()):
        return framework(default_profile())
    disabled = sorted(set(draw(DISABLED)))
    enabled = [
        {"name": name, "weight": weight} for name, weight in sorted(draw(WEIGHTS).items()) if name not in disabled
    ]
    multi = {"disabled": [{"name": name} for name in disabled], "enabled": enabled}
    config = {**HEAD, "profiles": [{"plugins": {"multiPoint": multi}, "pluginConfig": draw(ARGS)}]}
    return framework(load_profiles(json.loads(json.dumps(config)), LATEST)[0])


class World:
    """Nodes and pods as plain lists, beside the cluster that follows them."""

    def __init__(self, nodes: list[Node], pods: list[tuple[Pod, str]], objects: Any) -> None:
        self.nodes, self.pods, self.objects = nodes, pods, objects

    def anew(self) -> Cluster:
        placed = []
        for pod, name in self.pods:
            own = msgspec.json.decode(msgspec.json.encode(pod), type=Pod)
            own.spec.node_name = name
            placed.append(own)
        return Cluster.of(self.nodes, placed, self.objects)


def copied(found: Node) -> Node:
    return msgspec.json.decode(msgspec.json.encode(found), type=Node)


def changed(draw: st.DrawFn, found: Node) -> Node:
    """The node as it is after one of the things that happen to nodes."""
    made = copied(found)
    match draw(st.sampled_from(["cordon", "taint", "untaint", "relabel", "unlabel", "resize"])):
        case "cordon":
            made.spec.unschedulable = not made.spec.unschedulable
        case "taint":
            made.spec.taints = [*made.spec.taints, Taint(key="new", effect="NoSchedule")]
        case "untaint":
            made.spec.taints = []
        case "relabel":
            made.metadata.labels = {**made.metadata.labels, "zone": draw(st.sampled_from(["a", "b", "c"]))}
        case "unlabel":
            made.metadata.labels = {key: value for key, value in made.metadata.labels.items() if key != "zone"}
        case "resize":
            made.status.allocatable = {**made.status.allocatable, "cpu": draw(st.sampled_from(["1", "3", "64"]))}
    return made


@st.composite
def changes(draw: st.DrawFn, world: World, others: list[Pod], step: int) -> Change:
    """One change, made to the lists too."""
    size = len(world.nodes)
    kind = draw(st.sampled_from(["come", "come", "go", "replace", "both", "add", "remove"]))
    come, gone, replaced, added, removed = (
        list[tuple[Pod, int]](),
        set[int](),
        dict[int, Node](),
        list[Node](),
        set[int](),
    )
    if kind in ("come", "both") and size:
        come = [(draw(st.sampled_from(others)), draw(st.integers(0, size - 1))) for _ in range(draw(st.integers(1, 3)))]
    if kind in ("go", "both") and world.pods:
        gone = draw(st.sets(st.integers(0, len(world.pods) - 1), max_size=3))
    if kind in ("replace", "both") and size:
        replaced = {at: changed(draw, world.nodes[at]) for at in draw(st.sets(st.integers(0, size - 1), max_size=2))}
    if kind == "add":
        plain = node(
            f"new{step}", zone=draw(st.sampled_from(["a", "z"])), taints=draw(st.sampled_from([[], [taint("gpu")]]))
        )
        added = list(kubespread.Snapshot.from_objects([plain]).nodes)
    if kind == "remove" and size > 1:
        removed = {draw(st.integers(0, size - 1))}
    names = [found.metadata.name for found in world.nodes]
    lost = {names[at] for at in removed}
    world.pods = [(pod, on) for at, (pod, on) in enumerate(world.pods) if at not in gone and on not in lost]
    world.pods += [(pod, names[at]) for pod, at in come]
    world.nodes = [replaced.get(at, found) for at, found in enumerate(world.nodes) if at not in removed] + added
    return Change(come=come, gone=sorted(gone), replaced=replaced, added=added, removed=frozenset(removed))


@given(profiles(), questions(), questions(), st.data())
@settings(max_examples=120, deadline=None)
def test_states_that_follow_changes_equal_states_prepared_anew(
    plugins: Framework, question: tuple[list[Data], Data], more: tuple[list[Data], Data], data: st.DataObject
) -> None:
    objects, manifest = question
    snapshot = kubespread.Snapshot.from_objects(objects)
    candidate = from_object(manifest, Surroundings(snapshot.objects)).pod
    others = [candidate, *(found for found in kubespread.Snapshot.from_objects(more[0]).pods), *snapshot.pods]
    others += [terminating(found) for found in others[:2]]
    world = World(list(snapshot.nodes), [(pod, pod.spec.node_name) for pod in snapshot.pods], snapshot.objects)
    cluster = world.anew()
    try:
        prepared = plugins.prepare(cluster, candidate)
        placing = Placing(plugins.prepare(cluster, candidate))
    except SchedulingError:
        return
    for step in range(data.draw(st.integers(1, 5))):
        before = everything(prepared.evaluation())
        change = data.draw(changes(world, others, step))
        moves = cluster.moves(change)
        after = cluster.after(change)
        followed = prepared.after(after, change, moves)
        assert everything(prepared.evaluation()) == before
        rebuilt = Prepared(plugins, world.anew(), candidate)
        assert everything(followed.evaluation()) == everything(rebuilt.evaluation())
        placing = following(placing, plugins, candidate, after, change, moves)
        assert everything(placing.evaluation()) == everything(rebuilt.evaluation())
        fresh = Placing(plugins.prepare(world.anew(), candidate))
        assert outcome(placing) == outcome(fresh)
        if (choice := outcome(placing)) is not None and not isinstance(choice, str) and data.draw(st.booleans()):
            placing.place(choice.node)
            world.pods.append((candidate, world.nodes[choice.node].metadata.name))
            own = Change(come=[(candidate, choice.node)])
            followed = followed.after(after.after(own), own, after.moves(own))
            after = after.after(own)
            assert everything(placing.evaluation()) == everything(
                Prepared(plugins, world.anew(), candidate).evaluation()
            )
        cluster, prepared = after, followed


def following(
    placing: Placing, plugins: Framework, candidate: Pod, after: Cluster, change: Change, moves: Moves
) -> Placing:
    if change.touches_nodes:
        return Placing(plugins.prepare(after, candidate))
    placing.answers.follow(after, moves.node)
    placing.follow(after, moves)
    return placing


def terminating(pod: Pod) -> Pod:
    made = msgspec.json.decode(msgspec.json.encode(pod), type=Pod)
    made.metadata.deletion_timestamp = "2026-01-01T00:00:00Z"
    return made


def outcome(placing: Placing) -> Any:
    try:
        return placing.choose(first_in_heap)
    except SchedulingError as error:
        return str(error)
