"""Stuck pods as they look on clusters from six nodes to a thousand: ``python -m tests.views.test_pending_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

from functools import cache

import kubespread
from kubespread import PendingReport, Snapshot
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, owned_by, pod
from tests.cli.support import FIXTURES
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep
from tests.world.clusters import gone_to_sleep


@cache
def cluster(nodes: int, cloud: str) -> Snapshot:
    """The last of three zones is cordoned; a workload spreads over them, another asks for more than a node has."""
    objects: list[Data] = []
    for number in range(nodes):
        made = node(NAMES[cloud](number), cpu="4")
        made["metadata"]["labels"] = {ZONE: ZONES[cloud][number % 3], HOSTNAME: made["metadata"]["name"]}
        objects.append(gone_to_sleep(made) if number % 3 == 2 else made)
        if number % 3 != 2:
            objects.append(pod(f"web-{number}", made["metadata"]["name"]))
    for name, count in (("web", nodes), ("etl", 3)):
        spec = {"constraints": [hard(ZONE)]} if name == "web" else {"requests": {"memory": "20Gi"}}
        for number in range(count):
            waiting = pod(f"{name}-{nodes + number}", **spec)
            waiting["metadata"] |= {"ownerReferences": owned_by("ReplicaSet", name), "uid": waiting["metadata"]["name"]}
            objects.append(waiting)
    return Snapshot.from_objects(objects)


@cache
def pending(nodes: int, cloud: str) -> PendingReport:
    return kubespread.pending(cluster(nodes, cloud))


def where_it_lies(text: str) -> str:
    """Commands name the snapshot as it was opened, which no other checkout opens under this name."""
    return text.replace(f"{FIXTURES}", "fixtures")


def screens() -> list[Screen]:
    found = []
    stuck = kubespread.pending(kubespread.load(FIXTURES / "clusters" / "stuck.yaml"), namespace="shop")
    for width in (80, 120):
        found.append(Screen(f"pending-stuck-{width}", width, where_it_lies(terminal.table(stuck, Look(width=width)))))
        for nodes, cloud in ((12, "aws"), (300, "gke")):
            text = terminal.table(pending(nodes, cloud), Look(width=width))
            found.append(Screen(f"pending-{nodes}-{cloud}-{width}", width, text))
    return [
        *found,
        Screen("pending-in-full", 100, where_it_lies(terminal.table(stuck, Look(width=100, in_full=True)))),
        Screen("pending-plain", 0, where_it_lies(plain.plain(stuck, Look()))),
        Screen("pending-csv", 0, where_it_lies(plain.csv(stuck, Look()))),
    ]


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens(), uncut=["kubectl ", "try: "])


if __name__ == "__main__":
    keep(screens())
