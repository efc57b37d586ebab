"""Objects that a candidate brings along: what its manifests hold beside it, and what its controller makes before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from kubespread.candidate.manifest_file import Manifest
from kubespread.errors import SnapshotError
from kubespread.kube.admission.defaulting import default_claim, default_storage_class
from kubespread.kube.admission.quota import with_usage
from kubespread.kube.api.cluster_objects import FIELDS, ClusterObjects
from kubespread.kube.api.decoding import DecodingError, normalized
from kubespread.kube.api.kinds import NAMESPACED, POD_CREATORS, READ
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubespread.kube.owners import SELECTING_CONTROLLERS
from kubespread.snapshot.snapshot import Snapshot, SnapshotBuilder, TypedReader

T = TypeVar("T", bound=ApiObject)

_WORKLOADS = tuple(row.cls for row in POD_CREATORS.values())
# Kubernetes' controllers have written to these: what the cluster has of them is further than what a manifest says.
_KEPT: tuple[type[ApiObject], ...] = (PersistentVolume, PersistentVolumeClaim, *_WORKLOADS)


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
    for item in manifest.items:
        name = item.api_version, item.kind
        cls = READ.get(name)
        is_workload = cls is not None and issubclass(cls, _WORKLOADS)
        # Some only say what others are; the rest of the workloads in a manifest are candidates and nothing else.
        if cls is None or (is_workload and name not in SELECTING_CONTROLLERS):
            continue
        try:
            found = reader.read_plain(normalized(item.data, cls))
        except DecodingError as error:
            if is_workload:
                continue  # Said where it is asked about.
            raise manifest.place(item).undecodable(error) from error
        if found is not None and found.metadata.name:
            if isinstance(found, NAMESPACED):
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


def _applied(snapshot: Snapshot, given: Sequence[ApiObject]) -> Snapshot:
    builder = SnapshotBuilder()
    for found in given:
        builder.add(found)
    added, known = builder.build(), snapshot.objects
    fields: dict[str, Any] = {
        name: _over(getattr(known, name), getattr(added.objects, name)) for name in FIELDS.values()
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
    by_name = {_key(found): found for found in known}
    for found in given:
        key = _key(found)
        there = by_name.get(key)
        if there is not None:
            if isinstance(found, _KEPT):
                continue
            if hasattr(there, "status"):
                found.status = there.status  # type: ignore[attr-defined]  # of the kinds that have one
        by_name[key] = found
    return tuple(by_name.values())


def with_companions(objects: ClusterObjects, companions: Sequence[ApiObject]) -> ClusterObjects:
    """The cluster's objects, with what the candidate's own controller adds first: it is the newer of two alike."""
    claims = [found for found in companions if isinstance(found, PersistentVolumeClaim)]
    fields: dict[str, Any] = {
        field: _first([found for found in companions if FIELDS[type(found)] == field], getattr(objects, field))
        for field in SELECTING_CONTROLLERS.values()
    }
    known = objects.persistent_volume_claims
    return replace(objects, **fields, persistent_volume_claims=(*known, *_claims_to_come(objects, claims)))


def _first(added: Sequence[ApiObject], known: Sequence[ApiObject]) -> tuple[ApiObject, ...]:
    names = set(map(_key, added))
    return (*added, *(found for found in known if _key(found) not in names))


def _claims_to_come(
    objects: ClusterObjects, claims: Iterable[PersistentVolumeClaim]
) -> Iterable[PersistentVolumeClaim]:
    """Claims a StatefulSet would make for its new pod; nothing to go by where its StorageClass was not listed."""
    known = set(map(_key, objects.persistent_volume_claims))
    classes = {found.metadata.name for found in objects.storage_classes}
    for claim in claims:
        if _key(claim) not in known:
            default_claim(claim)
            default_storage_class(claim, objects.storage_classes)
            if objects.knows(StorageClass) or claim.spec.storage_class_name in classes:
                yield claim


def _key(found: ApiObject) -> tuple[str, str]:
    return found.metadata.namespace, found.metadata.name
