"""From a manifest to the pod the scheduler would see: decoded once, admitted, or every fault named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kubespread.candidate.candidate import (
    Candidate,
    Surroundings,
    candidate_from_creator,
    candidate_from_pod,
    creator_of,
)
from kubespread.candidate.manifests.file import Manifest, Place, are_related, choose, decodable, field_at, manifest_of
from kubespread.candidate.settings import settled
from kubespread.controllers.pod_creation import NewPod, generated_name
from kubespread.errors import Fault, KubespreadError, ManifestError, UsageError
from kubespread.kube.admission.gated_fields import DROPPED
from kubespread.kube.api.core import Pod, PodStatus
from kubespread.kube.api.decoding import DecodingError, decode
from kubespread.kube.api.kinds import POD_CREATORS, UNKNOWN, Kind, group_of, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.unknown_fields import UnknownField, near_miss, unknown_fields, workload_type
from kubespread.kube.name_rules import dns_label_faults
from kubespread.kube.owners import static_notes
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import Release
from kubespread.manifest.objects import KubernetesObject


def from_manifest(manifest: Manifest, surroundings: Surroundings) -> Candidate:
    """The pod of the manifest's workload, the named one of several. Raises ManifestError and UsageError."""
    default_namespace = surroundings.namespace or surroundings.context_namespace
    item = manifest.chosen or choose(manifest, surroundings.name, default_namespace)
    changed = settled(item.data, pod_creator(item.api_version, item.kind) or UNKNOWN, surroundings.settings)
    with changed.blamed(item.written_path):
        candidate = _candidate(manifest.place(replace(item, content=changed.data)), surroundings)
    return msgspec.structs.replace(candidate, gaps=manifest.gaps)


def from_object(data: Mapping[str, Any], surroundings: Surroundings) -> Candidate:
    """The same for an object passed as a value."""
    return from_manifest(manifest_of(data), surroundings)


def _candidate(place: Place, surroundings: Surroundings) -> Candidate:
    """Report all faults of the object at once: what cannot be decoded, unknown fields, invalid values."""
    item = place.item
    place.refuse(unserved(item, is_written=place.text is not None))
    row = pod_creator(item.api_version, item.kind) or UNKNOWN
    # The API server does not store, and so does not check, a status that a client sends.
    sent = {name: value for name, value in item.data.items() if name != "status"}
    try:
        plain, undecodable = decodable(sent, row.cls)
    except DecodingError as error:
        raise place.undecodable(error) from error
    unknown = _unknown_fields(item, sent, row.template_path)
    if not undecodable and not unknown:
        candidate = _decoded_candidate(place, row, plain, surroundings)
        absent = _unknown_fields(item, sent, row.template_path, surroundings.version.release)
        notes = (
            f"{field.path} is dropped: Kubernetes {surroundings.version} does not have it"
            for field in absent
            if field.path.rpartition(".")[2] not in DROPPED
        )
        return msgspec.structs.replace(candidate, notes=(*candidate.notes, *notes))
    faults = [fault for error in undecodable for fault in place.undecodable(error).faults]
    faults += place.placed(FieldFault(field.path, str(field)) for field in unknown)
    # Faults that only follow from a value removed here are not reported again.
    blamed = [
        item.field(path) for path in (*(error.path for error in undecodable), *(field.meant for field in unknown))
    ]
    faults += [fault for fault in _further_faults(place, row, plain, surroundings) if not _follows(fault, blamed)]
    raise ManifestError(place.file, sorted(faults, key=lambda fault: fault.line or 0))


def _further_faults(place: Place, row: Kind, plain: Any, surroundings: Surroundings) -> Sequence[Fault]:
    try:
        _decoded_candidate(place, row, plain, surroundings)
    except ManifestError as error:
        return error.faults
    except (KubespreadError, msgspec.ValidationError):
        pass
    return ()


def _follows(fault: Fault, blamed: Iterable[str]) -> bool:
    return not fault.field or any(path and are_related(fault.field, path) for path in blamed)


def _decoded_candidate(place: Place, row: Kind, plain: Any, surroundings: Surroundings) -> Candidate:
    item = place.item
    typed: ApiObject = msgspec.convert(plain, row.cls)
    meta = typed.metadata
    if not meta.name:
        meta.name = generated_name(meta.generate_name, json.dumps([item.document, item.path, plain], sort_keys=True))
    meta.namespace = _namespace(item, surroundings)
    if isinstance(typed, Pod):
        _restore_status(place, typed)
        return candidate_from_pod(place, NewPod(typed, notes=tuple(static_notes(typed))), surroundings)
    return candidate_from_creator(place, creator_of(place, row, typed, plain), row.template_path, surroundings)


def _restore_status(place: Place, pod: Pod) -> None:
    """Give a pod that was stored before the status it had."""
    if not pod.metadata.uid:
        return
    try:
        pod.status = decode(place.item.data.get("status") or {}, PodStatus, "status")
    except DecodingError as error:
        raise place.undecodable(error) from error


def _namespace(item: KubernetesObject, surroundings: Surroundings) -> str:
    """The manifest's namespace, else the one asked for; kubectl refuses two that differ, and so does this."""
    namespace = surroundings.namespace
    if namespace is not None and (faults := dns_label_faults(namespace)):
        raise UsageError(f"invalid namespace {namespace!r}: {faults[0]}")
    own = item.namespace
    if own and namespace and own != namespace:
        raise UsageError(
            f'the namespace from the provided object "{own}" does not match the namespace "{namespace}". '
            f"You must pass '--namespace={own}' to perform this operation."
        )
    return own or namespace or surroundings.context_namespace


def _unknown_fields(
    item: KubernetesObject, sent: Mapping[str, Any], template_path: str, release: Release | None = None
) -> list[UnknownField]:
    """Fields that a release, or any, does not have; of a kind whose fields are not known, in its pod template only."""
    cls, path = workload_type(item.api_version, item.kind), ""
    if not cls:
        cls, path = "Pod", template_path
    return list(unknown_fields(field_at(sent, path), cls, item.written_path(path), release))


# Served beside batch/v1 until Kubernetes 1.24; what else is old went before the oldest release that is modeled.
_OLD = frozenset({("batch/v1beta1", "CronJob")})


def unserved(item: KubernetesObject, *, is_written: bool) -> Iterator[FieldFault]:
    """Why the API server does not serve a workload's ``apiVersion`` and ``kind``, in kubectl's words.

    A group without a dot is Kubernetes' own, as custom resources cannot have one. Items of lists, and objects passed as
    values (``is_written`` is False), need no apiVersion.
    """
    api_version, kind = item.api_version, item.kind
    if not kind:
        yield FieldFault("kind", "not set")
    if not api_version:
        if is_written and not item.path:
            yield FieldFault("apiVersion", f"not set{_meant(POD_CREATORS.get(kind))}")
        return
    creator = pod_creator(api_version, kind)
    if not kind or (creator and creator.api_version == api_version) or (api_version, kind) in _OLD:
        return
    if creator or "." not in group_of(api_version):
        meant = POD_CREATORS.get(near_miss(kind, POD_CREATORS))
        wrong = "kind" if meant is not None and meant.api_version == api_version else "apiVersion"
        yield FieldFault(wrong, f'no matches for kind "{kind}" in version "{api_version}"{_meant(meant)}')


def _meant(row: Kind | None) -> str:
    return f', did you mean "{row.kind}" in "{row.api_version}"?' if row is not None else ""
