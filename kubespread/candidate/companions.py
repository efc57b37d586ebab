"""Objects that a candidate brings along: what its manifests hold beside it, and what its controller makes before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import msgspec

from kubespread.candidate.manifest import Manifest
from kubespread.controllers.persistentvolume import reconcile
from kubespread.controllers.pod_creation import admitted_claims
from kubespread.errors import SnapshotError
from kubespread.kube.admission.defaulting import default_storage_class
from kubespread.kube.admission.quota import with_usage
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubespread.kube.api.core import LimitRange, ResourceQuota, RuntimeClass
from kubespread.kube.api.decoding import DecodingError, normalized
from kubespread.kube.api.kinds import NAMESPACED, READ, WORKLOADS
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import SELECTING_CONTROLLERS
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.snapshot import Snapshot, SnapshotBuilder, TypedReader

T = TypeVar("T", bound=ApiObject)

# Kubernetes' controllers have written to these: what the cluster has of them is further than what a manifest says.
_STAY: tuple[type[ApiObject], ...] = (PersistentVolume, PersistentVolumeClaim, *WORKLOADS)


def with_manifest_objects(
    snapshot: Snapshot, manifests: Iterable[Manifest], namespace: str
) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster with all objects of the manifests that scheduling reads, except pods and workloads, and notes on it.

    All quotas, new ones too, get their used amounts. ``namespace`` is that of objects that set none. Raises
    ManifestError for values of the wrong type, and SnapshotError if admission would compute with invalid amounts.
    """
    notes: list[str] = []
    for manifest in manifests:
        notes += manifest.notes
        brought = _typed(manifest, namespace)
        snapshot = _applied(snapshot, brought) if brought else snapshot
        names: dict[str, list[str]] = {}
        for obj in brought:
            if not isinstance(obj, WORKLOADS):
                names.setdefault(type(obj).__name__, []).append(obj.metadata.name)
        if names:
            listed = ", ".join(f"{kind} {', '.join(of_kind)}" for kind, of_kind in names.items())
            notes.append(f"taken to be in the cluster, since {manifest.file} brings it: {listed}")
    _check_amounts(snapshot.objects)
    quotas = with_usage(snapshot.objects.of(ResourceQuota), snapshot.pods)
    objects = snapshot.objects.with_all(ResourceQuota, quotas)
    # What is known of a snapshot stays known where nothing is added to it.
    return snapshot if objects == snapshot.objects else replace(snapshot, objects=objects), tuple(notes)


def _typed(manifest: Manifest, namespace: str) -> list[ApiObject]:
    reader, typed = TypedReader(), []
    for item in manifest.items:
        version_and_kind = item.api_version, item.kind
        cls = READ.get(version_and_kind)
        is_workload = cls is not None and issubclass(cls, WORKLOADS)
        # Some only say what others are; the rest of the workloads in a manifest are candidates and nothing else.
        if cls is None or (is_workload and version_and_kind not in SELECTING_CONTROLLERS):
            continue
        try:
            obj = reader.read(KubernetesObject(normalized(item.data, cls)))
        except DecodingError as error:
            if is_workload:
                continue  # Reported where the question is about it.
            raise manifest.place(item).undecodable(error) from error
        if obj is not None and obj.metadata.name:
            if isinstance(obj, NAMESPACED):
                obj.metadata.namespace = obj.metadata.namespace or namespace
            typed.append(obj)
    return typed


def _check_amounts(objects: ClusterObjects) -> None:
    for obj in (*objects.of(LimitRange), *objects.of(ResourceQuota), *objects.of(RuntimeClass)):
        try:
            normalized(msgspec.to_builtins(obj), type(obj))
        except DecodingError as error:
            name = "/".join(filter(None, _key(obj)))
            raise SnapshotError(f"{type(obj).__name__} {name}: {error.path}: {error}") from error


def _applied(snapshot: Snapshot, brought: Sequence[ApiObject]) -> Snapshot:
    builder = SnapshotBuilder()
    for obj in brought:
        builder.add(obj)
    added, stored = builder.build(), snapshot.objects
    applied = {cls: _over(stored.of(cls), objects) for cls, objects in added.objects.by_type.items()}
    unknown = {type(obj).__name__ for obj in brought if not stored.knows(type(obj))}
    objects = replace(stored, by_type={**stored.by_type, **applied}, partly_known=stored.partly_known | unknown)
    before = {id(claim) for claim in stored.of(PersistentVolumeClaim)}
    for claim in objects.of(PersistentVolumeClaim):
        if id(claim) not in before:
            default_storage_class(claim, objects.of(StorageClass))
    return replace(snapshot, nodes=_over(snapshot.nodes, added.nodes), objects=reconcile(stored, objects))


def _over(own: tuple[T, ...], added: tuple[T, ...]) -> tuple[T, ...]:
    """Apply ``added``: existing objects keep their status, or stay unchanged."""
    if not added:
        return own
    by_name = {_key(obj): obj for obj in own}
    for obj in added:
        stored = by_name.get(_key(obj))
        if stored is not None:
            if isinstance(obj, _STAY):
                continue
            if hasattr(stored, "status"):
                obj.status = stored.status  # type: ignore[attr-defined]  # of the kinds that have one
        by_name[_key(obj)] = obj
    return tuple(by_name.values())


def with_companions(objects: ClusterObjects, companions: Sequence[ApiObject]) -> ClusterObjects:
    """The cluster's objects, with what the candidates' own controllers add: of several alike the last is the newest.
    Claims are bound where that needs no pod.
    """
    for cls in SELECTING_CONTROLLERS.values():
        own = [obj for obj in companions if isinstance(obj, cls)]
        objects = objects.with_all(cls, _newest(own, objects.of(cls)))
    claims = [obj for obj in companions if isinstance(obj, PersistentVolumeClaim)]
    stored = objects.of(PersistentVolumeClaim)
    with_claims = objects.with_some(PersistentVolumeClaim, (*stored, *_claims_to_come(objects, claims)))
    return reconcile(objects, with_claims)


def _newest(added: Sequence[T], stored: Sequence[T]) -> tuple[T, ...]:
    by_name: dict[tuple[str, str], T] = {}
    for obj in (*reversed(added), *stored):
        by_name.setdefault(_key(obj), obj)
    return tuple(by_name.values())


def _claims_to_come(
    objects: ClusterObjects, claims: Iterable[PersistentVolumeClaim]
) -> Iterator[PersistentVolumeClaim]:
    stored = set(map(_key, objects.of(PersistentVolumeClaim)))
    for claim in admitted_claims((claim for claim in claims if _key(claim) not in stored), objects):
        if _key(claim) not in stored:
            stored.add(_key(claim))
            yield claim


def _key(obj: ApiObject) -> tuple[str, str]:
    return obj.metadata.namespace, obj.metadata.name
