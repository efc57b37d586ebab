"""Placing replicas one after another: milliseconds a placement, on clusters of several sizes and kinds."""

from __future__ import annotations

import random
import time
from statistics import median

from bench.clusters import PODS_PER_NODE, Data, cluster, deployment
from bench.measuring import against
from kubespread.candidate.candidate import from_manifest
from kubespread.candidate.manifest import manifest_of
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.profile.profile import default_profile, framework
from kubespread.snapshot.snapshot import Snapshot

REPLICAS, RUNS = 1000, 5
TARGETS = {5_000: 0.045}
"""Milliseconds a placement of the plain deployment, by number of nodes."""


def placing() -> None:
    print(f"Placing {REPLICAS:,} replicas, median of {RUNS} runs")
    print(f"  {'nodes':>6}{'pods':>9}{'zones':>7}{'ms a placement':>17}")
    for nodes in (100, 500, 1000, 2000, 5000):
        for zones in (3, 10):
            took = _measured(nodes, zones, PODS_PER_NODE, cluster(nodes, zones))
            print(f"   {against(took, TARGETS[nodes], 'ms')}" if nodes in TARGETS else "")
    for pods in (3, 60):
        _measured(5000, 3, pods, cluster(5000, 3, pods))
        print()
    _measured(5000, 3, PODS_PER_NODE, *_mixed(5000))
    print("   unlike nodes, inter-pod affinity")


def _measured(nodes: int, zones: int, pods: int, objects: list[Data], candidate: Data | None = None) -> float:
    """Milliseconds a placement; the line that says so is left open."""
    snapshot = Snapshot.from_objects(objects)
    made = Cluster.build(snapshot.nodes, snapshot.pods, snapshot.objects)
    pod = from_manifest(manifest_of(candidate or deployment()), Surroundings()).pod
    milliseconds = median(_run(made, pod) for _ in range(RUNS)) * 1000
    print(f"  {nodes:>6}{nodes * pods:>9}{zones:>7}{milliseconds:>17.3f}", end="")
    return milliseconds


def _run(made: Cluster, pod: Pod) -> float:
    """Seconds a placement, the first one not counted: it builds columns that are then kept."""
    going = Placing(framework(default_profile()).prepare(made, pod))
    first = going.choose()
    assert first is not None
    going.place(first.node)
    start = time.perf_counter()
    placed = 0
    for _ in range(REPLICAS):
        choice = going.choose()
        if choice is None:
            break
        going.place(choice.node)
        placed += 1
    return (time.perf_counter() - start) / placed


def _mixed(nodes: int) -> tuple[list[Data], Data]:
    """Unlike nodes, some tainted; pods that keep away from each other; a candidate with affinities of its own."""
    rng = random.Random(11)
    objects = cluster(nodes)
    for each in objects:
        if each["kind"] == "Node":
            each["status"]["allocatable"] = {
                "cpu": rng.choice(["16", "32", "64"]),
                "memory": rng.choice(["64Gi", "128Gi"]),
                "pods": "110",
            }
            if rng.random() < 0.2:
                each["spec"] = {"taints": [{"key": "spot", "effect": "PreferNoSchedule"}]}
        elif rng.random() < 0.1:
            term = {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": each["metadata"]["labels"]["app"]}},
            }
            each["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    candidate = deployment()
    spec = candidate["spec"]["template"]["spec"]
    near = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "app-2"}}}
    away = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "app-1"}}}
    spec["affinity"] = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": near}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]},
    }
    return objects, candidate
