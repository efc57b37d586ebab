"""Answers on clusters as clouds make them, at the widths that people have: ``python -m tests.views.test_everyday_screens``
rewrites the screens that are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from functools import cache, partial
from typing import Any

import pytest

import kubespread
from kubespread import ClusterWorkloads, Side, Snapshot
from kubespread.questions.audit import Audit
from kubespread.questions.removable import Removable
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.cli.support import FIXTURES
from tests.views.first_screens import SIZES, lacking, shown
from tests.views.kept import Screen, check, keep
from tests.views.simulate_screens import SCREENS

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


@cache
def snapshot(name: str) -> Snapshot:
    # Screens name the file as it is given.
    with chdir(FIXTURES / "cases" / "everyday"):
        return kubespread.load(f"{name}.json.gz")


def _of_workload(ask: Callable[..., Any], snapshot: Snapshot, name: str) -> Any:
    workload, namespace = WORKLOADS[name]
    return ask(snapshot, workload, namespace=namespace)


QUESTIONS: dict[str, Callable[[Snapshot, str], Any]] = {
    "audit": lambda snapshot, _: kubespread.audit(snapshot),
    "pending": lambda snapshot, _: kubespread.pending(snapshot),
    "survive": lambda snapshot, _: kubespread.survive(snapshot),
    "removable": lambda snapshot, name: kubespread.ask(snapshot, Removable(most=24 if name == "aks300" else None)),
    "upgrade": lambda snapshot, name: kubespread.upgrade(snapshot, POOLS[name]),
    "capacity": lambda snapshot, _: kubespread.capacity(snapshot),
    "rebalance": lambda snapshot, _: kubespread.rebalance(snapshot),
    "map": lambda snapshot, _: kubespread.topology_map(snapshot),
    "explain": lambda snapshot, name: _of_workload(kubespread.explain, snapshot, name),
    "fix": lambda snapshot, name: _of_workload(partial(kubespread.explain, fix=True), snapshot, name),
    "simulate": lambda snapshot, name: _of_workload(kubespread.simulate, snapshot, name),
    "compare": lambda snapshot, name: kubespread.compare(
        Side(snapshot, ClusterWorkloads(all_namespaces=name != "aks300")),
        Side(
            snapshot.edited(f"drain {POOLS[name]} --ignore-daemonsets"),
            ClusterWorkloads(all_namespaces=name != "aks300"),
        ),
        namespace=WORKLOADS[name][1] if name == "aks300" else None,
    ),
}
SCENARIO = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Scenario",
    "metadata": {"name": "bad-night"},
    "spec": {"steps": ["fail zone=eu-west-1a", "scale shop/deploy/web=12", {"rollout": "shop/deploy/api"}]},
}
PROMISES = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Promises",
    "promises": [
        {"workload": "shop/deploy/web", "survives": "any zone", "ready": 6},
        {
            "workload": "shop/deploy/api",
            "spread": {"zone": 1},
            "fits": "hpaMax",
            "rollout": "80%",
            "drain": "never blocked",
        },
        {"cluster": True, "room": {"cpu": "20%", "memory": "64Gi"}},
    ],
}
ONCE: dict[str, Callable[[Snapshot], Any]] = {
    "check": kubespread.check,
    "report": kubespread.report,
    "verify": lambda snapshot: kubespread.verify(snapshot, PROMISES),
    "steps": lambda snapshot: kubespread.plan(snapshot, SCENARIO),
    "fleet": lambda aws12: kubespread.fleet([aws12, snapshot("gke60")], Audit()),
    "plan": lambda snapshot: kubespread.plan(
        snapshot.edited(
            "drain ip-10-0-28-205.eu-west-1.compute.internal --ignore-daemonsets --delete-emptydir-data",
            "scale shop/deploy/web=12",
            "add-node ip-10-0-38-28.eu-west-1.compute.internal:2@8x16",
        )
    ),
}
"""Asked of one cluster only."""


@cache
def reports() -> dict[str, Any]:
    asked = {f"{name}-{question}": ask(snapshot(name), name) for name in POOLS for question, ask in QUESTIONS.items()}
    return asked | {f"aws12-{question}": ask(snapshot("aws12")) for question, ask in ONCE.items()}


def screens() -> list[Screen]:
    """The whole answers."""
    return [
        Screen(f"everyday-{name}-{width}", width, terminal.table(report, Look(width=width)))
        for name, report in reports().items()
        for width in WIDTHS
    ]


def first_screens() -> list[Screen]:
    """What a terminal of 24 rows shows of them first."""
    columns, rows = SIZES[0]
    return [Screen(f"first-{name}", columns, shown(report, columns, rows)) for name, report in reports().items()]


UNCUT = ("kubectl ", "kubespread ", "  --")


@pytest.mark.parametrize("question", ["audit", "survive", "explain"])
def test_the_screen_of_a_small_cluster_is_the_one_that_was_looked_at(question: str) -> None:
    report = QUESTIONS[question](snapshot("aws12"), "aws12")
    for width in WIDTHS[::2]:
        assert (
            terminal.table(report, Look(width=width))
            == (SCREENS / f"everyday-aws12-{question}-{width}.txt").read_text()
        )


@pytest.mark.slow
def test_the_screens_are_those_that_were_looked_at() -> None:
    check(screens(), uncut=UNCUT)


@pytest.mark.slow
def test_the_first_screens_are_those_that_were_looked_at() -> None:
    check(first_screens(), uncut=UNCUT)


@pytest.mark.slow
def test_the_first_screen_has_the_verdict_the_worst_row_and_a_command() -> None:
    assert [fault for name, report in reports().items() for fault in lacking(name.partition("-")[2], report)] == []


if __name__ == "__main__":
    keep([*screens(), *first_screens()])
