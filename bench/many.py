"""How time grows with each thing that there may be many of, beside nodes: the same command at three sizes."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.clusters import Data, deployment, objects
from bench.measuring import MEGABYTE, PROGRAM, whole_process
from bench.workloads import running

_ZONE, _HOSTNAME, _DRIVER = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "gpu.example.com"
Asked = Callable[[Path, int], Sequence[str]]
"""Writes what is asked about into a directory, with so many of it, and returns the words of the command."""


class _Row(NamedTuple):
    asked: Asked
    sizes: tuple[int, ...] = (100, 1_000, 10_000)


def growing_things() -> None:
    """Some minutes."""
    print("Growth of one thing at a time: seconds of a processor and the peak of whole processes on one core, and the")
    print("power of the number by which the seconds grew since the last")
    print("| | " + " | ".join(("few", "more", "many")) + " |")
    print("|---|" + "---:|" * 3)
    for name, row in _ROWS.items():
        cells: list[str] = []
        before: tuple[int, float] | None = None
        for size in row.sizes:
            with tempfile.TemporaryDirectory() as directory:
                words = row.asked(Path(directory), size)
                _, seconds, peak = whole_process(str(PROGRAM), *words, "-q", runs=1, codes=(0, 1, 3))
            grown = ""
            if before is not None:
                grown = f", ^{math.log(seconds / before[1]) / math.log(size / before[0]):.1f}"
            before = size, seconds
            cells.append(f"{size:,}: {seconds:.3g} s{grown}, {peak / MEGABYTE:,.0f} MB")
            print(f"{name}, {cells[-1]}", file=sys.stderr)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _saved(directory: Path, items: Iterable[Data], name: str = "cluster.json") -> str:
    path = directory / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
    return str(path)


def _manifest(directory: Path, manifest: Data, name: str = "manifest.json") -> str:
    path = directory / name
    path.write_text(json.dumps(manifest))
    return str(path)


def _object(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Data:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _replicas(directory: Path, number: int) -> Sequence[str]:
    manifest = _manifest(directory, deployment(cpu="10m"))
    cluster = _saved(directory, objects(max(100, number // 100), 3, 3))
    return "simulate", manifest, "--replicas", str(number), "-S", cluster


def _maximum(directory: Path, number: int) -> Sequence[str]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web-0"}
    scaler = _object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "web",
        "team-0",
        spec={"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": number},
    )
    cluster = _saved(directory, [*running(10, 10, pods_per_node=10), scaler])
    return "report", "-A", "--jobs", "1", "-S", cluster


def _budgets(*words: str) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        budgets = (
            _object(
                "policy/v1",
                "PodDisruptionBudget",
                f"web-{each}",
                f"team-{each % 10}",
                spec={"maxUnavailable": 1, "selector": {"matchLabels": {"app": f"web-{each}"}}},
            )
            for each in range(number)
        )
        cluster = _saved(directory, [*running(100, 100, pods_per_node=10), *budgets])
        return *words, "-S", cluster

    return asked


def _namespaces(*words: str) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        cluster = _saved(directory, [*objects(100, 3, 0), *_one_a_namespace(number)])
        return *words, "-S", cluster

    return asked


def _one_a_namespace(number: int) -> Iterable[Data]:
    for each in range(number):
        name = f"team-{each}"
        labels = {"kubernetes.io/metadata.name": name, "team": str(each % 7)}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        term = {
            "topologyKey": _HOSTNAME,
            "labelSelector": {"matchLabels": {"app": "other"}},
            "namespaceSelector": {"matchLabels": {"team": str(each % 7)}},
        }
        template: Data = {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "web", "image": "web:1"}],
                "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
            },
        }
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        yield _object("apps/v1", "ReplicaSet", "web", name, spec=spec)
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web-1", "namespace": name, "labels": {"app": "web"}, "ownerReferences": [owner]},
            "spec": {**template["spec"], "nodeName": f"node-{each % 100:05d}"},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }


def _constraints(command: str) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        made = deployment(replicas=6)
        selector = {"matchLabels": {"app": "app-1"}}
        constraint: Data = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        made["spec"]["template"]["spec"]["topologySpreadConstraints"] = [
            {**constraint, "topologyKey": f"rack-{each}"} for each in range(number)
        ]
        nodes = list(objects(20, 3, 0))
        for position, node in enumerate(nodes):
            node["metadata"]["labels"].update({f"rack-{each}": str(position % 3) for each in range(number)})
        return command, _manifest(directory, made), "-S", _saved(directory, nodes)

    return asked


def _promises(promise: Data) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        promises = {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Promises",
            "promises": [
                {"workload": f"team-{each % 10}/deploy/web-{each % 100}", **promise} for each in range(number)
            ],
        }
        cluster = _saved(directory, running(20, 100, pods_per_node=15))
        return "verify", _manifest(directory, promises), "--jobs", "1", "-S", cluster

    return asked


def _steps(*steps: Data) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        scenario = {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "many"},
            "spec": {"steps": [steps[each % len(steps)] for each in range(number)]},
        }
        cluster = _saved(directory, running(20, 20, pods_per_node=15))
        return "plan", _manifest(directory, scenario), "--jobs", "1", "-S", cluster

    return asked


def _stateful(*steps: Data) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        scenario = {
            "apiVersion": "kubespread.dev/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "stateful"},
            "spec": {"steps": list(steps)},
        }
        cluster = _saved(directory, [*objects(max(20, number // 50), 3, 0), *_stateful_set(number)])
        return "plan", _manifest(directory, scenario), "--jobs", "1", "-S", cluster

    return asked


def _stateful_set(number: int) -> Iterable[Data]:
    template: Data = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "db:1"}]}}
    spec = {"replicas": number, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
    status = {"replicas": number, "readyReplicas": number, "currentRevision": "db-1", "updateRevision": "db-1"}
    yield _object("apps/v1", "StatefulSet", "db", "default", spec=spec, status=status)
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}
    for each in range(number):
        labels = {"app": "db", "controller-revision-hash": "db-1", "apps.kubernetes.io/pod-index": str(each)}
        metadata = {"name": f"db-{each}", "namespace": "default", "labels": labels, "ownerReferences": [owner]}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {**template["spec"], "nodeName": f"node-{each % max(20, number // 50):05d}"},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }


def _domains(*words: str) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        cluster = _saved(directory, running(number, max(1, number // 5), zones=number, pods_per_node=5))
        return *words, "-S", cluster

    return asked


def _devices(number: int, *, of_a_node: int = 10, numa: int = 2) -> Iterable[Data]:
    for node in range(-(-number // of_a_node)):
        devices = [
            {"name": f"gpu-{each}", "attributes": {"numa": {"int": each % numa}, "model": {"string": "h100"}}}
            for each in range(min(of_a_node, number - node * of_a_node))
        ]
        name = f"node-{node:05d}"
        for part in range(0, len(devices), 128):
            pool = {"name": name, "generation": 1, "resourceSliceCount": -(-len(devices) // 128)}
            spec = {"driver": _DRIVER, "nodeName": name, "pool": pool, "devices": devices[part : part + 128]}
            yield _object("resource.k8s.io/v1", "ResourceSlice", f"{name}-{part}", spec=spec)


def _claiming(directory: Path, slices: Iterable[Data], nodes: int, request: Data, *constraints: Data) -> Sequence[str]:
    requests = [{"name": "gpus", "exactly": {"deviceClassName": "gpu", **request}}]
    claimed = {"devices": {"requests": requests, "constraints": list(constraints)}}
    cluster = _saved(
        directory,
        [
            *objects(nodes, 3, 0),
            *slices,
            _object("resource.k8s.io/v1", "DeviceClass", "gpu", spec={}),
            _object("resource.k8s.io/v1", "ResourceClaimTemplate", "gpus", "default", spec={"spec": claimed}),
        ],
    )
    claim = {"name": "gpus", "resourceClaimTemplateName": "gpus"}
    spec = {"containers": [{"name": "train", "image": "train:1"}], "resourceClaims": [claim]}
    return "explain", _manifest(directory, _object("v1", "Pod", "train", "default", spec=spec)), "-S", cluster


def _many_devices(directory: Path, number: int) -> Sequence[str]:
    same = {"matchAttribute": f"{_DRIVER}/numa"}
    return _claiming(directory, _devices(number), max(1, number // 10), {"count": 2}, same)


def _matched(more_than_half: int) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        same = {"matchAttribute": f"{_DRIVER}/numa"}
        slices = _devices(number, of_a_node=number)
        return _claiming(directory, slices, 1, {"count": min(32, number // 2 + more_than_half)}, same)

    return asked


def _selected(expression: Callable[[int], str]) -> Asked:
    def asked(directory: Path, number: int) -> Sequence[str]:
        selector = {"cel": {"expression": expression(number)}}
        return _claiming(directory, _devices(1_000), 100, {"count": 2, "selectors": [selector]})

    return asked


def _terms(number: int) -> str:
    return " || ".join(f'device.driver == "{each}"' for each in range(number)) + ' || device.driver != ""'


def _nested(number: int) -> str:
    bound = "".join(f"cel.bind(a{each + 1}, a{each} + a{each}, " for each in range(number))
    return f'cel.bind(a0, "x", {bound}a{number} != ""' + ")" * (number + 1)


_ROWS = {
    "replicas, `simulate`": _Row(_replicas),
    "maximum of an autoscaler, `report`": _Row(_maximum, (1_000, 30_000, 1_000_000)),
    "budgets, `removable`": _Row(_budgets("removable", "--jobs", "1")),
    "budgets, `survive`": _Row(_budgets("survive", "-A", "--jobs", "1")),
    "namespaces, `audit`": _Row(_namespaces("audit", "-A", "--jobs", "1")),
    "namespaces, `survive`": _Row(_namespaces("survive", "-A", "--jobs", "1"), (100, 1_000)),
    "hard constraints, `explain`": _Row(_constraints("explain"), (30, 300, 3_000)),
    "hard constraints, `check`": _Row(_constraints("check"), (30, 100, 300)),
    "promises, `spread`": _Row(_promises({"spread": {"zone": 1}}), (100, 1_000)),
    "steps, `cordon`": _Row(_steps({"cordon": "node-00000"}, {"uncordon": "node-00000"})),
    "replicas of a StatefulSet, `rollout`": _Row(_stateful({"rollout": "sts/db"}), (100, 300)),
    "zones, `survive`": _Row(_domains("survive", "-A", "--jobs", "1"), (10, 30)),
    "zones, `survive --pairs`": _Row(_domains("survive", "-A", "--pairs", "--jobs", "1"), (5, 10, 20)),
    "devices, `explain`": _Row(_many_devices),
    "devices of a node, one fewer of each kind than asked for": _Row(_matched(1), (12, 24, 60)),
    "devices of a node, as many of one kind": _Row(_matched(0), (12, 24, 60)),
    "terms of a device selector": _Row(_selected(_terms), (10, 100, 300)),
    "doublings in a device selector": _Row(_selected(_nested), (5, 10, 40)),
}
"""What is asked, by what there may be many of."""
