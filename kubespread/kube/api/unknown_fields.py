"""Fields the API does not have. kubectl refuses them, since a mistyped field would silently do nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from kubespread.kube.versions import Release, all_changes, changes_to
from kubespread.wording import verb_of

# Where people put a field one or more levels too high, or too low.
_STEPS_DOWN = ("metadata", "spec", "jobTemplate", "template", "labelSelector", "selector")
_FEW = 8
"""Maximum number of names or values to list if none is similar."""


class UnknownField(NamedTuple):
    """Path of an unknown field, and of the most similar field of the API, if any."""

    path: str
    suggestion: str = ""

    def __str__(self) -> str:
        """Message in kubectl's words, with a suggestion in ours."""
        return f'strict decoding error: unknown field "{self.path}"{did_you_mean(self.suggestion)}'


def did_you_mean(text: str) -> str:
    return f', did you mean "{text}"?' if text else ""


def near_miss(name: str, names: Iterable[str]) -> str:
    """Name that was probably meant; empty if none is close."""
    lower = {other.lower(): other for other in names}
    return next((lower[other] for other in get_close_matches(name.lower(), lower, n=1, cutoff=0.75)), "")


def alternatives(text: str, candidates: Iterable[str]) -> str:
    """Clause that suggests a similar name, or else the candidates if there are few."""
    names = sorted(set(candidates))
    # Screens leave out the domain that the names of all nodes end with, and people what controllers add to a name.
    if near := next((name for name in names if name.startswith((f"{text}.", f"{text}-"))), ""):
        return did_you_mean(near)
    if near := near_miss(text, names):
        return did_you_mean(near)
    return f"; there {verb_of(len(names), 'are')} {', '.join(names)}" if 0 < len(names) <= _FEW else ""


@cache
def _types(release: Release | None) -> Mapping[str, Mapping[str, str]]:
    types: dict[str, dict[str, str]] = {}
    for changes in all_changes().values() if release is None else changes_to(release):
        for cls, fields in changes.fields.items():
            row = types.setdefault(cls, {})
            for name, below in fields.items():
                if below is not None:
                    row[name] = below
                elif release is not None:
                    del row[name]
    return types


def fields_of(cls: str, release: Release | None = None) -> Mapping[str, str]:
    """Fields of an API type in a release, or in any, and their types in Go's words, ``""`` if unknown."""
    return _types(release).get(cls, {})


def unknown_fields(
    data: Any,
    cls: str,
    path: str = "",
    fields: Callable[[str], Mapping[str, str]] = fields_of,
    above: tuple[str, str] = ("", ""),
) -> Iterator[UnknownField]:
    """Yield fields in ``data``, of type ``cls`` at ``path``, that are none of its ``fields``, in order; ``above`` are
    path and type of the parent.

    Values that are not objects are skipped: they are a fault of another kind.
    """
    if not isinstance(data, Mapping):
        return
    own, inside = fields(cls), f"{path}." if path else ""
    for name, value in data.items():
        below = own.get(name)
        if below is None:
            suggestion = _further_down(cls, name) or near_miss(name, own)
            is_above = not suggestion and name in fields(above[1])
            yield UnknownField(
                f"{inside}{name}", f"{above[0]}{name}" if is_above else f"{inside}{suggestion}" if suggestion else ""
            )
        elif fields(below := below.removeprefix("[]")):
            is_list = isinstance(value, list)
            for position, item in enumerate(value if is_list else [value]):
                place = f"{inside}{name}[{position}]" if is_list else f"{inside}{name}"
                yield from unknown_fields(item, below, place, fields, (inside, cls))


def _further_down(cls: str, name: str) -> str:
    """The nearest place below at which the field would be right: ``template.spec.tolerations``."""
    waiting = deque([("", cls)])
    while waiting:
        path, below_cls = waiting.popleft()
        for step in _STEPS_DOWN:
            below = fields_of(below_cls).get(step, "")
            if fields_of(below):
                if name in fields_of(below):
                    return f"{path}{step}.{name}"
                waiting.append((f"{path}{step}.", below))
    return ""
