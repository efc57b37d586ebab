"""The library's functions: each is made from the question that it asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec.structs import fields

from kubespread.errors import UsageError
from kubespread.questions.question import Option, Question, misplaced, options_of
from kubespread.questions.scene import ask
from kubespread.questions.tasks import Workers
from kubespread.wording import count_of

_REQUIRED = inspect.Parameter.empty


class _Told(NamedTuple):
    """A parameter that `ask` is told, and no field of a question."""

    type: str
    default: Any
    help: str = ""


_TOLD: Mapping[str, _Told] = {
    "snapshot": _Told("Snapshot", _REQUIRED),
    "scheduler": _Told("Scheduler | None", None),
    "jobs": _Told(
        "int | None",
        1,
        "How many processes work on the answer, which is the same for any number; None: one for each core, where that "
        "saves time.",
    ),
    "timeout": _Told(
        "float | None",
        None,
        "Seconds after which parts of the answer that are not finished are given up; it is then about the others, its "
        "verdict no or unknown, and ``unfinished`` says what is missing.",
    ),
    "on_progress": _Told("OnProgress | None", None, "Called now and then with how far the answer is."),
    "on_refused": _Told(
        "OnRefused | None",
        None,
        "Called with each workload that the API server would not take; else the first one raises.",
    ),
}


@cache
def library_function(name: str, question: type[Question[Any]]) -> Callable[..., Any]:
    """The function ``name`` of the library, which asks ``question``."""
    signature, field_of = signature_of(question), dict(_named(question))
    options = _options(question)
    defaults = {field.name: field.default for field in fields(question)}

    def function(*by_place: Any, **by_name: Any) -> Any:
        given = _bound(name, signature, by_place, by_name)
        jobs, timeout = given.pop("jobs", 1), given.pop("timeout", None)
        on_progress, on_refused = given.pop("on_progress", None), given.pop("on_refused", None)
        values = {}
        for parameter, value in given.items():
            field = field_of[parameter]
            kind, option = options.get(field, (None, None))
            values[field] = value if option is None else option.taken(kind, value)
        names = {field: parameter for parameter, field in field_of.items()}
        told = {field: value for field, value in values.items() if field in options and value != defaults.get(field)}
        for fault in misplaced({field: option for field, (_, option) in options.items()}, names, told):
            raise UsageError(fault)
        asked, snapshot, scheduler = question.called(values)
        answer = ask(snapshot, asked, scheduler, on_progress, on_refused, Workers(jobs), timeout)
        # A list of pods has a report for each.
        return answer if isinstance(given.get("pods"), list | tuple) else asked.alone(answer)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "kubespread"
    function.__doc__ = "\n".join([inspect.cleandoc(question.function.says), "", *_helps(question), ""])
    function.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return function


def signature_of(question: type[Question[Any]]) -> inspect.Signature:
    """The parameters of the library function that asks ``question``, with their types as text."""
    own, hints = question.function, get_type_hints(question)
    by_name, options = {*own.by_name.split()}, _options(question)
    defaults = {field.name: field.default for field in fields(question) if not field.required}
    parameters = []
    for word, (name, field) in zip(_words(question), _named(question), strict=True):
        told, (kind, option) = _TOLD.get(name), options.get(field, (hints.get(field), None))
        if told is not None:
            annotation, default = told.type, told.default
        else:
            annotation = _annotation(kind) if option is None else _accepted(kind, option)
            default = own.defaults.get(name, defaults.get(field, _REQUIRED))
        place = inspect.Parameter.KEYWORD_ONLY if word in by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(name, place, default=default, annotation=own.types.get(name, annotation)))
    answers = dict.fromkeys(overload.answer for overload in own.overloads) or [question.report_name()]
    return inspect.Signature(parameters, return_annotation=" | ".join(answers))


def _accepted(kind: Any, option: Option) -> str:
    """What a Python caller may give for a field of type ``kind``."""
    one_or = "str | " if option.is_subject and get_origin(kind) is tuple else ""
    return option.given_as or f"{one_or}{_annotation(kind)}"


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
        return f"Literal[{', '.join(map(repr, parts))}]"
    module = "" if kind.__module__ in ("builtins", "typing") else f"{kind.__module__}."
    return f"{module}{kind.__name__}"


def _words(question: type[Question[Any]]) -> Sequence[str]:
    return f"{question.function.by_place} {question.function.by_name}".split()


def _named(question: type[Question[Any]]) -> Iterator[tuple[str, str]]:
    """Each parameter with the field that it is."""
    names = {field.encode_name: field.name for field in fields(question)}
    for word in _words(question):
        name, _, field = word.partition("=")
        yield name, field or names.get(name, name)


def _options(question: type[Question[Any]]) -> Mapping[str, tuple[Any, Option]]:
    return {field.name: (kind, option) for field, kind, option in options_of(question)}


def _bound(
    name: str, signature: inspect.Signature, by_place: Sequence[Any], by_name: Mapping[str, Any]
) -> dict[str, Any]:
    """What is given, by parameter. Raises TypeError in Python's own words."""
    places = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.KEYWORD_ONLY]
    required = [parameter.name for parameter in places if parameter.default is _REQUIRED]
    if len(by_place) > len(places):
        least = f"from {len(required)} to " if len(required) < len(places) else ""
        takes = f"takes {least}{len(places)} positional arguments but {len(by_place)} were given"
        raise TypeError(f"{name}() {takes}")
    try:
        given = signature.bind_partial(*by_place, **by_name).arguments
    except TypeError as error:
        raise TypeError(f"{name}() got {str(error).removeprefix('got ')}") from None
    if missing := [repr(parameter) for parameter in required if parameter not in given]:
        what = count_of(len(missing), "required positional argument")
        raise TypeError(f"{name}() missing {what}: {' and '.join(missing)}")
    return given


def _helps(question: type[Question[Any]]) -> Iterator[str]:
    """A line for each parameter that means what an option of the command line does, or how it is answered."""
    helps = {name: told.help for name, told in _TOLD.items() if told.help}
    for field, _, option in options_of(question):
        if not option.is_for_scripts:
            helps |= dict.fromkeys((field.name, field.encode_name), option.help)
    renamed = {word.partition("=")[0] for word in _words(question) if "=" in word}
    return (f"- ``{name}``: {helps[name]}" for name, _ in _named(question) if name in helps and name not in renamed)
