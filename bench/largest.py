"""The largest cluster that a cloud offers: 65,000 nodes with ten pods each, as a file of JSON and kept decoded."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.clusters import Data, deployment
from bench.measuring import MEGABYTE, PROGRAM, against, whole_process
from bench.workloads import running_objects

NODES, PODS_PER_NODE, WORKLOADS = 65_000, 10, 2_600
_STUCK = "web-7"
"""Deployment whose pods ask for more memory than any node has, and wait."""
_ASK = {
    "explain, nothing kept": (("explain", "MANIFEST", "-o", "name"), 9),
    "explain, and keep": (("explain", "MANIFEST", "-o", "name"), None),
    "explain, kept": (("explain", "MANIFEST", "-o", "name"), 3),
    "simulate 1,000, kept": (("simulate", "MANIFEST", "--replicas", "1000", "-o", "name"), 6),
    "pending, kept": (("pending", "-A"), 6),
}
"""What is asked in which order, and in how many seconds of a processor it should be answered."""
_MOST = 600


def largest() -> None:
    """Half a gigabyte in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        source, manifest = Path(name) / "cluster.json", Path(name) / "web.json"
        manifest.write_text(json.dumps(deployment()))
        with source.open("w") as file:
            file.write('{"apiVersion":"v1","kind":"List","items":[')
            for position, each in enumerate(_objects()):
                file.write((",\n" if position else "") + json.dumps(each, separators=(",", ":")))
            file.write("]}")
        # What was written just now is not kept decoded.
        os.utime(source, (0, 0))
        size = source.stat().st_size / MEGABYTE
        print(f"{NODES:,} nodes, {NODES * PODS_PER_NODE:,} pods, {size:.0f} MB of JSON: seconds of a processor, memory")
        for label, (question, target) in _ASK.items():
            words = [str(manifest) if word == "MANIFEST" else word for word in question]
            cache = os.devnull if label.endswith("nothing kept") else str(Path(name) / "cache")
            command = [str(PROGRAM), *words, "-S", str(source), "-q"]
            _, took, peak = whole_process(*command, runs=1, env={"XDG_CACHE_HOME": cache}, codes=(0, 1))
            met = "" if target is None else f"{against(took, target, 's')}, {against(peak / MEGABYTE, _MOST, 'MB')}"
            print(f"  {label:<24}{took:7.2f} s{peak / MEGABYTE:6.0f} MB   {met}".rstrip())


def _objects() -> Iterator[Data]:
    for each in running_objects(NODES, WORKLOADS, pods_per_node=PODS_PER_NODE):
        if each["kind"] == "Pod" and each["metadata"]["name"].startswith(f"{_STUCK}-"):
            (container,) = each["spec"]["containers"]
            requests = {**container["resources"]["requests"], "memory": "200Gi"}
            spec = {**each["spec"], "containers": [{**container, "resources": {"requests": requests}}]}
            del spec["nodeName"]
            each = {**each, "spec": spec, "status": {"phase": "Pending"}}
        yield each
