"""Admission with the snapshot's own objects, and what it says it changed."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import node, pod

Data = dict[str, Any]


def limits(**item: Data) -> Data:
    meta = {"name": "lr", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": [{"type": "Container", **item}]}}


def container(**resources: Data) -> Data:
    return pod(containers=[{"name": "c", "image": "x", "resources": resources}])


def runtime_class(**more: Any) -> Data:
    return {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"}, "handler": "kata", **more}


def priority_class(name: str, value: int, **more: Any) -> Data:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value, **more}


def ask(candidate: Data, *objects: Data) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects([node("n", cpu="1"), *objects]), candidate)


CASES: dict[str, tuple[Data, list[Data], list[str], str | None]] = {
    "nothing to change": (pod(), [], [], None),
    "a default request": (
        container(),
        [limits(default={"cpu": "500m"}, defaultRequest={"cpu": "100m"})],
        ["LimitRange lr: container c gets limits.cpu 500m, requests.cpu 100m"],
        None,
    ),
    "a limit beats the default request": (
        container(limits={"cpu": "1"}),
        [limits(default={"cpu": "500m"}, defaultRequest={"cpu": "100m"})],
        [],
        None,
    ),
    "a maximum implies both": (
        container(),
        [limits(max={"cpu": "2"})],
        ["LimitRange lr: container c gets limits.cpu 2, requests.cpu 2"],
        "0/1 nodes are available: 1 Insufficient cpu.",
    ),
    "a priority class": (pod(priorityClassName="high"), [priority_class("high", 7)], ["PriorityClass high: priority 7"], None),
    "the default priority class": (pod(), [priority_class("usual", 3, globalDefault=True)], ["PriorityClass usual: priority 3"], None),
    "overhead": (
        pod(runtimeClassName="kata"),
        [runtime_class(overhead={"podFixed": {"cpu": "2"}})],
        ["RuntimeClass kata: overhead cpu 2"],
        "0/1 nodes are available: 1 Insufficient cpu.",
    ),
    "scheduling of a runtime class": (
        pod(runtimeClassName="kata"),
        [runtime_class(scheduling={"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]})],
        ["RuntimeClass kata: nodeSelector kata=yes", "RuntimeClass kata: tolerations kata:(any)"],
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    ),
    "a namespace's node selector": (
        pod(),
        [
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "default", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "env=prod"}},
            }
        ],
        ["Namespace default: nodeSelector env=prod"],
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_admission_changes(case: str) -> None:
    candidate, objects, admission, message = CASES[case]
    report = ask(candidate, *objects)
    assert (list(report.admission), report.message) == (admission, message)


REFUSED: dict[str, tuple[Data, list[Data], str]] = {
    "a class that does not exist": (
        pod(priorityClassName="gone"),
        [priority_class("high", 7)],
        "no PriorityClass with name gone was found",
    ),
    "a priority that differs": (
        pod(priority=5),
        [priority_class("usual", 3, globalDefault=True)],
        "the integer value of priority (5) must not be provided in pod spec; "
        "priority admission controller computed 3 from the given PriorityClass name",
    ),
    "a runtime class that does not exist": (
        pod(runtimeClassName="gone"),
        [runtime_class()],
        'pod rejected: RuntimeClass "gone" not found',
    ),
    "overhead that differs": (
        pod(runtimeClassName="kata", overhead={"cpu": "1"}),
        [runtime_class(overhead={"podFixed": {"cpu": "2"}})],
        "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_admission_refuses(case: str) -> None:
    candidate, objects, message = REFUSED[case]
    with pytest.raises(kubespread.ManifestError) as refused:
        ask(candidate, *objects)
    assert str(refused.value) == f'<object>: pods "web" is forbidden: {message}'
