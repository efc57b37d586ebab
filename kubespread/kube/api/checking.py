"""What a type cannot say of a value: that amounts, selectors and moments can be parsed.

Each object is checked once, where it is read, so that nothing behind meets a fault. Of a type, the ways to what has to
be checked are worked out once; most objects hold none or few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from kubespread.kube import timestamps
from kubespread.kube.api.core import PodSpec
from kubespread.kube.api.decoding import DecodingError, without_none
from kubespread.kube.api.meta import KubeObject, LabelSelector
from kubespread.kube.quantity import QuantityError, QuantityText, parse
from kubespread.kube.selector import SelectorError, from_label_selector

_Check = Callable[[Any, str], None]
"""Raises DecodingError for a value that stands at a path."""
_TIMES = frozenset({"creation_timestamp", "deletion_timestamp", "start_time", "last_transition_time"})
"""Those that an answer cannot do without."""


def check(found: KubeObject, path: str = "") -> None:
    """Raises DecodingError for the first amount, selector or moment in ``found`` that cannot be parsed.

    Selectors in the specs of pods are left to the scheduler's plugins, which answer a bad one as kube-scheduler does.
    """
    ways = _ways(type(found))
    if ways:
        _follow(found, ways, path)


def _follow(found: Any, ways: tuple[tuple[str, str, _Check], ...], path: str) -> None:
    for name, written, look in ways:
        value = getattr(found, name)
        if value is not None and value != "" and value != {} and value != []:
            look(value, f"{path}.{written}" if path else written)


@cache
def _ways(cls: type[KubeObject]) -> tuple[tuple[str, str, _Check], ...]:
    hints = get_type_hints(cls)
    is_of_pods = issubclass(cls, PodSpec)
    found = ((field, _look(field.name, hints[field.name])) for field in msgspec.structs.fields(cls))
    return tuple(
        (field.name, field.encode_name, look)
        for field, look in found
        if look is not None and not (is_of_pods and field.name in ("affinity", "topology_spread_constraints"))
    )


def _look(name: str, hint: Any) -> _Check | None:
    hint = without_none(hint)
    if hint == QuantityText:
        return _quantity
    if hint is LabelSelector:
        return _selector
    if name in _TIMES and hint is str:
        return check_time
    if isinstance(hint, type) and issubclass(hint, KubeObject):
        ways = _ways(hint)
        return (lambda value, path: _follow(value, ways, path)) if ways else None
    if get_origin(hint) is list:
        element = _look("", get_args(hint)[0])
        return None if element is None else _each(element)
    if get_origin(hint) is dict:
        element = _look("", get_args(hint)[1])
        return None if element is None else _entries(element)
    return None


def _each(look: _Check) -> _Check:
    def follow(values: list[Any], path: str) -> None:
        for position, value in enumerate(values):
            look(value, f"{path}[{position}]")

    return follow


def _entries(look: _Check) -> _Check:
    def follow(values: dict[str, Any], path: str) -> None:
        for key, value in values.items():
            look(value, f"{path}[{key}]")

    return follow


def _quantity(value: Any, path: str) -> None:
    try:
        parse(value)
    except QuantityError as error:
        raise DecodingError(str(error), path) from error


def _selector(value: LabelSelector, path: str) -> None:
    try:
        from_label_selector(value)
    except SelectorError as error:
        raise DecodingError(str(error), path) from error


def check_time(value: str, path: str) -> None:
    """Raises DecodingError for what is no moment."""
    try:
        timestamps.parse(value)
    except timestamps.TimestampError as error:
        raise DecodingError(str(error), path) from error
