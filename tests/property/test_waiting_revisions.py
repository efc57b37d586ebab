"""Deployments whose rollout waits, on random clusters: every question is about the same new pods, remedies stand in one
order, and what lets the rollout go on does.
"""

from __future__ import annotations

import random
import re

import pytest

import kubespread
from kubespread import Scheduler, Snapshot
from kubespread.questions.remedies.families import FAMILIES
from kubespread.questions.worlds import world_of
from kubespread.world.reporting.difference import resume
from tests.builders import Data, hard, node, owned_by, pod, taint

KEYS = ("host", "zone")
ORDER = ("policy", "maxUnavailable", "uncordon", "add-node", "requests", "")
"""Families in the order that they are to have; any other one gives a promise up, and comes last."""


def cluster(seed: int) -> list[Data]:
    """Old pods on some nodes, and one or two new ones that wait beside them."""
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(chance.randint(2, 4))]
    nodes = [
        node(
            name,
            zone=chance.choice("ab"),
            host=name,
            cpu=chance.choice(["2", "4"]),
            taints=[taint("x")] if chance.random() < 0.3 else [],
            unschedulable=chance.random() < 0.1,
        )
        for name in names
    ]
    constraints = [hard(key, match={"app": "web"}) for key in chance.sample(KEYS, chance.randint(0, 2))]
    cpu = chance.choice(["500m", "2"])
    open_to = [each["metadata"]["name"] for each in nodes if not each["spec"]["taints"]]
    old = [chance.choice(open_to or names) for _ in range(chance.randint(1, 3))]
    new = chance.randint(1, 2)
    labels = {"app": "web"}
    spec: Data = {"constraints": constraints, "requests": {"cpu": cpu}}
    template = pod("web", labels=labels, **spec)
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": new, "maxUnavailable": 0}}
    made = [*nodes, _workload("Deployment", "web", len(old), template, strategy=rolling)]
    made[-1]["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    for revision, on in (("1", old), ("2", [None] * new)):
        labeled = {**labels, "pod-template-hash": revision}
        of_revision = pod("web", labels=labeled, **spec)
        if revision == "1":
            of_revision["spec"]["containers"][0]["image"] = "example.com/main:0"
        replica_set = _workload("ReplicaSet", f"web-{revision}", len(on), of_revision)
        replica_set["metadata"] |= {
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": owned_by("Deployment", "web"),
            "labels": labeled,
        }
        made.append(replica_set)
        for number, name in enumerate(on):
            each = pod(f"web-{revision}-{number}", name, labels=labeled, **spec)
            each["spec"]["containers"] = of_revision["spec"]["containers"]
            each["metadata"] |= {
                "ownerReferences": owned_by("ReplicaSet", f"web-{revision}"),
                "uid": each["metadata"]["name"],
            }
            ready = {"type": "Ready", "status": "True"}
            each["status"] = {"phase": "Running", "conditions": [ready]} if name else {"phase": "Pending"}
            made.append(each)
    return made


def _workload(kind: str, name: str, replicas: int, template: Data, **more: object) -> Data:
    labels = template["metadata"]["labels"]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
            **more,
        },
    }


@pytest.mark.parametrize("seed", range(1, 25))
def test_every_question_is_about_the_pods_that_wait(seed: int) -> None:
    objects = cluster(seed)
    snapshot = Snapshot.from_objects(objects)
    groups = kubespread.pending(snapshot).groups
    simulated, advised = (
        kubespread.simulate(snapshot, "deploy/web"),
        kubespread.explain(snapshot, "deploy/web", fix=True),
    )
    new = sum(len(group.pods) for group in groups)
    placed = sum(group.fitting for group in groups)
    old = sum(each["kind"] == "Pod" and "nodeName" in each["spec"] for each in objects)
    assert (simulated.outdated, simulated.present, simulated.replicas) == (old, old, old + new)
    assert (simulated.placed, simulated.pending) == (placed, new - placed)
    assert advised.fix is not None
    assert (advised.fix.replicas, advised.fix.placed, advised.fits) == (new, placed, placed == new)
    assert kubespread.explain(snapshot, "deploy/web").schedulable == (placed > 0)
    assert (simulated.verdict == "yes") == (placed == new)


@pytest.mark.parametrize("seed", range(1, 25))
def test_remedies_stand_in_the_order_an_operator_tries_them(seed: int) -> None:
    advice = kubespread.explain(Snapshot.from_objects(cluster(seed)), "deploy/web", fix=True).advice
    families = [each.family for each in advice.enough] if advice is not None else []
    ranked = [ORDER.index(family if family in ORDER else "") for family in families]
    assert ranked == sorted(ranked)


def test_the_families_are_tried_by_what_they_cost() -> None:
    costs = [family.least_cost for family in FAMILIES]
    assert costs == sorted(costs)


@pytest.mark.parametrize("seed", range(1, 25))
def test_a_rollout_that_may_take_old_pods_off_goes_on(seed: int) -> None:
    objects = cluster(seed)
    advice = kubespread.explain(Snapshot.from_objects(objects), "deploy/web", fix=True).advice
    for each in advice.enough if advice is not None else ():
        if each.family == "maxUnavailable":
            (more,) = re.findall(r"maxUnavailable: (\d+)", each.change)
            (web,) = [object for object in objects if object["kind"] == "Deployment"]
            web["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = int(more)
            world = world_of(Snapshot.from_objects(objects), Scheduler())
            resume(world)
            world.settle()
            assert not world.queue.waiting
