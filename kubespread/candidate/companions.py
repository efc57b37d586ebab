"""Objects that a candidate brings along: what its manifests hold beside it, and what its controller makes before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from kubespread.candidate.manifests import Manifest, handled_as
from kubespread.errors import Fault, ManifestError, SnapshotError
from kubespread.kube.admission.defaulting import default_storage_class
from kubespread.kube.admission.quota import with_usage
from kubespread.kube.api.cluster_objects import FIELDS, ClusterObjects
from kubespread.kube.api.decoding import DecodingError, normalized
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubespread.kube.api.workloads import WORKLOADS
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.snapshot import CLUSTER_SCOPED, READ_KINDS, Snapshot, SnapshotBuilder, TypedReader

T = TypeVar("T", bound=ApiObject)

_WORKLOADS: tuple[type[ApiObject], ...] = tuple(cls for cls in WORKLOADS.values() if issubclass(cls, ApiObject))
# Kubernetes' controllers have written to these: what the cluster has of them is further than what a manifest says.
_KEPT: tuple[type[ApiObject], ...] = (PersistentVolume, PersistentVolumeClaim, *_WORKLOADS)
# These only say what others are; the rest of the workloads in a manifest are candidates and nothing else.
_SELECTING = ("ReplicaSet", "StatefulSet", "ReplicationController")


def with_given(snapshot: Snapshot, manifests: Iterable[Manifest], namespace: str) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster with all that scheduling reads of the manifests beside pods and workloads, and notes on it.

    Quotas say what is used, the new ones too. ``namespace`` is that of objects that name none. Raises ManifestError for
    values of the wrong type, and SnapshotError where admission would compute with amounts that are none.
    """
    notes: list[str] = []
    for manifest in manifests:
        notes += manifest.notes
        given = _typed(manifest, namespace)
        snapshot = _applied(snapshot, given) if given else snapshot
        names: dict[str, list[str]] = {}
        for found in given:
            if not isinstance(found, _WORKLOADS):
                names.setdefault(type(found).__name__, []).append(found.metadata.name)
        if names:
            listed = ", ".join(f"{kind} {', '.join(of_kind)}" for kind, of_kind in names.items())
            notes.append(f"taken to be in the cluster, since {manifest.file} brings it: {listed}")
    _check_amounts(snapshot.objects)
    quotas = with_usage(snapshot.objects.resource_quotas, snapshot.pods)
    return replace(snapshot, objects=replace(snapshot.objects, resource_quotas=quotas)), tuple(notes)


def _typed(manifest: Manifest, namespace: str) -> list[ApiObject]:
    reader, typed = TypedReader(), []
    for item in manifest.found:
        cls = READ_KINDS.get((item.api_version, item.kind))
        if cls is None or (item.kind in WORKLOADS and item.kind not in _SELECTING):
            continue
        try:
            found = reader.read_plain(normalized(item.data, cls))
        except DecodingError as error:
            if item.kind in WORKLOADS:
                continue  # Said where it is asked about.
            raise ManifestError(manifest.file, [_fault(manifest, item, error)]) from error
        if found is not None and found.metadata.name:
            if not isinstance(found, CLUSTER_SCOPED):
                found.metadata.namespace = found.metadata.namespace or namespace
            typed.append(found)
    return typed


def _check_amounts(objects: ClusterObjects) -> None:
    for found in (*objects.limit_ranges, *objects.resource_quotas, *objects.runtime_classes):
        try:
            normalized(msgspec.to_builtins(found), type(found))
        except DecodingError as error:
            name = "/".join(filter(None, (found.metadata.namespace, found.metadata.name)))
            raise SnapshotError(f"{type(found).__name__} {name}: {error.path}: {error}") from error


def _fault(manifest: Manifest, item: KubernetesObject, error: DecodingError) -> Fault:
    line = FieldLines(manifest.text).line(item.document, item.field(error.path)) if manifest.text is not None else None
    return Fault(f"{handled_as(item)}{error}", item.field(error.path), line)


def _applied(snapshot: Snapshot, given: Sequence[ApiObject]) -> Snapshot:
    builder = SnapshotBuilder()
    for found in given:
        builder.add(found)
    added, known = builder.build(), snapshot.objects
    fields: dict[str, Any] = {
        name: _over(getattr(known, name), getattr(added.objects, name)) for _, name in FIELDS.values()
    }
    unknown = {type(found).__name__ for found in given if not known.knows(type(found))}
    objects = replace(known, **fields, partly_known=known.partly_known | unknown)
    before = {id(claim) for claim in known.persistent_volume_claims}
    for claim in objects.persistent_volume_claims:
        if id(claim) not in before:
            default_storage_class(claim, objects.storage_classes)
    return replace(snapshot, nodes=_over(snapshot.nodes, added.nodes), objects=objects)


def _over(known: tuple[T, ...], given: tuple[T, ...]) -> tuple[T, ...]:
    """As if ``given`` were applied: what is there already keeps its status, or stays as it is."""
    if not given:
        return known
    by_name = {(found.metadata.namespace, found.metadata.name): found for found in known}
    for found in given:
        key = (found.metadata.namespace, found.metadata.name)
        there = by_name.get(key)
        if there is not None:
            if isinstance(found, _KEPT):
                continue
            if hasattr(there, "status"):
                found.status = there.status  # type: ignore[attr-defined]  # of the kinds that have one
        by_name[key] = found
    return tuple(by_name.values())


def with_companions(objects: ClusterObjects, companions: Iterable[Mapping[str, Any]]) -> ClusterObjects:
    """The cluster's objects, with what the candidate's own controller adds first: it is the newer of two alike."""
    added = Snapshot.from_objects(companions).objects
    return replace(
        objects,
        persistent_volume_claims=(*objects.persistent_volume_claims, *_claims_to_come(objects, added)),
        replication_controllers=(*added.replication_controllers, *objects.replication_controllers),
        replica_sets=(*added.replica_sets, *objects.replica_sets),
        stateful_sets=(*added.stateful_sets, *objects.stateful_sets),
    )


def _claims_to_come(objects: ClusterObjects, added: ClusterObjects) -> Iterable[PersistentVolumeClaim]:
    """Claims a StatefulSet would make for its new pod; nothing to go by where its StorageClass was not listed."""
    known = {(claim.metadata.namespace, claim.metadata.name) for claim in objects.persistent_volume_claims}
    classes = {found.metadata.name for found in objects.storage_classes}
    for claim in added.persistent_volume_claims:
        if (claim.metadata.namespace, claim.metadata.name) not in known:
            default_storage_class(claim, objects.storage_classes)
            if objects.knows(StorageClass) or claim.spec.storage_class_name in classes:
                yield claim
