"""Admission with the snapshot's own objects, and what it says it changed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.kube.admission.plugins import limit_range_violations
from kubespread.kube.api.core import (
    Container,
    LimitRange,
    LimitRangeItem,
    LimitRangeSpec,
    Pod,
    PodSpec,
    ResourceRequirements,
)
from kubespread.kube.versions import LATEST
from tests.builders import node, pod

Data = dict[str, Any]


def limits(**item: Data) -> Data:
    meta = {"name": "lr", "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": meta,
        "spec": {"limits": [{"type": "Container", **item}]},
    }


def container(**resources: Data) -> Data:
    return pod(containers=[{"name": "c", "image": "x", "resources": resources}])


def runtime_class(**more: Any) -> Data:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        **more,
    }


def priority_class(name: str, value: int, **more: Any) -> Data:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **more,
    }


def namespace(**annotations: str) -> Data:
    named = {f"scheduler.alpha.kubernetes.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "annotations": named}}


def ask(candidate: Data, *objects: Data, **how: Any) -> kubespread.ExplainReport:
    return kubespread.explain(
        kubespread.Snapshot.from_objects([node("n", cpu="1"), *objects]), candidate, kubespread.Scheduler(**how)
    )


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
    "a priority class": (
        pod(priorityClassName="high"),
        [priority_class("high", 7)],
        ["PriorityClass high: priority 7"],
        None,
    ),
    "the default priority class": (
        pod(),
        [priority_class("usual", 3, globalDefault=True)],
        ["PriorityClass usual: priority 3"],
        None,
    ),
    "overhead": (
        pod(runtimeClassName="kata"),
        [runtime_class(overhead={"podFixed": {"cpu": "2"}})],
        ["RuntimeClass kata: overhead cpu 2"],
        "0/1 nodes are available: 1 Insufficient cpu.",
    ),
    "scheduling of a runtime class": (
        pod(runtimeClassName="kata"),
        [
            runtime_class(
                scheduling={"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]}
            )
        ],
        ["RuntimeClass kata: nodeSelector kata=yes", "RuntimeClass kata: tolerations kata:(any)"],
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    ),
    "no class at all": (
        pod(priority=0, preemptionPolicy="PreemptLowerPriority"),
        [priority_class("high", 7)],
        [],
        None,
    ),
    "a namespace's node selector, which no cluster heeds by default": (
        pod(),
        [namespace(node_selector="env=prod")],
        [],
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_admission_changes(case: str) -> None:
    candidate, objects, admission, message = CASES[case]
    report = ask(candidate, *objects)
    assert (list(report.admission), report.message) == (admission, message)


def test_a_namespace_s_node_selector_where_the_plugin_is_on() -> None:
    report = ask(pod(), namespace(node_selector="env=prod"), pod_node_selector=True)
    assert report.admission == ("Namespace default: nodeSelector env=prod",)
    assert report.message == "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."


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
    "a priority without a class": (
        pod(priority=5),
        [priority_class("high", 7)],
        "the integer value of priority (5) must not be provided in pod spec; "
        "priority admission controller computed 0 from the given PriorityClass name",
    ),
    "a preemption policy without a class": (
        pod(preemptionPolicy="Never"),
        [priority_class("high", 7)],
        "the string value of PreemptionPolicy (Never) must not be provided in pod spec; "
        "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
    ),
    "overhead without a runtime class": (
        pod(overhead={"cpu": "1"}),
        [],
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ),
    "overhead that the runtime class has not": (
        pod(overhead={"cpu": "1"}, runtimeClassName="kata"),
        [runtime_class()],
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
    ),
    "overhead that differs": (
        pod(runtimeClassName="kata", overhead={"cpu": "1"}),
        [runtime_class(overhead={"podFixed": {"cpu": "2"}})],
        "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ),
}


BOUNDS: dict[str, tuple[Data, Data, str | None]] = {
    "enough": ({"min": {"cpu": "100m"}}, {"requests": {"cpu": "100m"}}, None),
    "too small a request": (
        {"min": {"cpu": "100m"}},
        {"requests": {"cpu": "50m"}},
        "minimum cpu usage per Container is 100m, but request is 50m",
    ),
    "too large a limit": (
        {"max": {"memory": "1Gi"}},
        {"limits": {"memory": "2Gi"}},
        "maximum memory usage per Container is 1Gi, but limit is 2Gi",
    ),
    "nothing to say about a pod": (
        {"type": "Pod", "min": {"cpu": "1"}, "max": {"cpu": "2"}},
        {},
        "[minimum cpu usage per Pod is 1.  No request is specified, maximum cpu usage per Pod is 2.  No limit is specified]",
    ),
    "too large a ratio": (
        {"maxLimitRequestRatio": {"cpu": "1500m"}},
        {"requests": {"cpu": "100m"}, "limits": {"cpu": "160m"}},
        "cpu max limit to request ratio per Container is 1500m, but provided ratio is 1.600000",
    ),
    "the ratio itself": (
        {"maxLimitRequestRatio": {"cpu": "1500m"}},
        {"requests": {"cpu": "100m"}, "limits": {"cpu": "150m"}},
        None,
    ),
    "a ratio of nothing": (
        {"maxLimitRequestRatio": {"cpu": "2"}},
        {"requests": {"cpu": "0"}, "limits": {"cpu": "1"}},
        "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
    ),
    "a ratio without limit": (
        {"maxLimitRequestRatio": {"cpu": "2"}},
        {"requests": {"cpu": "1"}},
        "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
    ),
    "beyond thousandths of int64, compared in whole units": (
        {"max": {"memory": "9Ei"}},
        {"requests": {"memory": "1"}, "limits": {"memory": "8Ei"}},
        None,
    ),
}


@pytest.mark.parametrize("case", BOUNDS)
def test_what_limit_ranges_allow(case: str) -> None:
    item, resources, message = BOUNDS[case]
    made = Pod(
        spec=PodSpec(containers=[Container(name="c", resources=msgspec.convert(resources, ResourceRequirements))])
    )
    bounds = msgspec.convert({"type": "Container", **item}, LimitRangeItem)
    assert limit_range_violations(made, LimitRange(spec=LimitRangeSpec(limits=[bounds])), LATEST) == message


def test_one_message_that_comes_twice_is_said_once() -> None:
    two = pod(containers=[{"name": name, "image": "x", "resources": {"requests": {"cpu": "10m"}}} for name in "cd"])
    with pytest.raises(
        kubespread.ManifestError,
        match="forbidden: minimum cpu usage per Container is 50m, but request is 10m \\(LimitRange default/lr\\)$",
    ):
        ask(two, limits(min={"cpu": "50m"}))


def test_an_invalid_pod_is_said_to_be_invalid_first() -> None:
    with pytest.raises(kubespread.ManifestError) as refused:
        ask(container(requests={"cpu": "2"}), limits(default={"cpu": "1"}, min={"cpu": "3"}))
    assert "must be less than or equal to cpu limit of 1" in str(refused.value)


@pytest.mark.parametrize("case", REFUSED)
def test_what_admission_refuses(case: str) -> None:
    candidate, objects, message = REFUSED[case]
    with pytest.raises(kubespread.ManifestError) as refused:
        ask(candidate, *objects)
    assert str(refused.value) == f'<object>: pods "web" is forbidden: {message}'
