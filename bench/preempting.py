"""`explain` for a pod that fits nowhere: where evicting helps, and where every node is tried in vain."""

from __future__ import annotations

from functools import partial

import kubespread
from bench.clusters import PODS_PER_NODE, Data, cluster, deployment
from bench.measuring import against, seconds
from kubespread.snapshot.snapshot import Snapshot

HIGH = "high"
RUNS = 3


def preempting() -> None:
    print(f"explain, {PODS_PER_NODE} pods a node, after loading, median of {RUNS} runs")
    for nodes, target in ((1_000, 1.0), (5_000, 0.8)):
        objects = [*cluster(nodes), *_surroundings()]
        _report(nodes, "some pods must go", Snapshot.from_objects(objects), target)
        _report(nodes, "no node helps", Snapshot.from_objects([*objects, *_keepers(nodes)]), target)


def _report(nodes: int, case: str, snapshot: Snapshot, target: float) -> None:
    candidate = deployment(cpu="30", priorityClassName=HIGH)
    took = seconds(partial(kubespread.explain, snapshot, candidate), RUNS)
    print(f"  {nodes:>6,} nodes, {case:<24}{took:7.2f} s   {against(took, target, 's')}")


def _surroundings() -> list[Data]:
    """The candidate's priority, and disruption budgets of some applications."""
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": HIGH}, "value": 1000}
    return [high, *(_budget(f"app-{number}") for number in range(5))]


def _budget(application: str) -> Data:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": application, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": application}}},
        "status": {"disruptionsAllowed": 1},
    }


def _keepers(nodes: int) -> list[Data]:
    """On every node a pod that the candidate may not evict, and that leaves it too little room."""
    container = {"name": "main", "image": "example.com/keeper:1", "resources": {"requests": {"cpu": "2"}}}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"keeper-{number:05d}", "namespace": "default", "labels": {"app": "keeper"}},
            "spec": {"nodeName": f"node-{number:05d}", "containers": [container], "priority": 1000},
            "status": {"phase": "Running"},
        }
        for number in range(nodes)
    ]
