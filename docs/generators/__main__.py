"""Writes the files that are made from the program: ``python -m docs.generators``, from the project's root."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from docs.generators import (
    codes,
    fields,
    instance_types_schema,
    manual,
    node_groups_schema,
    operators,
    promises_schema,
    questions,
    reference,
    released,
    scenario_schema,
    stubs,
    topology_spread,
)
from docs.generators.fields import FILES, report_schema

ROOT = Path(__file__).parents[2]


def _as_json(schema: Callable[[], dict[str, Any]]) -> str:
    return json.dumps(schema(), indent=2) + "\n"


def _decisions() -> str:
    files = sorted((ROOT / "docs/adr").glob("0*.md"))
    titles = (file.read_text().partition("\n")[0].removeprefix("# ") for file in files)
    rows = (f"- [{title}]({file.name})\n" for title, file in zip(titles, files, strict=True))
    return "# Decisions\n\nWhy it is built this way, one after another.\n\n" + "".join(rows)


GENERATED: Mapping[str, Callable[[], str]] = {
    "kubespread/__init__.pyi": stubs.text,
    "docs/adr/README.md": _decisions,
    "docs/reference/README.md": reference.contents,
    **{f"docs/reference/{name}.md": partial(reference.page, name) for name in reference.COMMANDS},
    "docs/kubespread.1": manual.page,
    "docs/json.md": lambda: fields.filled((ROOT / "docs/json.md").read_text()),
    "docs/operators.md": operators.page,
    "docs/topology-spread.md": topology_spread.page,
    "docs/codes.md": codes.page,
    released.FILE: released.text,
    "docs/schema/instance-types.json": partial(_as_json, instance_types_schema.schema),
    "docs/schema/promises.json": partial(_as_json, promises_schema.schema),
    "docs/schema/scenario.json": partial(_as_json, scenario_schema.schema),
    "docs/schema/node-groups.json": partial(_as_json, node_groups_schema.schema),
    **{f"docs/schema/{name}": partial(_as_json, partial(report_schema, report)) for name, report in FILES.items()},
}
"""By the file, its content."""
SHOWN: Mapping[str, Callable[[], str]] = {"docs/questions.md": questions.page}
"""The same of what shows many answers, which tests ask for section by section."""


if __name__ == "__main__":
    for name, text in {**GENERATED, **SHOWN}.items():
        (ROOT / name).write_text(text())
