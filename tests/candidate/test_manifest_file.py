"""Which objects of a manifest can be asked about, and what they are called."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.candidate.manifest import is_workload
from kubespread.candidate.sources import Surroundings
from kubespread.errors import ManifestError
from kubespread.manifest.objects import KubernetesObject
from tests.candidate.objects import from_object

Data = dict[str, Any]

SPEC: Data = {"containers": [{"name": "c", "image": "x"}]}
TEMPLATE: Data = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
WORKLOAD: Data = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}


def asked_name(kind: str, metadata: Data) -> str:
    """The name in the cluster of the object that was asked about."""
    api_version, spec = {
        "Pod": ("v1", SPEC),
        "Job": ("batch/v1", {"template": {**TEMPLATE, "spec": {**SPEC, "restartPolicy": "Never"}}}),
        "Deployment": ("apps/v1", WORKLOAD),
    }[kind]
    candidate = from_object(
        {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}, Surroundings()
    )
    return candidate.pod.metadata.name if candidate.workload is None else candidate.workload.name


@pytest.mark.parametrize("kind", ["Pod", "Job", "Deployment"])
def test_an_object_keeps_its_name_or_gets_a_generated_one(kind: str) -> None:
    name = asked_name(kind, {"generateName": "p-"})
    assert asked_name(kind, {"name": "p", "generateName": "q-"}) == "p"
    assert (name[:2], len(name), asked_name(kind, {"generateName": "p-"})) == ("p-", 7, name)


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [
        ("Rollout", "argoproj.io/v1alpha1"),
        ("Job", "batch.example.com/v1"),
        ("Deployment", "example.com/v1"),
        ("Deployment", "v1"),
        ("Pod", "example.com/v1"),
    ],
)
def test_whatever_embeds_a_pod_template_is_a_workload(kind: str, api_version: str) -> None:
    assert is_workload(KubernetesObject({"apiVersion": api_version, "kind": kind, "spec": WORKLOAD}))


def test_a_namesake_without_a_pod_template_is_no_workload() -> None:
    tasks = [{"replicas": 3, "template": TEMPLATE}]
    assert not is_workload(
        KubernetesObject({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": tasks}})
    )


@pytest.mark.parametrize("kind", ["Service", "ConfigMap", ""])
def test_other_kinds_are_no_workloads(kind: str) -> None:
    assert not is_workload(KubernetesObject({"kind": kind, "spec": {"selector": {}}}))


def test_a_workload_without_a_template_is_refused() -> None:
    with pytest.raises(ManifestError, match="spec.template: expected a pod template, found null"):
        from_object({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {}}, Surroundings())
