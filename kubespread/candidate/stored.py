"""The pod that is in the cluster already, or that a workload in the cluster would make next: ``pod/web-0``,
``deploy/web``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from kubespread.candidate.candidate import Candidate, Surroundings, WorkloadName
from kubespread.candidate.manifests import from_object
from kubespread.candidate.rescheduling import scheduled_again
from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.api.annotations import REVISION
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS, Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.snapshot.snapshot import Snapshot

T = TypeVar("T", bound=ApiObject)

_REFERENCE = re.compile(r"(?P<kind>[A-Za-z]+)(?:\.[a-z0-9.]+)?/(?P<name>[a-z0-9][a-z0-9.-]*)")
_REVISION = re.compile(r"[0-9]{1,18}")
_TEMPLATE_HASH = "pod-template-hash"


_REFERABLE = tuple(row for row in POD_CREATORS.values() if row.short)
_BY_ALIAS: Mapping[str, Kind] = {
    alias: row for row in _REFERABLE for alias in (row.short, row.kind.lower(), row.plural)
}


def is_reference(text: str) -> bool:
    """Whether ``text`` is KIND/NAME of a kind that creates pods, as kubectl would take it."""
    match = _REFERENCE.fullmatch(text)
    return match is not None and match["kind"].lower() in _BY_ALIAS


def reference_kinds() -> str:
    """The kinds of `is_reference`, as short as kubectl takes them."""
    return ", ".join(kind.short for kind in _REFERABLE)


def from_cluster(reference: str, snapshot: Snapshot, surroundings: Surroundings) -> Candidate:
    """The candidate that ``reference`` names. Raises UsageError, SnapshotError and ManifestError.

    A pod that has no node yet is asked about as it stands. One that runs is asked about as if it were scheduled again.
    """
    match = _REFERENCE.fullmatch(reference)
    assert match is not None
    kind, name = _BY_ALIAS[match["kind"].lower()], match["name"]
    namespace = surroundings.namespace or surroundings.context_namespace
    if kind.kind == "Pod":
        return _from_pod(_find(snapshot.pods, kind, namespace, name), surroundings)
    if unread := snapshot.origin.unread.get(kind.kind):
        raise SnapshotError(f'{kind.resource} "{name}" cannot be looked up: {unread}')
    found = _find(getattr(snapshot.objects, kind.field), kind, namespace, name)
    notes: tuple[str, ...] = ()
    asked, replicas = WorkloadName(kind.kind, namespace, name), getattr(found.spec, "replicas", None)
    if isinstance(found, Deployment):
        current = _current_replica_set(found, snapshot.objects.replica_sets)
        if current is not None:
            kind, found = _BY_ALIAS["rs"], current
            notes = (f"deployment {name}: as another pod of its ReplicaSet {current.metadata.name}",)
    data = {"apiVersion": kind.api_version, "kind": kind.kind, **msgspec.to_builtins(found)}
    if kind.kind == "StatefulSet":
        data["spec"] = _with_free_ordinal(data["spec"], name, namespace, snapshot.pods)
    made = from_object(data, replace(surroundings, name=None, namespace=None))
    return replace(
        made,
        notes=(*notes, *made.notes),
        workload=asked,
        replicas=made.replicas if replicas is None else replicas,
        template=None,
    )


def _find(among: Sequence[T], kind: Kind, namespace: str, name: str) -> T:
    for found in among:
        if found.metadata.name == name and found.metadata.namespace == namespace:
            return found
    elsewhere = sorted(found.metadata.namespace for found in among if found.metadata.name == name)
    hint = (
        f"; there is one in namespace {', '.join(elsewhere)}"
        if elsewhere
        else ""
        if among
        else f"; no {kind.kind} was read at all"
    )
    raise UsageError(f'{kind.resource} "{name}" not found in namespace {namespace}{hint}')


def _from_pod(found: Pod, surroundings: Surroundings) -> Candidate:
    # Its parts are shared with other pods, so what follows works on a copy.
    pod = msgspec.json.decode(msgspec.json.encode(found), type=Pod)
    return Candidate(pod, notes=(*scheduled_again(pod), *drop_fields(pod, surroundings.version)), is_stored=True)


def _current_replica_set(deployment: Deployment, replica_sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet of the deployment's newest revision, if it has the deployment's template: its hash is the real
    one.
    """
    named = WorkloadName("Deployment", deployment.metadata.namespace, deployment.metadata.name)
    newest = newest_replica_set(named, replica_sets)
    return newest if newest is not None and _template(newest) == _template(deployment) else None


def newest_replica_set(deployment: WorkloadName, replica_sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet of the deployment's newest revision."""
    owned = [
        found
        for found in replica_sets
        if found.metadata.namespace == deployment.namespace
        and any(
            (owner.kind, owner.name) == (deployment.kind, deployment.name) for owner in found.metadata.owner_references
        )
    ]
    return max(owned, key=_revision, default=None)


def _revision(replica_set: ReplicaSet) -> int:
    revision = replica_set.metadata.annotations.get(REVISION, "")
    return int(revision) if _REVISION.fullmatch(revision) else 0


def _template(workload: Deployment | ReplicaSet) -> Any:
    plain = msgspec.to_builtins(workload.spec.template)
    if plain is not None:
        plain["metadata"].get("labels", {}).pop(_TEMPLATE_HASH, None)
    return plain


def _with_free_ordinal(spec: dict[str, Any], name: str, namespace: str, pods: Sequence[Pod]) -> dict[str, Any]:
    """The spec, its first ordinal the lowest that no pod has yet."""
    taken = {pod.metadata.name for pod in pods if pod.metadata.namespace == namespace}
    ordinal = spec.get("ordinals", {}).get("start", 0)
    while f"{name}-{ordinal}" in taken:
        ordinal += 1
    return {**spec, "ordinals": {"start": ordinal}}
