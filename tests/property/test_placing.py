"""Counts updated placement by placement are the counts of a cluster built anew with those pods in it."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.profile.profile import default_profile, framework
from tests.builders import hard, hosts, node, pod, soft, taint
from tests.candidate.objects import from_object
from tests.cli.support import FIXTURES
from tools.replay.cases import recorded

Data = dict[str, Any]

PLUGINS = framework(default_profile())
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in (FIXTURES / "golden").glob("*.jsonl.gz"))


def everything(evaluation: Evaluation) -> dict[str, Any]:
    """All that is said about every node; scores where they mean something."""
    nodes = range(len(evaluation.cluster))
    feasible = evaluation.feasible
    return {
        "message": evaluation.message,
        "verdicts": [evaluation.verdict(node) for node in nodes],
        "rejections": [evaluation.rejections(node) for node in nodes],
        "raw": {plugin: score.raw[feasible].tolist() for plugin, score in evaluation.scores.items()},
        "weighted": {plugin: score.weighted_scores[feasible].tolist() for plugin, score in evaluation.scores.items()},
        "ranking": evaluation.ranking.tolist() if feasible.any() and evaluation.error is None else [],
    }


def check(plugins: Framework, cluster: Cluster, candidate: Any, steps: int, chance: random.Random) -> int:
    """Place copies on random nodes that fit, comparing everything with a cluster built anew each time.

    Each placement is made in a fork, which must leave its parent as it was.
    """
    placing, placed = Placing(plugins.prepare(cluster, candidate)), list[int]()
    for _ in range(steps):
        anew = evaluate(
            plugins, cluster.apply(ClusterChange(added_pods=[(candidate, node) for node in placed])), candidate
        )
        assert everything(placing.evaluation()) == everything(anew)
        if anew.error is not None:
            with pytest.raises(SchedulingError, match=re.escape(anew.error)):
                placing.choose()
            break
        choice = placing.choose()
        if choice is None:
            assert not anew.feasible.any()
            break
        best = anew.ranking[0]
        assert (choice.node, choice.total) == (best, int(anew.total[best]))
        assert choice.ties == int((anew.total[anew.feasible] == choice.total).sum())
        fitting = anew.ranking.tolist()
        # Mostly not the best one: counts must be right wherever a copy lands.
        placed.append(fitting[chance.randrange(len(fitting))])
        parent, placing = placing, placing.fork()
        placing.place(placed[-1])
        assert everything(parent.evaluation()) == everything(anew)
    return len(placed)


@pytest.mark.parametrize("own", [False, True], ids=["the pod has no terms", "the pod has terms"])
def test_a_nominated_pod_with_anti_affinity_counts_only_where_the_plugin_does(own: bool) -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"foo": "bar"}}}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nominated = {**pod("first", priority=1, affinity=anti), "status": {"nominatedNodeName": "n0"}}
    there = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "other"}}}
    terms: Data = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [there]}}}
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), nominated])
    candidate = from_object(pod("web", **(terms if own else {})), Surroundings(snapshot)).pod
    cluster = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)
    placing = Placing(PLUGINS.prepare(cluster, candidate))
    assert placing.feasible().tolist() == evaluate(PLUGINS, cluster, candidate).feasible.tolist() == [not own, True]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_clusters(family: str) -> None:
    cases = [each.case for each in recorded(FIXTURES / "golden" / f"{family}.jsonl.gz")]
    placed = 0
    for position, case in enumerate(cases[:: max(1, len(cases) // 25)]):
        snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *(case.get("objects") or [])])
        candidate = from_object(case["pod"], Surroundings(snapshot)).pod
        try:
            placed += check(
                PLUGINS,
                Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects),
                candidate,
                5,
                random.Random(position),
            )
        except SchedulingError:
            continue
    assert placed or family == "preempt"


TERMS = st.builds(
    lambda key, app, namespaces: {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **namespaces},
    st.sampled_from(["zone", "host", "missing"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([{}, {"namespaces": ["other"]}, {"namespaceSelector": {}}]),
)
WEIGHTED = st.builds(lambda weight, term: {"weight": weight, "podAffinityTerm": term}, st.integers(1, 100), TERMS)
AFFINITY = st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": st.lists(TERMS, max_size=2),
        "preferredDuringSchedulingIgnoredDuringExecution": st.lists(WEIGHTED, max_size=2),
    },
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Data], Data]:
    """A cluster and a pod that every plugin has something to say about."""
    nodes = []
    for position in range(draw(st.integers(1, 6))):
        taints = draw(st.lists(st.sampled_from([taint("gpu"), taint("slow", "PreferNoSchedule")]), max_size=1))
        made = node(
            f"n{position}",
            zone=draw(st.sampled_from([None, "", "a", "b"])),
            cpu=draw(st.sampled_from(["1", "2", "8"])),
            taints=taints,
        )
        if draw(st.booleans()):
            made["metadata"]["labels"] |= {"host": f"n{position}", "kubernetes.io/hostname": f"n{position}"}
        nodes.append(made)
    labels = st.sampled_from([{"app": "a"}, {"app": "b"}])
    existing = [
        pod(
            f"p{position}",
            f"n{draw(st.integers(0, len(nodes) - 1))}",
            labels=draw(labels),
            requests={"cpu": "300m"},
            affinity={"podAntiAffinity": draw(AFFINITY), "podAffinity": draw(AFFINITY)} if draw(st.booleans()) else {},
        )
        for position in range(draw(st.integers(0, 5)))
    ]
    keys = st.sampled_from(["zone", "host", "kubernetes.io/hostname"])
    match = {"app": "a"}
    constraints = [
        draw(st.sampled_from([hard, soft]))(
            draw(keys),
            draw(st.integers(1, 3)),
            match=match,
            **draw(st.sampled_from([{}, {"nodeTaintsPolicy": "Honor"}])),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    distinct = {(each["topologyKey"], each["whenUnsatisfiable"]): each for each in constraints}
    candidate = pod(
        labels=draw(labels),
        constraints=list(distinct.values()),
        requests=draw(st.sampled_from([None, {"cpu": "400m", "memory": "1Gi"}])),
        affinity={"podAntiAffinity": draw(AFFINITY), "podAffinity": draw(AFFINITY)} if draw(st.booleans()) else {},
    )
    if draw(st.integers(0, 4)) == 0:
        candidate["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return [*nodes, *existing], candidate


@given(questions(), st.integers(0, 2**16))
@settings(max_examples=80, deadline=None)
def test_any_cluster(question: tuple[list[Data], Data], seed: int) -> None:
    objects, manifest = question
    snapshot = kubespread.Snapshot.from_objects(objects)
    candidate = from_object(manifest, Surroundings(snapshot)).pod
    check(PLUGINS, Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects), candidate, 6, random.Random(seed))


@given(questions())
@settings(max_examples=25, deadline=None)
def test_placing_leaves_the_cluster_as_it_was(question: tuple[list[Data], Data]) -> None:
    objects, manifest = question
    snapshot = kubespread.Snapshot.from_objects(objects)
    first = kubespread.simulate(snapshot, manifest, 6)
    assert kubespread.simulate(snapshot, manifest, 6) == first
    seeded = kubespread.simulate(snapshot, manifest, 6, seed=1)
    assert kubespread.simulate(snapshot, manifest, 6, seed=1) == seeded
