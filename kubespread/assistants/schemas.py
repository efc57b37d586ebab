"""What tools take, as JSON Schemas: whole, and as short as they are listed."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


def schema(question: type[Struct]) -> dict[str, Any]:
    """The arguments as a JSON Schema, whose root is the object itself."""
    _, definitions = msgspec.json.schema_components([question], ref_template="#/$defs/{name}")
    root: dict[str, Any] = {"type": "object", **definitions.pop(question.__name__)}
    root.pop("title", None)
    root.pop("description", None)
    return root


_SAID_WHEN_WRONG = {"minimum", "exclusiveMinimum", "minLength", "minItems"}


def listed(question: type[Struct]) -> dict[str, Any]:
    """`schema` without what goes without saying: that an argument may be null or left out, is empty or false by default
    and has a lower bound, which an error names. A model reads those of all tools before it asks anything.
    """
    whole = schema(question)
    properties = {name: _brief(argument) for name, argument in whole["properties"].items()}
    return {
        "type": "object",
        "properties": properties,
        **({"required": whole["required"]} if whole["required"] else {}),
    }


def _brief(argument: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in argument.items() if key not in _SAID_WHEN_WRONG}
    if not kept.get("default"):
        kept.pop("default", None)
    if "items" in kept:
        kept["items"] = _brief(kept["items"])
    match kept.get("anyOf"):
        case [kind, {"type": "null"}]:
            del kept["anyOf"]
            return {**_brief(kind), **kept}
    return kept
