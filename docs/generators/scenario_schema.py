"""The JSON Schema of scenario files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubespread.scenario.document import API_VERSION, HEAD, METADATA, Fields, FieldType
from kubespread.scenario.reading import KIND, NAME, READINESS, SCENARIO, SPEC
from kubespread.scenario.verbs import KEYS

_TEXT = {"type": "string", "minLength": 1}
_TYPES: Mapping[FieldType, dict[str, Any]] = {
    FieldType.TEXT: _TEXT,
    FieldType.TEXTS: {"type": "array", "items": _TEXT},
    FieldType.NUMBER: {"type": "integer", "minimum": 0},
    FieldType.AMOUNT: {"type": ["integer", "string"], "minimum": 0, "minLength": 1},
    FieldType.DECIMAL: {"type": "number", "minimum": 0, "maximum": 999_999_999},
    FieldType.FLAG: {"type": "boolean"},
    FieldType.LABELS: {"type": "object", "additionalProperties": _TEXT},
    FieldType.LIST: {"type": "array"},
    FieldType.OBJECT: {"type": "object"},
}


def schema() -> dict[str, Any]:
    """What no reader of JSON Schema can tell, whether a text names edits and nodes that there are, is left out."""
    root = fields_schema({**HEAD, **SCENARIO})
    root["properties"] |= {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "metadata": fields_schema(METADATA),
        "spec": fields_schema(SPEC),
    }
    spec = root["properties"]["spec"]["properties"]
    spec["readiness"] = {**fields_schema(READINESS), "description": SPEC["readiness"].help}
    spec["steps"] = {**spec["steps"], "minItems": 1, "items": {"$ref": "#/$defs/Step"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": KIND,
        **root,
        "$defs": {"Step": _step()},
    }


def _step() -> dict[str, Any]:
    texts = {"type": ["string", "array"], "minLength": 1, "minItems": 1, "items": _TEXT}
    keys = {key: {**texts, "description": f"{verb.help()} {verb.form.text}"} for key, verb in KEYS.items()}
    step = {
        "type": "object",
        "properties": {**keys, NAME: {**_TEXT, "description": "what the step is called"}},
        "additionalProperties": False,
        "oneOf": [{"required": [key]} for key in keys],
    }
    return {"anyOf": [{**_TEXT, "description": "A step on one line."}, step]}


def fields_schema(fields: Fields) -> dict[str, Any]:
    """An object that has these fields and no other."""
    return {
        "type": "object",
        "properties": {name: {**_TYPES[field.type], "description": field.help} for name, field in fields.items()},
        "required": [name for name, field in fields.items() if field.is_required],
        "additionalProperties": False,
    }
