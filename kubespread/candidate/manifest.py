"""The objects of a manifest, the choice of one of them, and the lines of faults.

Decodes as much of an object as possible, so that all its faults are reported at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.api.decoding import DecodingError, decodable, normalize
from kubespread.kube.api.kinds import (
    POD_CREATORS,
    READ,
    TEMPLATE_PATH,
    UNKNOWN,
    Kind,
    TemplateAt,
    custom_notes,
    full_kind,
    holds_pods,
    is_custom,
    pod_creator,
    skipped_gaps,
    templates_of,
)
from kubespread.kube.selector import Selector
from kubespread.kube.validation.faults import FieldFault
from kubespread.manifest.objects import KubernetesObject, objects_in, read_objects
from kubespread.manifest.text import FieldLines, MalformedError, display_name, read_file
from kubespread.regex import regex
from kubespread.wording import some_of

_STEP = regex(r"\[(?P<inside>[^\]]*)\]|(?P<name>[^.\[\]]+)")
_SUFFIX = regex(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<prefix>[kmgtpe])(?:i?b|i)?", re.IGNORECASE)


def decodable_object(data: Any, row: Kind) -> tuple[Any, list[DecodingError]]:
    """``data`` as by `decodable`; for a kind unknown to the API, its pod template alone."""
    if row.kind in POD_CREATORS:
        return decodable(data, row.kind)
    plain = normalize(data, row.cls)
    template = value_at(plain, row.template_path)
    if template is None:
        return plain, []
    above = value_at(plain, row.template_path.rpartition(".")[0])
    above["template"], errors = decodable(template, "PodTemplateSpec", row.template_path)
    return plain, errors


def hint(error: DecodingError, data: Any) -> str:
    """Suggestion of a correct value, to append to the message; empty without one."""
    value = value_at(data, error.path)
    if error.expected == "string" and isinstance(value, bool | int | float):
        return "; quote it"
    if error.expected in ("int32", "int64") and isinstance(value, str) and value.isdigit():
        return f"; write {value} without quotes"
    if error.expected == "Quantity" and isinstance(value, str):
        suggestion = " or ".join(f'"{amount}"' for amount in _similar_quantities(value.strip()))
        return f", did you mean {suggestion}?" if suggestion else ""
    return ""


def value_at(data: Any, path: str) -> Any:
    """Value at a path like ``spec.containers[0].resources.requests[cpu]``; None without one."""
    for step in _STEP.finditer(path):
        data = _child(data, step)
    return data


def are_related(path: str, other: str) -> bool:
    """True if two fields are the same, or one is inside the other."""
    shorter, longer = sorted((path, other), key=len)
    return longer == shorter or longer.startswith((f"{shorter}.", f"{shorter}["))


def _similar_quantities(text: str) -> list[str]:
    if text.count(",") == 1 and text.replace(",", "").isdigit():
        return [text.replace(",", ".")]
    if match := _SUFFIX.fullmatch(text):
        number, prefix = match["number"], match["prefix"].upper()
        return [f"{number}{'k' if prefix == 'K' else prefix}", f"{number}{prefix}i"]
    return []


def _child(data: Any, step: re.Match[str]) -> Any:
    key = step["name"] or step["inside"]
    if isinstance(data, list) and key.isdigit():
        return data[int(key)] if int(key) < len(data) else None
    return data.get(key) if isinstance(data, dict) else None


# Objects of foreign kinds as workloads like Kubernetes' own: one for each pod template, which is at spec.template.


def with_templates_moved(items: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    """Items, with each of a foreign kind split into one per template."""
    return [workload for item in items for workload in _workloads(item, items) or [item]]


def _workloads(item: KubernetesObject, items: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    templates = templates_of(item.api_version, item.kind) or ()
    parts = [part for template in templates for part in _parts(item, template)]
    return parts or list(_of_referenced(item, items))


def _parts(item: KubernetesObject, template: TemplateAt) -> Iterator[KubernetesObject]:
    if not template.within:
        yield from _workload(item, template, "", template.part)
        return
    parts = value_at(item.data, template.within)
    if isinstance(parts, list):
        for position, part in enumerate(parts):
            name = part.get("name") if isinstance(part, dict) else None
            yield from _workload(item, template, f"{template.within}[{position}].", str(name or position))
    elif isinstance(parts, dict):
        for key in parts:
            yield from _workload(item, template, f"{template.within}.{key}.", key.lower())


def _workload(item: KubernetesObject, template: TemplateAt, inside: str, part: str) -> Iterator[KubernetesObject]:
    path = f"{inside}{template.path}"
    pod_template = value_at(item.data, path)
    if pod_template is None and template.otherwise:
        path = template.otherwise
        pod_template = value_at(item.data, path)
    counts = [value_at(item.data, f"{inside}{count}") for count in template.counts]
    numbers: list[int] = [count if isinstance(count, int) else 1 for count in counts]
    if numbers and template.last_count_less:
        numbers[-1] = max(0, numbers[-1] - template.last_count_less)
    pods: int = prod(numbers)
    if isinstance(pod_template, dict) and pods:
        yield _make(item, pod_template, pods, path, part)


def _of_referenced(item: KubernetesObject, items: Sequence[KubernetesObject]) -> Iterator[KubernetesObject]:
    """Yield an Argo Rollout with the template of its workloadRef, if that is in the same manifest."""
    reference = value_at(item.data, "spec.workloadRef")
    if item.kind != "Rollout" or not isinstance(reference, dict):
        return
    for other in items:
        if (other.kind, other.name) == (reference.get("kind"), reference.get("name")):
            template = value_at(other.data, TEMPLATE_PATH)
            replicas = value_at(item.data, "spec.replicas")
            if isinstance(template, dict):
                yield _make(item, template, replicas if isinstance(replicas, int) else 1, "spec.workloadRef", "")


def _make(item: KubernetesObject, template: Any, replicas: int, path: str, part: str) -> KubernetesObject:
    metadata = item.data.get("metadata")
    if part and isinstance(metadata, dict) and item.name:
        metadata = {**metadata, "name": f"{item.name}-{part}"}
    head = {"apiVersion": item.api_version, "kind": item.kind, "metadata": metadata}
    workload = KubernetesObject({**head, "spec": {"replicas": replicas, "template": template}})
    workload.document, workload.path, workload.line, workload.lines = item.document, item.path, item.line, item.lines
    workload.template_path = path
    return workload


OBJECT_NAME = "<object>"
"""Stand-in for a file's name, for an object passed as a value."""
_MAX_NAMED = 10


class Place(Struct, frozen=True):
    """An object and its file, for reporting faults by line."""

    file: str
    item: KubernetesObject
    text: bytes | None = None

    def refuse(self, faults: Iterable[FieldFault]) -> None:
        """Raise ManifestError if there are faults, with paths within the object."""
        if placed := self.place_faults(faults):
            raise ManifestError(self.file, placed)

    def undecodable(self, error: DecodingError) -> ManifestError:
        faults = self.place_faults([FieldFault(error.path, f"{error}{hint(error, self.item.data)}")])
        return ManifestError(self.file, [fault._replace(expected=error.expected) for fault in faults])

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Context that turns DecodingError into ManifestError."""
        try:
            yield
        except DecodingError as error:
            raise self.undecodable(error) from error

    def place_faults(self, faults: Iterable[FieldFault]) -> list[Fault]:
        lines = FieldLines(self.text) if self.text is not None else None
        return [self._place(fault, lines) for fault in faults]

    def _place(self, fault: FieldFault, lines: FieldLines | None) -> Fault:
        item = self.item
        position = lines.position(item.document, item.field(fault.path)) if lines is not None else None
        line, column = position or (None, None)
        return Fault(fault.message, item.written_path(fault.path), line, column)


class Manifest(Struct, frozen=True):
    """Objects of a file that was read once, or of an object passed as a value."""

    file: str
    items: Sequence[KubernetesObject]
    text: bytes | None = None
    """Text for looking up lines of fields."""
    chosen: KubernetesObject | None = None
    """Its one workload to use; None if not decided yet."""

    def place(self, item: KubernetesObject) -> Place:
        return Place(self.file, item, self.text)

    @property
    def workloads(self) -> list[KubernetesObject]:
        return [item for item in self.items if is_workload(item)]

    def split(self, selector: Selector) -> list[Manifest]:
        """One manifest per workload that ``selector`` selects. Raises ManifestError for duplicates."""
        counts = Counter(_label(item, item.namespace) for item in self.workloads if item.name)
        twice = [Fault(f"{label} is given {times} times") for label, times in counts.items() if times > 1]
        if twice:
            raise ManifestError(self.file, twice)
        selected = (item for item in self.workloads if selector.matches(texts_at(item, "metadata.labels")))
        return [replace(self, chosen=item) for item in selected]

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps: objects that hold pods in an unknown way."""
        return tuple(skipped_gaps(full_kind(item.api_version, item.kind) for item in self._others if _holds_pods(item)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on custom objects, which may create pods in unknown ways."""
        custom = (
            item
            for item in self._others
            if is_custom(item.api_version) and (item.api_version, item.kind) not in READ and not _holds_pods(item)
        )
        return tuple(custom_notes(full_kind(item.api_version, item.kind) for item in custom))

    @property
    def _others(self) -> list[KubernetesObject]:
        return [item for item in self.items if not is_workload(item)]


def kind_of(item: KubernetesObject) -> Kind:
    """Kind as one that creates pods: its own, or any with a pod template."""
    return pod_creator(item.api_version, item.kind) or UNKNOWN


def is_workload(item: KubernetesObject) -> bool:
    """True for a Pod, and for an object with a pod template."""
    if pod_creator(item.api_version, item.kind) is not None:
        return True
    return isinstance(value_at(item.data, f"{TEMPLATE_PATH}.spec.containers"), list)


def _holds_pods(item: KubernetesObject) -> bool:
    return templates_of(item.api_version, item.kind) is not None or holds_pods(item.api_version, item.kind, item.data)


def read_manifest(path: str) -> Manifest:
    """Read the manifest at ``path`` (``-``: standard input). Raises ManifestError."""
    return manifest_from_text(display_name(path), read_file(path))


def manifest_from_text(file: str, text: bytes) -> Manifest:
    """Manifest in text that was read from ``file``. Raises ManifestError."""
    try:
        return Manifest(file, with_templates_moved(_decode(read_objects(iter([text])))), text)
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def _decode(objects: Iterable[KubernetesObject]) -> list[KubernetesObject]:
    """Objects as plain data, without Lists that contained them. Raises MalformedError."""
    return [replace(item, content=item.data) for item in objects if not item.size]


def manifest_of(data: Mapping[str, Any]) -> Manifest:
    """Manifest of an object passed as a value: a Pod, a workload, or a List. Raises ManifestError."""
    try:
        return Manifest(OBJECT_NAME, with_templates_moved(_decode(objects_in(data))))
    except MalformedError as error:
        raise ManifestError(OBJECT_NAME, [error.fault]) from error


def choose(manifest: Manifest, name: str | None, default_namespace: str) -> KubernetesObject:
    """Workload called ``name``, or the only one. Raises ManifestError without any, UsageError unless one matches."""
    file, workloads = manifest.file, manifest.workloads
    if not workloads:
        kinds = ", ".join(
            sorted({full_kind(item.api_version, item.kind) or "an object without kind" for item in manifest.items})
        )
        raise ManifestError(file, [Fault(f"expected a Pod or a workload, found {kinds or 'nothing'}")])
    chosen = workloads if name is None else workloads_named(manifest, name, default_namespace)
    if len(chosen) == 1:
        return chosen[0]
    listed = listed_labels(workloads, default_namespace)
    if chosen:
        raise UsageError(f"{file}: several workloads ({listed}); choose one with --name")
    raise UsageError(f"{file}: no workload named {name!r}; found {listed}")


def workloads_named(manifest: Manifest, name: str, default_namespace: str) -> list[KubernetesObject]:
    """Workloads called ``name``: NAME, Kind/NAME or NAMESPACE/Kind/NAME."""
    labeled = ((item, _label(item, item.namespace or default_namespace)) for item in manifest.workloads)
    return [item for item, label in labeled if f"/{label}".endswith(f"/{name}")]


def listed_labels(workloads: Sequence[KubernetesObject], default_namespace: str) -> str:
    """Workloads as Kind/NAME, with the namespace if ambiguous; only the first of very many."""
    labels = [_label(item, item.namespace or default_namespace) for item in workloads]
    short = [label.partition("/")[2] for label in labels]
    distinct = [
        label if short.count(brief) > 1 else brief for label, brief in zip(labels[:_MAX_NAMED], short, strict=False)
    ]
    return some_of([*distinct, *labels[_MAX_NAMED:]], _MAX_NAMED)


def _label(item: KubernetesObject, namespace: str) -> str:
    """NAMESPACE/Kind/NAME; an object without a name has its generateName."""
    return f"{namespace}/{item.kind}/{item.name or value_at(item.data, 'metadata.generateName') or ''}"


def texts_at(item: KubernetesObject, path: str) -> dict[str, str]:
    """Labels or annotations at ``path`` with text values; others are refused when decoded."""
    values = value_at(item.data, path)
    return {key: value for key, value in values.items() if isinstance(value, str)} if isinstance(values, dict) else {}
