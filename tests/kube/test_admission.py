"""What the API server fills in and merges before the scheduler sees a pod."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.kube.admission.defaulting import default_pod, merge_label_keys
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.versions import LATEST
from tests.builders import hard, pod
from tests.kube.decoding import decode_pod

Data = dict[str, Any]


def defaulted(data: Data) -> Pod:
    made = decode_pod(data)
    default_pod(made)
    return made


def containers(*resources: Data, pod_level: Data | None = None, init: list[Data] | None = None, **spec: Any) -> Data:
    made = [{"name": f"c{at}", "image": "x", "resources": given} for at, given in enumerate(resources)]
    started = [{"name": f"i{at}", "image": "x", "resources": given} for at, given in enumerate(init or [])]
    if pod_level is not None:
        spec["resources"] = pod_level
    return pod(containers=made, initContainers=started, **spec)


REQUESTS: dict[str, tuple[Data, dict[str, str]]] = {
    "limits stand in for missing requests, each by itself": (
        containers({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}),
        {"cpu": "1", "memory": "1Gi"},
    ),
    "an explicit zero is kept": (containers({"limits": {"cpu": "2"}, "requests": {"cpu": "0"}}), {"cpu": "0"}),
    "null is an explicit zero": (containers({"limits": {"cpu": "2"}, "requests": {"cpu": None}}), {"cpu": "0"}),
    "pod-level limits fill pod-level requests": (
        containers({"requests": {"cpu": "100m"}}, pod_level={"limits": {"cpu": "1", "memory": "1Gi"}}),
        {"cpu": "100m", "memory": "1Gi"},
    ),
    "init containers' maximum counts there": (
        containers(
            {"requests": {"cpu": "100m"}}, init=[{"requests": {"cpu": "700m"}}], pod_level={"limits": {"cpu": "1"}}
        ),
        {"cpu": "700m"},
    ),
    "pod-level requests alone get no defaults": (
        containers({"requests": {"cpu": "2", "memory": "1Gi"}}, pod_level={"requests": {"cpu": "3"}}),
        {"cpu": "3", "memory": "1Gi"},
    ),
    "container hugepages become a pod-level limit": (
        containers({"requests": {"cpu": "1"}, "limits": {"hugepages-2Mi": "4Mi"}}, pod_level={"limits": {"cpu": "2"}}),
        {"cpu": "1", "hugepages-2Mi": "4Mi"},
    ),
    "overhead is added": (containers({"requests": {"cpu": "1"}}, overhead={"cpu": "250m"}), {"cpu": "1250m"}),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_requests(case: str) -> None:
    data, expected = REQUESTS[case]
    assert {name: str(quantity) for name, quantity in pod_requests(defaulted(data)).items()} == expected


def test_defaulting_twice_changes_nothing() -> None:
    data = containers({"limits": {"cpu": "2"}}, pod_level={"limits": {"cpu": "3"}}, hostNetwork=True)
    data["spec"]["containers"][0]["ports"] = [{"containerPort": 9100}]
    once = defaulted(data)
    twice = defaulted(data)
    default_pod(twice)
    assert once == twice
    (port,) = once.spec.containers[0].ports
    assert (port.host_port, port.protocol) == (9100, "TCP")


def test_an_absent_namespace_and_scheduler_are_the_default_ones() -> None:
    made = defaulted({"spec": {}})
    assert (made.metadata.namespace, made.spec.scheduler_name, made.spec.restart_policy) == (
        "default",
        "default-scheduler",
        "Always",
    )


def test_label_keys_are_merged_where_there_is_a_selector_and_a_label() -> None:
    term = {"topologyKey": "z", "labelSelector": {}, "matchLabelKeys": ["foo"], "mismatchLabelKeys": ["rev", "gone"]}
    data = pod(
        labels={"foo": "bar", "rev": "2"},
        constraints=[
            hard(match={}, matchLabelKeys=["rev", "gone"]),
            hard("x", labelSelector=None, matchLabelKeys=["rev"]),
        ],
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    )
    made = decode_pod(data)
    merge_label_keys(made, LATEST)
    first, second = made.spec.topology_spread_constraints
    assert first.label_selector is not None
    assert [(e.key, e.operator, e.values) for e in first.label_selector.match_expressions] == [("rev", "In", ["2"])]
    assert second.label_selector is None
    assert made.spec.affinity is not None
    assert made.spec.affinity.pod_anti_affinity is not None
    (merged,) = made.spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
    assert merged.label_selector is not None
    assert [(e.key, e.operator, e.values) for e in merged.label_selector.match_expressions] == [
        ("foo", "In", ["bar"]),
        ("rev", "NotIn", ["2"]),
    ]
