"""The library's functions: each is made from the question that it asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec import structs

from kubespread.errors import UsageError
from kubespread.questions.question import Option, Question, Workload, misplaced, only_report, options_of
from kubespread.questions.scene import ask
from kubespread.questions.tasks import Workers

_REQUIRED = inspect.Parameter.empty
_SIDES = ("before", "after")


class Parameter(NamedTuple):
    """Parameter of a function: a field of its question, or one of `ask`."""

    type: str
    default: Any = _REQUIRED
    help: str = ""
    field: str = ""
    kind: Any = None
    option: Option | None = None

    def taken(self, value: Any) -> Any:
        """The field's value where a caller gives this. Raises UsageError and ManifestError."""
        return value if self.option is None else self.option.taken(self.kind, value)


_SNAPSHOT, _SCHEDULER = Parameter("Snapshot"), Parameter("Scheduler | None", None)
_WORKERS = {
    "jobs": Parameter(
        "int | None",
        1,
        "How many processes work on the answer, which is the same for any number; None: one for each core, where that "
        "saves time.",
    ),
    "timeout": Parameter(
        "float | None",
        None,
        "Seconds after which parts of the answer that are not finished are given up; it is then about the others, its "
        "verdict no or unknown, and ``unfinished`` says what is missing.",
    ),
}
_PROGRESS = {"on_progress": Parameter("OnProgress | None", None, "Called now and then with how far the answer is.")}
_REFUSED = {
    "on_refused": Parameter(
        "OnRefused | None",
        None,
        "Called with each workload that the API server would not take; else the first one raises.",
    )
}


@cache
def parameters_of(question: type[Question[Any]]) -> tuple[Mapping[str, Parameter], Mapping[str, Parameter]]:
    """Parameters of the function that asks ``question``: by place or name, and by name alone."""
    fields = dict(_fields(question))
    told = {**(_WORKERS if question.hands_out else {}), **_PROGRESS}
    if takes_several(question):
        told |= _REFUSED
    if takes_sides(question):
        by_name = {name: each for name, each in fields.items() if each.field not in ("pods", "settings")}
        return dict.fromkeys(_SIDES, Parameter("Side")), {**by_name, **told}
    places = {name: each for place in question.by_place.split() for name, each in fields.items() if each.field == place}
    snapshot = _SNAPSHOT._replace(type="Snapshot | None") if question.may_lack_cluster else _SNAPSHOT
    by_place = {"snapshot": snapshot, **places, "scheduler": _SCHEDULER}
    return by_place, {**{name: each for name, each in fields.items() if name not in places}, **told}


def _fields(question: type[Question[Any]]) -> Iterator[tuple[str, Parameter]]:
    for field, kind, option in options_of(question):
        if not option.is_for_scripts:
            camel = "".join([field.name.split("_")[0], *map(str.capitalize, field.name.split("_")[1:])])
            name = option.called or (field.name if field.encode_name == camel else field.encode_name)
            one_or = "str | " if option.is_subject and get_origin(kind) is tuple else ""
            path_or = "Path | " if option.metavar in ("FILE", "POLICY") else ""
            accepted = option.given_as or f"{one_or}{path_or}{annotation(kind)}"
            if isinstance(option, Workload) and option.is_several:
                accepted = "PodGiven | list[G] | tuple[G, ...]"
            default = _REQUIRED if field.required else field.default
            if default is None and "None" not in accepted:
                accepted += " | None"
            yield name, Parameter(accepted, default, option.help, field.name, kind, option)
    options = {field.name for field, *_ in options_of(question)}
    for name, kind in get_type_hints(question).items():
        if name in question.__struct_fields__ and name not in options and get_origin(kind) is not Mapping:
            default = next(field.default for field in structs.fields(question) if field.name == name)
            yield name, Parameter(annotation(kind), default, "For Python callers only.", name)


def takes_several(question: type[Question[Any]]) -> bool:
    """True if a list of pods is answered with a report for each."""
    return any(isinstance(option, Workload) and option.is_several for *_, option in options_of(question))


def takes_sides(question: type[Question[Any]]) -> bool:
    return any(option.form == "sides" for *_, option in options_of(question))


@cache
def library_function(name: str, question: type[Question[Any]]) -> Callable[..., Any]:
    """The function ``name`` of the library, which asks ``question``."""
    signature = signature_of(question)
    by_place, by_name = parameters_of(question)
    every = {**by_place, **by_name}
    has_sides = takes_sides(question)
    rules = {each.field: each.option for each in every.values() if each.option is not None}
    names = {each.field: name for name, each in every.items() if each.field}

    def function(*placed: Any, **named: Any) -> Any:
        try:
            # What it does not take is said before what it lacks.
            signature.bind_partial(*placed, **named)
            given = signature.bind(*placed, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        told = {name: given.pop(name) for name in [*given] if not every[name].field}
        values = {
            every[name].field: value
            if (option := every[name].option) is None
            else option.taken(every[name].kind, value)
            for name, value in given.items()
        }
        changed = {each.field: values[each.field] for each in every.values() if each.field in values}
        changed = {field: value for field, value in changed.items() if value != every[names[field]].default}
        for fault in misplaced(rules, names, changed):
            raise UsageError(fault)
        if has_sides:
            sides = tuple(told[side] for side in _SIDES)
            values, told = {**values, "pods": sides}, {**told, "snapshot": sides[1].snapshot}
            told["scheduler"] = sides[1].scheduler
        asked = question(**values)
        answer = ask(
            told["snapshot"],
            asked,
            told.get("scheduler"),
            told.get("on_progress"),
            told.get("on_refused"),
            Workers(told.get("jobs", 1)),
            told.get("timeout"),
        )
        # A list of pods has a report for each.
        return answer if isinstance(given.get("pods"), list | tuple) else only_report(answer)

    helps = [f"- ``{name}``: {each.help}" for name, each in every.items() if each.help]
    says = inspect.cleandoc(question.__doc__ or "").partition("\n\n")[0]
    function.__name__ = function.__qualname__ = name
    function.__module__ = "kubespread"
    function.__doc__ = "\n".join([says, "", "Raises UsageError, SnapshotError and ManifestError.", "", *helps, ""])
    function.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return function


def signature_of(question: type[Question[Any]]) -> inspect.Signature:
    """The parameters of the library function that asks ``question``, with their types as text."""
    by_place, by_name = parameters_of(question)
    answer = question.report().__name__
    return inspect.Signature(
        [
            inspect.Parameter(name, place, default=each.default, annotation=each.type)
            for parameters, place in (
                (by_place, inspect.Parameter.POSITIONAL_OR_KEYWORD),
                (by_name, inspect.Parameter.KEYWORD_ONLY),
            )
            for name, each in parameters.items()
        ],
        return_annotation=f"{answer} | tuple[{answer}, ...]" if takes_several(question) else answer,
    )


def annotation(kind: Any) -> str:
    """A type as its annotation is written, a tuple as any sequence."""
    parts = get_args(kind)
    if kind in (None, NoneType):
        return "None"
    if get_origin(kind) is tuple:
        return f"Sequence[{annotation(parts[0])}]"
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(annotation, parts))
    if get_origin(kind) is Literal:
        return "str"
    return kind.__name__ if kind.__module__ in ("builtins", "typing") else f"{kind.__module__}.{kind.__name__}"
