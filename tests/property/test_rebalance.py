"""Plans keep what they promise: played step by step they end well, pods by themselves counted, and no shorter one is to be
found.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import RebalanceReport, Scheduler, Snapshot
from kubespread.kube.owners import is_active
from kubespread.questions.rebalance import RebalancedConstraint
from kubespread.questions.worlds import world_of
from kubespread.snapshot.edits.pods import EvictPod
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.store.happenings import EVICTED
from kubespread.world.store.pod_book import PodKey, key_of
from tests.builders import Data, hard, node, pod, soft
from tests.property import rolling
from tests.property.test_audit import counts, numbers, of_kind
from tests.property.workloads_on_nodes import snapshot_of
from tests.world.clusters import budget, deployment, stateful_set

NODES = ("n0", "n1", "n2", "n3")
PLACES = st.sampled_from(["n0", "n0", "n1", *NODES])
_MAX_STATES = 400


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Pods crowded on the first nodes, of workloads that are to be spread over zones and some over hosts."""

    def spread(app: str) -> Data:
        keys = draw(st.sampled_from([("zone",), ("zone", "host"), ("host",)]))
        constraints = [hard(key, draw(st.sampled_from([1, 1, 2])), match={"app": app}) for key in keys]
        more = [soft("host", match={"app": app})] if keys == ("zone",) and draw(st.booleans()) else []
        return {"topologySpreadConstraints": [*constraints, *more]}

    made: list[Data] = [
        node(
            name,
            zone=draw(st.sampled_from("aabc")),
            host=name,
            cpu=draw(st.sampled_from(["1", "2", "8"])),
            unschedulable=draw(st.sampled_from([False, False, False, True])),
        )
        for name in NODES
    ]
    web = tuple(draw(st.lists(PLACES, min_size=2, max_size=5)))
    made += deployment("web", web, cpu=draw(st.sampled_from([None, "500m"])), spec=spread("web"))
    if draw(st.booleans()):
        made += stateful_set("db", tuple(draw(st.lists(PLACES, min_size=2, max_size=2))), spec=spread("db"))
    for app in draw(st.sampled_from([(), (), ("solo",), ("web",)])):
        # Nobody makes these again.
        places = draw(st.lists(PLACES, min_size=1, max_size=2))
        constraints = spread(app)["topologySpreadConstraints"]
        made += [pod(f"bare-{at}", on, labels={"app": app}, constraints=constraints) for at, on in enumerate(places)]
    if draw(st.booleans()):
        spec: Data = draw(st.sampled_from([{"maxUnavailable": 1}, {"minAvailable": 2}, {"minAvailable": "50%"}]))
        made.append(budget("web", **spec))
    return made


def settled(snapshot: Snapshot) -> World:
    return Baseline.settle(world_of(snapshot, Scheduler())).world


def violated(world: World, objects: list[Data]) -> int:
    """Counted anew from pods and labels: pods of one app per value of each key, on nodes that have all keys."""
    labels = {each.metadata.name: each.metadata.labels for each in world.living.nodes.objects}
    templates = [each["spec"]["template"]["spec"] for each in objects if each["kind"] in ("ReplicaSet", "StatefulSet")]
    specs = [*templates, *(each["spec"] for each in objects if each["metadata"]["name"].startswith("bare-"))]
    hard_ones = {
        (constraint["topologyKey"], constraint["labelSelector"]["matchLabels"]["app"], constraint["maxSkew"])
        for spec in specs
        for constraint in spec["topologySpreadConstraints"]
        if constraint["whenUnsatisfiable"] == "DoNotSchedule"
    }
    found = 0
    for key, app, max_skew in hard_ones:
        counts = Counter({own[key]: 0 for own in labels.values()})
        for each in world.book:
            if is_active(each) and each.spec.node_name and each.metadata.labels["app"] == app:
                counts[labels[each.spec.node_name][key]] += 1
        found += bool(counts.total()) and max(counts.values()) - min(counts.values()) > max_skew
    return found


def evicted(world: World, key: PodKey) -> bool:
    """Whether the pod went, another one came for it, and nothing else happened."""
    waited = set(world.queue.waiting)
    apply(world, EvictPod(key[1], key[0]), key[0])
    happened = world.next_step()
    is_alone = [gone.why for gone in happened.departures] == [EVICTED]
    return not happened.blocked and is_alone and set(world.queue.waiting) <= waited


@given(clusters())
@settings(max_examples=40, deadline=None)
def test_a_plan_played_ends_with_all_constraints_holding_and_no_budget_violated(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.rebalance(snapshot)
    assert report.violated_before == violated(settled(snapshot), objects)
    assume(report.steps)
    steps = [{"evict": step.pod} for step in report.steps]
    scenario: dict[str, Any] = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    played = kubespread.plan(snapshot, scenario)
    assert (played.blocked_steps, played.pending) == ((), 0)
    landed = [[(each.pod, each.node) for each in step.pods_placed] for step in played.steps]
    assert all(step.lands_on in {node for _, node in placed} for step, placed in zip(report.steps, landed, strict=True))
    after = settled(kubespread.after_steps(snapshot, scenario))
    assert violated(after, objects) == report.violated_after
    assert report.holds == (report.violated_after == 0)


@given(clusters())
@settings(max_examples=30, deadline=None)
def test_brute_force_finds_no_plan_with_fewer_evictions(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.rebalance(snapshot)
    assume(report.violated_before)
    assert report.at_least <= len(report.steps) or not report.holds
    assert shortest(snapshot, objects, _depth(report)) is None


def _depth(report: RebalanceReport) -> int:
    """One less than the plan; where there is none, as far as brute force gets in little time."""
    return len(report.steps) - 1 if report.holds else 3


def shortest(snapshot: Snapshot, objects: list[Data], longest: int) -> int | None:
    """The fewest evictions, in any order, of pods that run at the start and are made again; None where so many do not
    suffice.
    """
    start = settled(snapshot)
    pods = [key_of(pod) for pod in start.book if pod.spec.node_name and pod.metadata.owner_references]
    level: list[tuple[World, frozenset[PodKey]]] = [(start, frozenset())]
    tried = 0
    for length in range(longest + 1):
        if any(not violated(world, objects) for world, _ in level):
            return length
        following = []
        for world, gone in level if length < longest else ():
            for key in pods:
                fork = world.fork()
                tried += 1
                if tried <= _MAX_STATES and key not in gone and key in fork.book and evicted(fork, key):
                    following.append((fork, gone | {key}))
        level = following
    return None


@given(rolling.clusters())
@settings(max_examples=20, deadline=None)
def test_a_plan_in_mid_rollout_counts_as_it_says(objects: list[Data]) -> None:
    snapshot = snapshot_of(objects)
    start = settled(snapshot)
    # Pods that have ended are no workload's any more, and a rollout that goes on may leave none.
    assume(any(map(is_active, start.book)))
    report = kubespread.rebalance(snapshot)
    specs = [(each["spec"], each["metadata"]["labels"]) for each in plain_pods(start) if "nodeName" in each["spec"]]
    for row in report.constraints:
        assert {each.value: each.before for each in row.domains} in counted(row, start, objects, specs)
    for step in report.steps:
        namespace, _, name = step.pod.partition("/")
        assert evicted(start, (namespace, name))
        assert step.lands_on in {each.spec.node_name for each in start.book if is_active(each)}
    for row in report.constraints:
        assert {each.value: each.after for each in row.domains} in counted(row, start, objects, specs)
    assert report.verdict == ("no" if report.violated_after else "yes")
    fields = {*numbers(json.dumps({**report.to_dict(), "answer": []})), len(report.steps)}
    assert all(fields.issuperset(numbers(said)) for said in report.answer)


def counted(
    row: RebalancedConstraint, world: World, objects: list[Data], specs: list[tuple[Data, Data]]
) -> list[dict[str, int]]:
    """Matching pods by domain, of each constraint like ``row`` that pods have: they may count other nodes each."""
    now = [*of_kind(objects, "Node"), *plain_pods(world)]
    wanted = row.topology_key, row.max_skew, "DoNotSchedule"
    return [
        dict(counts(now, spec, labels, each))
        for spec, labels in specs
        for each in spec.get("topologySpreadConstraints", ())
        if (each["topologyKey"], each["maxSkew"], each["whenUnsatisfiable"]) == wanted
    ]


def plain_pods(world: World) -> list[Data]:
    return [{"kind": "Pod", **msgspec.to_builtins(each)} for each in world.book]
