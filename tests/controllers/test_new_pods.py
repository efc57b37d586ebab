"""The pod each workload kind creates."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec
import pytest

from kubespread.controllers.pod_creation import PodCreator, generated_name, template_hash
from kubespread.controllers.registry import new_pod
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KIND_OF, UNKNOWN, pod_creator
from kubespread.kube.api.meta import ApiObject

Data = dict[str, Any]

TEMPLATE: Data = {
    "metadata": {"labels": {"app": "web"}, "name": "ignored"},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


class Made(NamedTuple):
    """What a controller makes, as plain objects."""

    pod: Data
    companions: tuple[Data, ...]
    notes: tuple[str, ...]


def workload(kind: str, api_version: str = "apps/v1", template: Data = TEMPLATE, **spec: Any) -> Data:
    full = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}, "spec": full}


def created(data: Data) -> Made:
    row = pod_creator(data["apiVersion"], data["kind"]) or UNKNOWN
    typed: ApiObject = msgspec.convert(data, row.cls)
    typed.metadata.namespace = "prod"
    template = row.pod_template(typed)
    assert template is not None
    text = json.dumps(TEMPLATE, sort_keys=True)
    pod = Pod(metadata=template.metadata, spec=template.spec)
    made = new_pod(PodCreator(data["apiVersion"], data["kind"], typed, pod, text))
    return Made(msgspec.to_builtins(made.pod), tuple(map(plain, made.companions)), made.notes)


def plain(companion: ApiObject) -> Data:
    row = KIND_OF[type(companion)]
    return {"apiVersion": row.api_version, "kind": row.kind, **msgspec.to_builtins(companion)}


def controller(made: Made) -> tuple[str, str, str, bool]:
    (reference,) = made.pod["metadata"]["ownerReferences"]
    return reference["apiVersion"], reference["kind"], reference["name"], reference["controller"]


def hashed(template: Data) -> str:
    return template_hash(json.dumps(template, sort_keys=True))


def test_a_deployments_pod_belongs_to_a_replica_set_of_its_revision() -> None:
    made = created(workload("Deployment"))
    digest = hashed(TEMPLATE)
    assert made.pod["metadata"]["labels"] == {"app": "web", "pod-template-hash": digest}
    assert controller(made) == ("apps/v1", "ReplicaSet", f"web-{digest}", True)
    assert made.pod["metadata"]["name"].startswith(f"web-{digest}-")
    assert made.companions == (
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": f"web-{digest}", "namespace": "prod"},
            "spec": {"selector": {"matchLabels": {"app": "web", "pod-template-hash": digest}}},
            "status": {},
        },
    )
    assert made.notes == (
        f"pod-template-hash {digest} is computed by kubespread; the cluster's own hash for this template will differ",
    )


def spread(**constraint: Any) -> Data:
    return {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", **constraint}]}


def repelled(**term: Any) -> Data:
    terms = [{"topologyKey": "zone", **term}]
    return {**spread(), "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


BY_HASH: dict[str, tuple[Data, bool]] = {
    "default constraints, by the ReplicaSet's selector": ({}, True),
    "a selector without it": (spread(labelSelector={"matchLabels": {"app": "web"}}), False),
    "other keys": (spread(matchLabelKeys=["version"]), False),
    "matchLabelKeys": (spread(matchLabelKeys=["pod-template-hash"]), True),
    "a selector's labels": (spread(labelSelector={"matchLabels": {"pod-template-hash": "1"}}), True),
    "a selector's expressions": (
        spread(labelSelector={"matchExpressions": [{"key": "pod-template-hash", "operator": "Exists"}]}),
        True,
    ),
    "an affinity term without it": (repelled(labelSelector={"matchLabels": {"app": "web"}}), False),
    "an affinity term's matchLabelKeys": (repelled(matchLabelKeys=["pod-template-hash"]), True),
    "an affinity term's mismatchLabelKeys": (repelled(mismatchLabelKeys=["pod-template-hash"]), True),
}


@pytest.mark.parametrize("case", BY_HASH)
def test_the_hash_is_noted_where_pods_are_counted_by_it(case: str) -> None:
    spec, expected = BY_HASH[case]
    made = created(workload("Deployment", template={**TEMPLATE, "spec": {**TEMPLATE["spec"], **spec}}))
    assert bool(made.notes) is expected


def test_the_hash_follows_the_template_and_nothing_else() -> None:
    reordered = {"spec": TEMPLATE["spec"], "metadata": TEMPLATE["metadata"]}
    changed = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "y"}]}}
    assert hashed(reordered) == hashed(TEMPLATE) != hashed(changed)
    assert set(hashed(TEMPLATE)) <= set("456789bcdf")


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
    ) == ("web-3", "web-3", "3")
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
    assert indexed["annotations"] == {"batch.kubernetes.io/job-completion-index": "0"}
    assert "job-name" not in created(workload("Job", "batch/v1", manualSelector=True)).pod["metadata"]["labels"]


def test_a_cron_jobs_pod_belongs_to_a_job_of_an_invented_name() -> None:
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "web"},
        "spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}},
    }
    assert controller(created(cron)) == ("batch/v1", "Job", "web-0", True)


def test_a_pod_template_is_a_bare_pod() -> None:
    made = created({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "web"}, "template": TEMPLATE})
    assert made.pod["metadata"] == {"labels": {"app": "web"}, "namespace": "prod", "name": "web"}


def test_an_unknown_kind_with_a_pod_template_is_taken_as_it_stands() -> None:
    made = created(workload("CloneSet", "apps.kruise.io/v1alpha1"))
    assert (controller(made), made.pod["metadata"]["labels"]) == (
        ("apps.kruise.io/v1alpha1", "CloneSet", "web", True),
        {"app": "web"},
    )
    assert "CloneSet.apps.kruise.io is not a kind kubespread knows" in made.notes[0]
    assert created(workload("Rollout", "argoproj.io/v1alpha1")).notes[0].startswith("Rollout.argoproj.io: its pod")


def test_a_generated_name_depends_on_nothing_but_the_input() -> None:
    name = generated_name("p-", "seed")
    assert (name[:2], len(name), generated_name("p-", "seed"), generated_name("", "seed")) == ("p-", 7, name, "")


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
    made = created(workload(kind, api_version))
    assert (controller(made), made.companions) == ((api_version, kind, "web", True), ())
    assert made.pod["metadata"]["labels"] == {"app": "web"}
    assert "is not a kind kubespread knows" in made.notes[0]
