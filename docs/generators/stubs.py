"""What type checkers and editors read of the library, whose functions are made when they are first used."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import kubespread
from kubespread.questions.library import SIDES, Keyword, keywords_of, signature_of, takes_several
from kubespread.questions.question import Question, WorkloadOption
from kubespread.questions.registry import question

_HEAD = '"""The library as type checkers and editors see it: `make docs` makes it from the questions."""\n'
_TYPES = {
    "kubespread.candidate.sources": "PodGiven",
    "kubespread.questions.check": "Severity",
    "kubespread.questions.scene": "OnProgress OnRefused",
    "kubespread.questions.autoscaling.autoscale": "GroupsGiven",
    "kubespread.scenario.autoscaler": "InstanceTypesGiven",
    "kubespread.scenario.promises": "PromisesGiven",
    "kubespread.scenario.reading": "ScenarioGiven",
}
"""What signatures name that is no name of the library, by the module that defines it."""
_GIVEN = {
    "pods": "PodGiven | Sequence[PodGiven]",
    "manifests": "PodGiven | Sequence[PodGiven]",
    "scenario": "ScenarioGiven",
    "promises": "PromisesGiven | None",
    "node_groups": "GroupsGiven | None",
    "instance_types": "InstanceTypesGiven | None",
}
"""Types of what a caller gives, where these are not the fields' own."""
_OF_ASK = {
    **dict.fromkeys(SIDES, ("Side", "")),
    "snapshot": ("Snapshot", ""),
    "scheduler": ("Scheduler | None", ""),
    "jobs": (
        "int | None",
        "Number of worker processes; the answer is the same for any number. None: one per core, where that saves time.",
    ),
    "timeout": (
        "float | None",
        "Time limit in seconds: the answer then covers what is finished, is no or unknown, and "
        "``unfinished`` says what is missing.",
    ),
    "on_progress": ("OnProgress | None", "Called now and then with the progress."),
    "on_refused": (
        "OnRefused | None",
        "Called with each workload that the API server would refuse; without it, the first one raises.",
    ),
}
"""Types and documentation of the parameters that are no fields."""


def text() -> str:
    """The file."""
    imported: dict[str, list[str]] = {}
    for name, module in kubespread._HOMES.items():
        imported.setdefault(module, []).append(f"{name} as {name}")
    for module, names in _TYPES.items():
        imported.setdefault(module, []).extend(names.split())
    lines = [
        _HEAD,
        "import datetime",
        "from collections.abc import Sequence",
        "from pathlib import Path",
        "from typing import Literal, TypeVar, overload",
        "",
        *(f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imported.items())),
        "",
        'G = TypeVar("G", bound=PodGiven)',
        "",
        "__version__: str",
        "_HOMES: dict[str, str]",
        "_FUNCTIONS: dict[str, str]",
        f"__all__ = [{', '.join(map(repr, kubespread.__all__))}]".replace("'", '"'),
    ]
    for name, asked in kubespread._FUNCTIONS.items():
        lines += _function(name, question(asked))
    return "\n".join(lines) + "\n"


def _function(name: str, asked: type[Question]) -> Iterator[str]:  # type: ignore[type-arg]  # of any answer
    signature, documentation = _typed(asked), _documentation(name, asked)
    if not takes_several(asked):
        yield ""
        yield from _declared(name, signature)
        yield from _documented(documentation)
        return
    one_or_several = zip(("PodGiven", "list[G] | tuple[G, ...]"), signature.return_annotation.split(" | "), strict=True)
    for given, answer in one_or_several:
        parameters = [
            parameter.replace(annotation=given) if parameter.name == "pods" else parameter
            for parameter in signature.parameters.values()
        ]
        yield from ("", "@overload")
        yield from _declared(name, signature.replace(parameters=parameters, return_annotation=answer))
        yield from _documented(documentation)


def _typed(asked: type[Question]) -> inspect.Signature:  # type: ignore[type-arg]  # of any answer
    """The signature, with types as text."""
    given, answer = keywords_of(asked), asked.report().__name__
    types = {name: _accepted(given[name]) if name in given else _OF_ASK[name][0] for name in _parameters(asked)}
    if asked.may_lack_cluster:
        types["snapshot"] = "Snapshot | None"
    return inspect.Signature(
        [each.replace(annotation=types[each.name]) for each in signature_of(asked).parameters.values()],
        return_annotation=f"{answer} | tuple[{answer}, ...]" if takes_several(asked) else answer,
    )


def _parameters(asked: type[Question]) -> list[str]:  # type: ignore[type-arg]  # of any answer
    return [*signature_of(asked).parameters]


def _documentation(name: str, asked: type[Question]) -> str:  # type: ignore[type-arg]  # of any answer
    given = keywords_of(asked)
    helps = {name: _help(given[name]) if name in given else _OF_ASK[name][1] for name in _parameters(asked)}
    lines = [f"- ``{name}``: {help}" for name, help in helps.items() if help]
    summary = inspect.getdoc(getattr(kubespread, name)) or ""
    return "\n".join([summary, "", "Raises UsageError, SnapshotError and ManifestError.", "", *lines])


def _help(given: Keyword) -> str:
    return "For Python callers only." if given.option is None else given.option.help


def _accepted(given: Keyword) -> str:
    """The type of what a caller gives."""
    field, kind, option = given
    if option is None:
        return _annotation(kind)
    if isinstance(option, WorkloadOption) and option.is_several:
        return "PodGiven | list[G] | tuple[G, ...]"
    one_or = "str | " if option.is_subject and get_origin(kind) is tuple else ""
    path_or = "Path | " if option.metavar in ("FILE", "POLICY") else ""
    accepted = _GIVEN.get(field.name) or f"{one_or}{path_or}{_annotation(kind)}"
    is_none = not field.required and field.default is None and "None" not in accepted
    return f"{accepted} | None" if is_none else accepted


def _annotation(kind: Any) -> str:
    """A type as its annotation is written, a tuple as any sequence."""
    parts = get_args(kind)
    if kind in (None, NoneType):
        return "None"
    if get_origin(kind) is tuple:
        return f"Sequence[{_annotation(parts[0])}]"
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_annotation, parts))
    if get_origin(kind) is Literal:
        return "str"
    return kind.__name__ if kind.__module__ in ("builtins", "typing") else f"{kind.__module__}.{kind.__name__}"


def _declared(name: str, signature: inspect.Signature) -> Iterator[str]:
    yield f"def {name}("
    is_by_place = True
    for parameter in signature.parameters.values():
        if is_by_place and parameter.kind is parameter.KEYWORD_ONLY:
            yield "    *,"
            is_by_place = False
        default = "" if parameter.default is parameter.empty else f" = {_literal(parameter.default)}"
        yield f"    {parameter.name}: {parameter.annotation}{default},"
    yield f") -> {signature.return_annotation}:"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _documented(documentation: str) -> Iterator[str]:
    quoted = re.sub(r'("""|\\)', r"\\\1", documentation)
    yield from textwrap.indent(f'"""{quoted}\n"""', "    ").split("\n")
