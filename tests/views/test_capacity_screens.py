"""Capacities as they look on clusters from twelve nodes to a thousand: ``python -m tests.views.test_capacity_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

import random
from functools import cache

from rich.cells import cell_len

import kubespread
from kubespread import CapacityReport, Snapshot
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, node, pod, taint
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES
from tests.views.kept import Screen, check, keep

GPU = "nvidia.com/gpu"
SIZES = {"all": None, "small": "cpu=2,memory=4Gi", "gpu": f"cpu=2,memory=4Gi,{GPU}=1", "gpus": f"cpu=2,{GPU}=4"}


def cluster(nodes: int, cloud: str) -> Snapshot:
    """Each fifth node cordoned, each seventh for pods with devices, each sixth with few pods allowed."""
    rng = random.Random(nodes)
    objects: list[Data] = []
    for number in range(nodes):
        name = NAMES[cloud](number)
        has_devices = number % 7 == 3
        made = node(
            name,
            cpu="8" if number % 4 else "16",
            unschedulable=number % 5 == 4,
            taints=[taint("dedicated", value="gpu")] if has_devices else [],
        )
        made["metadata"]["labels"] = {ZONE: ZONES[cloud][number % 3], HOSTNAME: name}
        made["status"]["allocatable"] |= {GPU: "4"} if has_devices else {}
        made["status"]["allocatable"] |= {"pods": "3"} if number % 6 == 2 else {}
        objects.append(made)
        for copy in range(rng.choice((1, 2, 3))):
            requests = {"cpu": rng.choice(("500m", "2", "1")), "memory": rng.choice(("1Gi", "5Gi", "7Gi"))}
            objects.append(pod(f"web-{number}-{copy}", name, requests=requests))
        if has_devices:
            objects.append(pod(f"train-{number}", name, requests={GPU: "1"}))
    return Snapshot.from_objects(objects)


@cache
def counted(nodes: int, cloud: str, size: str) -> CapacityReport:
    return kubespread.capacity(cluster(nodes, cloud), SIZES[size])


def screens() -> list[Screen]:
    found = [
        Screen(
            f"capacity-{nodes}-{cloud}-{size}-{width}",
            width,
            terminal.table(counted(nodes, cloud, size), Look(width=width)),
        )
        for nodes, cloud, size in (
            (12, "aws", "all"),
            (12, "gke", "small"),
            (12, "gke", "gpu"),
            (12, "gke", "gpus"),
            (1000, "aws", "small"),
        )
        for width in (80, 120)
    ]
    report, look = counted(12, "gke", "small"), Look()
    return [
        *found,
        Screen("capacity-plain", 0, plain.plain(report, look)),
        Screen("capacity-csv", 0, plain.csv(report, look)),
    ]


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens())


def test_nothing_is_wider_than_a_narrow_terminal() -> None:
    text = terminal.table(counted(12, "gke", "gpu"), Look(width=60))
    assert max(map(cell_len, text.splitlines())) <= 60


def test_in_full_every_node_has_a_row() -> None:
    report = counted(1000, "aws", "small")
    assert terminal.table(report, Look(width=120, in_full=True)).count("\n  ip-10-0-") == 1000


if __name__ == "__main__":
    keep(screens())
