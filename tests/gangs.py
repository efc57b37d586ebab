"""Groups of pods and what they are made of, as plain objects."""

from __future__ import annotations

from typing import Any

import kubespread
from tests.builders import Data, node, pod

GATES = {
    "1.35": "GenericWorkload=true,GangScheduling=true",
    "1.36": "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true",
    "1.37": "GenericWorkload=true,TopologyAwareWorkloadScheduling=true",
}


def scheduler(version: str = "1.36") -> kubespread.Scheduler:
    """A release with all its gates for gangs on."""
    return kubespread.Scheduler(kube_version=version, feature_gates=GATES[version])


def rack_node(name: str, rack: str, zone: str = "zone-1", **more: Any) -> Data:
    """As KEP-5732's tests have them: 2 cpu and nothing else, so that scores are shares of cpu."""
    made = node(name, cpu="2", rack=rack, zone=zone, **more)
    made["status"]["allocatable"] = {"cpu": "2", "pods": "110"}
    return made


def taken(name: str, on: str, cpu: str) -> Data:
    """A pod of somebody else's."""
    return pod(name, on, labels={"app": "other"}, requests={"cpu": cpu})


def pod_group(
    name: str = "ring",
    min_count: int | None = None,
    key: str | None = None,
    *,
    api_version: str = "scheduling.k8s.io/v1alpha2",
    **spec: Any,
) -> Data:
    """With the policy basic unless there is a ``min_count``."""
    policy = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    constraints = {} if key is None else {"schedulingConstraints": {"topology": [{"key": key}]}}
    return {
        "apiVersion": api_version,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": policy, **constraints, **spec},
    }


def deployment(replicas: int, name: str = "web", kind: str = "Deployment", **fields: Any) -> Data:
    """Pods foo=bar that ask for 1 cpu unless told otherwise, of the group ring unless told which."""
    spec = pod(**{"requests": {"cpu": "1"}, "schedulingGroup": {"podGroupName": "ring"}, **fields})["spec"]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"foo": "bar"}},
            "template": {"metadata": {"labels": {"foo": "bar"}}, "spec": spec},
        },
    }
