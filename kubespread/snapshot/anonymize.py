"""A snapshot with other names and label values that schedules exactly like the original.

Every string is replaced except Kubernetes' own vocabulary, so an overlooked field is hidden rather than shown. The same
string becomes the same pseudonym everywhere, and pseudonyms sort like the originals, because ties are broken by name.
Keys of labels, taints and resources stay, and so do whole numbers: they are compared. Times stay, since controllers
compare ages; resourceVersions are left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from kubespread.kube.api import devices
from kubespread.kube.api.cluster_objects import ClusterObjects, CSIDriver, CSINodeDriver, PersistentVolumeClaim
from kubespread.kube.api.core import Container, ContainerImage, ImageVolumeSource, PodOS, Sysctl
from kubespread.kube.api.kinds import group_of
from kubespread.kube.api.meta import KubeObject, ObjectMeta
from kubespread.kube.api.workloads import StatefulSet
from kubespread.kube.name_rules import normalized_image
from kubespread.kube.well_known import CONFIG_SOURCE, MIGRATED_PLUGINS, NODE_SELECTOR
from kubespread.regex import regex
from kubespread.snapshot.snapshot import Snapshot

T = TypeVar("T")
Rename = Callable[[str], str]

SOURCE = "anonymized"
_UNCHANGED = tomllib.loads(Path(__file__).with_name("kept.toml").read_text(encoding="utf-8"))
_UNCHANGED_FIELDS = frozenset(chain.from_iterable(_UNCHANGED["fields"].values()))
_UNCHANGED_WORDS = frozenset(_UNCHANGED["words"])
# CSI drivers and device classes are products; further names derive from their names and the names of requests.
_UNCHANGED_NAMES = (PodOS, Sysctl, CSINodeDriver, devices.DeviceRequest, devices.DeviceSubRequest)
_DIGESTS: Mapping[str, str | None] = {"unread": None, "last_applied": ""}
"""Digests that could reveal names, and their values when empty."""
_NUMBER = regex(r"-?\d+")
# A volume in several zones has them in one label, with this between them.
_BETWEEN_ZONES = "__"


def anonymize(snapshot: Snapshot) -> tuple[Snapshot, Mapping[str, str]]:
    """``snapshot`` under pseudonyms, and the original text of each."""
    texts: set[str] = set()

    def collect(text: str) -> str:
        texts.update(text.split(_BETWEEN_ZONES))
        return text

    _renamed_snapshot(snapshot, collect)
    hidden = sorted(text for text in texts if not (text in _UNCHANGED_WORDS or _NUMBER.fullmatch(text)))
    width = len(str(len(hidden)))
    names = {text: f"anon-{rank:0{width}}" for rank, text in enumerate(hidden)}
    names.update(_composed_names(snapshot, names))
    renamed = _renamed_snapshot(snapshot, lambda text: _rename(text, names))
    return renamed, {pseudonym: text for text, pseudonym in names.items()}


def _rename(text: str, names: Mapping[str, str]) -> str:
    if text in names or _BETWEEN_ZONES not in text:
        return names.get(text, text)
    return _BETWEEN_ZONES.join(names.get(part, part) for part in text.split(_BETWEEN_ZONES))


def _composed_names(snapshot: Snapshot, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names that controllers make of other names, and take apart again: a StatefulSet's pods, and claims made for
    pods.
    """
    of_ordinals = _claims_of_ordinals(snapshot)
    for stateful_set in snapshot.objects.get(StatefulSet):
        meta = stateful_set.metadata
        for template in (claim.metadata.name for claim in stateful_set.spec.volume_claim_templates):
            mine = f"{names.get(template, template)}-{names.get(meta.name, meta.name)}"
            for ordinal in of_ordinals.get((meta.namespace, f"{template}-{meta.name}"), ()):
                yield f"{template}-{meta.name}-{ordinal}", f"{mine}-{ordinal}"
    for pod in snapshot.pods:
        meta = pod.metadata
        mine = names.get(meta.name, meta.name)
        for owner in meta.owner_references:
            ordinal = meta.name.removeprefix(f"{owner.name}-")
            if (group_of(owner.api_version), owner.kind) == ("apps", "StatefulSet") and ordinal.isdecimal():
                mine = f"{names.get(owner.name, owner.name)}-{ordinal}"
                yield meta.name, mine
        for volume in pod.spec.volumes:
            if volume.ephemeral is not None:
                yield f"{meta.name}-{volume.name}", f"{mine}-{names.get(volume.name, volume.name)}"


def _claims_of_ordinals(snapshot: Snapshot) -> Mapping[tuple[str, str], list[str]]:
    """The ordinals at the end of claim names, by namespace and the name before them: some claims outlive their pods."""
    ordinals: dict[tuple[str, str], list[str]] = {}
    used = (
        (pod.metadata.namespace, volume.persistent_volume_claim.claim_name)
        for pod in snapshot.pods
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    )
    stored = ((claim.metadata.namespace, claim.metadata.name) for claim in snapshot.objects.get(PersistentVolumeClaim))
    for namespace, name in dict.fromkeys((*stored, *used)):
        stem, _, ordinal = name.rpartition("-")
        if ordinal.isdecimal():
            ordinals.setdefault((namespace, stem), []).append(ordinal)
    return ordinals


def _renamed_snapshot(snapshot: Snapshot, rename: Rename) -> Snapshot:
    walk = _Renaming(rename, _words_of_selectors(snapshot.objects))
    by_type = {cls: walk.all(objects) for cls, objects in snapshot.objects.by_type.items()}
    original = snapshot.origin
    origin = msgspec.structs.replace(
        original,
        source=SOURCE,
        server="",
        resource_version="",
        namespace=rename(original.namespace),
        # What follows the colon may name a file or a user.
        gaps=tuple(gap.partition(":")[0] for gap in original.gaps),
        unread={kind: gap.partition(":")[0] for kind, gap in original.unread.items()},
    )
    return replace(
        snapshot,
        nodes=walk.all(snapshot.nodes),
        pods=walk.all(snapshot.pods),
        objects=replace(snapshot.objects, by_type=by_type),
        origin=origin,
    )


class _Renaming:
    """Copies objects with their strings renamed; parts that are shared stay shared."""

    def __init__(self, rename: Rename, compared: frozenset[str]) -> None:
        """``compared`` are words in selectors of devices."""
        self._rename, self._compared = rename, compared
        self._copies: dict[int, Any] = {}

    def all(self, objects: Iterable[T]) -> tuple[T, ...]:
        return tuple(self._value(obj) for obj in objects)

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self._rename(value)
            case KubeObject() | list() | dict():
                if id(value) not in self._copies:
                    self._copies[id(value)] = self._copy(value)
                return self._copies[id(value)]
        return value

    def _copy(self, value: Any) -> Any:
        match value:
            case list():
                return [self._value(item) for item in value]
            case dict():
                return {key: self._value(item) for key, item in value.items()}
            case Container() | ImageVolumeSource():
                name = "image" if isinstance(value, Container) else "reference"
                image = self._image(normalized_image(getattr(value, name)))
                return msgspec.structs.replace(self._fields(value, but=name), **{name: image})
            case ContainerImage():
                return msgspec.structs.replace(value, names=[self._image(name) for name in value.names])
            case ObjectMeta():
                renamed = self._fields(value, but="annotations")
                return msgspec.structs.replace(
                    renamed, annotations=self._annotations(value.annotations), resource_version=""
                )
            case devices.Device():
                attributes = _renamed_attributes(value.attributes, self._compared, self._rename)
                return msgspec.structs.replace(self._fields(value, but="attributes"), attributes=attributes)
            case devices.DeviceClaim():
                # Elsewhere `requests` are amounts of resources, which stay.
                return msgspec.structs.replace(self._fields(value), requests=self._value(value.requests))
            case CSIDriver() | devices.DeviceClass():
                meta = msgspec.structs.replace(self._value(value.metadata), name=value.metadata.name)
                return msgspec.structs.replace(self._fields(value), metadata=meta)
        return self._fields(value)

    def _fields(self, value: T, but: str = "") -> T:
        renamed = copy(value)
        for name in value.__struct_fields__:  # type: ignore[attr-defined]  # T is a KubeObject here
            if name in _UNCHANGED_FIELDS or name == but or (name == "name" and isinstance(value, _UNCHANGED_NAMES)):
                continue
            if name in _DIGESTS:
                setattr(renamed, name, _DIGESTS[name])
            elif name == "disrupted_pods":
                setattr(renamed, name, {self._rename(pod): time for pod, time in getattr(value, name).items()})
            else:
                setattr(renamed, name, self._value(getattr(value, name)))
        return renamed

    def _image(self, name: str) -> str:
        """A tag stays a tag: an image without one is no pod's image."""
        tag = ":latest" if normalized_image(name) == name else ""
        return f"{self._rename(name)}{tag}"

    def _annotations(self, annotations: Mapping[str, str]) -> dict[str, str]:
        return {key: self._annotation(key, value) for key, value in annotations.items()}

    def _annotation(self, key: str, value: str) -> str:
        if key in (MIGRATED_PLUGINS, CONFIG_SOURCE):
            return value
        if key == NODE_SELECTOR:
            return self._pairs(value)
        return self._rename(value)

    def _pairs(self, text: str) -> str:
        """Rename the values of ``key=value,...``, not its keys."""
        pairs = (pair.partition("=") for pair in text.split(","))
        return ",".join(f"{name}{equals}{self._rename(value.strip())}" for name, equals, value in pairs)


_WORD = regex(r"\w+")


def _words_of_selectors(objects: ClusterObjects) -> frozenset[str]:
    """Every word in a selector of a class, a claim or a template."""
    specs = [claim.spec for claim in objects.get(devices.ResourceClaim)]
    specs += [template.spec.spec for template in objects.get(devices.ResourceClaimTemplate)]
    requests = [request for spec in specs for request in spec.devices.requests]
    alternatives = [alternative for request in requests for alternative in (request.exactly, *request.first_available)]
    selectors = [
        selector for device_class in objects.get(devices.DeviceClass) for selector in device_class.spec.selectors
    ]
    selectors += [selector for alternative in filter(None, alternatives) for selector in alternative.selectors]
    texts = (selector.cel.expression for selector in selectors if selector.cel is not None)
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _renamed_attributes(
    attributes: Mapping[str, devices.DeviceAttribute], words: frozenset[str], rename: Callable[[str], str]
) -> dict[str, devices.DeviceAttribute]:
    """Attributes by their names, with the strings renamed that no selector compares."""
    return {
        name: attribute
        if attribute.string_value is None or name.rpartition("/")[2] in words
        else msgspec.structs.replace(attribute, string_value=rename(attribute.string_value))
        for name, attribute in attributes.items()
    }
