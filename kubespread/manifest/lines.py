"""Which line a field stands on. Only asked when there is something to complain about, so it may take its time."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import yaml

_STEP = re.compile(r"\[(?P<index>\d+)\]|\[(?P<key>[^\]]*)\]|(?P<name>[^.\[\]]+)")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class FieldLines:
    """One text, asked for lines by field path (``spec.containers[0].image``)."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @cached_property
    def _documents(self) -> list[Any]:
        """The composed documents. JSON is YAML as far as positions go; what YAML cannot compose simply has no lines."""
        try:
            return list(yaml.compose_all(self._text.decode().expandtabs(), Loader=_Loader))
        except (yaml.YAMLError, RecursionError, UnicodeDecodeError):
            return []

    def line(self, document: int, path: str) -> int | None:
        """The line of ``path``, or of the nearest field above it that exists; None where nothing is known."""
        if document >= len(self._documents):
            return None
        node = self._documents[document]
        line = node.start_mark.line + 1 if node is not None else None
        for step in _STEP.finditer(path):
            child = _child(node, step)
            if child is None:
                break
            line, node = child
        return line


def _child(node: Any, step: re.Match[str]) -> tuple[int, Any] | None:
    if isinstance(node, yaml.SequenceNode) and step["index"] is not None:
        index = int(step["index"])
        if index < len(node.value):
            return node.value[index].start_mark.line + 1, node.value[index]
    if isinstance(node, yaml.MappingNode):
        name = step["name"] or step["key"] or step["index"]
        for key, value in node.value:
            if getattr(key, "value", None) == name:
                return key.start_mark.line + 1, value
    return None
