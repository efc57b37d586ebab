"""What becomes of pods when workloads are scaled: who goes first, where the others go, and what is arbitrary."""

from __future__ import annotations

import json

import pytest

from kubespread.kube.owners import WorkloadName
from kubespread.world.events.controllers import related_pods
from tests.builders import Data, ago, node, owned_by, replica
from tests.world.clusters import deployment, play, stateful_set, world

NODES = [node("n0"), node("n1"), node("n2")]
ARBITRARY = "Deployment/web: among equal pods the controller's choice is arbitrary"
THREE_ZONES = [node(f"{zone}{number}", zone=zone) for zone in "abc" for number in range(3)]


def with_cost(pods: list[Data], **costs: str) -> list[Data]:
    """``b="-1"``: web-b has that deletion cost."""
    for each in pods:
        cost = costs.get(each["metadata"]["name"].removeprefix("web-"))
        if cost is not None:
            each["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    return pods


def ready_since(pods: list[Data], **ages: float) -> list[Data]:
    for each in pods:
        age = ages.get(each["metadata"]["name"].removeprefix("web-"))
        if age is not None:
            each["status"]["conditions"][0]["lastTransitionTime"] = ago(age)
    return pods


def sibling(on: str) -> list[Data]:
    """Another ReplicaSet of the same controller, with a pod."""
    text = json.dumps(deployment("web", (on,))[1:]).replace("5d6", "old").replace("web-a", "old-a")
    found: list[Data] = json.loads(text)
    return found


def debugging(on: str) -> list[Data]:
    """A pod of somebody else with the labels of a Deployment's."""
    (found,) = deployment("web", (on,))[2:]
    found["metadata"] |= {"name": "debug", "ownerReferences": owned_by("Job", "debug", api_version="batch/v1")}
    return [found]


CASES: dict[str, tuple[list[Data], list[str], list[str]]] = {
    "up: the new ones are placed by the scheduler": (
        [*NODES, *deployment("web", ("n0",))],
        ["scale deploy/web=3"],
        ["+ web-5d6-1 n1", "+ web-5d6-2 n2"],
    ),
    "up beyond what fits: the rest wait": (
        [node("n0", cpu="2"), *deployment("web", ("n0",), cpu="1")],
        ["scale deploy/web=3"],
        ["+ web-5d6-1 n0", "? web-5d6-2 0/1 nodes are available: 1 Insufficient cpu."],
    ),
    "down: what waits goes first": (
        [node("n0", cpu="1"), *deployment("web", ("n0", None), cpu="1")],
        ["scale deploy/web=1"],
        ["- web-b nowhere scaled down for good"],
    ),
    "down: deletion costs go before crowding": (
        [*NODES, *with_cost(deployment("web", ("n0", "n0", "n1", "n2")), a="5", b="5", c="-1")],
        ["scale deploy/web=2"],
        ["- web-c n1 scaled down for good", "- web-d n2 scaled down for good"],
    ),
    "down: ranks are counted once, so that a node is emptied (6 on 3, 2, 1 to 3)": (
        [*NODES, *deployment("web", ("n0", "n0", "n0", "n1", "n1", "n2"))],
        ["scale deploy/web=3"],
        ["- web-a n0 scaled down for good", "- web-b n0 scaled down for good", "- web-c n0 scaled down for good"],
    ),
    "down: whatever the selector matches crowds a node, whoever owns it": (
        [*NODES, *deployment("web", ("n0", "n1")), *debugging("n1")],
        ["scale deploy/web=1"],
        ["- web-b n1 scaled down for good"],
    ),
    "down: crowding of nodes says nothing of zones, so that the spread breaks": (
        [
            *(node(name, zone="z1") for name in ("n0", "n1", "n2")),
            node("n3", zone="z2"),
            *ready_since(deployment("web", ("n0", "n1", "n2", "n3", "n3")), e=70),
        ],
        ["scale deploy/web=4"],
        ["- web-e n3 scaled down for good"],
    ),
    "down: the younger by powers of two go first": (
        [*NODES, *ready_since(deployment("web", ("n0", "n1", "n2")), a=62, b=300, c=1000)],
        ["scale deploy/web=1"],
        ["- web-a n0 scaled down for good", "- web-b n1 scaled down for good"],
    ),
    "down among equals is arbitrary, and that is said": (
        [*NODES, *deployment("web", ("n0", "n1", "n2"))],
        ["scale deploy/web=1"],
        ["- web-a n0 scaled down for good", "- web-b n1 scaled down for good", ARBITRARY],
    ),
    "9 to 3 over three zones: equals, and arbitrary": (
        [*THREE_ZONES, *deployment("web", ("a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"))],
        ["scale deploy/web=3"],
        [
            *(
                f"- web-{pod} {node_} scaled down for good"
                for pod, node_ in zip("abcdef", ("a0", "b0", "c0", "a1", "b1", "c1"), strict=True)
            ),
            ARBITRARY,
        ],
    ),
    "to none and back": (
        [*NODES[:2], *deployment("web", ("n0", "n1"))],
        ["scale deploy/web=0", "scale deploy/web=1"],
        ["- web-a n0 scaled down for good", "- web-b n1 scaled down for good", "+ web-5d6-1 n0"],
    ),
    "to what it has": (
        [*NODES, *deployment("web", ("n0",))],
        ["scale deploy/web=1"],
        ["Deployment/web has 1 replica already"],
    ),
    "a Deployment that never had a pod, whose ReplicaSet is still to be made": (
        [*NODES[:1], deployment("web", (), replicas=0)[0]],
        ["scale deploy/web=1"],
        ["+ web-99fb766c9-1 n0"],
    ),
    "nobody listed the ReplicaSets: the pods tell which is the Deployment's": (
        [*NODES, *(each for each in deployment("web", ("n0", "n1")) if each["kind"] != "ReplicaSet")],
        ["scale deploy/web=3"],
        ["+ web-5d6-1 n2"],
    ),
    "a ReplicaSet of a Deployment would be set back": (
        [*NODES, *deployment("web", ("n0", "n1"))],
        ["scale rs/web-5d6=1"],
        [
            "- web-a n0 scaled down for good",
            "ReplicaSet/web-5d6 is Deployment/web's, which would set it back",
            ARBITRARY,
        ],
    ),
    "a StatefulSet loses its highest ordinals, wherever they are": (
        [*NODES, *stateful_set("db", ("n0", "n1", "n2", "n2"))],
        ["scale sts/db=2"],
        ["- db-3 n2 scaled down for good", "- db-2 n2 scaled down for good"],
    ),
    "a StatefulSet without pods makes them of the revision that its status names": (
        [*NODES, *stateful_set("db", ())],
        ["scale sts/db=2", "delete-pods app=db"],
        ["+ db-0 n0", "+ db-1 n1", "- db-0 n0 deleted", "- db-1 n1 deleted", "+ db-0 n0", "+ db-1 n1"],
    ),
    "a StatefulSet without a status neither": (
        [*NODES, {key: value for key, value in stateful_set("db", ())[0].items() if key != "status"}],
        ["scale sts/db=2"],
        ["+ db-0 n0", "+ db-1 n1"],
    ),
    "a StatefulSet stops at the first pod that finds no node": (
        [
            node("n0", cpu="2"),
            *stateful_set(
                "db",
                ("n0",),
                spec={"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
            ),
        ],
        ["scale sts/db=4"],
        ["+ db-1 n0", "? db-2 0/1 nodes are available: 1 Insufficient cpu."],
    ),
    "a Parallel one does not": (
        [
            node("n0", cpu="2"),
            *stateful_set(
                "db",
                ("n0",),
                parallel=True,
                spec={"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
            ),
        ],
        ["scale sts/db=4"],
        ["+ db-1 n0", *(f"? db-{at} 0/1 nodes are available: 1 Insufficient cpu." for at in (2, 3))],
    ),
    "a StatefulSet that only its pods tell of makes the one between two others": (
        [*NODES, *stateful_set("db", ("n0", "n1", "n2"))[1:4:2]],
        ["delete-node n0"],
        [
            "- db-0 n0 lost",
            "+ db-0 n1",
            "+ db-1 n1",
            "StatefulSet/db is known only by its pods: it is taken to be OrderedReady",
        ],
    ),
    "a ReplicaSet of a custom controller ranks the pods of its siblings": (
        [
            *NODES[:2],
            *(
                {
                    **each,
                    "metadata": {
                        **each["metadata"],
                        "ownerReferences": [
                            {
                                "apiVersion": "argoproj.io/v1alpha1",
                                "kind": "Rollout",
                                "name": "web",
                                "uid": "u",
                                "controller": True,
                            }
                        ],
                    },
                }
                if each["kind"] == "ReplicaSet"
                else each
                for each in [*deployment("web", ("n0", "n1"))[1:], *sibling("n1")]
            ),
        ],
        ["scale rs/web-5d6=1"],
        ["- web-b n1 scaled down for good", "ReplicaSet/web-5d6 is Rollout/web's, which would set it back"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_pods_when_workloads_are_scaled(case: str) -> None:
    objects, edits, expected = CASES[case]
    assert play(world(objects), *edits) == expected


def replica_set(name: str, owner: str | None = "web", **labels: str) -> Data:
    owners = {} if owner is None else {"ownerReferences": owned_by("Deployment", owner)}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default", **owners},
        "spec": {"selector": {"matchLabels": labels}},
    }


@pytest.mark.parametrize(
    ("sets", "pods", "related"),
    [
        pytest.param(
            [replica_set("v1", rev="1"), replica_set("v2", rev="2")],
            [replica("a", labels={"rev": "1"}), replica("b", labels={"rev": "2"}), replica("c", labels={"rev": "3"})],
            ["a", "b"],
            id="the pods of all revisions of the Deployment",
        ),
        pytest.param(
            [replica_set("v1", rev="1"), replica_set("v2", rev="2")],
            [replica("a", "n0", labels={"rev": "1"}), replica("b", "n1", labels={"rev": "2"})],
            ["a"],
            id="those on nodes without one of its own crowd none",
        ),
        pytest.param(
            [replica_set("v1", rev="1"), replica_set("v2", rev="1")],
            [replica("a", labels={"rev": "1"})],
            ["a"],
            id="a pod that two of them select counts once",
        ),
        pytest.param(
            [replica_set("v1", rev="1"), replica_set("other", "other", rev="2")],
            [replica("a", labels={"rev": "1"}), replica("b", labels={"rev": "2"})],
            ["a"],
            id="the ReplicaSets of others are not related",
        ),
        pytest.param(
            [replica_set("v1", None, rev="1")],
            [replica("a", labels={"rev": "1"})],
            [],
            id="without a controller there are none",
        ),
        pytest.param(
            [replica_set("v1", rev="1")],
            [
                replica("job", labels={"rev": "1"}, ownerReferences=owned_by("Job", "j")),
                replica("ended", labels={"rev": "1"}, phase="Failed"),
                replica("leaving", labels={"rev": "1"}, deletionTimestamp=ago(0)),
                replica("away", labels={"rev": "1"}, namespace="elsewhere"),
                replica("unready", labels={"rev": "1"}, ready=None),
            ],
            ["job", "unready"],
            id="what the selector matches is, whoever owns it, if it is active and in the namespace",
        ),
    ],
)
def test_related_pods(sets: list[Data], pods: list[Data], related: list[str]) -> None:
    found = related_pods(world([*sets, *pods]), WorkloadName("ReplicaSet", "default", "v1"))
    assert [pod.metadata.name for pod in found] == related
