"""Several workloads in one queue: one after another as the library answers it, and taking turns in the queue alone."""

from __future__ import annotations

from functools import partial

import kubespread
from bench.clusters import PODS_PER_NODE, cluster, deployments
from bench.measuring import against, seconds
from kubespread.candidate.candidate import Surroundings, from_manifest
from kubespread.candidate.manifest import manifest_of
from kubespread.questions.queue.queue import Entry, run
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.profile.profile import default_profile, framework
from kubespread.snapshot.snapshot import Snapshot


def queueing() -> None:
    print(f"Several workloads in one queue, {PODS_PER_NODE} pods a node, after loading")
    small, large = Snapshot.from_objects(cluster(1_000)), Snapshot.from_objects(cluster(5_000))
    _one_after_another(small, workloads=20, replicas=15, target=1.0, runs=3)
    _one_after_another(large, workloads=1_000, replicas=50, target=8, runs=1)
    _in_turn(large, workloads=1_000, replicas=50, target=1.0)


def _one_after_another(snapshot: Snapshot, *, workloads: int, replicas: int, target: float, runs: int) -> None:
    """From manifests to reports: the cluster's columns are built in this time, too."""
    manifests = deployments(workloads, replicas)
    took = seconds(partial(kubespread.simulate, snapshot, manifests), runs)
    _print(snapshot, workloads, replicas, "", took, target, "s")


def _in_turn(snapshot: Snapshot, *, workloads: int, replicas: int, target: float) -> None:
    """One replica of each, round and round; only the queue, since no question asks for this yet."""
    plugins = framework(default_profile())
    entries = [
        Entry(from_manifest(manifest_of(manifest), Surroundings()).pod, plugins, replicas)
        for manifest in deployments(workloads, replicas)
    ]
    columns = Cluster.of(snapshot.nodes, snapshot.pods, snapshot.objects)
    took = seconds(partial(run, columns, entries, first_in_heap, in_turn=True)) / (workloads * replicas)
    _print(snapshot, workloads, replicas, ", in turn", took * 1000, target, "ms a placement")


def _print(
    snapshot: Snapshot, workloads: int, replicas: int, how: str, measured: float, target: float, unit: str
) -> None:
    asked = f"{workloads:,} workloads of {replicas} on {len(snapshot.nodes):,} nodes{how}"
    print(f"  {asked:<52}{measured:8.2f} {unit:<16}{against(measured, target, unit)}")
