"""Scenarios as they look on terminals of several widths, and in pipes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import kubespread
from kubespread.questions.plan import PlanReport
from kubespread.views import plain, terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, owned_by, replica, soft
from tests.world.clusters import deployment

SCREENS = Path(__file__).parent / "screens"
FIXTURES = Path(__file__).parents[2] / "fixtures"
ZONE = "topology.kubernetes.io/zone"


@cache
def outage() -> PlanReport:
    cluster = kubespread.load(FIXTURES / "clusters" / "web-in-three-zones.yaml")
    return kubespread.plan(cluster, FIXTURES / "scenarios" / "zone-outage.yaml")


@cache
def maintenance() -> PlanReport:
    """Twelve nodes with a cloud's names, and all that can go wrong."""
    names = [f"ip-10-0-{number}-7.eu-west-1.compute.internal" for number in range(12)]
    zones = [f"eu-west-1{'abc'[number % 3]}" for number in range(12)]
    nodes = [_node(name, zone) for name, zone in zip(names, zones, strict=True)]
    pods = [_web(f"web-{number}", names[number]) for number in range(6)]
    steps: list[Any] = [
        {"drain": "zone=eu-west-1a", "name": "first zone"},
        "stuck deploy/web",
        "rollout deploy/web cpu=500m maxSkew[zone]=1",
        {"ready": ["deploy/web"]},
        f"delete-node {names[3]}",
        f"cordon {names[3]}",
        "rollout deploy/web cpu=200m",
    ]
    cluster = kubespread.Snapshot.from_objects([*nodes, *pods, *_controllers(), _budget(), _waiting()])
    return kubespread.plan(cluster, {**_HEAD, "metadata": {"name": "maintenance"}, "spec": {"steps": steps}})


_HEAD: Data = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario"}


def _node(name: str, zone: str) -> Data:
    made = node(name)
    made["metadata"]["labels"] = {"kubernetes.io/hostname": name, ZONE: zone}
    return made


def _spec() -> Data:
    return {**replica("x", None)["spec"], "topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}


def _web(name: str, on: str) -> Data:
    made = replica(name, on)
    made["metadata"] |= {
        "labels": {"app": "web", "pod-template-hash": "abc"},
        "ownerReferences": owned_by("ReplicaSet", "web-abc"),
    }
    made["spec"] = {**_spec(), "nodeName": on}
    return made


def _controllers() -> list[Data]:
    labels = {"app": "web", "pod-template-hash": "abc"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "uid": "uid-web"},
        "spec": {
            "replicas": 6,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": _spec()},
        },
    }
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": "web-abc",
            "namespace": "default",
            "uid": "uid-web-abc",
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": owned_by("Deployment", "web"),
        },
        "spec": {
            "replicas": 6,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _spec()},
        },
    }
    return [deployment, replica_set]


def _budget() -> Data:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": {"minAvailable": 6, "selector": {"matchLabels": {"app": "web"}}},
        "status": {
            "disruptionsAllowed": 0,
            "observedGeneration": 1,
            "currentHealthy": 6,
            "desiredHealthy": 6,
            "expectedPods": 6,
        },
    }


def _waiting() -> Data:
    made = replica("big", None, phase="Pending", ready=None)
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100"}}
    return made


REPORTS = {"outage": outage, "maintenance": maintenance}
KEPT = [(name, width) for name in REPORTS for width in (80, 120)]


@pytest.mark.parametrize(("name", "width"), KEPT)
def test_the_screen_is_the_one_that_was_looked_at(name: str, width: int) -> None:
    text = terminal.table(REPORTS[name](), Look(width=width))
    assert text == (SCREENS / f"play-{name}-{width}.txt").read_text()
    assert max(map(cell_len, text.splitlines())) <= width


@pytest.mark.parametrize("name", REPORTS)
def test_the_columns_are_the_ones_that_were_looked_at(name: str) -> None:
    assert plain.plain(REPORTS[name](), Look()) == (SCREENS / f"play-{name}-plain.txt").read_text()


def test_every_screen_that_is_kept_is_looked_at() -> None:
    looked_at = {f"play-{name}-{width}.txt" for name, width in KEPT} | {f"play-{name}-plain.txt" for name in REPORTS}
    assert {path.name for path in SCREENS.glob("play-*.txt")} == looked_at


def keep() -> None:
    for name, width in KEPT:
        (SCREENS / f"play-{name}-{width}.txt").write_text(terminal.table(REPORTS[name](), Look(width=width)))
    for name, report in REPORTS.items():
        (SCREENS / f"play-{name}-plain.txt").write_text(plain.plain(report(), Look()))


def test_a_row_a_step_for_a_spreadsheet() -> None:
    assert plain.csv(outage(), Look()).splitlines() == [
        "step,what,done,gone,placed,joined,preempted,pending,not_created,lost_for_good,degraded,skew,why",
        "1,more replicas: scale deploy/web=9,yes,0,3,0,0,0,0,0,0,,",
        '2,rollout deploy/web,yes,9,9,0,0,0,0,0,0,"zone skew of Deployment/web 0 → 0–2, above 1, ties decide",',
        '3,fail zone=a,yes,3,0,0,0,3,0,0,1,"zone skew of Deployment/web 0 → 3–4, above 1",'
        "\"3 pods pending (Deployment/web): 0/6 nodes are available: 2 node(s) had untolerated taint(s), 4 node(s) didn't "
        'match pod topology spread constraints"',
        "4,restore zone=a,yes,0,3,0,0,0,0,0,0,,",
    ]


@pytest.mark.parametrize("width", [40, 60, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = terminal.table(maintenance(), Look(width=width)).splitlines()
    assert max(map(cell_len, lines)) <= max(width, 62)


@pytest.mark.parametrize(("constraint", "is_violated"), [(hard, True), (soft, False)])
def test_only_a_hard_constraint_can_be_violated(constraint: Callable[..., Data], is_violated: bool) -> None:
    """Seven pods run in one zone of two; a soft constraint put up with that."""
    spec = {"topologySpreadConstraints": [constraint(ZONE, match={"app": "web"})]}
    nodes = [_node("n0", "a"), _node("n1", "b")]
    cluster = kubespread.Snapshot.from_objects([*nodes, *deployment("web", ("n0",) * 7, spec=spec)])
    report = kubespread.plan(cluster, {**_HEAD, "spec": {"steps": ["scale deploy/web=8"]}})
    change = report.steps[0].workloads[0].skew[0]
    assert (change.before, change.after, change.is_violated) == (7, 6, is_violated)
    # It shrinks.
    assert (report.steps[0].skew, "\x1b[31m" in terminal.table(report, Look(width=80, color=True))) == ("", False)


if __name__ == "__main__":
    keep()
