"""Pods and workloads as ``kubectl get -o yaml`` prints them: stored once already."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import Data, hard, hosts, owned_by, pod, pods_on

ZONE = "topology.kubernetes.io/zone"
SERVER_SET: Data = {
    "uid": "0f3c6b1e-7a51-4d0b-9a55-0c8b0e5b8c11",
    "resourceVersion": "4711",
    "creationTimestamp": "2026-11-20T10:00:00Z",
    "generation": 1,
    "managedFields": [
        {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {}}}
    ],
}
STATUS: Data = {
    "phase": "Running",
    "qosClass": "BestEffort",
    "hostIP": "10.0.0.1",
    "podIPs": [{"ip": "10.1.0.1"}],
    "startTime": "2026-11-20T10:00:01Z",
    "conditions": [
        {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-11-20T10:00:02Z"}
    ],
    "containerStatuses": [
        {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {"startedAt": "2026-11-20T10:00:02Z"}}}
    ],
}


def stored(name: str = "web-abc12", on: str | None = "n0", *, status: Data = STATUS, **more: Any) -> Data:
    made = pod(
        name, on, serviceAccountName="default", terminationGracePeriodSeconds=30, enableServiceLinks=True, **more
    )
    metadata = {
        **made["metadata"],
        **SERVER_SET,
        "generateName": "web-",
        "ownerReferences": owned_by("ReplicaSet", "web"),
    }
    return {**made, "metadata": metadata, "status": status}


def ask(candidate: Data, *objects: Data) -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects([*hosts("a", "a", "b"), *objects]), candidate)


RUNS = "pod default/web-abc12 runs on n0; it is asked about as if it were scheduled again, without itself"


def test_a_running_pod_is_asked_about_without_itself() -> None:
    running = stored(constraints=[hard(ZONE)])
    report = ask(running, running)
    assert (report.feasible, report.notes, report.constraints[0].domains[0].matching) == (
        ("n0", "n1", "n2"),
        (RUNS,),
        0,
    )


def test_a_running_pod_of_another_cluster_is_asked_about_too() -> None:
    report = ask(stored(constraints=[hard(ZONE)]), *pods_on({"n0": 1}))
    assert (report.feasible, report.notes) == (("n2",), (RUNS,))


def test_a_pending_pod_is_asked_about_as_it_stands() -> None:
    report = ask(
        stored(
            on=None,
            status={"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3"}]},
        )
    )
    assert (report.feasible, report.notes) == (("n0", "n1", "n2"), ())


def test_label_keys_are_merged_once() -> None:
    selector = {"matchLabels": {"foo": "bar"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["x"]}]}
    constraint = {**hard(ZONE, matchLabelKeys=["tier"]), "labelSelector": selector}
    report = ask(stored(labels={"foo": "bar", "tier": "x"}, constraints=[constraint]))
    assert report.constraints[0].selector == "foo=bar,tier=x"


def test_a_pod_that_has_ended_is_not_scheduled_again() -> None:
    with pytest.raises(
        kubespread.UsageError, match=r"^pod default/web-abc12 has ended \(Failed\): it is not scheduled again$"
    ):
        ask(stored(status={"phase": "Failed"}))


def test_a_manifest_that_names_its_node_is_said_to_need_no_scheduler() -> None:
    report = ask(pod(on="n1"))
    assert (report.feasible, report.notes) == (
        ("n1",),
        ("spec.nodeName is n1: kube-scheduler never sees such a pod; its filters are asked all the same",),
    )


def workload(kind: str, api_version: str = "apps/v1", **spec: Any) -> Data:
    template = {
        "metadata": {"creationTimestamp": None, "labels": {"foo": "bar"}},
        "spec": pod(constraints=[hard(ZONE)], restartPolicy="Never" if kind == "Job" else "Always")["spec"],
    }
    selector = {} if kind in ("Job", "CronJob") else {"selector": {"matchLabels": {"foo": "bar"}}}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": "web",
            "namespace": "default",
            **SERVER_SET,
            "annotations": {"deployment.kubernetes.io/revision": "3"},
        },
        "spec": {**selector, "template": template, **spec},
        "status": {
            "replicas": 2,
            "conditions": [{"type": "Available", "lastUpdateTime": "2026-11-20T10:00:00Z"}],
            "observedGeneration": 3,
        },
    }


WORKLOADS = {
    "Deployment": workload("Deployment", replicas=2, progressDeadlineSeconds=600, revisionHistoryLimit=10),
    "StatefulSet": workload("StatefulSet", replicas=2, serviceName="web"),
    "Job": workload("Job", "batch/v1", backoffLimit=6, suspend=False),
    "CronJob": {
        **workload("CronJob", "batch/v1"),
        "spec": {
            "schedule": "* * * * *",
            "jobTemplate": {"metadata": {}, "spec": {"template": workload("Job")["spec"]["template"]}},
        },
    },
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_is_read_back(kind: str) -> None:
    assert ask(WORKLOADS[kind], *pods_on({"n0": 1})).feasible == ("n2",)
