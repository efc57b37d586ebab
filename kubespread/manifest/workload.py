"""The pod a workload's controller would create, and the objects beside it that the scheduler would read.

Source of the rules: the controllers of Kubernetes 1.36 (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kubespread.manifest.objects import KubernetesObject, describe
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.pod_templates import full_kind, group_of

Data = dict[str, Any]

_HASH_ALPHABET = str.maketrans("0123456789", "456789bcdf")
_NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_DAEMON_TOLERATIONS = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)


@dataclass(frozen=True, slots=True)
class PodManifest:
    """A pod to be placed, as plain data.

    ``template_path`` is where its template stands in ``source`` (empty for a bare Pod); ``companions`` are the objects
    a controller would have created before the pod; ``notes`` say what was made up on the way.
    """

    pod: Data
    source: KubernetesObject
    template_path: str = ""
    companions: tuple[Data, ...] = ()
    notes: tuple[str, ...] = ()


def is_workload(found: KubernetesObject) -> bool:
    """Whether ``found`` is a Pod or an object that creates pods, of any kind that embeds a pod template."""
    return built_in_kind(found) in _GROUPS or _has_containers(_at(found.data, "spec.template"))


def built_in_kind(found: KubernetesObject) -> str:
    """The kind of a Pod or of one of Kubernetes' own workloads, empty for its namesakes in other groups and everything
    else.

    An object that does not say its apiVersion, as an item of a list may, is taken for Kubernetes' own.
    """
    is_namesake = found.api_version and group_of(found.api_version) != _GROUPS.get(found.kind)
    return "" if is_namesake or found.kind not in _GROUPS else found.kind


def without_status(found: KubernetesObject) -> tuple[KubernetesObject, Any]:
    """``found`` as the API server takes it for creation, and the status it came with: a client's is never stored."""
    data = dict(found.data)
    status = data.pop("status", None)
    return replace(found, content=data), status


def named(found: KubernetesObject) -> KubernetesObject:
    """``found`` with the name the API server makes of generateName where it has none of its own."""
    metadata = _mapping(found, "metadata")
    name = metadata.get("name") or _generated_name(
        metadata.get("generateName"), [found.document, found.path, found.data]
    )
    return replace(found, content={**found.data, "metadata": {**metadata, "name": name}}) if name else found


def pod_manifest(found: KubernetesObject, namespace: str) -> PodManifest:
    """The pod ``found`` stands for, in ``namespace``. ``found`` holds no nulls, and what is read of it has the API's
    types.

    Raises MalformedError when there is no pod template where one belongs.
    """
    kind = built_in_kind(found)
    if kind == "Pod":
        return PodManifest({**found.data, "metadata": {**_mapping(found, "metadata"), "namespace": namespace}}, found)
    path, build = _TEMPLATES.get(kind, ("spec.template", _any_owner))
    template = _at(found.data, path)
    if not isinstance(template, dict):
        raise MalformedError(f"{found.field(path)}: expected a pod template, found {describe(template)}")
    made = build(found, namespace, template)
    return PodManifest(made.pod, found, path, made.companions, made.notes)


@dataclass(frozen=True, slots=True)
class _Made:
    pod: Data
    companions: tuple[Data, ...] = ()
    notes: tuple[str, ...] = ()


def _deployment(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    digest = pod_template_hash(template)
    label = {"pod-template-hash": digest}
    replica_set = f"{found.name[: 253 - 1 - len(digest)]}-{digest}"
    selector = _mapping(found, "spec").get("selector")
    owned = (
        {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **label}}
        if isinstance(selector, dict)
        else None
    )
    companion = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": replica_set, "namespace": namespace},
        "spec": {"selector": owned},
    }
    pod = _pod(template, namespace, ("apps/v1", "ReplicaSet", replica_set), labels=label)
    note = f"pod-template-hash {digest} is computed by kubespread; the cluster's own hash for this template will differ"
    return _Made(pod, (companion,), (note,))


def _replica_set(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    pod = _pod(template, namespace, ("apps/v1", "ReplicaSet", found.name))
    return _Made(pod, (_in_namespace(found, namespace),))


def _replication_controller(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    pod = _pod(template, namespace, ("v1", "ReplicationController", found.name))
    spec = _mapping(found, "spec")
    # API defaulting: an absent selector is the template's labels.
    selector = spec.get("selector") or _labels(template)
    return _Made(pod, ({**_in_namespace(found, namespace), "spec": {"selector": selector}},))


def _stateful_set(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    spec = _mapping(found, "spec")
    ordinal = (spec.get("ordinals") or {}).get("start") or 0
    name = f"{found.name}-{ordinal}"
    labels = {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(ordinal),
        "controller-revision-hash": f"{found.name}-{pod_template_hash(template)}",
    }
    pod = _pod(template, namespace, ("apps/v1", "StatefulSet", found.name), labels=labels, name=name)
    templates = spec.get("volumeClaimTemplates", [])
    claims = [template.get("metadata", {}).get("name", "") for template in templates]
    kept = [volume for volume in pod["spec"].get("volumes") or () if volume.get("name") not in claims]
    claimed = [{"name": claim, "persistentVolumeClaim": {"claimName": f"{claim}-{name}"}} for claim in claims]
    if claimed:
        pod["spec"] = {**pod["spec"], "volumes": claimed + kept}
    made_claims = [_claim(given, f"{claim}-{name}", namespace) for given, claim in zip(templates, claims, strict=True)]
    return _Made(
        pod, (_in_namespace(found, namespace), *made_claims), ("controller-revision-hash is computed by kubespread",)
    )


def _claim(template: Data, name: str, namespace: str) -> Data:
    metadata = {**template.get("metadata", {}), "name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": template.get("spec", {})}


def _daemon_set(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    labels = {"controller-revision-hash": pod_template_hash(template), "pod-template-generation": "1"}
    pod = _pod(template, namespace, ("apps/v1", "DaemonSet", found.name), labels=labels)
    network = (("network-unavailable", "NoSchedule"),) if pod["spec"].get("hostNetwork") else ()
    tolerations = list(pod["spec"].get("tolerations") or ())
    for key, effect in _DAEMON_TOLERATIONS + network:
        added = {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
        tolerations = [
            given for given in tolerations if {**given, "tolerationSeconds": 0} != {**added, "tolerationSeconds": 0}
        ]
        tolerations.append(added)
    pod["spec"] = {**pod["spec"], "tolerations": tolerations}
    notes = (
        "controller-revision-hash is computed by kubespread",
        "a DaemonSet pins each of its pods to one node; the pod is judged here without that pin",
    )
    return _Made(pod, (_in_namespace(found, namespace),), notes)


def _job(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    return _job_pod(found.data, found.name, namespace, template)


def _cron_job(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    # The controller appends the scheduled minute; any fixed one keeps the answer the same from run to run.
    job = f"{found.name}-0"
    return _job_pod(_at(found.data, "spec.jobTemplate") or {}, job, namespace, template)


def _job_pod(job: Data, name: str, namespace: str, template: Data) -> _Made:
    spec = job.get("spec") or {}
    uid = (job.get("metadata") or {}).get("uid") or str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{namespace}/{name}"))
    labels: Data = {}
    if not spec.get("manualSelector"):
        for prefix in ("batch.kubernetes.io/", ""):
            labels |= {f"{prefix}job-name": name, f"{prefix}controller-uid": uid}
    prefix = name
    if spec.get("completionMode") == "Indexed":
        labels["batch.kubernetes.io/job-completion-index"] = "0"
        prefix = f"{name[: 58 - 3]}-0"
    pod = _pod(template, namespace, ("batch/v1", "Job", name), labels=labels, generate_name=f"{prefix}-")
    return _Made(pod, (), () if (job.get("metadata") or {}).get("uid") else ("the Job's UID is made up by kubespread",))


def _pod_template(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    metadata = {**(template.get("metadata") or {}), "namespace": namespace, "name": found.name}
    return _Made({**template, "metadata": metadata})


def _any_owner(found: KubernetesObject, namespace: str, template: Data) -> _Made:
    pod = _pod(template, namespace, (found.api_version, found.kind, found.name))
    kind = full_kind(found.api_version, found.kind)
    note = (
        f"{kind} is not a kind kubespread knows: its pod template is taken as it stands, without the labels its "
        "controller adds"
    )
    return _Made(pod, (), (note,))


_TEMPLATES: Mapping[str, tuple[str, Callable[[KubernetesObject, str, Data], _Made]]] = {
    "Deployment": ("spec.template", _deployment),
    "ReplicaSet": ("spec.template", _replica_set),
    "ReplicationController": ("spec.template", _replication_controller),
    "StatefulSet": ("spec.template", _stateful_set),
    "DaemonSet": ("spec.template", _daemon_set),
    "Job": ("spec.template", _job),
    "CronJob": ("spec.jobTemplate.spec.template", _cron_job),
    "PodTemplate": ("template", _pod_template),
}


_GROUPS = {
    **dict.fromkeys(("Pod", "PodTemplate", "ReplicationController"), ""),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), "apps"),
    **dict.fromkeys(("Job", "CronJob"), "batch"),
}


def pod_template_hash(template: Data) -> str:
    """32-bit FNV-1a of the template's canonical JSON, in the alphabet of Kubernetes' own hashes.

    Kubernetes hashes a dump of Go structs, which nothing outside Go can reproduce; this one is as stable as the
    template.
    """
    return str(_fnv1a(json.dumps(template, sort_keys=True))).translate(_HASH_ALPHABET)


def _fnv1a(text: str) -> int:
    digest = 0x811C9DC5
    for byte in text.encode():
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return digest


def _generated_name(prefix: object, seed: object) -> str:
    """generateName cut to 58 characters and five characters that depend on nothing but the input."""
    if not isinstance(prefix, str) or not prefix:
        return ""
    digest, suffix = _fnv1a(prefix + json.dumps(seed, sort_keys=True)), ""
    for _ in range(5):
        digest, at = divmod(digest, len(_NAME_ALPHABET))
        suffix += _NAME_ALPHABET[at]
    return prefix[:58] + suffix


def _pod(
    template: Data,
    namespace: str,
    owner: tuple[str, str, str],
    *,
    labels: Data | None = None,
    name: str = "",
    generate_name: str = "",
) -> Data:
    api_version, kind, owner_name = owner
    given = template.get("metadata") or {}
    reference = {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner_name,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "name": name or _generated_name(generate_name or f"{owner_name}-", template),
        "namespace": namespace,
        "labels": {**_labels(template), **(labels or {})},
        "ownerReferences": [reference],
    }
    if given.get("annotations"):
        metadata["annotations"] = given["annotations"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec", {})}


def _labels(template: Data) -> Data:
    metadata = template.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return labels if isinstance(labels, dict) else {}


def _in_namespace(found: KubernetesObject, namespace: str) -> Data:
    return {**found.data, "metadata": {**_mapping(found, "metadata"), "namespace": namespace}}


def _mapping(found: KubernetesObject, path: str) -> Data:
    value = found.data.get(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise MalformedError(f"{found.field(path)}: expected an object, found {describe(value)}")
    return value


def _has_containers(template: Any) -> bool:
    return isinstance(_at(template, "spec.containers"), list)


def _at(data: Any, path: str) -> Any:
    for step in path.split("."):
        data = data.get(step) if isinstance(data, dict) else None
    return data
