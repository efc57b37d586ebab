"""Writes what of the documentation is made from the program: ``python -m docs.generators``, from the project's root."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import kubespread
from docs.generators import fields, manual, node_groups_schema, reference, scenario_schema
from kubespread.questions.check.rules import document
from kubespread.questions.schema import FILES
from kubespread.questions.schema import schema as report_schema

DOCS = Path(__file__).parents[1]


def _as_json(schema: Callable[[], dict[str, Any]]) -> str:
    return json.dumps(schema(), indent=2) + "\n"


GENERATED: Mapping[str, Callable[[], str]] = {
    "reference.md": reference.page,
    "kubespread.1": manual.page,
    "json.md": lambda: fields.filled((DOCS / "json.md").read_text()),
    "codes.md": lambda: document(kubespread.rules()),
    "schema/scenario.json": partial(_as_json, scenario_schema.schema),
    "schema/node-groups.json": partial(_as_json, node_groups_schema.schema),
    **{f"schema/{name}": partial(_as_json, partial(report_schema, report)) for name, report in FILES.items()},
}
"""By the file below docs/, what is to stand in it."""


if __name__ == "__main__":
    for name, text in GENERATED.items():
        (DOCS / name).write_text(text())
