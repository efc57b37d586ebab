"""Objects besides nodes and pods that come to a world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kubespread.kube.api.cluster_objects import FIELDS, ClusterObjects
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.storage import PersistentVolumeClaim


def with_objects(known: ClusterObjects, objects: Iterable[ApiObject]) -> ClusterObjects:
    """The objects that are known, and ``objects`` in place of their namesakes."""
    fields: dict[str, Any] = {}
    for obj in objects:
        field, meta = FIELDS[type(obj)], obj.metadata
        others = (
            each
            for each in fields.get(field, getattr(known, field))
            if (each.metadata.namespace, each.metadata.name) != (meta.namespace, meta.name)
        )
        fields[field] = (*others, obj)
    return replace(known, **fields)


def beside_claims(companions: Iterable[ApiObject]) -> Iterator[ApiObject]:
    """What came along with a new pod but for claims, which are created with each pod there is."""
    return (obj for obj in companions if not isinstance(obj, PersistentVolumeClaim))
