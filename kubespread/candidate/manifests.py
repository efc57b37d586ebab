"""From a manifest to the pod the scheduler would see: which workload, which namespace, decoded, admitted, or every
fault named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kubespread.candidate.candidate import Candidate, Surroundings, WorkloadName
from kubespread.candidate.rescheduling import scheduled_again
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.admission.plugins import ForbiddenError, admit_with, validate_with
from kubespread.kube.api.core import Pod, PodStatus
from kubespread.kube.api.decoding import DecodingError, decode
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.unknown_fields import unknown_fields, workload_type
from kubespread.kube.candidate import (
    admit,
    decode_pod,
    normalized_workload,
    selector_problems,
    template_problems,
)
from kubespread.kube.names import dns_label_faults
from kubespread.kube.validation.faults import FieldFault, required
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.pod_templates import custom_notes, full_kind, holds_pods, is_custom, skipped_gaps
from kubespread.manifest.reading import MAX_MANIFEST_BYTES, display_name, read_text_bytes
from kubespread.manifest.stream import objects_in, read_objects
from kubespread.manifest.workload import PodManifest, built_in_kind, is_workload, named, pod_manifest, without_status
from kubespread.snapshot.snapshot import READ_KINDS

_SELECTING_KINDS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
_OBJECT_NAME = "<object>"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The objects of a file that was read once, or of an object at hand."""

    file: str
    found: Sequence[KubernetesObject]
    text: bytes | None = None
    """Where the lines of its fields can be looked up."""
    chosen: KubernetesObject | None = None
    """The one of its workloads that is meant, None where that is yet to be decided."""

    @property
    def workloads(self) -> list[KubernetesObject]:
        """What can be asked about."""
        return [item for item in self.found if is_workload(item)]

    def each(self) -> list[Manifest]:
        """The same once for every workload. Raises ManifestError where one is there twice."""
        given = Counter(_label(item, item.namespace) for item in self.workloads if item.name)
        twice = [Fault(f"{label} is given {times} times") for label, times in given.items() if times > 1]
        if twice:
            raise ManifestError(self.file, twice)
        return [replace(self, chosen=item) for item in self.workloads]

    @property
    def gaps(self) -> tuple[str, ...]:
        """Objects that hold pods in a way that is not known."""
        return tuple(skipped_gaps(full_kind(item.api_version, item.kind) for item in self._others if _holds_pods(item)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Objects of which it is not known whether they come to pods: custom ones that are not read."""
        custom = (
            item
            for item in self._others
            if is_custom(item.api_version) and (item.api_version, item.kind) not in READ_KINDS and not _holds_pods(item)
        )
        return tuple(custom_notes(full_kind(item.api_version, item.kind) for item in custom))

    @property
    def _others(self) -> list[KubernetesObject]:
        return [item for item in self.found if not is_workload(item)]


def _holds_pods(item: KubernetesObject) -> bool:
    return holds_pods(item.api_version, item.kind, item.data)


def read_manifest(path: str) -> Manifest:
    """The manifest at ``path`` (``-``: standard input). Raises ManifestError."""
    file = display_name(path)
    try:
        text = read_text_bytes(path, MAX_MANIFEST_BYTES)
        return Manifest(file, _decoded(read_objects(iter([text]))), text)
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def _decoded(objects: Iterable[KubernetesObject]) -> list[KubernetesObject]:
    """All of them as plain data, without the Lists that they came in. Raises MalformedError."""
    return [replace(item, content=item.data) for item in objects if not item.size]


def manifest_of(data: Mapping[str, Any]) -> Manifest:
    """The same for an object at hand: a Pod, a workload, or a List. Raises ManifestError."""
    try:
        return Manifest(_OBJECT_NAME, _decoded(objects_in(data)))
    except MalformedError as error:
        raise ManifestError(_OBJECT_NAME, [error.fault]) from error


def from_manifest(manifest: Manifest, surroundings: Surroundings) -> Candidate:
    """The pod of the manifest's workload, the one named where there are several. Raises ManifestError
    and UsageError.
    """
    source = manifest.chosen or _choose(manifest, surroundings)
    lines = FieldLines(manifest.text) if manifest.text is not None else None
    return replace(_candidate(manifest.file, lines, source, surroundings), gaps=manifest.gaps)


def from_object(data: Mapping[str, Any], surroundings: Surroundings) -> Candidate:
    """The same for an object at hand."""
    return from_manifest(manifest_of(data), surroundings)


def _candidate(file: str, lines: FieldLines | None, source: KubernetesObject, surroundings: Surroundings) -> Candidate:
    def refuse(faults: Iterable[tuple[str, str]]) -> None:
        """Raise when there are faults, given as (field path in the object, message)."""
        placed = [
            Fault(message, path, lines.line(source.document, source.field(path)) if lines is not None else None)
            for path, message in faults
        ]
        if placed:
            raise ManifestError(file, placed)

    source, status = without_status(source)
    given = source
    try:
        source = named(replace(source, content=normalized_workload(source.data, built_in_kind(source))))
    except DecodingError as error:
        refuse([(error.path, f"{handled_as(source)}{error}")])
    manifest = _pod_manifest(file, source, _namespace(source, surroundings))
    refuse(_unknown_fields(given, manifest.template_path))
    refuse(_template_faults(manifest, surroundings.version))
    pod = decode_pod(manifest.pod)
    is_stored = bool(pod.metadata.uid)
    notes = [*manifest.notes, *drop_fields(pod, surroundings.version)]
    if is_stored:
        try:
            pod.status = decode(status, PodStatus, "status")
        except DecodingError as error:
            refuse([(error.path, f"{handled_as(source)}{error}")])
        notes += scheduled_again(pod)
    elif pod.spec.node_name:
        notes.append(
            f"spec.nodeName is {pod.spec.node_name}: kube-scheduler never sees such a pod; its filters are asked "
            "all the same"
        )
    default_pod(pod)
    with _forbidden(file, pod):
        admission = admit_with(pod, surroundings.objects, surroundings.admission)
    inside = f"{manifest.template_path}." if manifest.template_path else ""
    refuse((f"{inside}{fault.path}", fault.message) for fault in admit(pod, surroundings.version))
    with _forbidden(file, pod):
        validate_with(pod, surroundings.objects, surroundings.admission)
    workload = WorkloadName(source.kind, pod.metadata.namespace, source.name) if manifest.template_path else None
    return Candidate(
        pod=pod,
        companions=manifest.companions,
        notes=tuple(notes),
        admission=tuple(admission),
        workload=workload,
        replicas=_replicas(source),
        template=decode_pod(_at(source.data, manifest.template_path), manifest.template_path)
        if workload is not None
        else None,
        one_by_one=source.kind == "StatefulSet"
        and (source.data.get("spec") or {}).get("podManagementPolicy") != "Parallel",
        is_stored=is_stored,
    )


def _at(data: Any, path: str) -> Any:
    for step in path.split("."):
        data = data[step]
    return data


@contextmanager
def _forbidden(file: str, pod: Pod) -> Iterator[None]:
    """An admission plugin's refusal as the API server words it."""
    try:
        yield
    except ForbiddenError as error:
        raise ManifestError(file, [Fault(f'pods "{pod.metadata.name}" is forbidden: {error}')]) from error


def _replicas(source: KubernetesObject) -> int:
    """How many pods the workload runs at once."""
    spec = source.data.get("spec") or {}
    kind = built_in_kind(source)
    if kind == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    if kind in ("Job", "CronJob"):
        at_once = int(spec.get("parallelism", 1))
        return min(at_once, int(spec.get("completions", at_once)))
    replicas = spec.get("replicas", 1)
    return replicas if isinstance(replicas, int) else 1


def _choose(manifest: Manifest, surroundings: Surroundings) -> KubernetesObject:
    file, workloads, name = manifest.file, manifest.workloads, surroundings.name
    if not workloads:
        kinds = ", ".join(
            sorted({full_kind(item.api_version, item.kind) or "an object without kind" for item in manifest.found})
        )
        raise ManifestError(file, [Fault(f"expected a Pod or a workload, found {kinds or 'nothing'}")])
    default = surroundings.namespace or surroundings.context_namespace
    labels = [_label(item, item.namespace or default) for item in workloads]
    # NAME, Kind/NAME or NS/Kind/NAME.
    chosen = [
        item for item, label in zip(workloads, labels, strict=True) if name is None or f"/{label}".endswith(f"/{name}")
    ]
    if len(chosen) == 1:
        return chosen[0]
    short = [label.partition("/")[2] for label in labels]
    listed = ", ".join(label if short.count(brief) > 1 else brief for label, brief in zip(labels, short, strict=True))
    if chosen:
        raise UsageError(f"{file}: several workloads ({listed}); choose one with --name")
    raise UsageError(f"{file}: no workload named {name!r}; found {listed}")


def _label(item: KubernetesObject, namespace: str) -> str:
    """An object without a name is known by the beginning of the one it will get."""
    metadata = item.data.get("metadata")
    name = item.name or (metadata.get("generateName") if isinstance(metadata, dict) else "")
    return f"{namespace}/{item.kind}/{name}"


def _namespace(source: KubernetesObject, surroundings: Surroundings) -> str:
    """The manifest's namespace, else the one asked for; kubectl refuses two that differ, and so does this."""
    asked = surroundings.namespace
    if asked is not None and (faults := dns_label_faults(asked)):
        raise UsageError(f"invalid namespace {asked!r}: {faults[0]}")
    own = source.namespace
    if own and asked and own != asked:
        raise UsageError(
            f'the namespace from the provided object "{own}" does not match the namespace "{asked}". '
            f"You must pass '--namespace={own}' to perform this operation."
        )
    return own or asked or surroundings.context_namespace


def _pod_manifest(file: str, source: KubernetesObject, namespace: str) -> PodManifest:
    try:
        return pod_manifest(source, namespace)
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def handled_as(source: KubernetesObject) -> str:
    """How the API server begins to say that it cannot decode ``source``."""
    version = source.api_version.rpartition("/")[2]
    return f'{source.kind} in version "{version}" cannot be handled as a {source.kind}: '


def _unknown_fields(source: KubernetesObject, template_path: str) -> list[tuple[str, str]]:
    """Fields no API has; of a kind whose fields are not known, in its pod template only."""
    data: Any = source.data
    cls, path = workload_type(source.api_version, source.kind), ""
    if not cls:
        cls, path = "Pod", template_path
        for step in filter(None, template_path.split(".")):
            data = data[step]
    return [(found.path, str(found)) for found in unknown_fields(data, cls, path)]


def _template_faults(manifest: PodManifest, version: KubeVersion) -> list[FieldFault]:
    """What the API server would refuse the workload for; its pod is validated on its own once it is made."""
    path, source = manifest.template_path, manifest.source
    if not path:
        return []
    faults = [] if source.name else [required("metadata.name", "name or generateName is required")]
    template = _at(source.data, path)
    if built_in_kind(source) in _SELECTING_KINDS:
        selector = (source.data.get("spec") or {}).get("selector")
        typed = decode(selector, LabelSelector, "spec.selector") if selector is not None else None
        faults += selector_problems(typed, decode_pod(template, path), path)
    return faults + template_problems(decode_pod(template, path), path, version)
