"""Questions about an edited cluster: the answer is about what became of it, and says what it takes for granted."""

from __future__ import annotations

import pytest

import kubespread
from kubespread import Snapshot
from tests.builders import Data, hard, node, pod, replica
from tests.world.clusters import budget, daemon_set, deployment, gone_to_sleep, stateful_set

WEB = {"app": "web"}
NO_TIME = "edits: pods are ready once they have a node; timers, rate limits and back-offs are not waited for"
NO_BUDGETS = "no PodDisruptionBudget objects: evictions and preemption are predicted as if there were no budgets"
SPREAD = hard("zone", match=WEB)
ZONES = [node(f"{zone}{number}", zone=zone) for zone in "abc" for number in range(1)]


def quota(name: str) -> Data:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "50"}}}


def autoscaler(target: str) -> Data:
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": target}, "minReplicas": 2, "maxReplicas": 4}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": "default"},
        "spec": spec,
    }


SAID: dict[str, tuple[list[Data], list[str], list[str], list[str]]] = {
    "a cordon: nothing happened, nothing is taken for granted": (
        [node("n0"), node("n1"), *deployment("web", ("n0",)), replica("loose", "n1")],
        ["cordon n0"],
        [],
        [],
    ),
    "a drain without budgets in the source": (
        [node("n0"), node("n1"), *deployment("web", ("n0", "n0"))],
        ["drain n0"],
        ["drain n0: 2 pods evicted, 2 placed", NO_TIME],
        [NO_BUDGETS],
    ),
    "pods that do not say whether they are ready": (
        [node("n0"), node("n1"), *deployment("web", ("n0",)), budget("web", minAvailable=0), pod("x", "n1")],
        ["drain n0"],
        ["drain n0: 1 pod evicted, 1 placed", NO_TIME],
        ["pods that do not say whether they are ready are taken to be: 1"],
    ),
    "an eviction without budgets in the source": (
        [node("n0"), node("n1"), *deployment("web", ("n0", "n0"))],
        ["evict web-a"],
        ["evict web-a: 1 pod evicted, 1 placed", NO_TIME],
        [NO_BUDGETS],
    ),
    "ReplicaSets that nobody listed": (
        [node("n0"), node("n1"), *(each for each in deployment("web", ("n0",)) if each["kind"] != "ReplicaSet")],
        ["delete-pods app=web"],
        ["delete-pods app=web: 1 pod deleted, 1 placed", NO_TIME],
        [
            "no ReplicaSet objects: each ReplicaSet is taken to want as many pods as it has",
            "ReplicaSet default/web-5d6, the pod's controller, is missing: "
            "default constraints cannot be derived from its selector",
        ],
    ),
    "a scale that an autoscaler has a say in, and a quota allows": (
        [node("n0"), *deployment("web", ("n0",)), autoscaler("web"), quota("few")],
        ["scale deploy/web=3"],
        [
            "scale Deployment/web=3: 2 placed",
            "scale Deployment/web=3: HorizontalPodAutoscaler h keeps Deployment/web at 2 to 4 replicas; it is not simulated",
            NO_TIME,
        ],
        [],
    ),
    "pods that waited before are nobody's news": (
        [node("n0", cpu="1"), *deployment("big", (None,), cpu="9"), *deployment("web", ("n0",))],
        ["delete-pods app=web"],
        ["delete-pods app=web: 1 pod deleted, 1 placed", NO_TIME],
        [],
    ),
    "a StatefulSet's pod on a failed node, and what waits": (
        [node("n0"), node("n1", cpu="1"), *stateful_set("db", ("n0",)), *deployment("web", ("n0",), cpu="2")],
        ["fail n0"],
        [
            "fail n0: 2 pods lost",
            "fail n0: 1 pod not created (StatefulSet/db): waits for db-0, which is terminating",
            "fail n0: 1 pod pending (Deployment/web): "
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)",
            NO_TIME,
        ],
        [],
    ),
    "bare pods, static pods and daemons of a deleted node": (
        [
            node("n0"),
            node("n1"),
            pod("bare", "n0"),
            *daemon_set("agent", ("n0", "n1")),
            {
                **pod("static", "n0"),
                "metadata": {
                    "name": "static",
                    "namespace": "default",
                    "ownerReferences": [
                        {"apiVersion": "v1", "kind": "Node", "name": "n0", "uid": "u", "controller": True}
                    ],
                },
            },
        ],
        ["delete-node n0"],
        ["delete-node n0: 3 pods lost", "delete-node n0: 1 pod lost for good (Pod/bare)", NO_TIME],
        ["pods that do not say whether they are ready are taken to be: 2"],
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_an_answer_says_what_its_edits_did_and_take_for_granted(case: str) -> None:
    objects, edits, notes, gaps = SAID[case]
    report = kubespread.explain(Snapshot.from_objects(objects).edited(*edits), pod("probe", labels={"x": "y"}))
    assert [
        note for note in report.notes if note.startswith(tuple(edit.split()[0] for edit in (*edits, "edits:")))
    ] == notes
    assert [gap for gap in report.gaps if gap in gaps or "ReplicaSet" in gap] == gaps


def simulated(objects: list[Data], replicas: int, *edits: str) -> tuple[dict[str, int], str | None]:
    """How many pods of ``deploy/web`` each node gets besides those that run, and why no more."""
    report = kubespread.simulate(Snapshot.from_objects(objects).edited(*edits), "deploy/web", replicas)
    return report.per_node, report.stopped


def honoring(policy: str) -> list[Data]:
    spread = {"topologySpreadConstraints": [{**SPREAD, "nodeTaintsPolicy": policy}]}
    return [*ZONES, *deployment("web", ("a0", "b0"), spec=spread)]


def test_a_cordoned_empty_zone_wedges_a_hard_constraint_and_honoring_taints_frees_it() -> None:
    wedged = simulated(honoring("Ignore"), 4, "cordon c0")
    assert wedged == (
        {},
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints.",
    )
    assert simulated(honoring("Honor"), 4, "cordon c0") == ({"a0": 1, "b0": 1}, None)
    asleep = [each if each["metadata"]["name"] != "c0" else gone_to_sleep(each) for each in honoring("Honor")]
    assert simulated(asleep, 4) == ({"a0": 1, "b0": 1}, None)


def test_scaled_down_from_9_to_3_the_next_ones_fill_what_was_emptied() -> None:
    spread = {"topologySpreadConstraints": [SPREAD]}
    nine = [*ZONES, *deployment("web", ("a0", "a0", "a0", "b0", "b0", "b0", "c0", "c0", "c0"), spec=spread)]
    edited = Snapshot.from_objects(nine).edited("scale deploy/web=3")
    report = kubespread.simulate(edited, "deploy/web", 6)
    # All nine have rank 3, which is counted once, and the same age: six go in any order, here the first by name.
    assert report.notes[:2] == (
        "scale Deployment/web=3: Deployment/web: among equal pods the controller's choice is arbitrary",
        "scale Deployment/web=3: 6 pods scaled down",
    )
    assert report.per_node == {"a0": 2, "b0": 1}
    assert [(change.before, change.after) for change in report.skew] == [(3, 2)]
