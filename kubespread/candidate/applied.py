"""Manifests applied to the cluster, as ``kubectl apply`` does it: a workload by a three-way merge with its namesake,
other objects over existing ones; and the objects that the controller of a candidate creates before its pod.

A field that the manifest sets is set; one that it leaves out stays as it is, unless kubectl applied
it last: then it is removed. Lists are merged by the keys of their elements where the API says so, else replaced.

Source: staging/src/k8s.io/kubectl/pkg/cmd/apply/patcher.go, patchSimple
Source: staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go, CreateThreeWayMergePatch, mergeSortedSlice,
    applyRetainKeysDirective
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import structs
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate, from_manifest
from kubespread.candidate.manifest import Manifest, choose, kind_of
from kubespread.candidate.sources import Surroundings
from kubespread.controllers.persistentvolume import reconcile
from kubespread.controllers.pod_creation import admitted_claims
from kubespread.errors import SnapshotError
from kubespread.kube.admission.defaulting import default_storage_class
from kubespread.kube.admission.quota import with_usage
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubespread.kube.api.core import LimitRange, ResourceQuota, RuntimeClass
from kubespread.kube.api.decoding import DecodingError, decode, normalize
from kubespread.kube.api.kinds import NAMESPACED, READ, WORKLOADS
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import LabelSelectingWorkload
from kubespread.kube.owners import SELECTING_CONTROLLERS
from kubespread.kube.templates import (
    MERGE_KEYS,
    Tree,
    are_keyed,
    digest,
    fields_in,
    template_part,
    text_of,
    tree_of,
    unread_part,
)
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.snapshot import Snapshot, SnapshotBuilder, TypedReader

_RETAINED = frozenset({"strategy", "volumes"})
"""Maps, and lists of maps, that keep nothing which the manifest leaves out once anything of them changes."""
_Key = Callable[[Any], str]
"""Function from the value of an element's merge key to the text that identifies the element in its list."""


def apply_manifest(manifest: Manifest, surroundings: Surroundings) -> Candidate:
    """Candidate of a manifest as applied to the cluster. Raises ManifestError and UsageError."""
    namespace = surroundings.default_namespace
    item = manifest.chosen or choose(manifest, surroundings.name, namespace)
    row = kind_of(item)
    if not issubclass(row.cls, LabelSelectingWorkload):
        return from_manifest(manifest, surroundings)
    try:
        decode(item.data, row.cls)
    except DecodingError:
        # Reported with all other faults.
        return from_manifest(manifest, surroundings)
    modified = item.data.get("spec") or {}
    live = surroundings.objects.find(row.cls, item.name, item.namespace or namespace)
    if live is None:
        candidate, unread = from_manifest(manifest, surroundings), None
    else:
        before: Tree = msgspec.json.decode(live.last_applied or "{}")
        spec = _spec(live, modified, before)
        together = replace(item, content={**item.data, "spec": spec})
        candidate = from_manifest(structs.replace(manifest, chosen=together), surroundings)
        unread = _unread(live, modified, before, spec)
    workload = candidate.object
    if isinstance(workload, LabelSelectingWorkload):
        workload.last_applied = msgspec.json.encode(fields_in(modified)).decode()
        if live is not None and workload.spec.template is not None:
            workload.spec.template.unread = unread
    return candidate


def _spec(live: LabelSelectingWorkload, modified: Tree, before: Tree) -> Tree:
    stored = msgspec.to_builtins(live.spec)
    stored.get("template", {}).pop("unread", None)
    # A manifest without the number does not set it to the current one.
    stored.pop("replicas", None)
    spec: Tree = _merge(stored, modified, before, "spec", digest)
    if "replicas" in before:
        spec.setdefault("replicas", 1)
    return spec


def _unread(live: LabelSelectingWorkload, modified: Tree, before: Tree, spec: Tree) -> str | None:
    """Part of its template that is not decoded, merged with the manifest's."""
    if live.spec.template is None or live.spec.template.unread is None:
        return None
    stored = msgspec.json.decode(live.spec.template.unread)
    own = tree_of(unread_part(*template_part(modified.get("template") or {})))
    earlier, annotations = template_part(before.get("template", {}))
    merged = _merge(stored, own, {**earlier, "annotations": annotations}, "spec", str)
    return text_of(merged, spec["template"]["spec"])


def _merge(live: Any, modified: Any, before: Tree, name: str, key_of: _Key) -> Any:
    if isinstance(live, dict) and isinstance(modified, dict):
        removed = before.keys() - modified.keys()
        merged = {field: value for field, value in live.items() if field not in removed}
        for field, value in modified.items():
            merged[field] = _merge(live.get(field), value, before.get(field, {}), field, key_of)
        if name in _RETAINED and merged != live:
            return {field: value for field, value in merged.items() if field in modified}
        return merged
    key, are_lists = MERGE_KEYS.get(name), isinstance(live, list) and isinstance(modified, list)
    if key and are_lists and are_keyed(live, key) and are_keyed(modified, key):
        return _merged_list(live, modified, before, name, lambda item: key_of(item[key]), key_of)
    return modified


def _merged_list(
    live: list[Tree], modified: list[Tree], before: Tree, name: str, key: Callable[[Tree], str], key_of: _Key
) -> list[Tree]:
    """Elements of the manifest in its order, with the cluster's own before the elements that they precede there."""
    stored = {key(item): item for item in live}
    places = {element_key: place for place, element_key in enumerate(stored)}
    own = {key(item): item for item in modified}
    others = [element_key for element_key in stored if element_key not in own and element_key not in before]
    merged = list[Tree]()
    for element_key, item in own.items():
        while others and element_key in places and places[others[0]] < places[element_key]:
            merged.append(stored[others.pop(0)])
        merged.append(_merge(stored.get(element_key), item, before.get(element_key, {}), name, key_of))
    return [*merged, *(stored[element_key] for element_key in others)]


T = TypeVar("T", bound=ApiObject)

# Kubernetes' controllers write to these: the cluster's objects are further than a manifest's.
_STAY: tuple[type[ApiObject], ...] = (PersistentVolume, PersistentVolumeClaim, *WORKLOADS)


def with_manifest_objects(
    surroundings: Surroundings, manifests: Iterable[Manifest]
) -> tuple[Surroundings, tuple[str, ...]]:
    """The cluster with all objects of the manifests that scheduling reads, except pods and workloads, and notes on it.

    All quotas, new ones too, get their used amounts. Raises ManifestError for values of the wrong type, and
    SnapshotError if admission would compute with invalid amounts.
    """
    snapshot, namespace, notes = surroundings.snapshot, surroundings.default_namespace, list[str]()
    for manifest in manifests:
        notes += manifest.notes
        brought = _decode(manifest, namespace)
        snapshot = _apply(snapshot, brought) if brought else snapshot
        names: dict[str, list[str]] = {}
        for obj in brought:
            if not isinstance(obj, WORKLOADS):
                names.setdefault(type(obj).__name__, []).append(obj.metadata.name)
        if names:
            listed = ", ".join(f"{kind} {', '.join(of_kind)}" for kind, of_kind in names.items())
            notes.append(f"taken to be in the cluster, since {manifest.file} brings it: {listed}")
    _check_amounts(snapshot.objects)
    quotas = with_usage(snapshot.objects.get(ResourceQuota), snapshot.pods)
    objects = snapshot.objects.with_all(ResourceQuota, quotas)
    # What is known of a snapshot stays known where nothing is added to it.
    snapshot = snapshot if objects == snapshot.objects else replace(snapshot, objects=objects)
    return replace(surroundings, snapshot=snapshot), tuple(notes)


def _decode(manifest: Manifest, namespace: str) -> list[ApiObject]:
    reader, typed = TypedReader(), []
    for item in manifest.items:
        version_and_kind = item.api_version, item.kind
        cls = READ.get(version_and_kind)
        is_workload = cls is not None and issubclass(cls, WORKLOADS)
        # Some are read for their selectors alone; other workloads of a manifest are only candidates.
        if cls is None or (is_workload and version_and_kind not in SELECTING_CONTROLLERS):
            continue
        try:
            obj = reader.read(KubernetesObject(normalize(item.data, cls)))
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
    for obj in (*objects.get(LimitRange), *objects.get(ResourceQuota), *objects.get(RuntimeClass)):
        try:
            normalize(msgspec.to_builtins(obj), type(obj))
        except DecodingError as error:
            name = "/".join(filter(None, _key(obj)))
            raise SnapshotError(f"{type(obj).__name__} {name}: {error.path}: {error}") from error


def _apply(snapshot: Snapshot, brought: Sequence[ApiObject]) -> Snapshot:
    builder = SnapshotBuilder()
    for obj in brought:
        builder.add(obj)
    added, stored = builder.build(), snapshot.objects
    by_type = {cls: _overlay(stored.get(cls), objects) for cls, objects in added.objects.by_type.items()}
    unknown = {type(obj).__name__ for obj in brought if not stored.knows(type(obj))}
    objects = replace(stored, by_type={**stored.by_type, **by_type}, partly_known=stored.partly_known | unknown)
    before = {id(claim) for claim in stored.get(PersistentVolumeClaim)}
    for claim in objects.get(PersistentVolumeClaim):
        if id(claim) not in before:
            default_storage_class(claim, objects.get(StorageClass))
    return replace(snapshot, nodes=_overlay(snapshot.nodes, added.nodes), objects=reconcile(stored, objects))


def _overlay(own: tuple[T, ...], added: tuple[T, ...]) -> tuple[T, ...]:
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
    """The cluster's objects with the objects created for the candidates; of two with one name the last is used.

    Claims are bound if that needs no pod.
    """
    for cls in SELECTING_CONTROLLERS.values():
        own = [obj for obj in companions if isinstance(obj, cls)]
        objects = objects.with_all(cls, _newest(own, objects.get(cls)))
    claims = [obj for obj in companions if isinstance(obj, PersistentVolumeClaim)]
    stored = objects.get(PersistentVolumeClaim)
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
    stored = set(map(_key, objects.get(PersistentVolumeClaim)))
    for claim in admitted_claims((claim for claim in claims if _key(claim) not in stored), objects):
        if _key(claim) not in stored:
            stored.add(_key(claim))
            yield claim


def _key(obj: ApiObject) -> tuple[str, str]:
    return obj.metadata.namespace, obj.metadata.name
