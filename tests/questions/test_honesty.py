"""What an answer leaves out is named in it."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.questions.scene import Side
from tests.builders import node, pod
from tests.world.clusters import deployment

Data = dict[str, Any]


def ask(candidate: Data, *objects: Data, config: str | None = None) -> kubespread.ExplainReport:
    return kubespread.explain(
        kubespread.Snapshot.from_objects([node("n"), *objects]), candidate, kubespread.Scheduler(config=config)
    )


def pod_group(name: str, api_version: str) -> Data:
    return {
        "apiVersion": api_version,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minMember": 3},
    }


NOT_MODELLED: dict[str, tuple[Data, list[Data], list[str]]] = {
    "nothing special": (pod(), [], []),
    "a scheduling group": (
        pod(schedulingGroup={"podGroupName": "ring"}),
        [],
        [
            "pod group ring (spec.schedulingGroup): pods are judged one at a time, not all or none (simulate --gang N does)"
        ],
    ),
    "a pod group of the coscheduling plugin": (
        pod(labels={"scheduling.x-k8s.io/pod-group": "ring"}),
        [pod_group("ring", "scheduling.x-k8s.io/v1alpha1")],
        [
            "pod group ring (label scheduling.x-k8s.io/pod-group): pods are judged one at a time, not all or none (simulate --gang N does)"
        ],
    ),
    "a pod group of the coscheduling plugin's first release": (
        pod(labels={"pod-group.scheduling.sigs.k8s.io/name": "ring"}),
        [],
        [
            "pod group ring (label pod-group.scheduling.sigs.k8s.io/name): pods are judged one at a time, not all or none (simulate --gang N does)"
        ],
    ),
    "a pod group of Volcano": (
        {**pod(), "metadata": {"name": "web", "annotations": {"scheduling.k8s.io/group-name": "ring"}}},
        [],
        [
            "pod group ring (annotation scheduling.k8s.io/group-name): pods are judged one at a time, not all or none (simulate --gang N does)"
        ],
    ),
    "PodGroups of the pod's namespace": (
        pod(),
        [pod_group("a", "scheduling.k8s.io/v1alpha2"), pod_group("b", "scheduling.volcano.sh/v1beta1")],
        ["PodGroup a, b of namespace default: pods are judged one at a time, not all or none of a group"],
    ),
    "PodGroups of other namespaces": (pod(namespace="other"), [pod_group("a", "scheduling.k8s.io/v1alpha2")], []),
}


WAITS = "waits behind scheduling gates: a, b"
GATES = [{"name": "a"}, {"name": "b"}]
SMALL, LARGE = pod(requests={"cpu": "1"}, schedulingGates=GATES), pod(requests={"cpu": "99"}, schedulingGates=GATES)
PLAIN, WEB = (deployment("web", replicas=2, spec=spec)[0] for spec in ({}, {"schedulingGates": GATES}))
GATED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a pod that fits": (lambda now: kubespread.explain(now, SMALL), (f"{WAITS}; without them, 1 of 1 node fits: n",)),
    "a pod that fits nowhere": (
        lambda now: kubespread.explain(now, LARGE),
        (
            f"{WAITS}; without them, 0 of 1 node fit",
            "the only node has too little cpu",
            "0/1 nodes are available: 1 Insufficient cpu.",
        ),
    ),
    "a pod that is to be changed": (
        lambda now: kubespread.explain(now, SMALL, fix=True),
        (f"{WAITS}; without them, 1 of 1 node fits: n: no change is needed",),
    ),
    "replicas": (lambda now: kubespread.simulate(now, WEB), (f"{WAITS}; without them, 2 of 2 placed",)),
    "as many as fit": (
        lambda now: kubespread.simulate(now, SMALL, "max"),
        (
            f"{WAITS}; without them, 8 fit",
            "0/1 nodes are available: 1 Insufficient cpu.",
            "the next one stops: the only node has too little cpu",
        ),
    ),
    "replicas that get gates": (
        lambda now: kubespread.compare(Side(now, PLAIN), Side(now, WEB)),
        ("1 of 1 workload differs, worse: default/Deployment/web pending 0 → 2",),
    ),
}


@pytest.mark.parametrize("case", GATED)
def test_a_pod_behind_scheduling_gates_is_not_said_to_be_scheduled(case: str) -> None:
    ask_of, answer = GATED[case]
    report = ask_of(kubespread.Snapshot.from_objects([node("n", cpu="8")]))
    assert (report.verdict, report.answer) == ("no", answer)


@pytest.mark.parametrize("case", NOT_MODELLED)
def test_not_modelled(case: str) -> None:
    candidate, objects, expected = NOT_MODELLED[case]
    assert list(ask(candidate, *objects).not_modelled) == expected


def test_plugins_that_are_enabled_and_not_modelled_are_named() -> None:
    config = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {multiPoint: {enabled: [{name: GangScheduling}]}}}]}"
    assert ask(pod(), config=config).not_modelled == ("scheduler configuration: plugins.multiPoint.GangScheduling",)


def test_a_profile_without_scores_totals_1() -> None:
    config = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {score: {disabled: [{name: '*'}]}}}]}"
    (entry,) = ask(pod(), config=config).nodes
    assert (entry.scores, entry.total) == ({}, 1)


def test_extenders_are_named() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{urlPrefix: "http://example.com"}]
"""
    assert ask(pod(), config=config).not_modelled == ("extenders: what they would filter or score",)
