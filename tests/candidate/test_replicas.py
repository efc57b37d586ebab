"""Which pods count as a workload's replicas."""

from __future__ import annotations

import pytest

import kubespread
from tests.builders import Data, hosts, owned_by, pod

TEMPLATE: Data = {"metadata": {"labels": {"foo": "bar"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def workload(kind: str, api_version: str = "apps/v1") -> Data:
    selector = {"foo": "bar"} if kind == "ReplicationController" else {"matchLabels": {"foo": "bar"}}
    metadata = {"name": "web", "namespace": "default"}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": {"replicas": 3, "selector": selector, "template": TEMPLATE},
    }


def owned(name: str, kind: str = "ReplicaSet", *, labels: Data | None = None) -> Data:
    made = pod(name, "n0", labels=labels)
    made["metadata"]["ownerReferences"] = owned_by(kind, "web")
    return made


CASES: dict[str, tuple[Data, Data, int]] = {
    "its own": (workload("ReplicaSet"), owned("web-1"), 1),
    "an orphan": (workload("ReplicaSet"), pod("stray", "n0"), 1),
    "an orphan of a replication controller": (workload("ReplicationController", "v1"), pod("stray", "n0"), 1),
    "an orphan with other labels": (workload("ReplicaSet"), pod("stray", "n0", labels={"foo": "baz"}), 0),
    "an orphan elsewhere": (workload("ReplicaSet"), pod("stray", "n0", namespace="other"), 0),
    "another controller's": (workload("ReplicaSet"), owned("web-1", "Job"), 0),
    "its own, let go for its labels": (workload("ReplicaSet"), owned("web-1", labels={"foo": "baz"}), 0),
    "an orphan called like a replica of a StatefulSet": (workload("StatefulSet"), pod("web-2", "n0"), 1),
    "an orphan that is not": (workload("StatefulSet"), pod("stray", "n0"), 0),
    "an orphan without the hash of a new ReplicaSet": (workload("Deployment"), pod("stray", "n0"), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_what_counts_as_a_replica(case: str) -> None:
    manifest, running, present = CASES[case]
    report = kubespread.simulate(kubespread.Snapshot.from_objects([*hosts("a", "b"), running]), manifest)
    assert (report.present, report.placed) == (present, 3 - present)


def test_adoption_is_said() -> None:
    report = kubespread.simulate(
        kubespread.Snapshot.from_objects([*hosts("a", "b"), pod("stray", "n0")]), workload("ReplicaSet")
    )
    assert report.notes == ("its controller adopts pods that match its selector and have no controller: stray",)
