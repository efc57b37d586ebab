"""One explanation as a screen: as it is shown unasked, and with a row for every node."""

from __future__ import annotations

from functools import partial

import kubespread
from bench.clusters import cluster, deployment
from bench.measuring import against, seconds
from kubespread.views import terminal
from kubespread.views.look import Look

RUNS = 9
WIDTH = 120
TARGETS = {5_000: 50}
"""Milliseconds, by number of nodes."""


def rendering() -> None:
    print(f"One explanation as a screen of {WIDTH} columns, median of {RUNS}")
    print(f"  {'nodes':>6}{'some nodes':>14}{'all nodes':>13}")
    looks = (Look(width=WIDTH), Look(width=WIDTH, in_full=True))
    for nodes in (100, 500, 5_000):
        report = kubespread.explain(kubespread.Snapshot.from_objects(cluster(nodes)), deployment())
        some, every = (seconds(partial(terminal.table, report, look), RUNS) * 1000 for look in looks)
        target = f"   {against(some, TARGETS[nodes], 'ms')}" if nodes in TARGETS else ""
        print(f"  {nodes:>6}{some:>11.1f} ms{every:>10.1f} ms{target}")
