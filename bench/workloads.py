"""A cluster in which every pod has a workload: Deployments of several kinds, evenly over all nodes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.clusters import PODS_PER_NODE, Data, objects

HASH = "5d8f9c7b6"
_NAMESPACES = 10


def running(nodes: int, workloads: int, zones: int = 3, pods_per_node: int = PODS_PER_NODE) -> list[Data]:
    """``nodes`` full of the pods of so many Deployments, each with its ReplicaSet and as many pods as the others.

    One in four may not be spread unevenly over zones, one in four had rather not be, one in four counts only zones its
    pods may run in; the others spread by kube-scheduler's defaults.
    """
    return [*running_objects(nodes, workloads, zones, pods_per_node)]


def running_objects(nodes: int, workloads: int, zones: int = 3, pods_per_node: int = PODS_PER_NODE) -> Iterator[Data]:
    """The same one by one: a million are more than fit in memory."""
    replicas = nodes * pods_per_node // workloads
    yield from objects(nodes, zones, pods_per_node=0)
    made = [each for number in range(workloads) for each in _workload(number, replicas)]
    yield from made
    templates = [each["spec"]["template"] for each in made if each["kind"] == "ReplicaSet"]
    for number in range(workloads * replicas):
        yield _pod(number // replicas, number % replicas, number % nodes, templates[number // replicas])


def _workload(number: int, replicas: int) -> list[Data]:
    name, namespace = f"web-{number}", f"team-{number % _NAMESPACES}"
    selector = {"matchLabels": {"app": name}}
    constraint = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "labelSelector": selector}
    constraints = (
        [{**constraint, "whenUnsatisfiable": "DoNotSchedule"}],
        [{**constraint, "whenUnsatisfiable": "ScheduleAnyway"}],
        [{**constraint, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Honor"}],
        [],
    )[number % 4]
    container = {
        "name": "web",
        "image": f"example.com/{name}:1",
        "resources": {"requests": {"cpu": f"{100 + 50 * (number % 3)}m", "memory": "256Mi"}},
    }
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [container], "topologySpreadConstraints": constraints},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "annotations": {"deployment.kubernetes.io/revision": "1"}},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }
    hashed = {"app": name, "pod-template-hash": HASH}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{name}-{HASH}",
            "namespace": namespace,
            "labels": hashed,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "controller": True}],
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": hashed},
            "template": {**template, "metadata": {"labels": hashed}},
        },
    }
    return [deployment, replica_set]


def _pod(workload: int, copy: int, node: int, template: Data) -> Data:
    name = f"web-{workload}-{HASH}"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-{copy:05d}",
            "namespace": f"team-{workload % _NAMESPACES}",
            "labels": template["metadata"]["labels"],
            "creationTimestamp": "2026-10-01T08:15:30Z",
            "ownerReferences": [owner],
        },
        "spec": {**template["spec"], "nodeName": f"node-{node:05d}"},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-10-01T08:15:40Z"}],
        },
    }
