"""Pods that finalizers keep once they are evicted: kubectl drain waits for them, and nothing here says until when."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.snapshot.anonymize import anonymize
from tests.builders import Data, ago, hosts
from tests.world.clusters import budget, deployment, job, play, stateful_set, world

PROTECT, OTHER = "example.com/protect", "example.com/other"
KEPT = f"nothing that is modeled takes off its finalizer {PROTECT}"
STAYS = f"step 1: 1 pod may stay (web-a): {KEPT}"
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
NEEDS = "The disruption budget {} needs 2 healthy pods and has 2 currently"


def with_finalizers(objects: list[Data], name: str, *finalizers: str, **metadata: Any) -> list[Data]:
    """``objects``, of which the pod ``name`` has them."""
    made: list[Data] = json.loads(json.dumps(objects))
    for obj in made:
        if (obj["kind"], obj["metadata"]["name"]) == ("Pod", name):
            obj["metadata"] |= {"finalizers": [*finalizers], **metadata}
    return made


def removed(snapshot: Snapshot) -> list[str]:
    report = kubespread.removable(snapshot, "n0")
    held = [f"{trouble.kind}: {trouble.subject}: {trouble.why}" for row in report.rows for trouble in row.troubles]
    return [report.verdict, *held]


def planned(snapshot: Snapshot) -> list[str]:
    report = kubespread.plan(snapshot.edited("drain n0"), force=True)
    return [report.verdict, report.answer[0], *(said for said in report.answer if said.startswith("step 1: "))]


def upgraded(snapshot: Snapshot) -> list[str]:
    report = kubespread.upgrade(snapshot, "n0")
    return [report.verdict, *report.answer]


def verified(snapshot: Snapshot) -> list[str]:
    promise = {"workload": "deploy/web", "drain": "never blocked"}
    head = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Promises"}
    report = kubespread.verify(snapshot, {**head, "promises": [promise]})
    return [report.verdict, *(f"{row.state}: {row.says}" for row in report.clauses)]


NODES, WEB, DB = hosts("a", "a", "b"), deployment("web", ("n0", "n1")), stateful_set("web", ("n0", "n1"))
HELD = with_finalizers([*NODES, *WEB], "web-a", PROTECT)
CASES: Mapping[str, tuple[Callable[[Snapshot], list[str]], list[Data], list[str]]] = {
    "whether a node goes is not known": (removed, HELD, ["unknown", f"finalizer: default/web-a: {KEPT}"]),
    "nor where its pods are made again only once those before them are gone": (
        removed,
        with_finalizers([*NODES, *DB], "web-0", PROTECT),
        ["unknown", f"finalizer: default/web-0: {KEPT}"],
    ),
    "nor where a pod is deleted already": (
        removed,
        with_finalizers([*NODES, *WEB], "web-a", PROTECT, deletionTimestamp=ago(60)),
        ["unknown", f"finalizer: default/web-a: {KEPT}"],
    ),
    "a node stays where a budget keeps its pod": (
        removed,
        [*with_finalizers([*NODES, *DB], "web-0", PROTECT), budget("web", minAvailable=2)],
        ["no", f"blocked: default/web-0: {REFUSED} {NEEDS.format('web')}"],
    ),
    "a node whose pods have no finalizer goes": (removed, with_finalizers([*NODES, *WEB], "web-b", PROTECT), ["yes"]),
    "whether a drain ends is not known": (
        planned,
        HELD,
        ["unknown", "0 of 1 step done in full; 1 pod may stay (web-a)", STAYS],
    ),
    "nor where there are several finalizers": (
        planned,
        with_finalizers([*NODES, *DB], "web-0", PROTECT, "orphan", OTHER),
        [
            "unknown",
            "0 of 1 step done in full; 1 pod may stay (web-0), 1 workload degraded (StatefulSet/web 1 of 2 ready)",
            f"step 1: 1 pod may stay (web-0): nothing that is modeled takes off its finalizers {PROTECT}, {OTHER}",
        ],
    ),
    "an upgrade may end at the node": (
        upgraded,
        HELD,
        ["unknown", "0 of 1 step done in full; 1 pod may stay (web-a)", STAYS],
    ),
    "and does where a budget keeps another pod": (
        upgraded,
        [*HELD, *stateful_set("db", ("n0", "n1")), budget("db", maxUnavailable=0)],
        [
            "no",
            "0 of 1 step done in full; 1 pod cannot be evicted (db-0), 1 pod may stay (web-a)",
            f"step 1: 1 pod cannot be evicted (db-0): {REFUSED} {NEEDS.format('db')}",
            STAYS,
            "6 changes were tried, and none gets it through: --scale default/StatefulSet/db=3, --scale "
            "default/Deployment/web=3, --surge 1 and 3 more",
            "tried too: --add-node n0, --budget default/db:maxUnavailable=1, --budget default/db:minAvailable=1",
        ],
    ),
    "whether drains are never blocked is not known": (
        verified,
        [*HELD, budget("other")],
        ["unknown", f"unknown: draining n0 (1 of 2 nodes with its pods): 1 pod may stay (web-a): {KEPT}"],
    ),
    "drains are blocked where a budget keeps its pods": (
        verified,
        [*HELD, budget("web", minAvailable=2)],
        [
            "no",
            "broken: draining n0 (2 of 2 nodes with its pods): 1 pod cannot be evicted (web-a): "
            f"{REFUSED} {NEEDS.format('web')}",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_finalizers_keep_is_not_known_to_go(case: str) -> None:
    ask, objects, told = CASES[case]
    assert ask(Snapshot.from_objects(objects)) == told


@pytest.mark.parametrize("ask", [removed, planned, upgraded])
@pytest.mark.parametrize("name", ["batch.kubernetes.io/job-tracking", "orphan", "foregroundDeletion"])
def test_finalizers_that_are_taken_off_change_nothing(ask: Callable[[Snapshot], list[str]], name: str) -> None:
    plain = [*NODES, *job("web", ("n0", "n1"))]
    tracked = Snapshot.from_objects(with_finalizers(plain, "web-a", name))
    assert tracked.pods == Snapshot.from_objects(plain).pods
    assert ask(tracked) == ask(Snapshot.from_objects(plain))


ENDED = {
    "their room is free": (
        deployment("web", ("n0",), cpu="8"),
        "web-a",
        ["- web-a n0 evicted", "+ web-5d6-1 n0", f"! web-a {KEPT}"],
    ),
    "their names are not": (stateful_set("web", ("n0",)), "web-0", ["- web-0 n0 evicted for good", f"! web-0 {KEPT}"]),
}


@pytest.mark.parametrize("case", ENDED)
def test_pods_that_finalizers_keep_have_ended(case: str) -> None:
    objects, name, told = ENDED[case]
    assert play(world(*hosts("a"), *with_finalizers(objects, name, PROTECT)), f"evict {name}") == told


def test_finalizers_are_kept_and_go_by_other_names_where_names_are_hidden() -> None:
    snapshot = Snapshot.from_objects(HELD)
    hidden, names = anonymize(snapshot)
    assert [[names[name] for name in pod.metadata.finalizers] for pod in hidden.pods] == [[PROTECT], []]
    assert [pod.metadata.finalizers for pod in snapshot.pods] == [[PROTECT], []]
