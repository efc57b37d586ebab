"""``python -m bench``: start-up of the whole process, and one evaluation of clusters of several sizes. Medians."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from bench.clusters import cluster, deployment
from bench.loading import loading
from bench.placing import placing
from kubespread.candidate.candidate import Surroundings
from kubespread.candidate.manifests import from_object
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.profile.expansion import default_profile
from kubespread.snapshot.snapshot import Snapshot

PROGRAM = Path(sys.executable).parent / "kubespread"
RUNS = 15
SIZES = (100, 500, 1000, 5000)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def start_up() -> None:
    print(f"Whole process, median of {RUNS} runs")
    with tempfile.TemporaryDirectory() as directory:
        snapshot, manifest = Path(directory) / "cluster.json", Path(directory) / "web.json"
        snapshot.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster(10)}))
        manifest.write_text(json.dumps(deployment()))
        commands = {
            "kubespread --version": ["--version"],
            "explain, 10 nodes, 300 pods": ["explain", str(manifest), "-S", str(snapshot), "-q"],
        }
        for name, arguments in commands.items():
            command = [str(PROGRAM), *arguments]
            run = partial(subprocess.run, command, capture_output=True, check=True)
            seconds = median(timed(run) for _ in range(RUNS))
            print(f"  {name:<32}{seconds:7.3f} s")


def evaluation() -> None:
    print("One pod against a cluster in memory, 30 pods a node")
    print(f"  {'nodes':>6}{'pods':>9}{'columns':>12}{'first':>12}{'again':>12}")
    pod = from_object(deployment(), Surroundings()).pod
    judge = framework(default_profile())
    for nodes in SIZES:
        snapshot = Snapshot.from_objects(cluster(nodes))
        gc.collect()
        start = time.perf_counter()
        made = _prepared(snapshot)
        columns = time.perf_counter() - start
        evaluate = partial(judge.evaluate, made, pod)
        first = timed(evaluate)
        again = median(timed(evaluate) for _ in range(RUNS))
        print(f"  {nodes:>6}{len(snapshot.pods):>9}{columns:>10.3f} s{first * 1000:>9.1f} ms{again * 1000:>9.1f} ms")


def _prepared(snapshot: Snapshot) -> Cluster:
    """A cluster with every column that a pod will ask for."""
    made = Cluster.of(snapshot.nodes, snapshot.pods)
    for columns in (made.nodes.allocatable, made.running.nodes_of_kind):
        assert columns
    return made


if __name__ == "__main__":
    start_up()
    evaluation()
    placing()
    loading()
