"""Commands whose parameters are groups of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

_HEADINGS: Mapping[str, str] = {
    "scheduling": "Scheduler", "answer": "Output", "speaking": "Output", "source": "Cluster"
}  # fmt: skip
"""Under which heading of the help the options of a group stand, by the name that all commands give the group."""


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """``command`` as typer should see it: every parameter that is a group is replaced by the options in it.

    A field of a group without an option annotation is no option, and filled with any other value of its name. A
    parameter annotated ``Annotated[Group, {field: option}]`` has these options instead of the group's own.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        group, *others = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not (isinstance(group, type) and is_dataclass(group)):
            parameters.append(parameter.replace(annotation=hint))
            continue
        groups[parameter.name] = group
        options = get_type_hints(group, include_extras=True)
        for own in others:
            options |= own
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                # An option without a default is one that has to be given.
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=_under(_HEADINGS.get(parameter.name), options[field.name]),
            )
            for field in fields(group)
            if get_origin(options[field.name]) is Annotated
        ]

    @wraps(command)
    def filled(**values: Any) -> int:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name, field.default) for field in fields(group)})
        return command(**values)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    filled.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # how typer reads a function that is made
    filled.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    return filled


def _under(heading: str | None, annotation: Any) -> Any:
    """The option under ``heading`` in the help, unless it has its own heading."""
    kind, option = get_args(annotation)
    option = copy(option)
    option.rich_help_panel = option.rich_help_panel or heading
    return Annotated[kind, option]
