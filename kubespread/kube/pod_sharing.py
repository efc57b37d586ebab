"""Sharing of equal parts among pods: thousands of pods come from a few hundred templates.

A part that equals an earlier one is not created again, and a template with the same JSON text as in another pod, apart
from the names of the node and of the token's volume, is not even decoded again. Shared parts must not be changed
afterwards, so a pod is defaulted before it is shared.
"""

from __future__ import annotations

import string
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, field
from msgspec.structs import replace

from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE, default_pod
from kubespread.kube.api.core import Node, Pod, PodSpec, PodStatus, PodTemplateSpec
from kubespread.kube.api.decoding import check, check_time
from kubespread.kube.api.meta import Int64, KubeObject, ObjectMeta, OwnerReference, StringMap
from kubespread.kube.pod_requests import RESIZE_PENDING
from kubespread.kube.well_known import DISRUPTION_TARGET, READ_ANNOTATIONS, READ_OF_PODS, READY, REMOVED_FINALIZERS
from kubespread.regex import regex

K = TypeVar("K")
T = TypeVar("T")

_NODE_NAME = regex(rb'"nodeName"(?:\s*:\s*"(?P<value>[^"\\]*)")?')
# The API server adds this volume to nearly every pod, under a name of its own.
_TOKEN_VOLUME = b"kube-api-access-"
_SUFFIX = string.ascii_lowercase.encode() + string.digits.encode()
_SHORT_STATUS = 256
"""Bytes up to which a status may well be that of another pod: longer ones have addresses and times of their own."""
_MAX_REMEMBERED = 4096
_READ_CONDITIONS = (RESIZE_PENDING, DISRUPTION_TARGET, READY)
SPEC_COLLECTIONS = (
    "containers",
    "init_containers",
    "volumes",
    "overhead",
    "node_selector",
    "affinity",
    "tolerations",
    "topology_spread_constraints",
    "scheduling_gates",
    "resource_claims",
)
META_COLLECTIONS = ("labels", "annotations", "owner_references", "finalizers")
_OF_NODES = {
    "metadata": ("annotations", "owner_references", "finalizers"),
    "spec": ("taints",),
    "status": ("capacity", "allocatable", "conditions", "images", "declared_features", "node_info"),
}


class _Metadata(KubeObject):
    """ObjectMeta with the collections undecoded that pods of one template have in common."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: Raw = Raw(b"{}")
    annotations: StringMap = field(default_factory=dict)
    owner_references: Raw = Raw(b"[]")
    finalizers: list[str] = field(default_factory=list)


class _Placement(KubeObject):
    node_name: str = ""


# Created here and not where they are used: decoders must exist before threads decode (see decoding.py).
_METADATA = msgspec.json.Decoder(_Metadata)
_PLACEMENT = msgspec.json.Decoder(_Placement)
_SPEC = msgspec.json.Decoder(PodSpec)
_LABELS = msgspec.json.Decoder(StringMap)
_OWNERS = msgspec.json.Decoder(list[OwnerReference])
_STATUS = msgspec.json.Decoder(PodStatus)


class PodSharing:
    """Parts that the pods of one cluster share. Tables that grow too large are emptied: mostly neighbors are alike."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._texts: dict[tuple[Any, bytes], Any] = {}
        self._metadata: dict[tuple[str, str, bytes, bytes], ObjectMeta] = {}
        self._specs: dict[bytes, PodSpec] = {}
        self._last_spec: tuple[bytes, bytes, PodSpec | None] = b"", b"", None
        """The text before and after the name of the node of the last pod, which mostly is the next one's."""
        self._last_node = Node()
        self._parts: dict[tuple[str, bytes], Any] = {}
        self._names: dict[str, str] = {}
        self._no_annotations: dict[str, str] = self.part("annotations", {})
        self._no_finalizers: list[str] = self.part("finalizers", [])

    def from_json(self, metadata: Raw, spec: Raw, status: Raw) -> Pod:
        """Defaulted pod from parts of JSON. Raises msgspec.DecodeError for wrong types, DecodingError for bad texts."""
        text = bytes(status) or b"{}"
        if len(text) <= _SHORT_STATUS:
            pod_status = self._from_text("status", _STATUS, text)
        else:
            pod_status = self.part("status", _STATUS.decode(text))
        return Pod(
            metadata=self._metadata_from_text(metadata),
            spec=self._spec_from_text(bytes(spec) or b"{}"),
            status=pod_status,
        )

    def share(self, pod: Pod) -> None:
        """Default ``pod``, drop unread fields, and share its parts with other pods. Raises DecodingError."""
        _check_times(pod.metadata)
        check(pod.spec, "spec")
        default_pod(pod)
        meta = pod.metadata
        meta.annotations = self._annotations(meta.annotations)
        meta.namespace = self._name(meta.namespace)
        meta.labels = self.part("labels", meta.labels)
        meta.owner_references = self.part("owner_references", meta.owner_references)
        meta.finalizers = self._finalizers(meta.finalizers)
        pod.spec = self._spec(pod.spec)
        pod.status = self.part("status", pod.status)

    def share_node(self, node: Node) -> None:
        """Replace the parts of ``node`` that equal the parts of the node before it."""
        for name, parts in _OF_NODES.items():
            mine, others = getattr(node, name), getattr(self._last_node, name)
            for part in parts:
                if getattr(mine, part) == (other := getattr(others, part)):
                    setattr(mine, part, other)
        self._last_node = node

    def share_template(self, template: PodTemplateSpec) -> None:
        """Drop unread annotations and volumes of a workload's template, and share its spec."""
        meta = template.metadata
        meta.annotations = {name: value for name, value in meta.annotations.items() if name in READ_ANNOTATIONS}
        template.spec.forget_unread_volumes()
        template.spec = self.part("template", template.spec)

    def _metadata_from_text(self, text: Raw) -> ObjectMeta:
        meta = _METADATA.decode(text)
        key = meta.namespace, meta.generate_name, bytes(meta.labels), bytes(meta.owner_references)
        template = self._metadata.get(key)
        if template is None:
            template = ObjectMeta(
                generate_name=self._name(meta.generate_name),
                namespace=self._name(meta.namespace or DEFAULT_NAMESPACE),
                labels=self._from_text("labels", _LABELS, meta.labels),
                annotations=self._no_annotations,
                owner_references=self._from_text("owner_references", _OWNERS, meta.owner_references),
                finalizers=self._no_finalizers,
            )
            _remember(self._metadata, key, template)
        own = replace(template, name=meta.name, uid=meta.uid, resource_version=meta.resource_version)
        if meta.creation_timestamp != template.creation_timestamp:
            check_time(meta.creation_timestamp, "metadata.creationTimestamp")
            # Many pods of one template are created in the same second.
            template.creation_timestamp = own.creation_timestamp = meta.creation_timestamp
        if meta.deletion_timestamp:
            check_time(meta.deletion_timestamp, "metadata.deletionTimestamp")
        if meta.annotations:
            own.annotations = self._annotations(meta.annotations)
        if meta.finalizers:
            own.finalizers = self._finalizers(meta.finalizers)
        own.deletion_timestamp = meta.deletion_timestamp
        own.deletion_grace_period_seconds = meta.deletion_grace_period_seconds
        return own

    def _spec_from_text(self, text: bytes) -> PodSpec:
        before, after, template = self._last_spec
        if template is not None and text.startswith(before) and text.endswith(after):
            name = text[len(before) : -len(after)]
            if b'"' not in name and b"\\" not in name and len(before) + len(name) + len(after) == len(text):
                return replace(template, node_name=self._name(name.decode()))
        node_name = _PLACEMENT.decode(text).node_name
        before, after = _around_node_name(text) if node_name else (text, b"")
        key = before + after
        has_token = _TOKEN_VOLUME in key
        if has_token:
            key = _without_suffixes(key)
        template = self._specs.get(key)
        if template is None:
            pod = Pod(spec=_SPEC.decode(text))
            check(pod.spec, "spec")
            default_pod(pod)
            template = self._spec(pod.spec)
            if not (has_token and self._keeps_token(template)):
                _remember(self._specs, key, template)
        if after and not has_token:
            self._last_spec = before, after, template
        return replace(template, node_name=self._name(node_name))

    def _spec(self, spec: PodSpec) -> PodSpec:
        """A spec that shares everything but its node's name. ``spec`` is defaulted."""
        node_name, spec.node_name = self._name(spec.node_name), ""
        spec.forget_unread_volumes()
        template = self.part("spec", spec)
        if template is spec:
            for name in SPEC_COLLECTIONS:
                setattr(spec, name, self.part(name, getattr(spec, name)))
        return replace(template, node_name=node_name)

    def _keeps_token(self, template: PodSpec) -> bool:
        """True if the fields that are read still contain the name of a token's volume."""
        try:
            return _TOKEN_VOLUME in self._encode(template)
        except OverflowError:
            return True

    def _annotations(self, annotations: dict[str, str]) -> dict[str, str]:
        """Annotations that are read, which few pods have."""
        if READ_OF_PODS.isdisjoint(annotations):
            return self._no_annotations
        return self.part("annotations", {name: value for name, value in annotations.items() if name in READ_OF_PODS})

    def _finalizers(self, finalizers: list[str]) -> list[str]:
        """Finalizers that nothing modeled removes, which few pods have."""
        blocking = [name for name in finalizers if name not in REMOVED_FINALIZERS]
        return self.part("finalizers", blocking) if blocking else self._no_finalizers

    def _from_text(self, name: str, decoder: msgspec.json.Decoder[Any], raw: Raw | bytes) -> Any:
        key = name, bytes(raw)
        shared = self._texts.get(key)
        if shared is None:
            shared = _remember(self._texts, key, self.part(name, decoder.decode(raw)))
        return shared

    def part(self, name: str, part: T) -> T:
        """``part`` of a pod, or an equal earlier one of that name."""
        if isinstance(part, PodStatus):
            _drop_unread(part)
        try:
            key = name, self._encode(part)
        except OverflowError:
            # A quantity written as a number may be larger than any number of MessagePack; such a part has no key.
            return _check(name, part)
        shared: T | None = self._parts.get(key)
        return shared if shared is not None else _remember(self._parts, key, _check(name, part))

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, name)


def _check_times(metadata: ObjectMeta) -> None:
    if metadata.creation_timestamp:
        check_time(metadata.creation_timestamp, "metadata.creationTimestamp")
    if metadata.deletion_timestamp:
        check_time(metadata.deletion_timestamp, "metadata.deletionTimestamp")


def _check(name: str, part: T) -> T:
    """Specs were checked before they were defaulted, and nothing else has anything to check."""
    if isinstance(part, PodStatus):
        check(part, name)
    return part


def _around_node_name(spec: bytes) -> tuple[bytes, bytes]:
    """The text around the value of ``nodeName``, where it can only be the spec's own; else all of it and nothing."""
    value = _NODE_NAME.search(spec)
    if value is None or value["value"] is None or _NODE_NAME.search(spec, value.end()) is not None:
        return spec, b""
    return spec[: value.start("value")], spec[value.end("value") :]


def _without_suffixes(spec: bytes) -> bytes:
    """The text with the volume of each token under the same name."""
    return _TOKEN_VOLUME.join(
        part.lstrip(_SUFFIX) if place else part for place, part in enumerate(spec.split(_TOKEN_VOLUME))
    )


def _drop_unread(status: PodStatus) -> None:
    """Drop unread conditions, and statuses of containers without resources, allocations or restarts."""
    status.conditions = [condition for condition in status.conditions if condition.type in _READ_CONDITIONS]
    # Resizes in place read resources and allocations, scaling down reads restarts.
    for name in ("container_statuses", "init_container_statuses"):
        statuses = [
            container
            for container in getattr(status, name)
            if container.resources is not None or container.allocated_resources or container.restart_count
        ]
        for container in statuses:
            # When a container ended matters to Jobs, for pods that they have not counted: no stored pod is one.
            container.state = None
        setattr(status, name, statuses)


def _remember(table: dict[K, T], key: K, value: T) -> T:
    if len(table) >= _MAX_REMEMBERED:
        table.clear()
    table[key] = value
    return value
