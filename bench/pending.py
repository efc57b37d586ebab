"""What is stuck: 500 pods without a node on a large cluster, grouped and each group freed."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from bench.clusters import Data
from bench.measuring import PROGRAM, against, seconds
from bench.workloads import running

NODES, WORKLOADS, STUCK = 5_000, 1_000, 500
_CLOSED = "zone-2"
_KINDS = 20
_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def pending() -> None:
    print(f"{STUCK} stuck pods of {NODES:,} nodes and {NODES * 30:,} pods, a saved snapshot, whole processes")
    with tempfile.TemporaryDirectory() as name:
        source, saved = Path(name) / "source.json", str(Path(name) / "stuck.json.gz")
        source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(stuck())}))
        _run("snapshot", "-S", str(source), "-o", saved)
        took = seconds(lambda: _run("pending", "-A", "-S", saved))
        print(f"  {'pending, grouped by cause, each group freed':<54}{took:8.2f} s   {against(took, 10, 's')}")


def stuck() -> Iterator[Data]:
    """One of three zones is cordoned. Pods of some workloads there wait, and some of others ask for too much memory."""
    closed, left = set[str](), STUCK
    for each in running(NODES, WORKLOADS):
        if each["kind"] == "Node" and each["metadata"]["labels"]["topology.kubernetes.io/zone"] == _CLOSED:
            closed.add(each["metadata"]["name"])
            each["spec"] = {"unschedulable": True, "taints": [_CORDON]}
        if each["kind"] == "Pod" and left and (waiting := _waiting(each, closed)) is not None:
            left -= 1
            each = waiting
        yield each


def _waiting(pod: Data, closed: set[str]) -> Data | None:
    """The pod without a node, if it is one of those that are to wait."""
    _, workload, _, copy = pod["metadata"]["name"].split("-")
    spec = deepcopy(pod["spec"])
    node = spec.pop("nodeName")
    if int(workload) % 2 and int(copy) < STUCK // _KINDS:
        spec["containers"][0]["resources"]["requests"]["memory"] = "200Gi"
    elif int(workload) % 2 or node not in closed:
        return None
    return {**pod, "spec": spec, "status": {"phase": "Pending"}}


def _run(*arguments: str) -> None:
    done = subprocess.run([str(PROGRAM), *arguments, "-q"], check=False, stdout=subprocess.DEVNULL)
    assert done.returncode in (0, 1), arguments
