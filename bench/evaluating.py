"""One pod against a cluster in memory: building the columns, the first evaluation, and every further one."""

from __future__ import annotations

from functools import partial

from bench.clusters import PODS_PER_NODE, cluster, deployment
from bench.measuring import against, seconds
from kubespread.candidate.candidate import from_manifest
from kubespread.candidate.manifest import manifest_of
from kubespread.candidate.sources import Surroundings
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.profile.profile import default_profile, framework
from kubespread.snapshot.snapshot import Snapshot

RUNS = 15
TARGETS = {5_000: 45}
"""Milliseconds, by number of nodes."""


def evaluating() -> None:
    print(f"One pod against a cluster in memory, {PODS_PER_NODE} pods a node; further ones: median of {RUNS}")
    print(f"  {'nodes':>6}{'pods':>9}{'columns':>12}{'first':>12}{'again':>12}")
    pod = from_manifest(manifest_of(deployment()), Surroundings()).pod
    plugins = framework(default_profile())
    for nodes in (100, 500, 1_000, 5_000):
        snapshot = Snapshot.from_objects(cluster(nodes))
        columns = seconds(partial(Cluster.build, snapshot.nodes, snapshot.pods))
        prepared = Cluster.build(snapshot.nodes, snapshot.pods)
        ask = partial(evaluate, plugins, prepared, pod)
        first, again = seconds(ask) * 1000, seconds(ask, RUNS) * 1000
        target = f"   {against(again, TARGETS[nodes], 'ms')}" if nodes in TARGETS else ""
        print(f"  {nodes:>6}{len(snapshot.pods):>9}{columns:>10.3f} s{first:>9.1f} ms{again:>9.1f} ms{target}")
