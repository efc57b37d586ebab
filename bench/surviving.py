"""What a cluster survives and how it is spread: zones and nodes lost and drained, workloads audited, on clusters in
which every pod has a workload.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.measuring import PROGRAM, against, seconds
from bench.workloads import running
from kubespread import Scheduler, Snapshot
from kubespread.questions.worlds import world_of
from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.editing import apply

WORKLOADS = 1_000
_ZONE = "topology.kubernetes.io/zone"


def surviving() -> None:
    print(f"Losing zones and draining nodes, {WORKLOADS:,} Deployments, saved snapshots, whole processes unless said")
    with tempfile.TemporaryDirectory() as name:
        small, large = (saved(Path(name), nodes) for nodes in (1_000, 5_000))
        show("survive, all zones of 1,000 nodes", partial(run, "survive", "-A", "-S", small), 10)
        losing = ("snapshot", "-S", large, "--fail", f"{_ZONE}=zone-0", "-o", str(Path(name) / "after.json.gz"))
        show("losing one of three zones of 5,000 nodes", partial(run, *losing), 8)
        audited = partial(run, "audit", "-A", "-S", large)
        show("audit, all workloads of 5,000 nodes", audited, 10)
        for older, differ in (("1.36", "alike"), ("1.30", "all different")):
            releases = ("--kube-version", older, "--to-kube-version", "1.37")
            comparing = partial(run, "compare", "-A", "-S", small, *releases)
            show(f"compare, all workloads of 1,000 nodes in two releases, {differ}", comparing, None)
        snapshot = Snapshot.from_objects(running(1_000, WORKLOADS))
        show("draining each of 1,000 nodes in turn, after loading", partial(_drain_each, snapshot), 12)
        one_core = ("--jobs", "1", "-S")
        for nodes, path, target in (("1,000", small, 8), ("5,000", large, 60)):
            removing = partial(run, "removable", *one_core, path)
            show(f"removable, all of {nodes} nodes, one core", removing, target)
        losing_hosts = partial(run, "survive", "-A", "--key", "hostname", *one_core, small)
        show("survive, each of 1,000 hosts, one core", losing_hosts, 15)


def saved(directory: Path, nodes: int) -> str:
    source, saved = directory / "source.json", str(directory / f"{nodes}.json.gz")
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": running(nodes, WORKLOADS)}))
    run("snapshot", "-S", str(source), "-o", saved)
    return saved


def run(*arguments: str) -> None:
    done = subprocess.run([str(PROGRAM), *arguments, "-q"], check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, done.args)


def _drain_each(snapshot: Snapshot) -> None:
    world = world_of(snapshot, Scheduler())
    for node in snapshot.nodes:
        for verb in ("drain", "uncordon"):
            apply(world, parse(f"{verb} {node.metadata.name}"), "default")
        world.next_step()


def show(what: str, work: Callable[[], object], target: float | None) -> None:
    took = seconds(work)
    met = "" if target is None else against(took, target, "s")
    print(f"  {what:<54}{took:8.2f} s   {met}".rstrip())
