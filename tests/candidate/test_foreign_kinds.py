"""Kinds of other projects: how many pods of which templates, and where in the manifest they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import kubespread
from tests.builders import hosts
from tests.cli.support import CLUSTER, run

Data = dict[str, Any]
SNAPSHOT = kubespread.Snapshot.from_objects(hosts("a", "b"))


def template() -> Data:
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def custom(api_version: str, kind: str, spec: Data) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", "namespace": "default"}, "spec": spec}


def kubeflow(kind: str, field: str) -> Data:
    roles = {"Master": {"template": template()}, "Worker": {"replicas": 3, "template": template()}}
    return custom("kubeflow.org/v1", kind, {field: roles})


def kubeflow_pods(kind: str) -> dict[str | None, int]:
    return {f"{kind}/it-master": 1, f"{kind}/it-worker": 3}


GROUP = {"size": 4, "workerTemplate": template()}
JOBS = [
    {"name": "driver", "template": {"spec": {"template": template()}}},
    {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": template()}}},
]
KINDS: dict[str, tuple[Data, dict[str | None, int]]] = {
    "Argo Rollout": (
        custom("argoproj.io/v1alpha1", "Rollout", {"replicas": 2, "template": template()}),
        {"Rollout/it": 2},
    ),
    "LeaderWorkerSet": (
        custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": GROUP}),
        {"LeaderWorkerSet/it-leader": 2, "LeaderWorkerSet/it-worker": 6},
    ),
    "JobSet": (
        custom("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": JOBS}),
        {"JobSet/it-driver": 1, "JobSet/it-workers": 6},
    ),
    "SparkApplication": (
        custom(
            "sparkoperator.k8s.io/v1beta2",
            "SparkApplication",
            {"driver": {"template": template()}, "executor": {"instances": 5, "template": template()}},
        ),
        {"SparkApplication/it-driver": 1, "SparkApplication/it-executor": 5},
    ),
    "PyTorchJob": (kubeflow("PyTorchJob", "pytorchReplicaSpecs"), kubeflow_pods("PyTorchJob")),
    "TFJob": (kubeflow("TFJob", "tfReplicaSpecs"), kubeflow_pods("TFJob")),
    "Volcano Job": (
        custom("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"name": "ps", "replicas": 2, "template": template()}]}),
        {"Job/it-ps": 2},
    ),
    "Kueue Workload": (
        custom(
            "kueue.x-k8s.io/v1beta1", "Workload", {"podSets": [{"name": "main", "count": 3, "template": template()}]}
        ),
        {"Workload/it-main": 3},
    ),
}


@pytest.mark.parametrize("case", KINDS)
def test_every_template_is_a_workload(case: str) -> None:
    manifest, pods = KINDS[case]
    reports = kubespread.simulate(SNAPSHOT, [manifest])
    assert {report.workload: report.placed for report in reports} == pods
    assert not any("skipped" in gap for report in reports for gap in report.gaps)


def test_a_rollout_may_refer_to_a_deployment() -> None:
    selector = {"matchLabels": {"app": "web"}}
    deployment = custom("apps/v1", "Deployment", {"replicas": 0, "selector": selector, "template": template()})
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"}
    rollout = custom("argoproj.io/v1alpha1", "Rollout", {"replicas": 3, "workloadRef": reference})
    both = {"apiVersion": "v1", "kind": "List", "items": [rollout, deployment]}
    reports = kubespread.simulate(SNAPSHOT, [both])
    assert {report.workload: report.placed for report in reports} == {"Rollout/it": 3, "Deployment/it": 0}


def test_what_has_no_template_is_a_gap() -> None:
    machine = custom("kubevirt.io/v1", "VirtualMachine", {"running": True})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": template()["spec"]}
    report = kubespread.explain(SNAPSHOT, {"apiVersion": "v1", "kind": "List", "items": [pod, machine]})
    assert "pods are missing: skipped 1 object of VirtualMachine.kubevirt.io" in report.gaps


def test_faults_are_named_where_they_stand(tmp_path: Path) -> None:
    manifest = tmp_path / "set.yaml"
    group = {"size": 2, "workerTemplate": {**template(), "spec": {**template()["spec"], "nodeSelectors": {}}}}
    spec = {"leaderWorkerTemplate": {**group, "leaderTemplate": template()}}
    manifest.write_text(yaml.safe_dump(custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)))
    path = "spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelectors"
    line = manifest.read_text().splitlines().index("        nodeSelectors: {}") + 1
    result = run("simulate", manifest, "-S", CLUSTER, "-q", "-o", "name")
    assert (result.code, result.out, result.err) == (
        2,
        "default/it-leader-0\tnode4\n",
        f'error: {manifest}:{line}: {path}: strict decoding error: unknown field "{path}", '
        f'did you mean "{path.removesuffix("s")}"?\n',
    )


def test_a_kind_nobody_knows_with_its_template_elsewhere_is_no_workload(tmp_path: Path) -> None:
    manifest = tmp_path / "set.yaml"
    fleet = custom("example.com/v1", "Fleet", {"replicas": 2, "member": {"pod": template()}})
    manifest.write_text(yaml.safe_dump(fleet))
    unknown = run("simulate", manifest, "-S", CLUSTER)
    assert unknown == (2, "", f"error: {manifest}: expected a Pod or a workload, found Fleet.example.com\n")
