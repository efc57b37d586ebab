"""Synthetic clusters: nodes in zones, thirty pods of forty applications on each, and a deployment to place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

Data = dict[str, Any]

PODS_PER_NODE = 30
APPLICATIONS = 40


def cluster(nodes: int, zones: int = 3, pods_per_node: int = PODS_PER_NODE) -> list[Data]:
    """Plain objects with what scheduling reads; the same ones every time."""
    return [*objects(nodes, zones, pods_per_node)]


def objects(nodes: int, zones: int = 3, pods_per_node: int = PODS_PER_NODE) -> Iterator[Data]:
    """The same one by one: a million are more than fit in memory."""
    rng = random.Random(7)
    yield from (_node(number, zones) for number in range(nodes))
    yield from (_pod(number, copy, rng) for number in range(nodes) for copy in range(pods_per_node))


def deployment(name: str = "web", app: str = "app-1", *, replicas: int = 1000, cpu: str = "500m", **spec: Any) -> Data:
    """A hard zone constraint, a soft hostname constraint, some cpu and memory; ``spec`` sets further fields."""
    selector = {"matchLabels": {"app": app}}
    constraints = [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
        },
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": selector,
        },
    ]
    container = {
        "name": "web",
        "image": "example.com/web:1",
        "resources": {"requests": {"cpu": cpu, "memory": "512Mi"}},
    }
    template = {
        "metadata": {"labels": {"app": app}},
        "spec": {"topologySpreadConstraints": constraints, "containers": [container], **spec},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def deployments(number: int, replicas: int) -> list[Data]:
    """Each with labels of its own; four sizes, otherwise alike."""
    sizes = ("250m", "500m", "750m", "1")
    return [
        deployment(f"web-{each}", f"web-{each}", replicas=replicas, cpu=sizes[each % len(sizes)])
        for each in range(number)
    ]


def _node(number: int, zones: int) -> Data:
    name = f"node-{number:05d}"
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{number % zones}",
    }
    status = {"allocatable": {"cpu": "31850m", "memory": "126Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _pod(node: int, copy: int, rng: random.Random) -> Data:
    application = f"app-{rng.randrange(APPLICATIONS)}"
    labels = {"app": application, "pod-template-hash": f"{sum(application.encode()):x}"}
    container = {
        "name": "main",
        "image": f"example.com/{application}:1",
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{application}-{node:05d}-{copy:02d}",
            "namespace": rng.choice(["default", "batch"]),
            "labels": labels,
        },
        "spec": {"nodeName": f"node-{node:05d}", "containers": [container]},
        "status": {"phase": "Running"},
    }
