"""The JSON Schema of files of instance types."""

from __future__ import annotations

from typing import Any

from docs.generators.scenario_schema import fields_schema
from kubespread.scenario.autoscaler import INSTANCE_TYPES, TYPE, TYPES_KIND
from kubespread.scenario.document import API_VERSION, HEAD, METADATA


def schema() -> dict[str, Any]:
    """What no reader of JSON Schema can tell, whether amounts and labels are some, is left out."""
    root = fields_schema({**HEAD, **INSTANCE_TYPES})
    root["properties"] |= {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": TYPES_KIND},
        "metadata": fields_schema(METADATA),
    }
    root["properties"]["instanceTypes"] |= {"minItems": 1, "items": fields_schema(TYPE)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": TYPES_KIND, **root}
