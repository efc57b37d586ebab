"""Plain data to typed objects, with the API server's words for what does not fit.

The walk checks a value against the types of this package, drops nulls as JSON decoding in Go does, and finds fields
that Kubernetes does not know. msgspec does the fast decoding of everything that is well formed. What types do not
express (that amounts, selectors and moments can be parsed) is checked once, when an object is read.

Source: vendor/sigs.k8s.io/json/internal/golang/encoding/json/decode.go, UnmarshalTypeError, decodeState
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import cache
from threading import Lock
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from kubespread.kube import time
from kubespread.kube.api.core import PodSpec
from kubespread.kube.api.meta import Int32, Int64, KubeObject, LabelSelector
from kubespread.kube.api.unknown_fields import UnknownField, near_miss
from kubespread.kube.quantity import IntOrString, QuantityError, QuantityText, parse
from kubespread.kube.validation.faults import selector_faults

T = TypeVar("T", bound=KubeObject)
_PRINTED_BITS = 4096
_GO_NAMES: dict[Any, str] = {
    str: "string",
    bool: "bool",
    Int32: "int32",
    Int64: "int64",
    IntOrString: "intstr.IntOrString",
}


class DecodingError(Exception):
    """A value of the wrong type; the message is the API server's, ``path`` is where the value stands."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class _Place(Struct, frozen=True):
    """Where the walk is: the Go struct the field belongs to, its dotted Go path, and the indexed path people read."""

    struct: str
    go_path: str
    path: str

    def field(self, struct: str, name: str) -> _Place:
        join = "." if self.path else ""
        return _Place(struct, f"{self.go_path}{join}{name}", f"{self.path}{join}{name}")

    def item(self, index: int | str) -> _Place:
        """Inside a list or a map, which Go's path does not show."""
        return _Place(self.struct, self.go_path, f"{self.path}[{index}]")

    def mismatch(self, json_type: str, go_type: str) -> DecodingError:
        where = f"Go struct field {self.struct}.{self.go_path}" if self.struct else "Go value"
        return DecodingError(f"json: cannot unmarshal {json_type} into {where} of type {go_type}", self.path)


_LEARNING = Lock()
_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}


def decoder_of(cls: type[T]) -> msgspec.json.Decoder[T]:
    """What decodes JSON text as a ``cls``.

    msgspec learns a type at its first use, which several threads must not do at once: the process would die of it. A
    decoder that exists has learned its type with all parts.
    """
    if cls not in _decoders:
        with _LEARNING:
            _decoders[cls] = msgspec.json.Decoder(cls)
    return _decoders[cls]


def decode(data: Any, cls: type[T], path: str = "") -> T:
    """``data`` as a ``cls``; nulls count as absent. Raises DecodingError, whose path begins with ``path``."""
    decoder_of(cls)
    try:
        return msgspec.convert(data, cls)
    except (msgspec.ValidationError, RecursionError):
        # Either a null that Go would skip, or something wrong: the slow walk knows which, and where.
        clean = _walk(data, cls, _Place("", path, path))
        return msgspec.convert(clean, cls)


def normalized(data: Any, cls: type[KubeObject], path: str = "") -> Any:
    """``data`` without the nulls Go would skip, every known field of the right type; other fields stay unchanged.

    Raises DecodingError for the first value that the API server would not decode, quantities included.
    """
    return _walk(data, cls, _Place("", path, path))


def unknown_fields(data: Any, cls: type[KubeObject], path: str = "") -> Iterator[UnknownField]:
    """The fields in ``data`` that a type has neither read nor ignored, in the order they stand."""
    if not isinstance(data, dict):
        return
    fields = _fields(cls)
    for name, value in data.items():
        place = f"{path}.{name}" if path else name
        if name in fields:
            yield from _unknown_below(value, fields[name], place)
        elif name not in cls.ignored:
            meant = near_miss(name, (*fields, *cls.ignored))
            yield UnknownField(place, f"{place.removesuffix(name)}{meant}" if meant else "")


def _unknown_below(value: Any, expected: Any, path: str) -> Iterator[UnknownField]:
    expected = _without_none(expected)
    if isinstance(expected, type) and issubclass(expected, KubeObject):
        yield from unknown_fields(value, expected, path)
    elif get_origin(expected) is list and isinstance(value, list):
        (element,) = get_args(expected)
        for position, item in enumerate(value):
            yield from _unknown_below(item, element, f"{path}[{position}]")


@cache
def _fields(cls: type[KubeObject]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {info.encode_name: hints[info.name] for info in msgspec.structs.fields(cls)}


def _without_none(expected: Any) -> Any:
    """The type of a field that is there, of one that may be absent."""
    if get_origin(expected) in (Union, types.UnionType):
        return Union[tuple(arg for arg in get_args(expected) if arg is not type(None))]  # noqa: UP007 - built at run time
    return expected


def _walk(value: Any, expected: Any, place: _Place) -> Any:
    """``value`` without its nulls. ``value`` itself is never null here, except as a list's element or a map's value."""
    expected = _without_none(expected)
    if isinstance(expected, type) and issubclass(expected, KubeObject):
        return _walk_struct({} if value is None else value, expected, place)
    origin = get_origin(expected)
    if origin is list:
        if not isinstance(value, list):
            raise place.mismatch(_json_type(value), _go_type(expected))
        (element,) = get_args(expected)
        return [_walk(item, element, place.item(position)) for position, item in enumerate(value)]
    if origin is dict:
        return _walk_map(value, expected, place)
    if expected is Any:
        return value
    if expected == QuantityText:
        _quantity(value, place.path)
        return value
    return _walk_scalar(value, expected, place)


def _walk_struct(value: Any, cls: type[KubeObject], place: _Place) -> Any:
    if not isinstance(value, dict):
        raise place.mismatch(_json_type(value), f"v1.{cls.__name__}")
    fields = _fields(cls)
    return {
        name: _walk(item, fields[name], place.field(cls.__name__, name)) if name in fields else item
        for name, item in value.items()
        if item is not None
    }


def _walk_map(value: Any, expected: Any, place: _Place) -> Any:
    if not isinstance(value, dict):
        raise place.mismatch(_json_type(value), _go_type(expected))
    _, element = get_args(expected)
    if element is str:
        # A null map entry is present and empty, unlike a null field.
        return {key: "" if item is None else _walk(item, str, place.item(key)) for key, item in value.items()}
    if element is Any:
        return value
    for key, item in value.items():
        _quantity(item, place.item(key).path)
    return value


def _walk_scalar(value: Any, expected: Any, place: _Place) -> Any:
    if value is None:
        return "" if expected is str else 0
    if get_origin(expected) is Annotated:
        base, bounds = get_args(expected)
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not isinstance(value, base) or not bounds.ge <= value <= bounds.le:
                raise place.mismatch(_number(value), _GO_NAMES[expected])
            return value
    elif isinstance(value, expected) and not (expected == IntOrString and isinstance(value, bool)):
        return value
    raise place.mismatch(_json_type(value), _GO_NAMES[expected])


def _number(value: float) -> str:
    # Python does not print an integer of more than 4,300 digits.
    return "number" if isinstance(value, int) and value.bit_length() > _PRINTED_BITS else f"number {value!r}"


def _json_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case None:
            return "null"
    return "object"


def _go_type(expected: Any) -> str:
    expected = _without_none(expected)
    origin = get_origin(expected)
    if origin is list:
        return f"[]{_go_type(get_args(expected)[0])}"
    if origin is dict:
        return "map[string]string" if get_args(expected)[1] is str else "v1.ResourceList"
    return _GO_NAMES.get(expected) or f"v1.{expected.__name__}"


_Check = Callable[[Any, str], None]
"""Raises DecodingError for a value that stands at a path."""
_TIMES = frozenset({"creation_timestamp", "deletion_timestamp", "start_time", "last_transition_time"})
"""Those that an answer cannot do without."""


def check(obj: KubeObject, path: str = "") -> None:
    """Raises DecodingError for the first amount, selector or moment in ``obj`` that cannot be parsed.

    Selectors in the specs of pods are left to the scheduler's plugins, which answer a bad one as kube-scheduler does.
    """
    ways = _ways(type(obj))
    if ways:
        _follow(obj, ways, path)


def _follow(node: Any, ways: tuple[tuple[str, str, _Check], ...], path: str) -> None:
    for name, written, look in ways:
        value = getattr(node, name)
        if value is not None and value != "" and value != {} and value != []:
            look(value, f"{path}.{written}" if path else written)


@cache
def _ways(cls: type[KubeObject]) -> tuple[tuple[str, str, _Check], ...]:
    hints = get_type_hints(cls)
    is_of_pods = issubclass(cls, PodSpec)
    checks = ((field, _look(field.name, hints[field.name])) for field in msgspec.structs.fields(cls))
    return tuple(
        (field.name, field.encode_name, look)
        for field, look in checks
        if look is not None and not (is_of_pods and field.name in ("affinity", "topology_spread_constraints"))
    )


def _look(name: str, hint: Any) -> _Check | None:
    hint = _without_none(hint)
    if hint == QuantityText:
        return _quantity
    if hint is LabelSelector:
        return _selector
    if name in _TIMES and hint is str:
        return check_time
    if isinstance(hint, type) and issubclass(hint, KubeObject):
        ways = _ways(hint)
        return (lambda value, path: _follow(value, ways, path)) if ways else None
    if get_origin(hint) in (list, dict):
        element = _look("", get_args(hint)[-1])
        return None if element is None else _each(element)
    return None


def _each(look: _Check) -> _Check:
    """Looks at what a list or a map holds."""

    def follow(values: list[Any] | dict[str, Any], path: str) -> None:
        for key, value in values.items() if isinstance(values, dict) else enumerate(values):
            look(value, f"{path}[{key}]")

    return follow


def _parsed_by(parse: Callable[[Any], object], error: type[ValueError]) -> _Check:
    def look(value: Any, path: str) -> None:
        try:
            parse(value)
        except error as fault:
            raise DecodingError(str(fault), path) from fault

    return look


_quantity = _parsed_by(parse, QuantityError)


def _selector(value: LabelSelector, path: str) -> None:
    for fault in selector_faults(value, path):
        raise DecodingError(fault.message, fault.path)


check_time = _parsed_by(time.parse, time.TimestampError)
"""Raises DecodingError for what is no moment."""
