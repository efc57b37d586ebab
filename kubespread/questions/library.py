"""The library's functions: each asks one question, whose fields are its keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, get_origin, get_type_hints

from msgspec import structs

from kubespread.errors import UsageError
from kubespread.questions.question import Option, Question, WorkloadOption, conflicts, only_report, options_of
from kubespread.questions.scene import ask
from kubespread.questions.tasks import Workers

SIDES = ("before", "after")


class Keyword(NamedTuple):
    """Field of a question, as a keyword argument of its library function."""

    field: structs.FieldInfo
    kind: Any
    option: Option | None
    """None for a field that only Python callers have."""


@cache
def keywords_of(question: type[Question[Any]]) -> Mapping[str, Keyword]:
    """Map each keyword of the library function to its field."""
    options, given = options_of(question), dict[str, Keyword]()
    for field, kind, option in options:
        if not option.is_for_scripts:
            head, *words = field.name.split("_")
            is_own = field.encode_name == "".join([head, *map(str.capitalize, words)])
            given[option.keyword or (field.name if is_own else field.encode_name)] = Keyword(field, kind, option)
    named, hints = {field.name for field, *_ in options}, get_type_hints(question)
    for field in structs.fields(question):
        if field.name not in named and get_origin(hints[field.name]) is not Mapping:
            given[field.name] = Keyword(field, hints[field.name], None)
    return given


def takes_several(question: type[Question[Any]]) -> bool:
    """True if the question also takes a list of pods, and then answers with a report for each."""
    return any(isinstance(option, WorkloadOption) and option.is_several for *_, option in options_of(question))


@cache
def signature_of(question: type[Question[Any]]) -> inspect.Signature:
    """Signature of the library function: the question's fields, then the parameters of `ask`."""
    given, required = dict(keywords_of(question)), inspect.Parameter.empty
    told: dict[str, Any] = {"jobs": 1, "timeout": None} if question.hands_out else {}
    told |= {"on_progress": None, **({"on_refused": None} if takes_several(question) else {})}
    if any(option.form == "sides" for *_, option in options_of(question)):
        given = {name: each for name, each in given.items() if each.field.name not in ("pods", "settings")}
        placed: dict[str, Any] = dict.fromkeys(SIDES, required)
    else:
        places = question.by_place.split()
        names = [name for place in places for name, each in given.items() if each.field.name == place]
        placed = {"snapshot": required, **{name: _default(given.pop(name)) for name in names}, "scheduler": None}
    by_name = {**{name: _default(each) for name, each in given.items()}, **told}
    kinds = ((placed, inspect.Parameter.POSITIONAL_OR_KEYWORD), (by_name, inspect.Parameter.KEYWORD_ONLY))
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=default)
            for defaults, kind in kinds
            for name, default in defaults.items()
        ]
    )


def _default(given: Keyword) -> Any:
    return inspect.Parameter.empty if given.field.required else given.field.default


def library_function(name: str, question: type[Question[Any]]) -> Callable[..., Any]:
    """Make the library function that asks ``question``."""
    signature, fields = signature_of(question), keywords_of(question)
    rules = {each.field.name: each.option for each in fields.values() if each.option is not None}
    names = {each.field.name: name for name, each in fields.items()}

    def function(*placed: Any, **named: Any) -> Any:
        try:
            # What it does not take is said before what it lacks.
            signature.bind_partial(*placed, **named)
            given = signature.bind(*placed, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        told = {name: given.pop(name) for name in [*given] if name not in fields}
        values = {
            field.name: value if option is None else option.take(kind, value)
            for (field, kind, option), value in ((fields[name], value) for name, value in given.items())
        }
        changed = {each.field.name: values[each.field.name] for each in fields.values() if each.field.name in values}
        changed = {field: value for field, value in changed.items() if value != _default(fields[names[field]])}
        for fault in conflicts(rules, names, changed):
            raise UsageError(fault)
        if SIDES[0] in told:
            sides = tuple(told.pop(side) for side in SIDES)
            values["pods"], told["snapshot"], told["scheduler"] = sides, sides[1].snapshot, sides[1].scheduler
        workers = Workers(told.pop("jobs", 1))
        answer = ask(told.pop("snapshot"), question(**values), told.pop("scheduler", None), workers=workers, **told)
        # A list of pods has a report for each.
        return answer if isinstance(given.get("pods"), list | tuple) else only_report(answer)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "kubespread"
    function.__doc__ = inspect.cleandoc(question.__doc__ or "").partition("\n\n")[0]
    function.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return function
