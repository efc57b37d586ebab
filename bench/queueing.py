"""Several workloads in one queue, one after another as the library answers it."""

from __future__ import annotations

from functools import partial

import kubespread
from bench.clusters import PODS_PER_NODE, cluster, deployments
from bench.measuring import against, seconds
from kubespread.snapshot.snapshot import Snapshot


def queueing() -> None:
    print(f"Several workloads in one queue, {PODS_PER_NODE} pods a node, after loading")
    small, large = Snapshot.from_objects(cluster(1_000)), Snapshot.from_objects(cluster(5_000))
    _one_after_another(small, workloads=20, replicas=15, target=1.0, runs=3)
    _one_after_another(large, workloads=1_000, replicas=50, target=8, runs=1)


def _one_after_another(snapshot: Snapshot, *, workloads: int, replicas: int, target: float, runs: int) -> None:
    """From manifests to reports: the cluster's columns are built in this time, too."""
    manifests = deployments(workloads, replicas)
    took = seconds(partial(kubespread.simulate, snapshot, manifests), runs)
    asked = f"{workloads:,} workloads of {replicas} on {len(snapshot.nodes):,} nodes"
    print(f"  {asked:<52}{took:8.2f} {'s':<16}{against(took, target, 's')}")
