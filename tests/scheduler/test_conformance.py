"""What every registered plugin must keep to, whatever the cluster, the candidate, the profile and what happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.core import Pod
from kubespread.kube.versions import LATEST
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import evaluate, evaluate_prepared
from kubespread.scheduler.framework import Framework, PreparedPod
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugin import (
    MAX_NODE_SCORE,
    Code,
    CountingState,
    Plugin,
    SchedulingError,
    State,
    Status,
    Verdicts,
)
from kubespread.scheduler.profile.loading import load_profiles
from kubespread.scheduler.profile.profile import default_profile, framework
from tests.builders import hard, node, pod
from tests.candidate.objects import from_object
from tests.property.test_placing import everything
from tests.scheduler.asking import SKEWED
from tests.scheduler.random_clusters import (
    HEAD,
    MODELLED,
    Question,
    World,
    changes,
    profiles,
    questions,
    touches_nodes,
    visitors,
)

Data = dict[str, Any]
States = dict[str, State | Status | str]
"""By plugin: its state, the status with which it rejects the pod, or the error it ends the cycle with."""


def plugins_of(profile: Framework) -> Mapping[str, Plugin]:
    """Every plugin the profile asks, those it has switched off as filters among them."""
    scores = (plugin for plugin, _ in profile.scores)
    return {plugin.name: plugin for plugin in (*profile.pre_filters, *profile.filters, *scores, *profile.disabled)}


def prepare(plugin: Plugin, cluster: Cluster, pod: Pod) -> State | Status | str:
    try:
        return plugin.prepare(cluster, pod)
    except SchedulingError as error:
        return str(error)


def prepared(profile: Framework, cluster: Cluster, pod: Pod) -> States:
    return {name: prepare(plugin, cluster, pod) for name, plugin in plugins_of(profile).items()}


def judgment(verdicts: Verdicts | None) -> list[Status] | None:
    return None if verdicts is None else [verdicts.status(place) for place in range(len(verdicts.rows))]


def points(state: State, cluster: Cluster, feasible: Mask) -> Data | str | None:
    """Raw and normalized scores of the feasible nodes, or the error scoring ends in."""
    try:
        raw = state.raw_scores(cluster, feasible)
    except SchedulingError as error:
        return str(error)
    if raw is None or not feasible.any():
        return None
    extent = state.extent(raw, feasible)
    normalized = state.normalize(raw, extent)
    return {"raw": raw[feasible].tolist(), "extent": extent, "normalized": normalized[feasible].tolist()}


def answers(states: States, cluster: Cluster, feasible: Mask) -> Data:
    """Everything the plugins say."""
    return {
        name: state
        if not isinstance(state, State)
        else {
            "listed": None if (listed := state.pre_filter_result()) is None else listed.tolist(),
            "verdicts": judgment(state.verdicts(cluster)),
            "points": points(state, cluster, feasible),
        }
        for name, state in states.items()
    }


def some_nodes(data: st.DataObject, cluster: Cluster) -> Mask:
    return np.array([data.draw(st.booleans()) for _ in range(len(cluster))], dtype=np.bool_)


def test_every_registered_plugin_is_asked_by_the_default_profile() -> None:
    assert sorted(plugins_of(framework(default_profile()))) == MODELLED


@given(profiles(), questions(), st.data())
@settings(max_examples=70, deadline=None)
def test_a_state_that_follows_changes_says_what_one_prepared_anew_says(
    profile: Framework, question: Question, data: st.DataObject
) -> None:
    world, cluster = World(question), question.cluster
    others = visitors(question)
    plugins = plugins_of(profile)
    states = prepared(profile, cluster, question.candidate)
    for step in range(data.draw(st.integers(1, 4))):
        feasible = some_nodes(data, cluster)
        before = answers(states, cluster, feasible)
        change = data.draw(changes(world, others, step))
        moves, after = cluster.moves(change), cluster.apply(change)
        followed = dict(states)
        for name, state in states.items():
            carried = state.carry_over(after, moves) if isinstance(state, CountingState) else None
            if isinstance(state, CountingState) or touches_nodes(change) or not isinstance(state, State):
                followed[name] = carried or prepare(plugins[name], after, question.candidate)
        assert answers(states, cluster, feasible) == before
        anew = world.anew()
        feasible = some_nodes(data, anew)
        assert answers(followed, after, feasible) == answers(
            prepared(profile, anew, question.candidate), anew, feasible
        )
        cluster, states = after, followed


@given(profiles(), questions(), st.data())
@settings(max_examples=70, deadline=None)
def test_a_few_nodes_are_judged_as_they_are_among_all(
    profile: Framework, question: Question, data: st.DataObject
) -> None:
    cluster = question.cluster
    states = {name: s for name, s in prepared(profile, cluster, question.candidate).items() if isinstance(s, State)}
    chosen = data.draw(st.lists(st.integers(0, len(cluster) - 1), unique=True))
    positions = np.array(chosen, dtype=np.intp)
    whole = {name: judgment(state.verdicts(cluster)) for name, state in states.items()}
    assert {name: judgment(state.verdicts(cluster, positions)) for name, state in states.items()} == {
        name: None if judged is None else [judged[node] for node in chosen] for name, judged in whole.items()
    }


@given(profiles(), questions(), st.data())
@settings(max_examples=70, deadline=None)
def test_scores_of_feasible_nodes_do_not_depend_on_what_stands_at_the_others(
    profile: Framework, question: Question, data: st.DataObject
) -> None:
    cluster = question.cluster
    feasible = some_nodes(data, cluster)
    for state in prepared(profile, cluster, question.candidate).values():
        if not isinstance(state, State) or not feasible.any():
            continue
        try:
            raw = state.raw_scores(cluster, feasible)
        except SchedulingError:
            continue
        if raw is None:
            continue
        other = raw.copy()
        other[~feasible] = data.draw(st.integers(-1000, 1000))
        extent = state.extent(raw, feasible)
        assert state.extent(other, feasible) == extent
        expected = state.normalize(raw, extent)[feasible].tolist()
        assert state.normalize(other, extent)[feasible].tolist() == expected


@given(profiles(), questions())
@settings(max_examples=70, deadline=None)
def test_normalized_scores_of_feasible_nodes_are_within_0_and_100(profile: Framework, question: Question) -> None:
    try:
        evaluation = evaluate(profile, question.cluster, question.candidate)
    except SchedulingError:
        return
    outside = {
        name: score.normalized[evaluation.feasible].tolist()
        for name, score in evaluation.scores.items()
        if not ((score.normalized >= 0) & (score.normalized <= MAX_NODE_SCORE))[evaluation.feasible].all()
    }
    assert outside == {}


@given(profiles(), questions(), st.data())
@settings(max_examples=70, deadline=None)
def test_a_fork_that_moves_counts_right_and_leaves_its_parent_as_it_was(
    profile: Framework, question: Question, data: st.DataObject
) -> None:
    world, cluster = World(question), question.cluster
    states = prepared(profile, cluster, question.candidate)
    counted = {name: state for name, state in states.items() if isinstance(state, CountingState)}
    feasible = some_nodes(data, cluster)
    before = answers({**counted}, cluster, feasible)
    nodes = st.integers(0, len(cluster) - 1)
    come = data.draw(st.lists(st.tuples(st.sampled_from(visitors(question)), nodes), max_size=4))
    change = ClusterChange(added_pods=come)
    forks = {name: state.fork() for name, state in counted.items()}
    one_by_one = {name: state.fork() for name, state in counted.items()}
    moves = cluster.moves(change)
    for name in counted:
        forks[name].move(moves)
        for visitor, position in come:
            one_by_one[name].move_one(cluster.kinds.number_of(visitor), position, 1)
    for visitor, position in come:
        world.place(visitor, position)
    anew = world.anew()
    plugins = plugins_of(profile)
    expected = answers({name: prepare(plugins[name], anew, question.candidate) for name in counted}, anew, feasible)
    after = cluster.apply(change)
    assert answers({**forks}, after, feasible) == expected
    assert answers({**one_by_one}, after, feasible) == expected
    assert answers({**counted}, cluster, feasible) == before


@given(profiles(), questions(), st.data())
@settings(max_examples=70, deadline=None)
def test_what_a_dry_run_pretends_is_taken_back(profile: Framework, question: Question, data: st.DataObject) -> None:
    cluster = question.cluster
    states = prepared(profile, cluster, question.candidate)
    feasible = some_nodes(data, cluster)
    before = answers(states, cluster, feasible)
    nodes, by = st.integers(0, len(cluster) - 1), st.sampled_from([1, -1])
    pretended = data.draw(st.lists(st.tuples(st.sampled_from(visitors(question)), nodes, by), max_size=4))
    for sign in (1, -1):
        for visitor, position, way in pretended:
            for state in states.values():
                if isinstance(state, CountingState):
                    state.pretend(cluster.kinds.number_of(visitor), position, sign * way)
    assert answers(states, cluster, feasible) == before


@given(profiles(), questions(), st.data())
@settings(max_examples=70, deadline=None)
def test_placing_says_after_each_placement_what_a_cluster_built_anew_says(
    profile: Framework, question: Question, data: st.DataObject
) -> None:
    world, candidate = World(question), question.candidate
    try:
        placing = Placing(profile.prepare(question.cluster, candidate))
    except SchedulingError:
        with pytest.raises(SchedulingError):
            PreparedPod(profile, world.anew(), candidate)
        return
    for _ in range(4):
        anew = evaluate_prepared(PreparedPod(profile, world.anew(), candidate))
        assert everything(placing.evaluation()) == everything(anew)
        if anew.error is not None:
            with pytest.raises(SchedulingError) as raised:
                placing.choose()
            assert str(raised.value) == anew.error
            return
        fitting = np.flatnonzero(anew.feasible).tolist()
        assert np.flatnonzero(placing.feasible()).tolist() == fitting
        totals = {node: int(anew.total[node]) for node in fitting}
        assert {node: choice.total for node in fitting if (choice := placing.choose_on(node))} == totals
        if not fitting:
            assert placing.choose() is None
            return
        node = data.draw(st.sampled_from(fitting))
        placing.place(node)
        world.place(candidate, node)


def test_a_filter_that_the_profile_switches_off_is_kept_up_with_placements_too() -> None:
    disabled = {"filter": {"disabled": [{"name": "PodTopologySpread"}]}}
    profile = framework(load_profiles({**HEAD, "profiles": [{"plugins": disabled}]}, LATEST)[0])
    snapshot = kubespread.Snapshot.from_objects([node("n0", zone="a"), node("n1", zone="b")])
    candidate = from_object(pod(constraints=[hard()]), Surroundings(snapshot)).pod
    placing = Placing(profile.prepare(Cluster.build(snapshot.nodes, snapshot.pods), candidate))
    placing.place(0)
    evaluation = placing.evaluation()
    skewed = Status(Code.UNSCHEDULABLE, (SKEWED,), "PodTopologySpread")
    assert {0: evaluation.rejections(0), 1: evaluation.rejections(1)} == {0: [skewed], 1: []}
    assert evaluation.feasible.tolist() == [True, True]
