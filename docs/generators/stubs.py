"""What type checkers and editors read of the library, whose functions are made when they are first used."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator

import kubespread
from kubespread.questions.library import signature_of, takes_several
from kubespread.questions.question import Question
from kubespread.questions.registry import question

_HEAD = '"""The library as type checkers and editors see it: `make docs` makes it from the questions."""\n'
_TYPES = {
    "kubespread.candidate.sources": "PodGiven",
    "kubespread.questions.check.report": "Severity",
    "kubespread.questions.scene": "OnProgress OnRefused",
    "kubespread.questions.autoscaling.asked": "GroupsGiven",
    "kubespread.scenario.instance_types": "InstanceTypesGiven",
    "kubespread.questions.costs": "PricesGiven",
    "kubespread.scenario.promises": "PromisesGiven",
    "kubespread.scenario.reading": "ScenarioGiven",
}
"""What signatures name that is no name of the library, by the module that defines it."""


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
    signature, documentation = signature_of(asked), inspect.getdoc(getattr(kubespread, name)) or ""
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
