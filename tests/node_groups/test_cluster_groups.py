"""What a cluster tells its own autoscaler: NodePools."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import NodePool
from kubespread.node_groups import Autoscaler, NodeGroup, groups_of_cluster
from kubespread.snapshot.anonymize import anonymize
from tests.builders import Data, pod, taint
from tests.questions.autoscaling.clusters import ZONE, machine


def pool(name: str = "default", *requirements: Data, labels: Data | None = None, **spec: Any) -> Data:
    template = {
        "metadata": {"labels": labels or {}},
        "spec": {"requirements": list(requirements), "taints": spec.pop("taints", [])},
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def one_of(key: str, *values: str) -> Data:
    return {"key": key, "operator": "In", "values": list(values)}


def groups(kind: Autoscaler, *objects: Data) -> tuple[NodeGroup, ...]:
    return groups_of_cluster(kubespread.Snapshot.from_objects(objects).objects, kind)


def test_a_node_pool() -> None:
    given = pool(
        "default",
        one_of(ZONE, "a", "b"),
        one_of("kubernetes.io/arch", "arm64"),
        one_of("karpenter.sh/capacity-type", "spot", "on-demand"),
        labels={"team": "web"},
        taints=[taint("web")],
        limits={"cpu": "100"},
        weight=10,
    )
    (found,) = groups(Autoscaler.KARPENTER, given)
    assert (found.name, found.zones, str(found.members), found.limits, found.weight) == (
        "default",
        ("a", "b"),
        "karpenter.sh/nodepool=default",
        {"cpu": "100"},
        10,
    )
    assert found.labels == {"kubernetes.io/arch": "arm64", "team": "web", "karpenter.sh/nodepool": "default"}
    assert [each.key for each in found.taints or ()] == ["web"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Autoscaler.CLUSTER_AUTOSCALER, ""),
        (Autoscaler.KARPENTER, ": the cluster's source has no NodePool that may grow"),
    ],
)
def test_a_cluster_without_any(kind: Autoscaler, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        groups(kind)
    assert str(refused.value) == f"--autoscaler {kind} needs --node-groups FILE{reason}"


def test_a_simulation_finds_them() -> None:
    nodes = [machine("n1", "a", cpu="2")]
    nodes[0]["metadata"]["labels"]["karpenter.sh/nodepool"] = "default"
    snapshot = kubespread.Snapshot.from_objects([*nodes, pool("default", one_of(ZONE, "a", "b"))])
    report = kubespread.simulate(snapshot, pod(requests={"cpu": "1"}), 5, autoscaler="karpenter")
    assert report.autoscaling is not None
    assert [(each.group, each.added) for each in report.autoscaling.groups] == [("default/a", 2), ("default/b", 0)]


def test_pseudonyms_leave_them_usable() -> None:
    node = machine("n1", "acme-a")
    node["metadata"]["labels"]["karpenter.sh/nodepool"] = "acme"
    objects = [node, pool("acme", one_of(ZONE, "acme-a"), limits={"cpu": "8"})]
    hidden, _ = anonymize(kubespread.Snapshot.from_objects(objects))
    assert b"acme" not in msgspec.json.encode((hidden.nodes, hidden.objects.get(NodePool)))
    report = kubespread.simulate(hidden, pod(requests={"cpu": "3"}), 2, autoscaler="karpenter")
    assert report.autoscaling is not None
    assert report.autoscaling.added_nodes == 1
