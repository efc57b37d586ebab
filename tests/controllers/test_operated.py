"""Another pod of an operator: what is bound to the one it is like is left behind."""

from __future__ import annotations

import pytest

import kubespread
from kubespread import SimulateReport, Snapshot, UsageError
from tests.builders import Data, node, owned_by, replica

STRIMZI = "core.strimzi.io/v1"


def claim(name: str) -> Data:
    spec = {"storageClassName": "fast", "volumeName": f"pv-{name}", "accessModes": ["ReadWriteOnce"]}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


FAST = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "x.csi",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def of(name: str, kind: str, api_version: str, owner: str, on: str = "n0", *claims: str) -> Data:
    made = replica(name, on)
    labels = {**made["metadata"]["labels"], "pod-name": name}
    metadata = {**made["metadata"], "labels": labels, "ownerReferences": owned_by(kind, owner, api_version=api_version)}
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return {**made, "metadata": metadata, "spec": {**made["spec"], "volumes": volumes}}


def simulated(objects: list[Data], asked: str, replicas: int | None = None) -> SimulateReport:
    report = kubespread.simulate(Snapshot.from_objects(objects), asked, replicas=replicas)
    assert isinstance(report, SimulateReport)
    return report


KAFKA = [
    node("n0"),
    node("n1"),
    FAST,
    claim("data-kafka-0"),
    claim("shared"),
    of("kafka-0", "StrimziPodSet", STRIMZI, "kafka", "n0", "data-kafka-0", "shared"),
]


@pytest.mark.parametrize(
    "asked", ["strimzipodset/kafka", "StrimziPodSets/kafka", "strimzipodset.core.strimzi.io/kafka"]
)
def test_the_next_pod_is_like_the_newest_with_claims_of_its_own(asked: str) -> None:
    report = kubespread.explain(Snapshot.from_objects(KAFKA), asked)
    assert report.pod.name == "kafka-1"
    assert "StrimziPodSet/kafka: evaluated as another pod like kafka-0, with new claims (data-kafka-1)" in report.notes


def test_each_further_pod_has_claims_of_its_own() -> None:
    """The volumes of one class may be in different zones: pods that shared a claim could not."""
    zones = [node("n0", zone="a"), node("n1", zone="b"), node("n2", zone="c")]
    spread = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    first = of("kafka-0", "StrimziPodSet", STRIMZI, "kafka", "n0", "data-kafka-0")
    first["spec"] |= {"topologySpreadConstraints": [spread]}
    report = simulated([*zones, FAST, claim("data-kafka-0"), first], "strimzipodset/kafka", 3)
    assert [(placed.pod, placed.node) for placed in report.placements] == [("kafka-1", "n1"), ("kafka-2", "n2")]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("cluster/kafka", 'cluster "kafka" controls no pod in namespace default'),
        ("strimzipodset.example.com/kafka", 'strimzipodset.example.com "kafka" controls no pod'),
        ("node/n0", "node/n0"),
    ],
)
def test_what_controls_no_pod_is_not_found(asked: str, said: str) -> None:
    with pytest.raises((UsageError, kubespread.ManifestError), match=said):
        kubespread.explain(Snapshot.from_objects(KAFKA), asked)


def test_a_namesake_of_a_kind_of_kubernetes_is_found_by_its_short_name() -> None:
    objects = [node("n0"), of("db-0", "StatefulSet", "apps.kruise.io/v1beta1", "db")]
    assert kubespread.explain(Snapshot.from_objects(objects), "sts/db").pod.name == "db-1"


def test_the_replica_set_of_an_argo_rollout_that_has_replicas_is_asked() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}

    def replica_set(name: str, replicas: int, created: str) -> Data:
        owners = owned_by("Rollout", "web", api_version="argoproj.io/v1alpha1")
        metadata = {"name": name, "namespace": "default", "ownerReferences": owners, "creationTimestamp": created}
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}

    objects = [
        node("n0"),
        replica_set("web-1", 3, "2026-01-01T00:00:00Z"),
        replica_set("web-2", 1, "2026-01-02T00:00:00Z"),
        replica_set("web-3", 0, "2026-01-03T00:00:00Z"),
    ]
    report = simulated(objects, "rollout/web")
    assert (report.workload, report.replicas, report.placed) == ("Rollout/web", 4, 4)
    assert "Rollout/web: evaluated as another pod of its ReplicaSet web-2" in report.notes
