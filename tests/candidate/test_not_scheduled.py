"""Pods that kube-scheduler is not asked about, or that nobody makes: that is said, whoever asks."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import Snapshot
from tests.builders import Data, node, owned_by, pod

JOB: Data = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "later", "namespace": "default", "uid": "u"},
    "spec": {"suspend": True, "template": {"spec": pod()["spec"] | {"restartPolicy": "Never"}}},
}
CRON_JOB: Data = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly", "namespace": "default"},
    "spec": {"schedule": "0 0 * * *", "suspend": True, "jobTemplate": {"spec": {"template": JOB["spec"]["template"]}}},
}
SUSPENDED = "is suspended and makes no pods: its pods are those once it is resumed"
STATIC = (
    "Pod/web is a static pod: the kubelet of its node runs it whatever kube-scheduler would say; it is judged as if it "
    "were any other pod"
)


def with_metadata(**metadata: Any) -> Data:
    made = pod()
    made["metadata"] |= metadata
    return made


CASES: dict[str, tuple[Data, str]] = {
    "a suspended Job": (JOB, f"Job/later {SUSPENDED}"),
    "a suspended CronJob": (CRON_JOB, f"CronJob/nightly {SUSPENDED}"),
    "a pod from a file": (with_metadata(annotations={"kubernetes.io/config.source": "file"}), STATIC),
    "a mirror pod as it is stored": (with_metadata(annotations={"kubernetes.io/config.mirror": "x"}, uid="u"), STATIC),
    "a pod of a node": (with_metadata(ownerReferences=owned_by("Node", "n0", api_version="v1")), STATIC),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_not_scheduled_says_so(case: str) -> None:
    manifest, note = CASES[case]
    cluster = Snapshot.from_objects([node("n0")])
    assert note in kubespread.simulate(cluster, manifest).notes
    assert note in kubespread.explain(cluster, manifest).notes


def test_a_static_pod_of_the_cluster_says_so() -> None:
    mirror = with_metadata(annotations={"kubernetes.io/config.mirror": "x"})
    mirror["spec"]["nodeName"] = "n0"
    assert STATIC in kubespread.explain(Snapshot.from_objects([node("n0"), mirror]), "pod/web").notes


def test_others_say_nothing_of_it() -> None:
    notes = kubespread.simulate(Snapshot.from_objects([node("n0")]), pod()).notes
    assert not any("static pod" in note or "suspended" in note for note in notes)
