"""A Node manifest as the template of new nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubespread.errors import Fault, ManifestError
from kubespread.kube.admission.defaulting import default_node
from kubespread.kube.api.core import Node
from kubespread.kube.api.decoding import DecodingError, decode, normalized
from kubespread.kube.api.kinds import full_kind
from kubespread.kube.api.unknown_fields import unknown_fields
from kubespread.kube.validation.nodes import node_faults
from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.stream import read_objects
from kubespread.manifest.text import MAX_MANIFEST_BYTES, display_name, read_text_bytes


def read_template(path: str) -> Node:
    """The one Node that the file at ``path`` holds, defaulted. Raises ManifestError with every fault it has."""
    return _node(display_name(path), only_object(path, "v1", "Node", "one Node"))


def only_object(path: str, api_version: str, kind: str, expected: str) -> KubernetesObject:
    """The object of ``kind`` that the file at ``path`` holds, and nothing else. Raises ManifestError."""
    file = display_name(path)
    try:
        objects = [item for item in read_objects(iter([read_text_bytes(path, MAX_MANIFEST_BYTES)])) if not item.size]
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    kinds = [(item.api_version, item.kind) for item in objects]
    if kinds != [(api_version, kind)]:
        listed = ", ".join(full_kind(*pair) or "an object without kind" for pair in kinds)
        raise ManifestError(file, [Fault(f"expected {expected}, found {listed or 'nothing'}")])
    try:
        # Decoded here, once: numbers that no field holds are found only then.
        _ = objects[0].data
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    return objects[0]


def _node(file: str, item: KubernetesObject) -> Node:
    try:
        node, faults = checked_node(item.data)
    except DecodingError as error:
        message = f'Node in version "v1" cannot be handled as a Node: {error}'
        raise ManifestError(file, [Fault(message, error.path, item.line_of(error.path))]) from error
    if faults:
        raise ManifestError(file, [Fault(message, path, item.line_of(path)) for path, message in faults])
    return node


def checked_node(data: Mapping[str, Any], path: str = "", name: str = "") -> tuple[Node, list[tuple[str, str]]]:
    """The Node in ``data``, which is at ``path``, with defaults, and its faults, each with its path.

    It is called ``name`` if it has no name. Raises DecodingError.
    """
    # Decoding alone does not look at amounts.
    node = decode(normalized(data, Node, path), Node, path)
    node.metadata.name = node.metadata.name or name
    inside = f"{path}." if path else ""
    faults = [(field.path, str(field)) for field in unknown_fields(data, "Node", path)]
    faults += [(f"{inside}{fault.path}", fault.message) for fault in node_faults(node)]
    default_node(node)
    return node, faults
