"""Reading large clusters: how fast, in how much memory, and what a saved snapshot saves."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.clusters import APPLICATIONS, PODS_PER_NODE, Data, deployment, objects
from bench.measuring import MEGABYTE, PROGRAM, against, at_least, whole_process
from kubespread.manifest.writer import to_yaml

NODES = 4_700
_LOAD = """
import sys, time
import kubespread, kubespread.questions.explain.answer
start = time.perf_counter()
kubespread.load(sys.argv[1])
print(time.perf_counter() - start)
"""


def loading() -> None:
    """About 500 MB of each kind; the files live in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        manifest = directory / "web.json"
        manifest.write_text(json.dumps(deployment()))
        plain, zipped, as_yaml = directory / "full.json", directory / "full.json.gz", directory / "full.yaml"
        _write(plain, b'{"apiVersion":"v1","kind":"List","items":[\n', b",\n", b"\n]}\n", json.dumps)
        with plain.open("rb") as source, gzip.open(zipped, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target)
        _write(as_yaml, b"apiVersion: v1\nkind: List\nitems:\n", b"", b"", _as_kubectl)
        print(f"Loading {NODES * PODS_PER_NODE:,} pods with everything that real ones carry")
        for label, path, size, goal in (
            ("JSON", plain, plain, 250),
            ("JSON, gzipped", zipped, plain, None),
            ("YAML", as_yaml, as_yaml, 10),
        ):
            seconds, _, peak = whole_process(sys.executable, "-c", _LOAD, str(path), env={"XDG_CACHE_HOME": os.devnull})
            text = size.stat().st_size
            rate = text / MEGABYTE / seconds
            print(
                f"  {label:<16}{text / MEGABYTE:7.0f} MB{seconds:8.2f} s{rate:8.0f} MB/s   peak "
                f"{peak / MEGABYTE:5.0f} MB   {'' if goal is None else at_least(rate, goal, 'MB/s')}".rstrip()
            )
        for path in (plain, zipped, as_yaml):
            path.unlink()
        _snapshots(directory, manifest)


def _snapshots(directory: Path, manifest: Path) -> None:
    source = directory / "lean.json"
    for nodes, suffixes, runs, target in ((5_000, (".json.gz", ".json"), 3, 0.9), (50_000, (".json.gz",), 1, 8)):
        with source.open("w") as file:
            file.write('{"apiVersion":"v1","kind":"List","items":[')
            for position, each in enumerate(objects(nodes)):
                file.write(("," if position else "") + json.dumps(each))
            file.write("]}")
        print(
            f"A saved snapshot of {nodes:,} nodes and {nodes * PODS_PER_NODE:,} pods, whole processes: seconds, those "
            "of a processor, memory"
        )
        for suffix in suffixes:
            _snapshot(source, directory / f"saved{suffix}", manifest, runs, target)


def _snapshot(source: Path, saved: Path, manifest: Path, runs: int, target: float) -> None:
    """``target`` is that of explaining, in seconds of a processor."""
    cache, nowhere = {"XDG_CACHE_HOME": str(saved.parent / "cache")}, {"XDG_CACHE_HOME": os.devnull}
    explain = [str(PROGRAM), "explain", str(manifest), "-S", str(saved), "-q", "-o", "name"]
    simulate = [str(PROGRAM), "simulate", str(manifest), "--replicas", "10000", "-S", str(saved), "-q", "-o", "name"]
    saving = whole_process(str(PROGRAM), "snapshot", "-S", str(source), "-o", str(saved), "-q", runs=runs, env=nowhere)
    # What was written just now is not kept decoded.
    os.utime(saved, (0, 0))
    rows = {
        "save": saving,
        "explain, nothing kept": whole_process(*explain, runs=runs, env=nowhere),
        "explain, and keep": whole_process(*explain, runs=1, env=cache),
        "explain, kept": whole_process(*explain, runs=3, env=cache),
        "simulate 10,000, kept": whole_process(*simulate, runs=runs, env=cache),
    }
    size = saved.stat().st_size / MEGABYTE
    for label, (seconds, processor, peak) in rows.items():
        met = ""
        if label.startswith("explain"):
            met = f"{against(processor, target, 's')}, {against(peak / MEGABYTE, 1200, 'MB')}"
        print(
            f"  {saved.name.removeprefix('saved'):<9}{size:6.1f} MB   {label:<24}{seconds:7.2f} s{processor:7.2f} s"
            f"{peak / MEGABYTE:6.0f} MB   {met}".rstrip()
        )


def _as_kubectl(each: Data) -> str:
    """An item of a list in YAML. What is the same in two places is written twice: kubectl writes no aliases."""
    return to_yaml([json.loads(json.dumps(each))])


def _write(path: Path, head: bytes, between: bytes, tail: bytes, text: Callable[[Data], str]) -> None:
    """Nodes and full pods. Pods are made from the text of one, which is what makes it fast."""
    template = text(full_pod())
    with path.open("wb") as file:
        file.write(head)
        file.write(between.join(text(node).encode() for node in objects(NODES, pods_per_node=0)))
        for pod in full_pods(template, NODES):
            file.write(between + pod)
        file.write(tail)


def full_pods(template: str, nodes: int) -> Iterator[bytes]:
    """A text for each pod of so many nodes, made from the text of `full_pod`."""
    for node in range(nodes):
        for copy in range(PODS_PER_NODE):
            number = node * PODS_PER_NODE + copy
            application = number * 7919 % APPLICATIONS
            made = template
            for word, text in {
                "APPLICATION": f"app-{application}",
                "NODE": f"node-{node:05d}",
                "NUMBER": f"{number:06d}",
            }.items():
                made = made.replace(word, text)
            yield made.encode()


def full_pod() -> Data:
    """What an API server returns for a pod of a Deployment, about 3.6 KB of JSON; capital words are filled in."""
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1}
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    container = {
        "name": "main",
        "image": "registry.example.com/team/APPLICATION:v1",
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "256Mi"}},
        "env": [{"name": f"SETTING_{each}", "value": f"value-{each}-" + "x" * 24} for each in range(12)],
        "volumeMounts": [
            {"name": "kube-api-access-NUMBER", "mountPath": "/var/run/secrets/kubernetes.io", "readOnly": True}
        ],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "terminationMessagePath": "/dev/termination-log",
    }
    status = {
        "name": "main",
        "image": container["image"],
        "imageID": "sha256:" + "ab" * 32,
        "ready": True,
        "restartCount": 0,
    }
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "APPLICATION-5ff74b457f",
        "uid": "uid-APPLICATION",
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "APPLICATION-5ff74b457f-NUMBER",
            "namespace": "default",
            "uid": "531eb780-efb0-46f8-8be5-NUMBER",
            "resourceVersion": "rNUMBER",
            "creationTimestamp": "2026-10-01T08:15:30Z",
            "labels": {"app": "APPLICATION", "pod-template-hash": "5ff74b457f"},
            "annotations": {"checksum/config": "0123456789abcdef" * 4, "prometheus.io/scrape": "true"},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": "NODE",
            "containers": [container],
            "tolerations": tolerations,
            "volumes": [
                {
                    "name": "kube-api-access-NUMBER",
                    "projected": {
                        "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}}],
                        "defaultMode": 420,
                    },
                }
            ],
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "priority": 0,
        },
        "status": {
            "phase": "Running",
            "podIP": "10.0.NUMBER",
            "startTime": "2026-10-01T08:15:30Z",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2026-10-01T08:15:40Z"}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [{**status, "state": {"running": {"startedAt": "2026-10-01T08:15:39Z"}}}],
        },
    }
