"""What a cluster tells its own autoscaler: NodePools and MachineDeployments."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import MachineDeployment, NodePool
from kubespread.node_groups.groups import Autoscaler, NodeGroup, groups_of_cluster
from kubespread.snapshot.anonymize import anonymize
from tests.builders import Data, pod, taint
from tests.questions.autoscaling.clusters import ZONE, machine

CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"
SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"


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


def machines(annotations: Data, *, replicas: int = 2, labels: Data | None = None, zone: str = "") -> Data:
    template = {"metadata": {"labels": labels or {}}, "spec": {"failureDomain": zone} if zone else {}}
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {"name": "md-0", "annotations": annotations},
        "spec": {"replicas": replicas, "template": template},
    }


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


def test_a_machine_deployment() -> None:
    annotations = {
        f"{SIZE}-min-size": "1",
        f"{SIZE}-max-size": "5",
        f"{CAPACITY}/cpu": "4",
        f"{CAPACITY}/memory": "16Gi",
        f"{CAPACITY}/gpu-type": "nvidia.com/gpu",
        f"{CAPACITY}/gpu-count": "2",
        f"{CAPACITY}/labels": "disk=ssd,pool=w",
        f"{CAPACITY}/taints": "gpu=yes:NoSchedule,not a taint",
        "unread": "x",
    }
    labels = {"node-role.kubernetes.io/worker": "", "elsewhere": "x"}
    (found,) = groups(Autoscaler.CLUSTER_AUTOSCALER, machines(annotations, labels=labels, zone="a"))
    template = found.template
    assert not isinstance(template, str | None)
    assert (found.name, found.minimum, found.maximum, found.running) == ("md-0", 1, 5, 2)
    assert template.status.allocatable == {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "2"}
    assert template.metadata.labels == {"node-role.kubernetes.io/worker": "", ZONE: "a", "disk": "ssd", "pool": "w"}
    assert [(each.key, each.value, each.effect) for each in template.spec.taints] == [("gpu", "yes", "NoSchedule")]


def test_without_capacity_it_cannot_grow_from_zero() -> None:
    (found,) = groups(Autoscaler.CLUSTER_AUTOSCALER, machines({f"{SIZE}-max-size": "5"}))
    assert found.template is None


@pytest.mark.parametrize(
    ("kind", "objects", "message"),
    [
        (Autoscaler.CLUSTER_AUTOSCALER, [machines({})], "no MachineDeployment that may grow"),
        (Autoscaler.KARPENTER, [machines({f"{SIZE}-max-size": "5"})], "no NodePool that may grow"),
    ],
    ids=["machines without a maximum", "the other autoscaler's"],
)
def test_a_cluster_without_any(kind: Autoscaler, objects: list[Data], message: str) -> None:
    with pytest.raises(UsageError, match=f"--autoscaler {kind} needs --node-groups FILE: .*{message}"):
        groups(kind, *objects)


def test_a_simulation_finds_them() -> None:
    nodes = [machine("n1", "a", cpu="2")]
    nodes[0]["metadata"]["labels"]["karpenter.sh/nodepool"] = "default"
    snapshot = kubespread.Snapshot.from_objects([*nodes, pool("default", one_of(ZONE, "a", "b"))])
    report = kubespread.simulate(snapshot, pod(requests={"cpu": "1"}), 5, autoscaler="karpenter")
    assert report.autoscaling is not None
    assert [(each.group, each.added) for each in report.autoscaling.groups] == [("default/a", 2), ("default/b", 0)]


def test_pseudonyms_leave_them_usable() -> None:
    annotations = {
        f"{SIZE}-max-size": "5",
        f"{CAPACITY}/cpu": "4",
        f"{CAPACITY}/memory": "16Gi",
        f"{CAPACITY}/labels": "team=acme",
        f"{CAPACITY}/taints": "team=acme:NoSchedule",
    }
    node = machine("n1", "acme-a")
    node["metadata"]["labels"]["karpenter.sh/nodepool"] = "acme"
    objects = [node, machines(annotations, zone="acme-a"), pool("acme", one_of(ZONE, "acme-a"), limits={"cpu": "8"})]
    hidden, _ = anonymize(kubespread.Snapshot.from_objects(objects))
    assert b"acme" not in msgspec.json.encode(
        (hidden.nodes, hidden.objects.of(NodePool), hidden.objects.of(MachineDeployment))
    )
    (group,) = groups_of_cluster(hidden.objects, Autoscaler.CLUSTER_AUTOSCALER)
    assert not isinstance(group.template, str | None)
    assert (group.template.status.capacity["memory"], group.template.metadata.labels[ZONE]) == (
        "16Gi",
        hidden.nodes[0].metadata.labels[ZONE],
    )
    report = kubespread.simulate(hidden, pod(requests={"cpu": "3"}), 2, autoscaler="karpenter")
    assert report.autoscaling is not None
    assert report.autoscaling.added == 1
