"""The reports' JSON Schema, written from their types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from kubespread.kube.owners import NamespacedName
from kubespread.questions.fleet.report import FleetReport
from kubespread.questions.registry import QUESTIONS, question
from kubespread.reports.parts import API_VERSION, Report

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _of_questions() -> Iterator[type[Report]]:
    return (question(name).report() for name in QUESTIONS)


FILES: dict[str, type[Report]] = {
    "fleet-report.json": FleetReport,
    **{f"{_HUMP.sub('-', report.__name__).lower()}.json": report for report in _of_questions()},
}


def _named(name: type) -> dict[str, Any]:
    """Types with parts are text in JSON."""
    if issubclass(name, NamespacedName):
        return {"type": "string"}
    raise NotImplementedError


def schema(report: type[Report]) -> dict[str, Any]:
    """Every field is always there; what a later version adds is allowed."""
    _, definitions = msgspec.json.schema_components([report], ref_template="#/$defs/{name}", schema_hook=_named)
    for definition in definitions.values():
        definition.pop("description", None)
        if "enum" in definition:
            continue
        definition["required"] = list(definition["properties"])
        for field in definition["properties"].values():
            field.pop("default", None)
    root = definitions.pop(report.__name__)
    root["properties"]["apiVersion"] = {"const": API_VERSION}
    root["properties"]["kind"] = {"const": report.__name__}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, "$defs": definitions}


def arguments_schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """The arguments of a call as a JSON Schema, whose root is the object itself."""
    _, definitions = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    root: dict[str, Any] = {"type": "object", **definitions.pop(arguments.__name__)}
    root.pop("title", None)
    root.pop("description", None)
    return root
