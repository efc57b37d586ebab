"""Profiles that switch off some extension points of a plugin and not others."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

import kubespread
from kubespread.errors import ManifestError
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.profile.loading import UnwrittenError, load_profiles
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


# No answer is given where every cycle that gets there ends in an error.
REFUSED: dict[str, tuple[Data, str]] = {
    **{
        f"{plugin} filters without its PreFilter": ({"preFilter": off(plugin)}, f"filter of {plugin} needs preFilter")
        for plugin in (
            "NodePorts",
            "NodeResourcesFit",
            "VolumeRestrictions",
            "VolumeBinding",
            "PodTopologySpread",
            "InterPodAffinity",
            "DynamicResources",
            "NodeDeclaredFeatures",
        )
    },
    **{
        f"{plugin} scores without its PreScore": ({"preScore": off(plugin)}, f"score of {plugin} needs preScore")
        for plugin in ("TaintToleration", "PodTopologySpread", "InterPodAffinity")
    },
    "multiPoint disabled and filter enabled": (
        {"multiPoint": off("NodePorts"), "filter": on("NodePorts")},
        "filter of NodePorts needs preFilter",
    ),
    "a node that is chosen cannot be reserved": (
        {"preFilter": off("VolumeBinding"), "filter": off("VolumeBinding")},
        "reserve of VolumeBinding needs preFilter",
    ),
    "the score of devices reads what PreFilter leaves": (
        {"multiPoint": off("DynamicResources"), "score": on("DynamicResources")},
        "score of DynamicResources needs preFilter",
    ),
    "so does their PostFilter": (
        {"multiPoint": off("DynamicResources"), "postFilter": on("DynamicResources")},
        "postFilter of DynamicResources needs preFilter",
    ),
    "several at once": (
        {"preFilter": off("NodePorts"), "preScore": off("TaintToleration", "PodTopologySpread")},
        "filter of NodePorts needs preFilter, score of TaintToleration needs preScore, "
        "score of PodTopologySpread needs preScore",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_profile_that_reads_what_it_never_writes_is_refused(case: str) -> None:
    plugins, needs = REFUSED[case]
    with pytest.raises(UnwrittenError) as error:
        load_profiles(config(plugins))
    assert [fault.message for fault in error.value.faults] == [f"pods would fail with an error: {needs}"]


def test_a_refused_profile_is_named_at_its_line() -> None:
    config = f"{yaml.dump(HEAD)}profiles:\n- plugins:\n    preFilter:\n      disabled:\n      - name: NodePorts\n"
    with pytest.raises(ManifestError) as error:
        ask([node("a")], pod(), config)
    assert [(fault.line, fault.message) for fault in error.value.faults] == [
        (5, "pods would fail with an error: filter of NodePorts needs preFilter")
    ]


@pytest.mark.parametrize("plugin", ["NodeAffinity", "NodeVolumeLimits", "VolumeZone"])
def test_a_filter_that_does_without_its_pre_filter(plugin: str) -> None:
    report = ask([node("a")], pod(), json.dumps(config({"preFilter": off(plugin)})))
    assert (report.feasible, report.message) == (("a",), None)


STORAGE_SCORES = {"multiPoint": off("VolumeBinding"), "preScore": on("VolumeBinding"), "score": on("VolumeBinding")}


@pytest.mark.parametrize("gate", [True, False])
def test_scores_for_storage_need_its_pre_filter_where_a_gate_makes_them(gate: bool) -> None:
    version = KubeVersion.parse("1.36").with_gates(f"StorageCapacityScoring={str(gate).lower()}")
    if gate:
        with pytest.raises(UnwrittenError, match="preScore of VolumeBinding needs preFilter"):
            load_profiles(config(STORAGE_SCORES), version)
    else:
        (profile,) = load_profiles(config(STORAGE_SCORES), version)
        assert profile.points_of("VolumeBinding") == {"preScore", "score"}


def test_without_pre_score_no_score_is_skipped() -> None:
    plugins = {"preScore": off("NodeAffinity", "NodeResourcesBalancedAllocation", "VolumeBinding", "NodeResourcesFit")}
    report = ask([node("a"), node("b")], pod(), json.dumps(config(plugins)))
    skipped = {"NodeAffinity": 0, "NodeResourcesBalancedAllocation": 0, "VolumeBinding": 0}
    assert [entry.scores.items() >= skipped.items() for entry in report.nodes] == [True, True]


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
    report = kubespread.explain(snapshot, pod(), scheduler)
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
    report = ask([node("a"), claims], pods[where], json.dumps(config(plugins)))
    assert report.preemption is not None
    assert (report.preemption.tail != "not found") == REACHED[where]


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
