"""Profiles that switch off an extension point whose state a later one reads: what fails, where, and in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

import kubespread
from kubespread.questions.explain.sentences import in_sentences
from kubespread.scheduler.framework import FilterError, MissingState
from kubespread.scheduler.profile.loading import load_profiles
from kubespread.scheduler.profile.profile import default_profile, missing_state
from tests.builders import node, pod, taint
from tests.scheduler.asking import ask

Data = dict[str, Any]
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def config(plugins: Data) -> Data:
    return {**HEAD, "profiles": [{"plugins": plugins}]}


def off(*names: str) -> Data:
    return {"disabled": [{"name": name} for name in names]}


def on(*names: str) -> Data:
    return {"enabled": [{"name": name} for name in names]}


def missing(plugins: Data) -> MissingState:
    (profile,) = load_profiles(config(plugins))
    return missing_state(profile)


def test_nothing_fails_in_the_default_profile() -> None:
    assert missing_state(default_profile()) == MissingState()


FILTERS = {
    "NodePorts": 'running "NodePorts" filter plugin: reading "PreFilterNodePorts" from cycleState: not found',
    "NodeResourcesFit": 'running "NodeResourcesFit" filter plugin: error reading "PreFilterNodeResourcesFit" from cycleState: not found',
    "VolumeRestrictions": 'running "VolumeRestrictions" filter plugin: cannot read "PreFilterVolumeRestrictions" from cycleState',
    "VolumeBinding": 'running "VolumeBinding" filter plugin: not found',
    "PodTopologySpread": 'running "PodTopologySpread" filter plugin: reading "PreFilterPodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'running "InterPodAffinity" filter plugin: error reading "PreFilterInterPodAffinity" from cycleState: not found',
    "DynamicResources": 'running "DynamicResources" filter plugin: not found',
    "NodeDeclaredFeatures": 'running "NodeDeclaredFeatures" filter plugin: '
    'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found',
}


@pytest.mark.parametrize("plugin", FILTERS)
def test_a_filter_that_needs_its_pre_filter_fails_every_pod(plugin: str) -> None:
    report = ask([node("a"), node("b", taints=[taint("k")])], pod(), json.dumps(config({"preFilter": off(plugin)})))
    assert (report.schedulable, report.feasible, report.message) == (False, (), FILTERS[plugin])
    assert [(entry.verdict.code, entry.verdict.plugin, entry.feasible) for entry in report.nodes] == [
        ("", None, False)
    ] * 2
    # What each plugin says alone is still told.
    assert [[found.plugin for found in entry.rejections] for entry in report.nodes] == [[], ["TaintToleration"]]


def test_a_node_without_a_verdict_is_said_to_have_none() -> None:
    report = ask([node("a")], pod(), json.dumps(config({"preFilter": off("NodePorts")})))
    assert "  Verdict: no verdict: every scheduling cycle of the pod ends in an error\n" in in_sentences(report)


@pytest.mark.parametrize("plugin", ["NodeAffinity", "NodeVolumeLimits", "VolumeZone"])
def test_a_filter_that_does_without_its_pre_filter(plugin: str) -> None:
    report = ask([node("a")], pod(), json.dumps(config({"preFilter": off(plugin)})))
    assert (report.feasible, report.message) == (("a",), None)


def test_multi_point_disabled_and_filter_enabled_is_the_same() -> None:
    assert missing({"multiPoint": off("NodePorts"), "filter": on("NodePorts")}).filters == {
        "NodePorts": FilterError(FILTERS["NodePorts"])
    }


def test_a_single_node_is_not_scored_by_a_plugin_that_would_fail() -> None:
    """kube-scheduler takes the only node that fits without scoring it."""
    settings = json.dumps(config({"preScore": off("TaintToleration")}))
    totals = {entry.name: entry.total for entry in ask([node("a")], pod(), settings).nodes}
    simulated = kubespread.simulate(
        kubespread.Snapshot.from_objects([node("a")]), pod(), 1, kubespread.Scheduler(config=settings)
    )
    assert {placement.node: placement.total for placement in simulated.placements} == totals


def test_no_node_reaches_the_failing_filter() -> None:
    report = ask([node("a", taints=[taint("k")])], pod(), json.dumps(config({"preFilter": off("NodePorts")})))
    assert report.message == "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
    assert [entry.verdict.plugin for entry in report.nodes] == ["TaintToleration"]


def test_the_first_failing_filter_in_profile_order_is_named() -> None:
    plugins = {"preFilter": off("NodePorts", "PodTopologySpread"), "filter": on("PodTopologySpread")}
    report = ask([node("a")], pod(), json.dumps(config(plugins)))
    assert report.message == FILTERS["PodTopologySpread"]


SCORES = {
    "TaintToleration": 'running Score plugins: plugin "TaintToleration" failed with: '
    'failed to read "PreScoreTaintToleration" from cycleState: not found',
    "PodTopologySpread": 'running Score plugins: plugin "PodTopologySpread" failed with: '
    'error reading "PreScorePodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'running Score plugins: plugin "InterPodAffinity" failed with: '
    'failed to read "PreScoreInterPodAffinity" from cycleState: not found',
}


@pytest.mark.parametrize("plugin", SCORES)
def test_a_score_that_needs_its_pre_score_fails_where_nodes_are_scored(plugin: str) -> None:
    odd = json.dumps(config({"preScore": off(plugin)}))
    two = ask([node("a"), node("b")], pod(), odd)
    assert (two.schedulable, two.message, [entry.verdict.code for entry in two.nodes]) == (
        False,
        SCORES[plugin],
        ["Success"] * 2,
    )
    one = ask([node("a")], pod(), odd)
    assert (one.feasible, one.message, plugin in one.nodes[0].scores) == (("a",), None, False)


NEITHER = {"preFilter": off("VolumeBinding"), "filter": off("VolumeBinding")}
STORAGE = {
    "Score": (
        {**NEITHER, "preScore": off("VolumeBinding")},
        'Score plugins: plugin "VolumeBinding" failed with: not found',
    ),
    "PreScore": (NEITHER, 'PreScore plugin "VolumeBinding": not found'),
}


@pytest.mark.parametrize("point", STORAGE)
@pytest.mark.parametrize("gate", [True, False])
def test_scores_for_storage_need_its_pre_filter_where_a_gate_makes_them(point: str, gate: bool) -> None:
    plugins, error = STORAGE[point]
    scheduler = kubespread.Scheduler(
        config=json.dumps(config(plugins)),
        kube_version="1.36",
        feature_gates=f"StorageCapacityScoring={str(gate).lower()}",
    )
    report = kubespread.explain(kubespread.Snapshot.from_objects([node("a"), node("b")]), pod(), scheduler)
    assert report.message == (f"running {error}" if gate else 'running Reserve plugin "VolumeBinding": not found')


STOPS = {
    "a filter": ({"preFilter": off("NodePorts")}, ["a", "b"], FILTERS["NodePorts"]),
    "a score": ({"preScore": off("TaintToleration")}, ["a", "b"], SCORES["TaintToleration"]),
    "the reservation": (
        {**NEITHER, "preScore": off("VolumeBinding"), "score": off("VolumeBinding")},
        ["a", "b"],
        'running Reserve plugin "VolumeBinding": not found',
    ),
}


@pytest.mark.parametrize("case", STOPS)
def test_no_replica_is_placed_where_every_cycle_fails(case: str) -> None:
    plugins, names, expected = STOPS[case]
    snapshot = kubespread.Snapshot.from_objects([node(name) for name in names])
    report = kubespread.simulate(snapshot, pod(), 2, kubespread.Scheduler(config=json.dumps(config(plugins))))
    assert (report.placed, report.stopped) == (0, expected)


def test_scores_fail_in_the_order_of_score() -> None:
    assert list(missing({"preScore": off("*"), "score": on("InterPodAffinity")}).scores) == [
        "InterPodAffinity",
        "TaintToleration",
        "PodTopologySpread",
    ]


def test_the_score_of_dynamic_resources_reads_what_its_pre_filter_leaves() -> None:
    found = missing({"multiPoint": off("DynamicResources"), "score": on("DynamicResources")})
    assert found.scores == {
        "DynamicResources": 'running Score plugins: plugin "DynamicResources" failed with: not found'
    }


def test_without_pre_score_no_score_is_skipped() -> None:
    plugins = {"preScore": off("NodeAffinity", "NodeResourcesBalancedAllocation", "VolumeBinding", "NodeResourcesFit")}
    report = ask([node("a"), node("b")], pod(), json.dumps(config(plugins)))
    skipped = {"NodeAffinity": 0, "NodeResourcesBalancedAllocation": 0, "VolumeBinding": 0}
    assert [entry.scores.items() >= skipped.items() for entry in report.nodes] == [True, True]


def test_a_node_is_chosen_and_cannot_be_reserved() -> None:
    plugins = {"preFilter": off("VolumeBinding"), "filter": off("VolumeBinding")}
    report = ask([node("a")], pod(), json.dumps(config(plugins)))
    assert (report.schedulable, report.message) == (False, 'running Reserve plugin "VolumeBinding": not found')


def named(*names: str) -> Data:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in names]
    required = {"nodeSelectorTerms": [{"matchFields": [field for term in terms for field in term["matchFields"]]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_a_disabled_filter_still_narrows_beforehand() -> None:
    report = ask([node("a"), node("b")], pod(affinity=named("a")), json.dumps(config({"filter": off("NodeAffinity")})))
    assert (report.feasible, [entry.verdict.reasons for entry in report.nodes]) == (
        ("a",),
        [(), ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)],
    )


def test_a_disabled_filter_still_rejects_the_pod_beforehand() -> None:
    report = ask([node("a")], pod(affinity=named("a", "b")), json.dumps(config({"filter": off("NodeAffinity")})))
    assert report.message == "0/1 nodes are available: pod affinity terms conflict."


def test_without_pre_filter_node_affinity_looks_at_each_node() -> None:
    report = ask(
        [node("a"), node("b")], pod(affinity=named("a", "b")), json.dumps(config({"preFilter": off("NodeAffinity")}))
    )
    assert report.message == "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
    alone = ask(
        [node("a"), node("b")], pod(affinity=named("a")), json.dumps(config({"preFilter": off("NodeAffinity")}))
    )
    assert [entry.verdict.reasons for entry in alone.nodes] == [
        (),
        ("node(s) didn't match Pod's node affinity/selector",),
    ]


def test_a_plugin_that_is_switched_off_altogether_leaves_no_node_out() -> None:
    report = ask(
        [node("a"), node("b")], pod(affinity=named("a")), json.dumps(config({"multiPoint": off("NodeAffinity")}))
    )
    assert report.feasible == ("a", "b")


def test_post_filters_speak_in_their_own_order() -> None:
    plugins = {"postFilter": on("DefaultPreemption")}
    scheduler = kubespread.Scheduler(config=json.dumps(config(plugins)), kube_version="1.36")
    snapshot = kubespread.Snapshot.from_objects([node("a", taints=[taint("k")])])
    report = kubespread.explain(snapshot, pod(), scheduler, preemption=True)
    assert report.preemption is not None
    assert report.preemption.tail == (
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling., no new claims to deallocate"
    )


REACHED = {"before": True, "itself": True, "behind": False}


@pytest.mark.parametrize("where", REACHED)
def test_dynamic_resources_knows_of_a_rejection_at_or_behind_it(where: str) -> None:
    pods = {
        "before": pod(affinity=named("a", "b")),
        "itself": pod(resourceClaims=[{"name": "c", "resourceClaimName": "ghost"}]),
        "behind": pod(affinity=named("a", "b")),
    }
    claims = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "other", "namespace": "default"},
        "spec": {},
    }
    plugins = {"preFilter": on("DynamicResources")} if where == "before" else {}
    report = ask([node("a"), claims], pods[where], json.dumps(config(plugins)), preemption=True)
    assert report.preemption is not None
    assert (report.preemption.tail != "not found") == REACHED[where]


def test_the_post_filter_of_dynamic_resources_fails_without_its_pre_filter() -> None:
    plugins = {"preFilter": off("DynamicResources"), "filter": off("DynamicResources")}
    report = ask([node("a", taints=[taint("k")])], pod(), json.dumps(config(plugins)), preemption=True)
    assert report.preemption is not None
    assert report.preemption.tail == "not found"


def malformed(preferred: bool) -> Data:
    """A stored pod whose affinity term no API server of today lets in."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a b"}}}
    when = "DuringSchedulingIgnoredDuringExecution"
    terms = {f"preferred{when}": [{"weight": 1, "podAffinityTerm": term}]} if preferred else {f"required{when}": [term]}
    return pod(affinity={"podAffinity": terms})


SCORED_ALONE = {"preFilter": off("InterPodAffinity"), "filter": off("InterPodAffinity")}


@pytest.mark.parametrize(
    ("preferred", "ignores", "nodes", "fails"),
    [
        (True, False, 2, True),
        (False, False, 2, True),
        (True, True, 2, True),
        (False, True, 2, False),
        (True, False, 1, False),
    ],
    ids=[
        "a preferred term fails PreScore",
        "so does a required one",
        "and with ignorePreferredTermsOfExistingPods, which skips pods without preferred terms",
        "it skips one with a required term",
        "a single node is not scored",
    ],
)
def test_a_malformed_term_that_no_pre_filter_saw(preferred: bool, ignores: bool, nodes: int, fails: bool) -> None:
    given = {"name": "InterPodAffinity", "args": {"ignorePreferredTermsOfExistingPods": ignores}}
    settings = json.dumps({**HEAD, "profiles": [{"plugins": SCORED_ALONE, "pluginConfig": [given]}]})
    snapshot = kubespread.Snapshot.from_objects(
        [*(node(f"n{number}") for number in range(nodes)), malformed(preferred)]
    )
    scheduler = kubespread.Scheduler(config=settings)
    for stopped in (
        kubespread.explain(snapshot, "pod/web", scheduler).message,
        kubespread.simulate(snapshot, "pod/web", 1, scheduler).stopped,
    ):
        begins = 'running PreScore plugin "InterPodAffinity": failed to parse pod: '
        assert ((stopped or "").startswith(begins), stopped is None) == (fails, not fails)
