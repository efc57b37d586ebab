"""One explanation as a screen: by domain, as it is shown unasked, and with a row for every node."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

import kubespread
from bench.clusters import cluster, deployment
from bench.measuring import against, seconds
from kubespread.views import terminal
from kubespread.views.look import Look, RowOf

RUNS = 9
WIDTH = 120
TARGETS = {5_000: 50}
"""Milliseconds, by number of nodes."""


def rendering() -> None:
    print(f"One explanation as a screen of {WIDTH} columns, median of {RUNS}")
    print(f"  {'nodes':>6}{'domains':>12}{'some nodes':>14}{'all nodes':>13}")
    by_domain = Look(width=WIDTH)
    looks = (by_domain, replace(by_domain, by=RowOf.NODE), replace(by_domain, in_full=True))
    for nodes in (100, 500, 5_000):
        report = kubespread.explain(kubespread.Snapshot.from_objects(cluster(nodes)), deployment())
        domains, some, every = (seconds(partial(terminal.table, report, look), RUNS) * 1000 for look in looks)
        target = f"   {against(domains, TARGETS[nodes], 'ms')}" if nodes in TARGETS else ""
        print(f"  {nodes:>6}{domains:>9.1f} ms{some:>11.1f} ms{every:>10.1f} ms{target}")
