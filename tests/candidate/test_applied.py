"""What kubectl apply changes: whether a workload is rolled out, and what of it stays as others wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

import kubespread
from kubespread.candidate.applied import apply_manifest
from kubespread.candidate.manifest import manifest_of, value_at
from kubespread.candidate.replicas import is_rolled_out
from kubespread.candidate.sources import Surroundings
from kubespread.kube.api.core import Container, PodSpec
from kubespread.kube.api.meta import KubeObject
from kubespread.kube.api.unknown_fields import fields_of
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.templates import CONTAINERS, READ_OF_CONTAINERS, READ_OF_SPEC
from kubespread.kube.well_known import LAST_APPLIED, RESTARTED_AT
from kubespread.snapshot.anonymize import anonymize
from kubespread.snapshot.save import save
from tests.builders import Data, owned_by

PROBE = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5}
DEFAULTED_PROBE = {
    "httpGet": {"path": "/ready", "port": 8080, "scheme": "HTTP"},
    "timeoutSeconds": 1,
    "periodSeconds": 5,
    "successThreshold": 1,
    "failureThreshold": 3,
}
POD_NAME = {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
TOKEN = {"serviceAccountToken": {"path": "token", "audience": "vault"}}
AS_WRITTEN: Data = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": {"checksum/config": "1"}},
            "spec": {
                "serviceAccountName": "web",
                "containers": [
                    {
                        "name": "web",
                        "image": "web:1",
                        "args": ["--verbose", ""],
                        "env": [{"name": "MODE", "value": "fast"}, {"name": "EMPTY", "value": ""}, POD_NAME],
                        "ports": [{"containerPort": 8080}],
                        "resources": {"requests": {"cpu": 0.5}, "limits": {"cpu": "1000m"}},
                        "readinessProbe": PROBE,
                        "volumeMounts": [{"name": "config", "mountPath": "/etc/web", "readOnly": False}],
                    }
                ],
                "volumes": [
                    {"name": "config", "configMap": {"name": "web"}},
                    {"name": "cache", "emptyDir": {"sizeLimit": "1024Mi"}},
                    {"name": "token", "projected": {"sources": [TOKEN]}},
                ],
            },
        },
    },
}


def as_stored() -> Data:
    """What the API server makes of it."""
    stored = deepcopy(AS_WRITTEN)
    stored["metadata"] |= {"namespace": "default", "uid": "u"}
    spec = stored["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    spec |= {
        "serviceAccount": "web",
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "volumes": [
            {"name": "config", "configMap": {"name": "web", "defaultMode": 420}},
            {"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}},
            {
                "name": "token",
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {**TOKEN["serviceAccountToken"], "expirationSeconds": 3600}}],
                },
            },
        ],
    }
    field_ref = {"apiVersion": "v1", "fieldPath": "metadata.name"}
    container |= {
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "env": [
            {"name": "MODE", "value": "fast"},
            {"name": "EMPTY"},
            {"name": "POD", "valueFrom": {"fieldRef": field_ref}},
        ],
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}},
        "readinessProbe": DEFAULTED_PROBE,
        "volumeMounts": [{"name": "config", "mountPath": "/etc/web"}],
    }
    return stored


def changed(data: Data, changes: dict[str, Any]) -> Data:
    """With values at dotted paths of the template, or below ``/`` of the spec; None takes a field away."""
    data = deepcopy(data)
    for path, value in changes.items():
        *above, last = (int(step) if step.isdecimal() else step for step in path.removeprefix("/").split("."))
        inside: Any = data["spec"] if path.startswith("/") else data["spec"]["template"]
        for step in above:
            inside = inside[step] if isinstance(step, int) else inside.setdefault(step, {})
        if value is None:
            del inside[last]
        elif last == "+":
            inside.append(value)
        else:
            inside[last] = value
    return data


C = "spec.containers.0"
CASES: dict[str, tuple[Data, Data, Data | None, bool]] = {
    # What others wrote into the cluster, what is changed in the manifest, what differed in the one applied last.
    "unchanged": ({}, {}, None, False),
    "an annotation, as Helm writes it": ({}, {"metadata.annotations.checksum/config": "2"}, None, True),
    "a variable": ({}, {f"{C}.env.0.value": "slow"}, None, True),
    "a variable more": ({}, {f"{C}.env.+": {"name": "MORE", "value": "x"}}, None, True),
    "variables in another order": (
        {},
        {f"{C}.env": [*reversed(AS_WRITTEN["spec"]["template"]["spec"]["containers"][0]["env"])]},
        None,
        True,
    ),
    "arguments": ({}, {f"{C}.args": ["--quiet"]}, None, True),
    "a command": ({}, {f"{C}.command": ["sh"]}, None, True),
    "a probe": ({}, {f"{C}.livenessProbe": PROBE}, None, True),
    "how often is probed": ({}, {f"{C}.readinessProbe.periodSeconds": 6}, None, True),
    "a default of a probe, written": ({}, {f"{C}.readinessProbe.failureThreshold": 3}, None, False),
    "another ConfigMap": ({}, {"spec.volumes.0.configMap.name": "web-2"}, None, True),
    "a volume from elsewhere": (
        {},
        {"spec.volumes.0": {"name": "config", "secret": {"secretName": "web"}}},
        None,
        True,
    ),
    "a token for longer": (
        {},
        {"spec.volumes.2.projected.sources.0.serviceAccountToken.expirationSeconds": 7200},
        None,
        True,
    ),
    "a service account": ({}, {"spec.serviceAccountName": "other"}, None, True),
    "a security context": ({}, {"spec.securityContext": {"runAsUser": 1}}, None, True),
    "an empty security context of a container": ({}, {f"{C}.securityContext": {}}, None, True),
    "a pull policy": ({}, {f"{C}.imagePullPolicy": "Always"}, None, True),
    "the pull policy that the tag gives": ({}, {f"{C}.imagePullPolicy": "IfNotPresent"}, None, False),
    "a pull secret": ({}, {"spec.imagePullSecrets": [{"name": "registry"}]}, None, True),
    "a grace period": ({}, {"spec.terminationGracePeriodSeconds": 60}, None, True),
    "a limit, written otherwise": ({}, {f"{C}.resources.limits.cpu": 1}, None, False),
    "requests": ({}, {f"{C}.resources.requests.cpu": "501m"}, None, True),
    "a label": ({}, {"metadata.labels.tier": "front"}, None, True),
    "a container more": ({}, {"spec.containers.+": {"name": "log", "image": "log"}}, None, True),
    "replicas": ({}, {"/replicas": 4}, None, False),
    "others restarted it": ({"metadata.annotations": {RESTARTED_AT: "2026", "checksum/config": "1"}}, {}, None, False),
    "others added a container": ({"spec.containers.+": {"name": "mesh", "image": "mesh:1"}}, {}, None, False),
    "others added a variable": ({f"{C}.env.+": {"name": "ZONE", "value": "a"}}, {}, None, False),
    "others added a volume": ({"spec.volumes.+": {"name": "certs", "secret": {"secretName": "c"}}}, {}, None, False),
    "others set what the manifest sets": ({f"{C}.env.0.value": "slow"}, {}, None, True),
    "others set a default that the manifest writes": (
        {f"{C}.readinessProbe.failureThreshold": 9},
        {f"{C}.readinessProbe.failureThreshold": 3},
        None,
        True,
    ),
    "a variable that kubectl never applied is left out": ({}, {f"{C}.env.0": None}, None, False),
    "a variable that kubectl applied is left out": ({}, {f"{C}.env.0": None}, {}, True),
    "a container that kubectl applied is left out": (
        {"spec.containers.+": {"name": "log", "image": "l:1"}},
        {},
        {"spec.containers.+": {"name": "log", "image": "l:1"}},
        True,
    ),
    "an annotation that kubectl applied is left out": ({}, {"metadata.annotations.checksum/config": None}, {}, True),
    # The API server wrote it into serviceAccount too, which nobody removes.
    "the service account that kubectl applied is left out": ({}, {"spec.serviceAccountName": None}, {}, False),
    "arguments that kubectl never applied are left out": ({}, {f"{C}.args": None}, None, False),
}


def cluster(live: Data, last: Data | None = None) -> kubespread.Snapshot:
    stored = changed(as_stored(), live)
    if last is not None:
        stored["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(changed(AS_WRITTEN, last))}
    return kubespread.Snapshot.from_objects([stored])


def rolls_out(snapshot: kubespread.Snapshot, changes: Data) -> bool | None:
    candidate = apply_manifest(manifest_of(changed(AS_WRITTEN, changes)), Surroundings(snapshot))
    return is_rolled_out(candidate, snapshot)


@pytest.mark.parametrize("case", CASES)
def test_what_is_rolled_out(case: str) -> None:
    live, changes, last, expected = CASES[case]
    assert rolls_out(cluster(live, last), changes) is expected


@pytest.mark.parametrize("case", CASES)
def test_a_saved_snapshot_rolls_out_the_same(case: str, tmp_path: Any) -> None:
    live, changes, last, expected = CASES[case]
    save(cluster(live, last), str(tmp_path / "saved.json"))
    again = kubespread.load(tmp_path / "saved.json")
    assert ("verbose" in (tmp_path / "saved.json").read_text(), rolls_out(again, changes)) == (False, expected)


def test_what_is_saved_without_the_rest_does_not_tell(tmp_path: Any) -> None:
    path = tmp_path / "saved.json"
    save(cluster({}), str(path))
    saved = json.loads(path.read_text())
    del saved["items"][0]["spec"]["template"]["unread"]
    path.write_text(json.dumps(saved))
    snapshot = kubespread.load(path)
    image = {f"{C}.image": "web:2"}
    assert [rolls_out(snapshot, changes) for changes in ({}, {f"{C}.args": ["x"]}, image)] == [None, None, True]
    anonymous, _ = anonymize(cluster({}))
    assert "unread" not in msgspec.json.encode(anonymous.objects.get(Deployment)).decode()


def replica_set(digest: str, live: Data) -> Data:
    """That of the Deployment's template with ``live`` changes."""
    template = deepcopy(changed(as_stored(), live)["spec"]["template"])
    template["metadata"]["labels"]["pod-template-hash"] = digest
    labels = template["metadata"]["labels"]
    metadata = {"name": f"web-{digest}", "labels": labels, "ownerReferences": owned_by("Deployment", "web")}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("changes", "digest"), [({}, "6d4cf56db"), ({f"{C}.image": "web:0"}, "5b8f7c9d4"), ({f"{C}.image": "web:2"}, None)]
)
def test_pods_have_the_hash_of_the_replica_set_that_has_their_template(changes: Data, digest: str | None) -> None:
    sets = [replica_set("5b8f7c9d4", {f"{C}.image": "web:0"}), replica_set("6d4cf56db", {})]
    snapshot = kubespread.Snapshot.from_objects([as_stored(), *sets])
    candidate = apply_manifest(manifest_of(changed(AS_WRITTEN, changes)), Surroundings(snapshot))
    own = candidate.pod.metadata.labels["pod-template-hash"]
    assert candidate.pod.metadata.owner_references[0].name == f"web-{own}"
    assert (own if own in {"5b8f7c9d4", "6d4cf56db"} else None) == digest
    assert [note for note in candidate.notes if "is computed by kubespread" in note] == (
        []
        if digest
        else [
            f"pod-template-hash {own} is computed by kubespread; the cluster's own hash for this template will differ"
        ]
    )


NUMBERS: dict[str, tuple[Data, Data, Data | None, int | None]] = {
    "the manifest's": ({"/replicas": 7}, {}, None, 3),
    "an autoscaler's, which the manifest leaves alone": ({"/replicas": 7}, {"/replicas": None}, None, None),
    "1, the default, where kubectl applied another": ({"/replicas": 7}, {"/replicas": None}, {}, 1),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_which_number_of_replicas_counts(case: str) -> None:
    live, changes, last, expected = NUMBERS[case]
    candidate = apply_manifest(manifest_of(changed(AS_WRITTEN, changes)), Surroundings(cluster(live, last)))
    assert candidate.object is not None
    assert value_at(msgspec.to_builtins(candidate.object), "spec.replicas") == expected


def test_fields_that_count_as_decoded_are_decoded_whole() -> None:
    """Else what differs below them goes unseen."""
    assert not READ_OF_SPEC & {*CONTAINERS, "volumes"}
    below = [*not_decoded(PodSpec, "PodSpec", READ_OF_SPEC), *not_decoded(Container, "Container", READ_OF_CONTAINERS)]
    assert below == ["PodResourceClaim.source"]  # Up to Kubernetes 1.30, when its fields moved up.


def not_decoded(cls: type[KubeObject], name: str, only: Iterable[str]) -> Iterator[str]:
    """The fields of a type of the API, below those named, that are not decoded."""
    hints = get_type_hints(cls)
    types = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(cls)}
    for field, shape in fields_of(name).items():
        below = shape.removeprefix("[]")
        if field not in only:
            continue
        if field not in types:
            yield f"{name}.{field}"
        for inner in (types.get(field), *get_args(types.get(field))):
            if isinstance(inner, type) and issubclass(inner, KubeObject):
                yield from not_decoded(inner, below, fields_of(below))
