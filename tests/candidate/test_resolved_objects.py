"""What a workload brings along stands once among the cluster's objects, also where the cluster has it already."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim
from kubespread.kube.api.workloads import ReplicaSet, ReplicationController, StatefulSet
from kubespread.questions.resolving import resolve
from tests.builders import Data, hosts, owned_by

TEMPLATE: Data = {"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def workload(kind: str, name: str, api_version: str = "apps/v1", **spec: object) -> Data:
    selector = {"foo": "bar"} if kind == "ReplicationController" else {"matchLabels": {"foo": "bar"}}
    metadata = {"name": name, "namespace": "default"}
    full = {"selector": selector, "template": TEMPLATE, **spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": full}


DEPLOYMENT = workload("Deployment", "web")
REPLICA_SET = workload("ReplicaSet", "web-1")
REPLICA_SET["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
CONTROLLER = workload("ReplicationController", "rc", "v1")
CLAIMS = [{"metadata": {"name": "data"}, "spec": {"storageClassName": "usual"}}]
STATEFUL_SET = workload("StatefulSet", "db", volumeClaimTemplates=CLAIMS)
CLASS: Data = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "usual"}}
CLUSTER = [*hosts("a", "b"), DEPLOYMENT, REPLICA_SET, CONTROLLER, STATEFUL_SET, CLASS]

ASKED: dict[str, list[Data | str]] = {
    "stored": ["deploy/web", "rc/rc", "sts/db"],
    "stored, and its ReplicaSet too": ["deploy/web", "rs/web-1", "rc/rc", "sts/db"],
    "given": ["deploy/web", REPLICA_SET, CONTROLLER, STATEFUL_SET],
}


def resolved(asked: list[Data | str]) -> ClusterObjects:
    snapshot = kubespread.Snapshot.from_objects(CLUSTER)
    return resolve(snapshot, asked, kubespread.Scheduler(), Surroundings())[1].objects


@pytest.mark.parametrize("case", ASKED)
def test_each_object_stands_once(case: str) -> None:
    objects = resolved(ASKED[case])
    kept = (
        objects.get(ReplicaSet),
        objects.get(ReplicationController),
        objects.get(StatefulSet),
        objects.get(PersistentVolumeClaim),
    )
    assert [[found.metadata.name for found in each] for each in kept] == [["web-1"], ["rc"], ["db"], ["data-db-0"]]


def test_a_claim_of_two_that_ask_for_it_stands_once() -> None:
    assert [claim.metadata.name for claim in resolved(["sts/db", STATEFUL_SET]).get(PersistentVolumeClaim)] == [
        "data-db-0"
    ]
