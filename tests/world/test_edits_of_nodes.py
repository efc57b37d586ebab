"""What becomes of pods when nodes are changed: who goes, who comes, who waits, and what is said."""

from __future__ import annotations

import pytest

from tests.builders import Data, node, owned_by, pod, replica, taint
from tests.world.clusters import daemon_set, deployment, job, play, stateful_set, world

NODES = [node("n0"), node("n1"), node("n2")]
TOLERANT = {"tolerations": [{"operator": "Exists"}]}
FOR_A_DAY = {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 86400}]}
GPU = [taint("gpu", "NoExecute")]


def of(name: str, api_version: str, kind: str) -> Data:
    """A pod on n0 of an object that is called as the pod begins."""
    made = replica(name, "n0")
    owners = owned_by(kind, name.partition("-")[0], api_version=api_version)
    return {**made, "metadata": {**made["metadata"], "ownerReferences": owners}}


CASES: dict[str, tuple[list[Data], list[str], list[str]]] = {
    "a cordon moves nobody": ([*NODES, *deployment("web", ("n0", "n1"))], ["cordon n0"], []),
    "what waits goes to a node that is uncordoned": (
        [node("n0", cpu="1"), node("n1", cpu="1", unschedulable=True), *deployment("web", ("n0", None), cpu="1")],
        ["uncordon n1"],
        ["+ web-b n1"],
    ),
    "a cordon of what is cordoned says so": (
        [node("n0", unschedulable=True, taints=[taint("node.kubernetes.io/unschedulable")]), *NODES[1:]],
        ["cordon n0"],
        ["cordon n0: changes nothing"],
    ),
    "a deleted node takes its pods along; its daemons and static pods are not missed": (
        [*NODES, *deployment("web", ("n0",)), *daemon_set("agent", ("n0", "n1", "n2")), pod("bare", "n0")],
        ["delete-node n0"],
        ["- agent-n0 n0 lost for good", "- bare n0 lost for good", "- web-a n0 lost", "+ web-5d6-1 n1"],
    ),
    "a StatefulSet's pod comes back under its name when its node is deleted": (
        [*NODES[:2], *stateful_set("db", ("n0", "n1"))],
        ["delete-node n0"],
        ["- db-0 n0 lost", "+ db-0 n1"],
    ),
    "a taint NoSchedule moves nobody": ([*NODES, *deployment("web", ("n0",))], ["taint n0=gpu:NoSchedule"], []),
    "a taint NoExecute evicts whoever does not tolerate it for ever": (
        [
            *NODES[:2],
            *deployment("web", ("n0",)),
            *deployment("day", ("n0",), spec=FOR_A_DAY),
            *deployment("ever", ("n0",), spec=TOLERANT),
        ],
        ["taint n0=gpu:NoExecute"],
        ["- day-a n0 evicted by a taint", "- web-a n0 evicted by a taint", "+ day-5d6-1 n1", "+ web-5d6-1 n1"],
    ),
    "a timer that runs already is left alone by other edits of the node": (
        [node("n0", taints=GPU), node("n1"), *deployment("day", ("n0",), spec=FOR_A_DAY)],
        ["cordon n0", "label n0=a=b"],
        [],
    ),
    "a DaemonSet does not make again what a taint evicted": (
        [*NODES[:2], *daemon_set("agent", ("n0", "n1"), tolerations=[])],
        ["taint n0=gpu:NoExecute"],
        ["- agent-n0 n0 evicted by a taint for good"],
    ),
    "nor do its pods stay that tolerate more than its template does": (
        [*NODES[:2], *daemon_set("agent", ("n0",))],
        ["taint n0=gpu:NoExecute"],
        ["- agent-n0 n0 no longer selected for good"],
    ),
    "a DaemonSet comes to a node that loses its taint": (
        [node("n0", taints=[taint("gpu")]), node("n1"), *daemon_set("agent", ("n1",))],
        ["taint n0 gpu-"],
        ["+ agent-1 n0"],
    ),
    "a DaemonSet follows its node selector": (
        [node("n0", disk="ssd"), node("n1"), *daemon_set("agent", ("n0",), nodeSelector={"disk": "ssd"})],
        ["label n1=disk=ssd", "label n0 disk-"],
        ["+ agent-1 n1", "- agent-n0 n0 no longer selected for good"],
    ),
    "a DaemonSet's pod that is missing for other reasons stays missing": (
        [*NODES, *daemon_set("agent", ("n0",))],
        ["label n1=a=b", "cordon n2"],
        [],
    ),
    "a new node gets its daemons before those that waited, and no more than it holds": (
        [node("n0", cpu="3"), *daemon_set("agent", ("n0",), cpu="1"), *deployment("web", ("n0", None, None), cpu="2")],
        ["add-node n0"],
        ["+ agent-1 n0-1", "+ web-b n0-1"],
    ),
    "a DaemonSet passes by a new node with a taint that it does not tolerate": (
        [node("gpu", taints=[taint("gpu")]), node("n0"), *daemon_set("agent", ("n0",))],
        ["add-node gpu"],
        [],
    ),
    "a DaemonSet that is known by its pods only comes to new nodes, and that is said": (
        [node("n0"), *daemon_set("agent", ("n0",))[1:]],
        ["add-node n0"],
        ["+ agent-1 n0-1", "DaemonSet/agent is known only by its pods: its node selector may be lost"],
    ),
    "deleted pods are made again, each as its controller makes them": (
        [
            *NODES[:2],
            *deployment("web", ("n0",)),
            *stateful_set("db", ("n1",)),
            *daemon_set("agent", ("n0", "n1")),
            *job("once", ("n1",)),
            pod("bare", "n0", labels={"app": "bare"}),
        ],
        ["delete-pods x notin (y)"],
        [
            "- agent-n0 n0 deleted",
            "- agent-n1 n1 deleted",
            "- bare n0 deleted for good",
            "- db-0 n1 deleted",
            "- once-a n1 deleted",
            "- web-a n0 deleted",
            # Those of a Job and a ReplicaSet at once, the others once the pods before them are gone.
            "+ once-1 n0",
            "+ web-5d6-1 n1",
            "+ agent-1 n0",
            "+ agent-2 n1",
            "+ db-0 n0",
        ],
    ),
    "a Job that may not lose a pod fails, and its other pods go": (
        [*NODES[:2], *job("once", ("n0", "n1"), backoffLimit=0)],
        ["delete-node n0"],
        [
            "- once-a n0 lost",
            "- once-b n1 deleted for good",
            "Job/once fails: it lost more pods than its backoffLimit allows",
        ],
    ),
    "what of a Job is not modeled is named when it loses a pod": (
        [*NODES[:2], *job("once", ("n0",), podFailurePolicy={"rules": []}, backoffLimitPerIndex=1)],
        ["delete-node n0"],
        ["- once-a n0 lost", "+ once-1 n1", "Job/once: backoffLimitPerIndex, podFailurePolicy.rules not modeled"],
    ),
    "an operator makes a pod again under its own name": (
        [*NODES[:2], of("s-0", "core.strimzi.io/v1beta2", "StrimziPodSet")],
        ["delete-node n0"],
        ["- s-0 n0 lost", "+ s-0 n1", "StrimziPodSet/s: its operator makes lost pods again, under their own names"],
    ),
    "an operator makes a pod again under a new name": (
        [*NODES[:2], of("s-x", "apps.kruise.io/v1alpha1", "CloneSet")],
        ["delete-node n0"],
        ["- s-x n0 lost", "+ s-1 n1", "CloneSet/s: its operator makes lost pods again, under new names"],
    ),
    "an operator has one pod more, under the next name": (
        [*NODES[:2], of("db-3", "postgresql.cnpg.io/v1", "Cluster")],
        ["scale cluster/db=2"],
        ["+ db-4 n1"],
    ),
    "what an unknown controller does is not known": (
        [*NODES[:2], of("s-0", "acme.example/v1", "BrokerSet")],
        ["delete-node n0"],
        ["- s-0 n0 lost for good"],
    ),
    "a namesake of a Job is none": (
        [*NODES[:2], of("s-0", "acme.example/v1", "Job")],
        ["delete-node n0"],
        ["- s-0 n0 lost for good"],
    ),
    "an Argo Rollout makes ReplicaSets, and no pods": (
        [*NODES[:2], of("s-0", "argoproj.io/v1alpha1", "Rollout")],
        ["delete-node n0"],
        [
            "- s-0 n0 lost for good",
            "Rollout/s: it makes ReplicaSets, and does not make a pod again that it controls itself",
        ],
    ),
    "orphans are their ReplicaSet's, which makes them again": (
        [
            *NODES[:2],
            deployment("web", (), replicas=1)[1],
            replica("loose", "n0", labels={"app": "web", "pod-template-hash": "5d6"}),
        ],
        ["delete-node n0"],
        ["- loose n0 lost", "+ web-5d6-1 n1"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods_when_nodes_change(case: str) -> None:
    objects, edits, expected = CASES[case]
    assert play(world(objects), *edits) == expected
