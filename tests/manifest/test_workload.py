"""The pod each workload kind creates."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.workload import PodManifest, is_workload, named, pod_manifest, pod_template_hash

Data = dict[str, Any]

TEMPLATE: Data = {
    "metadata": {"labels": {"app": "web"}, "name": "ignored"},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


def workload(kind: str, api_version: str = "apps/v1", template: Data = TEMPLATE, **spec: Any) -> KubernetesObject:
    full = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return KubernetesObject({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}, "spec": full})


def created(found: KubernetesObject) -> PodManifest:
    return pod_manifest(found, "prod")


def controller(made: PodManifest) -> tuple[str, str, str, bool]:
    (reference,) = made.pod["metadata"]["ownerReferences"]
    return reference["apiVersion"], reference["kind"], reference["name"], reference["controller"]


def test_a_deployments_pod_belongs_to_a_replica_set_of_its_revision() -> None:
    made = created(workload("Deployment"))
    digest = pod_template_hash(TEMPLATE)
    assert made.pod["metadata"]["labels"] == {"app": "web", "pod-template-hash": digest}
    assert controller(made) == ("apps/v1", "ReplicaSet", f"web-{digest}", True)
    assert made.pod["metadata"]["name"].startswith(f"web-{digest}-")
    assert made.companions == (
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": f"web-{digest}", "namespace": "prod"},
            "spec": {"selector": {"matchLabels": {"app": "web", "pod-template-hash": digest}}},
        },
    )
    assert made.notes == (
        f"pod-template-hash {digest} is computed by kubespread; the cluster's own hash for this template will differ",
    )


def test_the_hash_follows_the_template_and_nothing_else() -> None:
    reordered = {"spec": TEMPLATE["spec"], "metadata": TEMPLATE["metadata"]}
    changed = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "y"}]}}
    assert pod_template_hash(reordered) == pod_template_hash(TEMPLATE) != pod_template_hash(changed)
    assert set(pod_template_hash(TEMPLATE)) <= set("456789bcdf")


def test_a_replica_sets_pod_has_the_templates_labels_only() -> None:
    made = created(workload("ReplicaSet"))
    assert (made.pod["metadata"]["labels"], controller(made)) == (
        {"app": "web"},
        ("apps/v1", "ReplicaSet", "web", True),
    )
    assert made.companions[0]["metadata"] == {"name": "web", "namespace": "prod"}


def test_a_replication_controller_selects_its_templates_labels_by_default() -> None:
    made = created(workload("ReplicationController", "v1", selector=None))
    assert (controller(made), made.companions[0]["spec"]) == (
        ("v1", "ReplicationController", "web", True),
        {"selector": {"app": "web"}},
    )


def test_a_stateful_sets_pod_has_its_ordinal_and_its_claims() -> None:
    template = {
        **TEMPLATE,
        "spec": {**TEMPLATE["spec"], "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]},
    }
    made = created(
        workload(
            "StatefulSet",
            template=template,
            ordinals={"start": 3},
            volumeClaimTemplates=[{"metadata": {"name": "data"}}],
        )
    )
    labels = made.pod["metadata"]["labels"]
    assert (
        made.pod["metadata"]["name"],
        labels["statefulset.kubernetes.io/pod-name"],
        labels["apps.kubernetes.io/pod-index"],
    ) == (
        "web-3",
        "web-3",
        "3",
    )
    assert labels["controller-revision-hash"].startswith("web-")
    assert made.pod["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-3"}},
        {"name": "tmp", "emptyDir": {}},
    ]


def test_a_daemon_sets_pod_tolerates_what_its_controller_says() -> None:
    mine = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    template = {
        **TEMPLATE,
        "spec": {**TEMPLATE["spec"], "hostNetwork": True, "tolerations": [mine, {"key": "x", "operator": "Exists"}]},
    }
    tolerations = created(workload("DaemonSet", template=template)).pod["spec"]["tolerations"]
    assert tolerations[0] == {"key": "x", "operator": "Exists"}
    assert [(given["key"].partition("/")[2], given["effect"]) for given in tolerations[1:]] == [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
        ("network-unavailable", "NoSchedule"),
    ]


def test_a_jobs_pod_has_the_jobs_labels() -> None:
    labels = created(workload("Job", "batch/v1")).pod["metadata"]["labels"]
    assert (labels["batch.kubernetes.io/job-name"], labels["job-name"]) == ("web", "web")
    assert labels["batch.kubernetes.io/controller-uid"] == labels["controller-uid"]
    indexed = created(workload("Job", "batch/v1", completionMode="Indexed")).pod["metadata"]
    assert (indexed["labels"]["batch.kubernetes.io/job-completion-index"], indexed["name"][:6]) == ("0", "web-0-")
    assert "job-name" not in created(workload("Job", "batch/v1", manualSelector=True)).pod["metadata"]["labels"]


def test_a_cron_jobs_pod_belongs_to_a_job_of_an_invented_name() -> None:
    cron = KubernetesObject(
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "web"},
            "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}},
        }
    )
    made = created(cron)
    assert (controller(made), made.template_path) == (
        ("batch/v1", "Job", "web-0", True),
        "spec.jobTemplate.spec.template",
    )


def test_a_pod_template_is_a_bare_pod() -> None:
    made = created(
        KubernetesObject({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "web"}, "template": TEMPLATE})
    )
    assert made.pod["metadata"] == {"labels": {"app": "web"}, "namespace": "prod", "name": "web"}


def test_an_unknown_kind_with_a_pod_template_is_taken_as_it_stands() -> None:
    rollout = workload("Rollout", "argoproj.io/v1alpha1")
    made = created(rollout)
    assert is_workload(rollout)
    assert (controller(made), made.pod["metadata"]["labels"]) == (
        ("argoproj.io/v1alpha1", "Rollout", "web", True),
        {"app": "web"},
    )
    assert "Rollout.argoproj.io is not a kind kubespread knows" in made.notes[0]


@pytest.mark.parametrize("kind", ["Pod", "Job", "Deployment"])
def test_an_object_keeps_its_name_or_gets_a_generated_one(kind: str) -> None:
    given = KubernetesObject({"kind": kind, "metadata": {"name": "p", "generateName": "q-"}, "spec": {}})
    generated = KubernetesObject({"kind": kind, "metadata": {"generateName": "p-"}, "spec": {}})
    name = named(generated).name
    assert (named(given), name[:2], len(name), named(generated).name) == (given, "p-", 7, name)


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [
        ("Job", "batch.example.com/v1"),
        ("Deployment", "example.com/v1"),
        ("Deployment", "v1"),
        ("Pod", "example.com/v1"),
    ],
)
def test_a_namesake_in_another_group_is_an_unknown_kind(kind: str, api_version: str) -> None:
    namesake = workload(kind, api_version)
    made = created(namesake)
    assert (is_workload(namesake), controller(made), made.companions) == (True, (api_version, kind, "web", True), ())
    assert made.pod["metadata"]["labels"] == {"app": "web"}
    assert "is not a kind kubespread knows" in made.notes[0]


def test_a_namesake_without_a_pod_template_is_no_workload() -> None:
    tasks = [{"replicas": 3, "template": TEMPLATE}]
    assert not is_workload(
        KubernetesObject({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": tasks}})
    )


@pytest.mark.parametrize("kind", ["Service", "ConfigMap", ""])
def test_other_kinds_are_no_workloads(kind: str) -> None:
    assert not is_workload(KubernetesObject({"kind": kind, "spec": {"selector": {}}}))


def test_a_workload_without_a_template_is_refused() -> None:
    with pytest.raises(MalformedError, match="spec.template: expected a pod template, found null"):
        created(KubernetesObject({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {}}))
