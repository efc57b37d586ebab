"""The tables of fields in docs/json.md, written from the reports' types and what stands below their fields.

Each stands between ``<!-- fields of NAME -->`` and ``<!-- end -->``, where NAME is a report, ``every report``,
``parts`` or ``details``. A type that one field alone has is told there; one that several have is a part, with a table
of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from docs.generators.field_meanings import OF_EVERY_REPORT, class_meaning, meaning
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.fleet import FleetReport
from kubespread.questions.registry import QUESTIONS, question
from kubespread.questions.simulate import SimulateReport
from kubespread.reports.parts import API_VERSION, Report
from kubespread.scheduler.causes import Cause

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_REPORTS = (question(name).report() for name in QUESTIONS)
FILES: dict[str, type[Report]] = {
    "fleet-report.json": FleetReport,
    **{f"{_HUMP.sub('-', report.__name__).lower()}.json": report for report in _REPORTS},
}
"""The files of the schemas."""


def _named(name: type) -> dict[str, Any]:
    """Types with parts are text in JSON."""
    if issubclass(name, NamespacedName):
        return {"type": "string"}
    raise NotImplementedError


def report_schema(report: type[Report]) -> dict[str, Any]:
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


_BETWEEN = re.compile(r"(?P<opening><!-- fields of (?P<name>[\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)
_DETAILS = get_args(Cause)
_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NamespacedName: "string",
    WorkloadName: "string",
    Any: "anything",
    NoneType: "null",
    Cause: "[detail](#details)",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One row: where it is as jq has it, what it holds, and what that means."""

    path: str
    type: str
    meaning: str


def fields(struct: type[Struct], path: str = "") -> Iterator[Field]:
    """All fields of ``struct`` and of the types that it alone has, in their order; ``[]`` goes over the items of a
    list or the values of a map.
    """
    for field, hint in _hints(struct):
        here = f"{path}.{field.encode_name}"
        inner = _struct_in(hint)
        yield Field(here, _type(hint), meaning(struct, field, inner))
        if inner is not None and inner not in _parts():
            yield from fields(inner, here + _into(hint))


def parts() -> list[type[Struct]]:
    """The types that several fields have, by name."""
    return sorted(_parts().difference(FILES.values()), key=lambda part: part.__name__)


def details() -> Iterator[Field]:
    """The fields of every detail of a rejection, each of which begins with its type."""
    for detail in _DETAILS:
        tag = f"`{detail.__struct_config__.tag}`"
        yield Field(".type", tag, class_meaning(detail))
        yield from fields(detail)


def filled(page: str) -> str:
    """``page`` with every table written anew."""
    return _BETWEEN.sub(lambda match: f"{match['opening']}{_told(match['name'])}\n", page)


def _told(name: str) -> str:
    if name == "parts":
        sections = ((part.__name__, class_meaning(part), _table(fields(part))) for part in parts())
        return "\n\n".join(f"### {title}\n\n{about}\n\n{table}" for title, about, table in sections)
    if name == "details":
        return _table(details())
    if name == "every report":
        return _table(filter(_is_common, fields(SimulateReport)))
    ((file, report),) = ((file, each) for file, each in FILES.items() if each.__name__ == name)
    rows = list(fields(report))
    own = (field for field in rows if not _is_common(field))
    names = ", ".join(f"`{field.path[1:]}`" for field in rows if _is_common(field))
    return f"{_table(own)}\n\nAs in [every report](#every-report): {names}. [JSON Schema](schema/{file})."


def _is_common(field: Field) -> bool:
    """Whether it means what it means in every report."""
    return OF_EVERY_REPORT.get(field.path[1:]) == field.meaning


def _table(rows: Iterable[Field]) -> str:
    lines = (f"| `{row.path}` | {row.type} | {row.meaning} |" for row in rows)
    return "\n".join(("| path | type | meaning |", "|---|---|---|", *lines))


@cache
def _parts() -> frozenset[type[Struct]]:
    """What more than one field has, and reports within reports."""
    uses: Counter[type[Struct]] = Counter()
    waiting: list[type[Struct]] = [*FILES.values(), *_DETAILS]
    known = set(waiting)
    while waiting:
        for _, hint in _hints(waiting.pop()):
            inner = _struct_in(hint)
            if inner is not None:
                uses[inner] += 1
                if inner not in known:
                    known.add(inner)
                    waiting.append(inner)
    return frozenset(struct for struct, count in uses.items() if count > 1 or struct in FILES.values())


def _hints(struct: type[Struct]) -> Iterator[tuple[msgspec.structs.FieldInfo, Any]]:
    hints = get_type_hints(struct)
    for field in msgspec.structs.fields(struct):
        yield field, hints[field.name]


def _struct_in(hint: Any) -> type[Struct] | None:
    """The one type of objects that a field holds, in lists, maps or by itself."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    if hint == Cause:
        return None
    return next((found for each in get_args(hint) if (found := _struct_in(each)) is not None), None)


def _into(hint: Any) -> str:
    """How jq gets from the field to its objects."""
    if get_origin(hint) in (tuple, dict):
        return f"[]{_into(get_args(hint)[-1 if get_origin(hint) is dict else 0])}"
    return next((_into(each) for each in get_args(hint) if _struct_in(each) is not None), "")


def _type(hint: Any) -> str:
    if hint in _TYPES:
        return _TYPES[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return f"list of {_several(arguments[0])}"
    if origin is dict:
        return f"map of {_several(arguments[1])}"
    if origin in (Union, UnionType):
        return " or ".join(map(_type, arguments))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if issubclass(hint, StrEnum):
        return ", ".join(f"`{value}`" for value in hint)
    return f"[{hint.__name__}](#{hint.__name__.lower()})" if hint in _parts() else "object"


def _several(hint: Any) -> str:
    one = _type(hint)
    return f"{one}s" if one.isalpha() else f"({one})" if " or " in one else one
