"""Questions that a browser asks by hand: milliseconds of processor time, of a cluster that is asked many times."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

from bench.clusters import cluster, deployment
from bench.measuring import against
from kubespread.questions.scheduler import Scheduler
from kubespread.serving.server import answer_of
from kubespread.snapshot.snapshot import Snapshot

RUNS, REPLICAS = 15, 15
TARGETS = {1_000: 50, 5_000: 150}
"""Milliseconds of each question after the first, by number of nodes: a server that works on one answer at a time takes
no longer where the processor is its own.
"""
_EDITS = {"": [], "a node cordoned": ["cordon node-00001"], "a node drained": ["drain node-00001"]}


def serving() -> None:
    print(f"Questions by hand, {REPLICAS} replicas: the first answer, and the median of {RUNS} further ones, as JSON;")
    print("  time of the processor")
    print(f"  {'nodes':>6}  {'question':<10}{'after':<18}{'first':>10}{'again':>10}")
    manifest = json.dumps(deployment(replicas=REPLICAS))
    for nodes, target in TARGETS.items():
        snapshot = Snapshot.from_objects(cluster(nodes))
        # As the server does: the cluster is no garbage.
        gc.collect()
        gc.freeze()
        for edited, edits in _EDITS.items():
            for name, more in (("explain", {}), ("simulate", {"replicas": REPLICAS})):
                asked: Mapping[str, Any] = {"manifest": manifest, "edits": edits, **more}
                ask = partial(answer_of, name, asked, snapshot, Scheduler())
                first, again = _worked(ask), median(_worked(ask) for _ in range(RUNS))
                row = f"  {nodes:>6}  {name:<10}{edited:<18}{first:>7.0f} ms{again:>7.1f} ms"
                print(f"{row}   {against(again, target, 'ms')}")


def _worked(work: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1000
