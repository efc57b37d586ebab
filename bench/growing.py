"""How time and memory grow with a cluster: the same questions at five sizes, each in a process of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.clusters import PODS_PER_NODE, deployment
from bench.measuring import MEGABYTE, PROGRAM, whole_process
from bench.workloads import running_objects

SIZES = (100, 1_000, 5_000, 20_000, 50_000)
_WORKLOADS_PER_NODE = 5
"""So many nodes to a Deployment, which has 150 pods then."""
_ZONE = "topology.kubernetes.io/zone=zone-0"
_ASK = {
    "load": "kubespread.load(path)",
    "load, kept": "kubespread.load(path)",
    "explain": "kubespread.explain(snapshot, manifest)",
    "simulate 10,000": "kubespread.simulate(snapshot, manifest, replicas=10_000)",
    "audit": "kubespread.audit(snapshot)",
    "capacity": "kubespread.capacity(snapshot)",
    "survive a zone": f"kubespread.after_edits(snapshot.edited('fail {_ZONE}'))",
}
"""What is asked in a process that has loaded the cluster; loading is measured in one that has not."""
_QUESTION = """
import sys, time
import kubespread, kubespread.questions.explain.answer
path, manifest, loads = sys.argv[1:]
snapshot = None if loads else kubespread.load(path)
start = time.process_time()
QUESTION
print(time.process_time() - start)
"""


def growing(sizes: Sequence[int]) -> None:
    """A quarter of an hour and 2 GB of temporary files with 50,000 nodes."""
    print(f"Growth, {PODS_PER_NODE} pods a node, a Deployment for every 150: seconds of a processor after loading, the")
    print("memory of the whole process at its peak, and the power of the size by which the seconds grew since the last")
    print("| | " + " | ".join(f"{size:,} nodes" for size in sizes) + " |")
    print("|---|" + "---:|" * len(sizes))
    columns = [_measured(size) for size in sizes]
    for question in _ASK:
        cells = []
        for position, column in enumerate(columns):
            seconds, peak = column[question]
            grown = ""
            if position:
                before, _ = columns[position - 1][question]
                grown = f", ^{math.log(seconds / before) / math.log(sizes[position] / sizes[position - 1]):.1f}"
            cells.append(f"{seconds:.3g} s{grown}, {peak / MEGABYTE:,.0f} MB")
        print(f"| {question} | " + " | ".join(cells) + " |")


def _measured(nodes: int) -> dict[str, tuple[float, float]]:
    """Seconds and bytes for each question."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        source, saved, manifest = directory / "source.json", directory / "saved.json.gz", directory / "web.json"
        manifest.write_text(json.dumps(deployment()))
        with source.open("w") as file:
            file.write('{"apiVersion":"v1","kind":"List","items":[')
            for position, each in enumerate(running_objects(nodes, nodes // _WORKLOADS_PER_NODE)):
                file.write(("," if position else "") + json.dumps(each))
            file.write("]}")
        nowhere, cache = {"XDG_CACHE_HOME": os.devnull}, {"XDG_CACHE_HOME": str(directory / "cache")}
        saving = [str(PROGRAM), "snapshot", "-S", str(source), "-o", str(saved), "-q"]
        subprocess.run(saving, check=True, env={**os.environ, **nowhere}, stdout=subprocess.DEVNULL)
        source.unlink()
        # What was written just now is not kept decoded.
        os.utime(saved, (0, 0))
        took = {}
        for question, asked in _ASK.items():
            loads = "yes" if question.startswith("load") else ""
            program = _QUESTION.replace("QUESTION", asked)
            environment = nowhere if question == "load" else cache
            if question == "load, kept":
                whole_process(sys.executable, "-c", program, str(saved), str(manifest), loads, runs=1, env=environment)
            runs = 1 if nodes > 1_000 else 3
            seconds, _, peak = whole_process(
                sys.executable, "-c", program, str(saved), str(manifest), loads, runs=runs, env=environment
            )
            print(f"{nodes:,} nodes, {question}: {seconds:.3g} s, {peak / MEGABYTE:,.0f} MB", file=sys.stderr)
            took[question] = seconds, peak
        return took
