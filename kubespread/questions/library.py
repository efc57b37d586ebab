"""The library's functions, one for each question, with its fields as keyword arguments."""

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
    options, keywords = options_of(question), dict[str, Keyword]()
    for field, kind, option in options:
        if not option.is_for_scripts:
            head, *words = field.name.split("_")
            is_own = field.encode_name == "".join([head, *map(str.capitalize, words)])
            keywords[option.keyword or (field.name if is_own else field.encode_name)] = Keyword(field, kind, option)
    named, hints = {field.name for field, *_ in options}, get_type_hints(question)
    for field in structs.fields(question):
        if field.name not in named and get_origin(hints[field.name]) is not Mapping:
            keywords[field.name] = Keyword(field, hints[field.name], None)
    return keywords


def takes_several(question: type[Question[Any]]) -> bool:
    """True if the question also takes a list of pods, and then answers with a report for each."""
    return any(isinstance(option, WorkloadOption) and option.is_several for *_, option in options_of(question))


@cache
def signature_of(question: type[Question[Any]]) -> inspect.Signature:
    """Signature of the library function: the question's fields, then the parameters of `ask`."""
    keywords, required = dict(keywords_of(question)), inspect.Parameter.empty
    ask_defaults: dict[str, Any] = {"jobs": 1, "timeout": None} if question.hands_out else {}
    ask_defaults |= {"on_progress": None, **({"on_refused": None} if takes_several(question) else {})}
    if any(option.form == "sides" for *_, option in options_of(question)):
        keywords = {
            name: keyword for name, keyword in keywords.items() if keyword.field.name not in ("pods", "settings")
        }
        positional: dict[str, Any] = dict.fromkeys(SIDES, required)
    else:
        fields = question.by_place.split()
        names = [name for field in fields for name, keyword in keywords.items() if keyword.field.name == field]
        positional = {"snapshot": required, **{name: _default(keywords.pop(name)) for name in names}, "scheduler": None}
    keyword_only = {**{name: _default(keyword) for name, keyword in keywords.items()}, **ask_defaults}
    kinds = ((positional, inspect.Parameter.POSITIONAL_OR_KEYWORD), (keyword_only, inspect.Parameter.KEYWORD_ONLY))
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=default)
            for defaults, kind in kinds
            for name, default in defaults.items()
        ]
    )


def _default(keyword: Keyword) -> Any:
    return inspect.Parameter.empty if keyword.field.required else keyword.field.default


def library_function(name: str, question: type[Question[Any]]) -> Callable[..., Any]:
    """Make the library function that asks ``question``."""
    signature, fields = signature_of(question), keywords_of(question)
    rules = {keyword.field.name: keyword.option for keyword in fields.values() if keyword.option is not None}
    names = {keyword.field.name: name for name, keyword in fields.items()}

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            # Unknown arguments are reported before missing ones.
            signature.bind_partial(*args, **kwargs)
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        rest = {name: arguments.pop(name) for name in [*arguments] if name not in fields}
        values = {
            field.name: value if option is None else option.take(kind, value)
            for (field, kind, option), value in ((fields[name], value) for name, value in arguments.items())
        }
        changed = {field: values[field] for field in names if field in values}
        changed = {field: value for field, value in changed.items() if value != _default(fields[names[field]])}
        for fault in conflicts(rules, names, changed):
            raise UsageError(fault)
        if SIDES[0] in rest:
            sides = tuple(rest.pop(side) for side in SIDES)
            values["pods"], rest["snapshot"], rest["scheduler"] = sides, sides[1].snapshot, sides[1].scheduler
        workers = Workers(rest.pop("jobs", 1))
        answer = ask(rest.pop("snapshot"), question(**values), rest.pop("scheduler", None), workers=workers, **rest)
        # A list of pods has a report for each.
        return answer if isinstance(arguments.get("pods"), list | tuple) else only_report(answer)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "kubespread"
    function.__doc__ = inspect.cleandoc(question.__doc__ or "").partition("\n\n")[0]
    function.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return function
