"""Pods that wait in a world: who is tried first, who pushes whom away, and who is nobody's business."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Data, ago, node, pod
from tests.world.clusters import budget, daemon_set, deployment, play, stateful_set, world


def waiting(name: str, *, cpu: str = "1", created: float = 100, nominated: str = "", **spec: Any) -> Data:
    made = pod(name, requests={"cpu": cpu}, **spec)
    made["metadata"] |= {"uid": name, "creationTimestamp": ago(created)}
    made["status"] = {"phase": "Pending", "nominatedNodeName": nominated}
    return made


SMALL = [node("n0", cpu="2"), node("n1", cpu="2")]
ZONES = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "high"}},
}
TOO_SMALL = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."

CASES: dict[str, tuple[list[Data], list[str], list[str]]] = {
    "by priority, then by age": (
        [
            node("n0", cpu="2", unschedulable=True),
            waiting("young", created=10),
            waiting("old", created=20),
            waiting("high", priority=5),
        ],
        ["uncordon n0"],
        ["+ high n0", "+ old n0"],
    ),
    "pods behind a scheduling gate stay there": (
        [node("n0", unschedulable=True), waiting("gated", schedulingGates=[{"name": "a"}]), waiting("free")],
        ["uncordon n0"],
        ["+ free n0"],
    ),
    "another scheduler's pods wait for it": (
        [node("n0"), *deployment("web", ("n0",), spec={"schedulerName": "volcano"})],
        ["delete-pods app=web"],
        ["- web-a n0 deleted", '? web-5d6-1 scheduled by "volcano", which is not modeled'],
    ),
    "a pod of higher priority pushes one away, which is made again and waits": (
        [
            *SMALL,
            *deployment("high", ("n0",), cpu="2", spec={"priority": 10}),
            *deployment("low", ("n1",), cpu="2", spec={"priority": 1}),
        ],
        ["drain n0"],
        ["- high-a n0 evicted", "- low-a n1 preempted", "+ high-5d6-1 n1", f"? low-5d6-1 {TOO_SMALL}"],
    ),
    "not with preemptionPolicy Never": (
        [
            *SMALL,
            *deployment("high", ("n0",), cpu="2", spec={"priority": 10, "preemptionPolicy": "Never"}),
            *deployment("low", ("n1",), cpu="2", spec={"priority": 1}),
        ],
        ["drain n0"],
        ["- high-a n0 evicted", f"? high-5d6-1 {TOO_SMALL}"],
    ),
    "where there is a choice the pod without a budget is pushed away": (
        [
            *(node(f"n{at}", cpu="2") for at in range(3)),
            *deployment("high", ("n0",), cpu="2", spec={"priority": 10}),
            *deployment("kept", ("n1",), cpu="2", spec={"priority": 1}),
            *deployment("low", ("n2",), cpu="2", spec={"priority": 1}),
            budget("kept", minAvailable=1),
        ],
        ["drain n0"],
        [
            *("- high-a n0 evicted", "- low-a n2 preempted", "+ high-5d6-1 n2"),
            "? low-5d6-1 0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.",
        ],
    ),
    "a budget does not hold where there is none": (
        [
            *SMALL,
            *deployment("high", ("n0",), cpu="2", spec={"priority": 10}),
            *stateful_set(
                "db",
                ("n1",),
                spec={
                    "priority": 1,
                    "containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "2"}}}],
                },
            ),
            budget("db", minAvailable=1),
        ],
        ["drain n0"],
        ["- high-a n0 evicted", "- db-0 n1 preempted", "+ high-5d6-1 n1", f"? db-0 {TOO_SMALL}"],
    ),
    "its successor is tried while it terminates, and finds its room taken twice": (
        [
            node("n0", cpu="4"),
            node("n1", cpu="3"),
            *deployment("high", (), replicas=0, cpu="2", spec={"priority": 10}),
            *deployment("mid", ("n0",), cpu="2", spec={"priority": 5}),
            *deployment("low", ("n0", "n0", "n1", "n1", "n1"), cpu="1", spec={"priority": 1}),
            budget("low", minAvailable=5),
        ],
        ["scale deploy/high=1"],
        [
            "- mid-a n0 preempted",
            "- low-d n1 preempted",
            "- low-c n1 preempted",
            "+ high-5d6-1 n0",
            "+ mid-5d6-1 n1",
            "? low-5d6-1 0/2 nodes are available: 2 Insufficient cpu.",
            "? low-5d6-2 0/2 nodes are available: 2 Insufficient cpu.",
        ],
    ),
    "two that come at once see the budgets as they were before": (
        [
            *SMALL,
            node("n2", cpu="2"),
            *deployment("high", (), replicas=0, cpu="2", spec={"priority": 10}),
            *deployment("mid", ("n0",), cpu="2", spec={"priority": 5}),
            *deployment("low", ("n1", "n2"), cpu="2", spec={"priority": 1}),
            budget("low", minAvailable=1),
        ],
        ["scale deploy/high=2"],
        [
            "- low-a n1 preempted",
            "- low-b n2 preempted",
            "+ high-5d6-1 n1",
            "+ high-5d6-2 n2",
            "? low-5d6-1 0/3 nodes are available: 3 Insufficient cpu.",
            "? low-5d6-2 0/3 nodes are available: 3 Insufficient cpu.",
            "on which of several equal nodes pods are preempted is arbitrary",
        ],
    ),
    "spreading does not count a nominated pod, which then has to preempt once more": (
        [
            *(node(name, cpu="2", zone=name[0]) for name in ("a0", "a1", "b0")),
            *deployment("high", (), replicas=0, cpu="2", spec={"priority": 10, "topologySpreadConstraints": [ZONES]}),
            *deployment("low", ("a0", "a1", "b0"), cpu="2", spec={"priority": 1}),
        ],
        ["scale deploy/high=2"],
        [
            "- low-a a0 preempted",
            "- low-b a1 preempted",
            "- low-c b0 preempted",
            "+ high-5d6-1 a0",
            "+ low-5d6-1 a1",
            "+ high-5d6-2 b0",
            "? low-5d6-2 0/3 nodes are available: 3 Insufficient cpu.",
            "? low-5d6-3 0/3 nodes are available: 3 Insufficient cpu.",
            "on which of several equal nodes pods are preempted is arbitrary",
        ],
    ),
    "nominated to a silent node it waits for those that terminate there, for good": (
        [
            node("n0", cpu="2", zone="a"),
            node("n1", cpu="1", zone="b"),
            *deployment(
                "high", (), replicas=0, cpu="2", spec={"priority": 10, "tolerations": [{"operator": "Exists"}]}
            ),
            *deployment("low", ("n0",), cpu="2", spec={"priority": 1}),
        ],
        ["fail n0", "scale deploy/high=1"],
        [
            "- low-a n0 lost",
            "? low-5d6-1 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).",
            "? high-5d6-1 0/2 nodes are available: 2 Insufficient cpu.",
        ],
    ),
    "a pod that tolerates NoExecute for a moment comes back for good": (
        [
            node("n0", cpu="2"),
            *deployment(
                "web",
                ("n0",),
                spec={"tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}]},
            ),
        ],
        ["taint n0=a=b:NoExecute"],
        [
            "- web-a n0 evicted by a taint",
            "+ web-5d6-1 n0",
            "Deployment/web does not settle: a pod is placed on n0, which a NoExecute taint deletes after 0 s, again and again",
        ],
    ),
    "a daemon that is pushed away is made again for its own node": (
        [*SMALL, *deployment("high", ("n0",), cpu="2", spec={"priority": 10}), *daemon_set("agent", ("n1",), cpu="1")],
        ["drain n0"],
        [
            *("- high-a n0 evicted", "- agent-n1 n1 preempted", "+ high-5d6-1 n1"),
            "? agent-1 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
        ],
    ),
    "a nominated pod holds its room until it is placed, and not twice": (
        [
            node("n0", cpu="2", unschedulable=True),
            waiting("nominated", priority=5, nominated="n0"),
            *deployment("web", (None,), cpu="1"),
        ],
        ["uncordon n0"],
        ["+ nominated n0", "+ web-a n0"],
    ),
    "nor after it is deleted": (
        [
            node("n0", cpu="1", unschedulable=True),
            {
                **waiting("nominated", priority=5, nominated="n0"),
                "metadata": {"name": "nominated", "namespace": "default", "labels": {"x": "y"}},
            },
            *deployment("web", (None,), cpu="1"),
        ],
        ["delete-pods x=y", "uncordon n0"],
        ["- nominated nowhere deleted for good", "+ web-a n0"],
    ),
    "a StatefulSet and a DaemonSet of one name do not get into each other's way": (
        [node("n0"), *stateful_set("db", ("n0",)), *daemon_set("db", ("n0",))],
        ["add-node n0", "scale sts/db=2"],
        ["+ db-new-1 n0-1", "+ db-1 n0"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods_that_wait(case: str) -> None:
    objects, edits, expected = CASES[case]
    assert play(world(objects), *edits) == expected
