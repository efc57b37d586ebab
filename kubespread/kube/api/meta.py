"""Base of all objects: metadata, label selectors, and the base class of every kind.

Classes and fields carry Kubernetes' own names. An absent list or map is empty, an absent string is ``""``; a field is
``None`` only where Kubernetes tells absent from empty. Only fields that are read are declared; `unknown_fields.py`
knows all that a manifest may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, field

from kubespread.kube.quantity import QuantityText

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Duration = Annotated[str, Meta(title="Duration")]
StringMap = dict[str, str]
ResourceList = dict[str, QuantityText | None]


class KubeObject(msgspec.Struct, rename="camel", kw_only=True, gc=False, omit_defaults=True):
    """Base of objects: camelCase in JSON, unknown fields skipped, absent fields not written."""

    ignored: ClassVar[Mapping[str, str]] = {}
    """Known fields that are not read, and their types in Go's words, ``""`` for any."""


@cache
def attributes_of(cls: type[KubeObject]) -> Mapping[str, str]:
    """Attributes of a type by their names in manifests."""
    return {info.encode_name: info.name for info in msgspec.structs.fields(cls)}


class OwnerReference(KubeObject):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(KubeObject):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: StringMap = field(default_factory=dict)
    annotations: StringMap = field(default_factory=dict)
    owner_references: list[OwnerReference] = field(default_factory=list)
    finalizers: list[str] = field(default_factory=list)


class LabelSelectorRequirement(KubeObject):
    key: str = ""
    operator: str = ""
    values: list[str] = field(default_factory=list)


class LabelSelector(KubeObject):
    match_labels: StringMap = field(default_factory=dict)
    match_expressions: list[LabelSelectorRequirement] = field(default_factory=list)

    @property
    def keys(self) -> set[str]:
        return {*self.match_labels, *(requirement.key for requirement in self.match_expressions)}


class ApiObject(KubeObject):
    """A top-level kind, as opposed to a part of one."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
