"""The fields of the last release's JSON and their types, as its schemas have them: what has to stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from docs.generators.fields import FILES, report_schema
from kubespread import __version__

FILE = "docs/schema/released.txt"
_HEAD = "# The fields of {version} by report or part, and their types. Written by `make docs` for another version.\n"


def fields_of(schemas: Iterable[Mapping[str, Any]]) -> list[str]:
    """``Domain.pods integer``, of every part once."""
    parts = {name: part for one in schemas for name, part in ((one["title"], one), *one.get("$defs", {}).items())}
    found = (
        f"{name}.{field} {'|'.join(sorted(set(_types(held))))}"
        for name, part in parts.items()
        for field, held in part.get("properties", {}).items()
    )
    return sorted(found)


def _types(held: Mapping[str, Any]) -> Iterator[str]:
    """Text by text that is one of a few, since there may be more of these later."""
    if "anyOf" in held:
        for one in held["anyOf"]:
            yield from _types(one)
    elif "$ref" in held:
        yield held["$ref"].rpartition("/")[2]
    elif held.get("type") == "array":
        yield f"[{'|'.join(sorted(set(_types(held.get('items', {})))))}]"
    elif "enum" in held or "const" in held:
        yield "string"
    else:
        yield held.get("type", "any")


def of_today() -> list[str]:
    return fields_of(map(report_schema, FILES.values()))


def text() -> str:
    """As it is, while it is of this version."""
    head = _HEAD.format(version=__version__)
    kept = (Path(__file__).parents[2] / FILE).read_text()
    return kept if kept.startswith(head) else head + "".join(f"{line}\n" for line in of_today())
