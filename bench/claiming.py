"""Replicas of a StatefulSet, each with a claim of its own that is provisioned where it goes."""

from __future__ import annotations

import json
from functools import partial

import kubespread
from bench.clusters import PODS_PER_NODE, Data, cluster, deployment
from bench.measuring import against, seconds

REPLICAS, RUNS = 200, 3
TARGETS = {1_000: 3.0, 5_000: 5.0}
"""Milliseconds a replica, by number of nodes."""


def claiming() -> None:
    print(f"{REPLICAS} replicas with claims of their own, median of {RUNS} runs")
    for nodes, target in TARGETS.items():
        snapshot = kubespread.Snapshot.from_objects([*cluster(nodes), *_storage(nodes)])
        # What one replica takes is reading, and the same for both.
        few, many = (
            seconds(partial(kubespread.simulate, snapshot, _stateful_set(replicas)), RUNS)
            for replicas in (1, REPLICAS + 1)
        )
        took = (many - few) * 1000 / REPLICAS
        print(f"  {nodes:>6} nodes{nodes * PODS_PER_NODE:>9} pods{took:>9.2f} ms   {against(took, target, 'ms')}")


def _stateful_set(replicas: int) -> Data:
    made: Data = json.loads(json.dumps(deployment(replicas=replicas)))
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    made["kind"] = "StatefulSet"
    made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    return made


def _storage(nodes: int) -> list[Data]:
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}}
    driver = {"name": "d.csi", "nodeID": "n", "allocatable": {"count": 25}}
    csi_node = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "spec": {"drivers": [driver]}}
    names = [each["metadata"]["name"] for each in cluster(nodes, pods_per_node=0)]
    return [
        {**head, "provisioner": "d.csi", "volumeBindingMode": "WaitForFirstConsumer"},
        *({**csi_node, "metadata": {"name": name}} for name in names),
    ]
