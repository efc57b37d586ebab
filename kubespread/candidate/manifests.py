"""From a manifest to the pod the scheduler would see: which workload, which namespace, decoded, admitted, or every fault named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kubespread.candidate.candidate import Candidate, Surroundings, WorkloadName
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.admission import default_pod
from kubespread.kube.admission_objects import ForbiddenError, admit_with
from kubespread.kube.candidate import (
    admit,
    decode_pod,
    normalized_workload,
    selector_problems,
    template_problems,
    unknown_pod_fields,
)
from kubespread.kube.decoding import DecodingError, decode
from kubespread.kube.gated_fields import drop_fields
from kubespread.kube.meta import LabelSelector
from kubespread.kube.names import dns_label_faults
from kubespread.kube.validation.faults import FieldFault, required
from kubespread.manifest.documents import KubernetesObject, objects
from kubespread.manifest.events import MalformedError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.pod_templates import full_kind, holds_pods, skipped_gaps
from kubespread.manifest.reading import MAX_MANIFEST_BYTES, display_name, read_text_bytes
from kubespread.manifest.workload import PodManifest, built_in_kind, is_workload, pod_manifest

_SELECTING_KINDS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
_OBJECT_NAME = "<object>"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file that was read once, and the objects in it."""

    file: str
    text: bytes
    found: Sequence[KubernetesObject]

    @property
    def workloads(self) -> list[str]:
        """What can be chosen by name."""
        return [_label(item) for item in self.found if is_workload(item)]

    @property
    def gaps(self) -> tuple[str, ...]:
        """Objects that hold pods in a way that is not known."""
        others = (item for item in self.found if not is_workload(item) and holds_pods(item.api_version, item.kind, item.data))
        return tuple(skipped_gaps(full_kind(item.api_version, item.kind) for item in others))


def read_manifest(path: str) -> Manifest:
    """The manifest at ``path`` (``-``: standard input). Raises ManifestError."""
    file = display_name(path)
    try:
        text = read_text_bytes(path, MAX_MANIFEST_BYTES)
        return Manifest(file, text, list(objects(text)))
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def from_manifest(manifest: Manifest, surroundings: Surroundings) -> Candidate:
    """The pod of the manifest's workload, the one named where there are several. Raises ManifestError and UsageError."""
    source = _choose(manifest.file, manifest.found, surroundings.name)
    return replace(_candidate(manifest.file, FieldLines(manifest.text), source, surroundings), gaps=manifest.gaps)


def from_object(data: Mapping[str, Any], surroundings: Surroundings) -> Candidate:
    """The same for an object at hand: a Pod, a workload, or a List with one of them."""
    found = [KubernetesObject(dict(data))]
    if found[0].kind.endswith("List"):
        found = [KubernetesObject(item) for item in data.get("items") or ()]
    return _candidate(_OBJECT_NAME, None, _choose(_OBJECT_NAME, found, surroundings.name), surroundings)


def _candidate(file: str, lines: FieldLines | None, source: KubernetesObject, surroundings: Surroundings) -> Candidate:
    def refuse(faults: Iterable[tuple[str, str]]) -> None:
        """Raise when there are faults, given as (field path in the object, message)."""
        placed = [
            Fault(message, path, lines.line(source.document, source.field(path)) if lines is not None else None) for path, message in faults
        ]
        if placed:
            raise ManifestError(file, placed)

    try:
        source = replace(source, data=normalized_workload(source.data, built_in_kind(source)))
    except DecodingError as error:
        refuse([(error.path, f"{_handled_as(source)}{error}")])
    manifest = _pod_manifest(file, source, _namespace(source, surroundings))
    refuse(_unknown_fields(manifest))
    refuse(_template_faults(manifest))
    pod = decode_pod(manifest.pod)
    dropped = drop_fields(pod, surroundings.version)
    default_pod(pod)
    try:
        admission = admit_with(pod, surroundings.objects, surroundings.admission)
    except ForbiddenError as error:
        raise ManifestError(file, [Fault(f'pods "{pod.metadata.name}" is forbidden: {error}')]) from error
    inside = f"{manifest.template_path}." if manifest.template_path else ""
    refuse((f"{inside}{fault.path}", fault.message) for fault in admit(pod))
    workload = WorkloadName(source.kind, pod.metadata.namespace, source.name) if manifest.template_path else None
    return Candidate(pod, manifest.companions, (*manifest.notes, *dropped), tuple(admission), workload, _replicas(source))


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


def _choose(file: str, found: Sequence[KubernetesObject], name: str | None) -> KubernetesObject:
    workloads = [item for item in found if is_workload(item)]
    if not workloads:
        kinds = ", ".join(sorted({full_kind(item.api_version, item.kind) or "an object without kind" for item in found}))
        raise ManifestError(file, [Fault(f"expected a Pod or a workload, found {kinds or 'nothing'}")])
    chosen = [item for item in workloads if name is None or name in (item.name, _label(item))]
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(_label(item) for item in workloads)
    if chosen:
        raise UsageError(f"{file}: several workloads ({listed}); choose one with --name")
    raise UsageError(f"{file}: no workload named {name!r}; found {listed}")


def _label(item: KubernetesObject) -> str:
    return f"{item.kind}/{item.name}"


def _namespace(source: KubernetesObject, surroundings: Surroundings) -> str:
    """The manifest's namespace, else the one asked for; kubectl refuses two that differ, and so does this."""
    asked = surroundings.namespace
    if asked is not None and (faults := dns_label_faults(asked)):
        raise UsageError(f"invalid namespace {asked!r}: {faults[0]}")
    own = (source.data.get("metadata") or {}).get("namespace")
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


def _handled_as(source: KubernetesObject) -> str:
    version = source.api_version.rpartition("/")[2]
    return f'{source.kind} in version "{version}" cannot be handled as a {source.kind}: '


def _unknown_fields(manifest: PodManifest) -> list[tuple[str, str]]:
    data = manifest.source.data
    for step in filter(None, manifest.template_path.split(".")):
        data = data[step]
    return [(path, f'strict decoding error: unknown field "{path}"') for path in unknown_pod_fields(data, manifest.template_path)]


def _template_faults(manifest: PodManifest) -> list[FieldFault]:
    """What the API server would refuse the workload for; its pod is validated on its own once it is made."""
    path, source = manifest.template_path, manifest.source
    if not path:
        return []
    faults = [] if source.name else [required("metadata.name", "name or generateName is required")]
    template: Any = source.data
    for step in path.split("."):
        template = template[step]
    if built_in_kind(source) in _SELECTING_KINDS:
        selector = (source.data.get("spec") or {}).get("selector")
        typed = decode(selector, LabelSelector, "spec.selector") if selector is not None else None
        faults += selector_problems(typed, decode_pod(template, path), path)
    return faults + template_problems(decode_pod(template, path), path)
