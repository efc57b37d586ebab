"""The JSON Schema of files of promises."""

from __future__ import annotations

from typing import Any

from docs.generators.scenario_schema import fields_schema
from kubespread.scenario.document import API_VERSION, HEAD, METADATA
from kubespread.scenario.promises import (
    BACKS,
    EXEMPT,
    KIND,
    NEEDS,
    NEVER_BLOCKED,
    OF_CLUSTER,
    OF_WORKLOADS,
    PROMISES,
    SHARE,
    SUBJECTS,
    WORDS,
)

_NUMBER = {"type": "integer", "minimum": 0}
_AMOUNT = [_NUMBER, {"type": "string", "pattern": f"^{SHARE}$"}]


def schema() -> dict[str, Any]:
    """What no reader of JSON Schema can tell, whether there are such workloads, labels and resources, is left out."""
    root = fields_schema({**HEAD, **PROMISES})
    root["properties"] |= {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "metadata": fields_schema(METADATA),
    }
    root["properties"]["promises"] |= {"minItems": 1, "items": {"$ref": "#/$defs/Promise"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": KIND,
        **root,
        "$defs": {"Promise": _promise()},
    }


def _promise() -> dict[str, Any]:
    promise = fields_schema({**SUBJECTS, **OF_WORKLOADS, **OF_CLUSTER, **EXEMPT})
    fields = promise["properties"]
    forms: dict[str, dict[str, Any]] = {
        "cluster": {"const": True},
        "survives": {"type": "string", "pattern": "^any \\S+$"},
        "ready": {"anyOf": _AMOUNT},
        "rollout": {"anyOf": _AMOUNT},
        "back": {"enum": [*BACKS]},
        "drain": {"const": NEVER_BLOCKED},
        "fits": {"anyOf": [{"enum": [*WORDS]}, _NUMBER]},
        "spread": {"type": "object", "minProperties": 1, "additionalProperties": _NUMBER},
        "room": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"anyOf": [_NUMBER, {"type": "string", "minLength": 1}]},
        },
        "until": {"type": "string", "format": "date"},
    }
    for name, form in forms.items():
        fields[name] = {**form, "description": fields[name]["description"]}
    promise["dependentRequired"] = {name: [needed] for name, needed in NEEDS.items()}
    promise["oneOf"] = [
        {"required": [name], "anyOf": [{"required": [clause]} for clause in clauses]}
        for name, clauses in (("workload", OF_WORKLOADS), ("namespace", OF_WORKLOADS), ("cluster", OF_CLUSTER))
    ]
    return promise
