"""What an answer leaves out is named in it."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import node, pod

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
    "scheduling gates": (
        pod(schedulingGates=[{"name": "a"}, {"name": "b"}]),
        [],
        ["waiting for scheduling gates: [a b]; the pod is judged as if they were removed"],
    ),
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
