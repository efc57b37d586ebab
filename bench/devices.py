"""Pods with claims on devices: one evaluation, and replicas that use up the devices of a cluster."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any

from bench.measuring import against, seconds
from kubespread.candidate.candidate import from_manifest
from kubespread.candidate.manifest import manifest_of
from kubespread.candidate.sources import Surroundings
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.profile.profile import default_profile, framework
from kubespread.snapshot.snapshot import Snapshot

Data = dict[str, Any]

RUNS = 15
DEVICES_PER_NODE = 10
TARGET = 50
"""Milliseconds for the first evaluation of a cluster with 100 slices and 1,000 devices."""
_DRIVER = "gpu.example.com"


def taking_devices() -> None:
    print(f"A pod with a claim for 2 devices of one NUMA node, {DEVICES_PER_NODE} devices a node; medians of {RUNS}")
    print(f"  {'nodes':>6}{'devices':>9}{'first':>12}{'again':>12}{'a placement':>14}")
    for nodes in (100, 1_000):
        snapshot = Snapshot.from_objects(_cluster(nodes))
        pod = from_manifest(manifest_of(_pod()), Surroundings(snapshot)).pod
        plugins = framework(default_profile())

        def fresh(known: Snapshot = snapshot) -> Cluster:
            return Cluster.build(known.nodes, known.pods, known.objects)

        first = median(seconds(partial(evaluate, plugins, fresh(), pod)) for _ in range(RUNS)) * 1000
        cluster = fresh()
        evaluate(plugins, cluster, pod)
        again = seconds(partial(evaluate, plugins, cluster, pod), RUNS) * 1000
        copies = nodes * DEVICES_PER_NODE // 4
        placement = seconds(partial(_place, Placing(plugins.prepare(cluster, pod)), copies)) * 1000 / copies
        target = f"   {against(first, TARGET, 'ms')}" if nodes == 100 else ""
        print(f"  {nodes:>6}{nodes * DEVICES_PER_NODE:>9}{first:>9.1f} ms{again:>9.1f} ms{placement:>11.3f} ms{target}")


def _place(placing: Placing, copies: int) -> None:
    for _ in range(copies):
        choice = placing.choose()
        assert choice is not None
        placing.place(choice.node)


def _cluster(nodes: int) -> list[Data]:
    names = [f"node-{number:05}" for number in range(nodes)]
    allocatable = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    listed = [_object("v1", "Node", name, status={"allocatable": allocatable}) for name in names]
    selector = {
        "cel": {"expression": f'device.driver == "{_DRIVER}" && device.attributes["{_DRIVER}"].model == "h100"'}
    }
    asked = {"cel": {"expression": f'device.capacity["{_DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'}}
    request = {"name": "gpus", "exactly": {"deviceClassName": "gpu", "count": 2, "selectors": [asked]}}
    same = {"matchAttribute": f"{_DRIVER}/numa"}
    template = {"spec": {"devices": {"requests": [request], "constraints": [same]}}}
    return [
        *listed,
        *(_slice(name) for name in names),
        _object("resource.k8s.io/v1", "DeviceClass", "gpu", spec={"selectors": [selector]}),
        _object("resource.k8s.io/v1", "ResourceClaimTemplate", "two", "default", spec=template),
    ]


def _slice(node: str) -> Data:
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {
                "model": {"string": "h100" if number < DEVICES_PER_NODE - 2 else "a100"},
                "numa": {"int": number % 2},
                "uuid": {"string": f"{node}-{number}"},
                "driverVersion": {"version": "1.2.3"},
            },
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for number in range(DEVICES_PER_NODE)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": _DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    return _object("resource.k8s.io/v1", "ResourceSlice", f"{node}-gpu", spec=spec)


def _pod() -> Data:
    spec = {
        "containers": [{"name": "train", "image": "train:1"}],
        "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "two"}],
    }
    return _object("v1", "Pod", "train", "default", spec=spec)


def _object(api_version: str, kind: str, name: str, namespace: str = "", **fields: Data) -> Data:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
