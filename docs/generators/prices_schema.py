"""The JSON Schema of files of prices."""

from __future__ import annotations

from typing import Any

from docs.generators.scenario_schema import fields_schema
from kubespread.questions.costs import KIND, PRICE, PRICES
from kubespread.scenario.document import API_VERSION


def schema() -> dict[str, Any]:
    """What no reader of JSON Schema can tell, how many decimals a number has, is left out."""
    root = fields_schema(PRICES)
    (price,) = fields_schema({"price": PRICE})["properties"].values()
    root["properties"] |= {"apiVersion": {"const": API_VERSION}, "kind": {"const": KIND}}
    root["properties"]["prices"] |= {"minProperties": 1, "additionalProperties": price}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": KIND, **root}
