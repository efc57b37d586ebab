"""Which pods crowd the nodes of a ReplicaSet that is scaled down."""

from __future__ import annotations

import pytest

from kubespread.kube.owners import WorkloadName
from kubespread.world.events.controllers import related_pods
from tests.builders import Data, ago, owned_by, replica
from tests.world.clusters import world


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
