"""Answers on clusters as clouds make them, at the widths that people have: ``python -m tests.views.test_everyday_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from functools import cache
from typing import Any

import kubespread
from kubespread import ClusterSide, Snapshot
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.cli.support import FIXTURES
from tests.views.kept import Screen, check, keep

WIDTHS = (80, 100, 140)
POOLS = {
    "aws12": "topology.kubernetes.io/zone=eu-west-1a",
    "gke60": "cloud.google.com/gke-nodepool=highmem",
    "aks300": "kubernetes.azure.com/agentpool=npsystem",
}
WORKLOADS = {
    "aws12": ("deploy/promo", "shop"),
    "gke60": ("deploy/train", "ml"),
    "aks300": ("deploy/ledger-web-5", "team-03"),
}
SLOW = {("aks300", "removable"), ("aks300", "compare"), ("aws12", "advise"), ("gke60", "advise")}
"""Seconds each, and drawn on other clusters already."""


def _of_workload(ask: Callable[..., Any], snapshot: Snapshot, name: str) -> Any:
    workload, namespace = WORKLOADS[name]
    return ask(snapshot, workload, namespace=namespace)


QUESTIONS: dict[str, Callable[[Snapshot, str], Any]] = {
    "audit": lambda snapshot, _: kubespread.audit(snapshot),
    "pending": lambda snapshot, _: kubespread.pending(snapshot),
    "survive": lambda snapshot, _: kubespread.survive(snapshot),
    "removable": lambda snapshot, _: kubespread.removable(snapshot),
    "upgrade": lambda snapshot, name: kubespread.upgrade(snapshot, POOLS[name]),
    "capacity": lambda snapshot, _: kubespread.capacity(snapshot),
    "rebalance": lambda snapshot, _: kubespread.rebalance(snapshot),
    "map": lambda snapshot, _: kubespread.topology_map(snapshot),
    "explain": lambda snapshot, name: _of_workload(kubespread.explain, snapshot, name),
    "advise": lambda snapshot, name: _of_workload(kubespread.advise, snapshot, name),
    "simulate": lambda snapshot, name: _of_workload(kubespread.simulate, snapshot, name),
    "compare": lambda snapshot, name: kubespread.compare(
        ClusterSide(snapshot), ClusterSide(snapshot.edited(f"drain {POOLS[name]} --ignore-daemonsets"))
    ),
}


@cache
def snapshot(name: str) -> Snapshot:
    # Screens name the file as it is given.
    with chdir(FIXTURES / "cases" / "everyday"):
        return kubespread.load(f"{name}.json.gz")


@cache
def screens() -> list[Screen]:
    made = []
    for name in POOLS:
        for question, ask in QUESTIONS.items():
            if (name, question) not in SLOW:
                report = ask(snapshot(name), name)
                made += [
                    Screen(f"everyday-{name}-{question}-{width}", width, terminal.write(report, Look(width=width)))
                    for width in WIDTHS
                ]
    return made


def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens(), uncut=["kubectl ", "try: "])


if __name__ == "__main__":
    keep(screens())
