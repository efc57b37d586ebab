"""What an answer leaves out is named in it."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import node, pod

Data = dict[str, Any]


def ask(candidate: Data, *objects: Data, config: str | None = None) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects([node("n"), *objects]), candidate, scheduler_config=config)


NOT_MODELLED: dict[str, tuple[Data, list[Data], list[str]]] = {
    "nothing special": (pod(), [], []),
    "resource claims": (
        pod(resourceClaims=[{"name": "gpu"}]),
        [],
        ["DynamicResources: no devices are allocated to the pod's resource claims; take the nodes that fit as an upper bound"],
    ),
    "scheduling gates": (
        pod(schedulingGates=[{"name": "a"}, {"name": "b"}]),
        [],
        ["waiting for scheduling gates: [a b]; the pod is judged as if they were removed"],
    ),
}


@pytest.mark.parametrize("case", NOT_MODELLED)
def test_not_modelled(case: str) -> None:
    candidate, objects, expected = NOT_MODELLED[case]
    assert list(ask(candidate, *objects).not_modelled) == expected


def test_a_resource_that_devices_may_provide_is_named_and_left_open() -> None:
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }
    candidate = pod(containers=[{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "1"}}}])
    assert ask(candidate).message == "0/1 nodes are available: 1 Insufficient example.com/gpu."
    delegated = ask(candidate, device_class)
    assert (delegated.schedulable, delegated.not_modelled) == (
        True,
        ("DynamicResources: example.com/gpu may come from devices; nodes that offer none themselves are taken to fit",),
    )


def test_extension_points_that_are_not_read_are_named() -> None:
    config = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {preScore: {disabled: [{name: '*'}]}}}]}"
    assert ask(pod(), config=config).not_modelled == ("scheduler configuration: plugins.preScore",)


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
