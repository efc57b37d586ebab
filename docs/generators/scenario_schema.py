"""The JSON Schema of scenario files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubespread.scenario.document import API_VERSION, AT_ONCE, HEAD, METADATA
from kubespread.scenario.reading import BESIDE_STEP, IN_LIST, KIND, READINESS, SCENARIO, SPEC
from kubespread.scenario.verbs import STEPS, VERBS
from kubespread.snapshot.edits.verb import Field, Fields, Holds, Verb

_TEXT = {"type": "string", "minLength": 1}
_TYPES: Mapping[Holds, dict[str, Any]] = {
    Holds.TEXT: _TEXT,
    Holds.TEXTS: {"type": "array", "items": _TEXT},
    Holds.NUMBER: {"type": "integer", "minimum": 0},
    Holds.AMOUNT: {"type": ["integer", "string"], "minimum": 0, "minLength": 1},
    Holds.DECIMAL: {"type": "number", "minimum": 0, "maximum": 999_999_999},
    Holds.FLAG: {"type": "boolean"},
    Holds.LABELS: {"type": "object", "additionalProperties": _TEXT},
    Holds.STEPS: {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Step"}},
    Holds.LIST: {"type": "array"},
    Holds.OBJECT: {"type": "object"},
    Holds.READINESS: {"type": ["object", "string"]},
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
    stuck = fields_schema({"stuck": Field(Holds.TEXTS, READINESS["stuck"].help, is_required=True)})
    root["properties"]["spec"]["properties"]["readiness"] = {"anyOf": [{"const": AT_ONCE}, stuck]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": KIND,
        **root,
        "$defs": {"Step": _step()},
    }


def _step() -> dict[str, Any]:
    keys: dict[str, Any] = {key: _shape(verb) for key, verb in STEPS.items()}
    keys |= {verb: {**_TEXT, "description": f"The edit {verb} as text."} for verb in VERBS if verb not in STEPS}
    beside = fields_schema(BESIDE_STEP)["properties"]
    one_key = [{"required": [key]} for key in keys]
    readiness_only = {"anyOf": [{"required": [name]} for name in READINESS], "not": {"anyOf": one_key}}
    step = {
        "type": "object",
        "properties": {**keys, **beside},
        "additionalProperties": False,
        "oneOf": [*one_key, readiness_only],
    }
    return {"anyOf": [{**_TEXT, "description": "A step on one line."}, step]}


def _shape(verb: type[Verb]) -> dict[str, Any]:
    form = verb.form
    forms = [{**_TEXT, "description": form.text}, fields_schema(form.fields)]
    if IN_LIST in form.fields:
        forms.append(_TYPES[Holds.TEXTS])
    return {"description": verb.help(), "anyOf": forms}


def fields_schema(fields: Fields) -> dict[str, Any]:
    """An object that has these fields and no other."""
    return {
        "type": "object",
        "properties": {name: {**_TYPES[field.holds], "description": field.help} for name, field in fields.items()},
        "required": [name for name, field in fields.items() if field.is_required],
        "additionalProperties": False,
    }
