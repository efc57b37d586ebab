"""Plain data to typed objects, and errors for values that do not fit.

The walk checks a value against the types of the API, or of this package, drops nulls as JSON decoding in Go does, and
finds fields that Kubernetes does not know. msgspec does the fast decoding of everything that is well formed. Amounts,
selectors and times are parsed once, when an object is read, as types do not check them.

Source: vendor/sigs.k8s.io/json/internal/golang/encoding/json/decode.go, UnmarshalTypeError, decodeState
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from threading import Lock
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from kubespread.kube import time
from kubespread.kube.api.core import PodSpec
from kubespread.kube.api.meta import Duration, Int32, Int64, KubeObject, LabelSelector
from kubespread.kube.api.unknown_fields import UnknownField, fields_of, unknown_fields
from kubespread.kube.quantity import IntOrString, QuantityError, QuantityText, parse
from kubespread.kube.validation.faults import selector_faults
from kubespread.wording import describe

T = TypeVar("T", bound=KubeObject)
_PRINTED_BITS = 4096
_SHAPES: Mapping[Any, str] = {
    str: "string",
    bool: "bool",
    Int32: "int32",
    Int64: "int64",
    IntOrString: "IntOrString",
    QuantityText: "Quantity",
    Duration: "Duration",
    Any: "",
}
_NOUNS = {
    "string": "a string",
    "Time": "a string",
    "bool": "a boolean",
    "int32": "a 32-bit integer",
    "int64": "a 64-bit integer",
    "IntOrString": "an integer or a string",
}
_ZEROS: Mapping[str, Any] = {"string": "", "Time": "", "bool": False, "int32": 0, "int64": 0, "IntOrString": 0}
_BITS = {"int32": 31, "int64": 63}
_LIST, _MAP = "[]", "map[string]"
_PARSED: Mapping[str, Callable[[Any], object]] = {
    "Quantity": parse,
    "Duration": lambda text: time.nanoseconds(text or "0"),
}


class DecodingError(Exception):
    """A value of the wrong type at ``path``; ``expected`` is in Go's words."""

    def __init__(self, message: str, path: str, expected: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.expected = expected


_LEARNING = Lock()
_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}


def decoder_of(cls: type[T]) -> msgspec.json.Decoder[T]:
    """Decoder of JSON text to a ``cls``.

    msgspec learns a type at its first use, which several threads must not do at once: the process would die of it. A
    decoder that exists has learned its type with all parts.
    """
    if cls not in _decoders:
        with _LEARNING:
            _decoders[cls] = msgspec.json.Decoder(cls)
    return _decoders[cls]


def decode(data: Any, cls: type[T], path: str = "") -> T:
    """Decode ``data`` to a ``cls``; nulls count as absent. Raises DecodingError, with ``path`` as the prefix."""
    decoder_of(cls)
    try:
        return msgspec.convert(data, cls)
    except (msgspec.ValidationError, RecursionError):
        # Either a null that Go would skip, or something wrong: the slow walk knows which, and where.
        return msgspec.convert(normalize(data, cls, path), cls)


def normalize(data: Any, cls: type[KubeObject], path: str = "") -> Any:
    """``data`` without the nulls Go would skip, every known field of the right type; other fields stay unchanged.

    Raises DecodingError for the first value that the API server would not decode, quantities included.
    """
    walk = _Walk(lambda name: _fields(cls, name) if name in _classes(cls) else None)
    clean = walk.clean(data, _name(cls), path)
    if walk.errors:
        raise walk.errors[0]
    return clean


def decodable(data: Any, api_type: str, path: str = "") -> tuple[Any, list[DecodingError]]:
    """``data`` of the API type in any release, without nulls and values of wrong types; also errors for the latter."""
    walk = _Walk(lambda name: fields_of(name) or None)
    return walk.clean(data, api_type, path), walk.errors


def unexpected_fields(data: Any, cls: type[KubeObject], path: str = "") -> Iterator[UnknownField]:
    """Yield fields in ``data`` that a type of this package neither reads nor ignores, in order."""
    return unknown_fields(data, _name(cls), path, partial(_fields, cls))


def _fields(cls: type[KubeObject], name: str) -> Mapping[str, str]:
    return _shapes(_classes(cls)[name]) if name in _classes(cls) else {}


def _name(cls: type[KubeObject]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _without_none(expected: Any) -> Any:
    """The type of a field that is there, of one that may be absent."""
    if get_origin(expected) in (Union, types.UnionType):
        return Union[tuple(arg for arg in get_args(expected) if arg is not type(None))]  # noqa: UP007 - built at run time
    return expected


def _shape(hint: Any) -> str:
    """A type of this package as the API's types are named."""
    hint = _without_none(hint)
    if get_origin(hint) in (list, dict):
        return (_LIST if get_origin(hint) is list else _MAP) + _shape(get_args(hint)[-1])
    return _name(hint) if hint not in _SHAPES else _SHAPES[hint]


@cache
def _shapes(cls: type[KubeObject]) -> Mapping[str, str]:
    hints = get_type_hints(cls, include_extras=True)
    return {**{info.encode_name: _shape(hints[info.name]) for info in msgspec.structs.fields(cls)}, **cls.ignored}


@cache
def _classes(cls: type[KubeObject]) -> Mapping[str, type[KubeObject]]:
    """A type and all types of its fields, by name."""
    classes: dict[str, type[KubeObject]] = {}
    waiting: list[Any] = [cls]
    while waiting:
        hint = _without_none(waiting.pop())
        if get_args(hint):
            waiting += get_args(hint)
        elif isinstance(hint, type) and issubclass(hint, KubeObject) and _name(hint) not in classes:
            classes[_name(hint)] = hint
            waiting += get_type_hints(hint).values()
    return classes


class _Walk:
    """Walk through plain data by the ``fields`` of each type; None for a type of any shape."""

    def __init__(self, fields: Callable[[str], Mapping[str, str] | None]) -> None:
        self.errors: list[DecodingError] = []
        self._fields = fields

    def clean(self, value: Any, shape: str, path: str) -> Any:
        """``value``, which is not null, without its nulls; None where it has another type."""
        if shape in _NOUNS:
            return value if _fits(value, shape) else self._wrong(value, shape, path)
        if shape in _PARSED:
            return self._parse(value, shape, path)
        if shape.startswith(_LIST):
            if not isinstance(value, list):
                return self._wrong(value, shape, path)
            element = shape.removeprefix(_LIST)
            return [self._element(item, element, f"{path}[{position}]") for position, item in enumerate(value)]
        fields, element = self._fields(shape), shape.removeprefix(_MAP)
        if fields is None and element == shape:
            return value
        if not isinstance(value, dict):
            return self._wrong(value, shape, path)
        if fields is None:
            return {key: self._element(item, element, f"{path}[{key}]") for key, item in value.items()}
        inside = f"{path}." if path else ""
        cleaned = {
            name: self.clean(item, fields.get(name, ""), f"{inside}{name}")
            for name, item in value.items()
            if item is not None
        }
        return {name: item for name, item in cleaned.items() if item is not None}

    def _element(self, item: Any, shape: str, path: str) -> Any:
        """Clean element of a list or value of a map; nulls become empty values."""
        cleaned = None if item is None else self.clean(item, shape, path)
        if cleaned is not None:
            return cleaned
        return [] if shape.startswith(_LIST) else _ZEROS.get(shape) if self._fields(shape) is None else {}

    def _parse(self, value: Any, shape: str, path: str) -> Any:
        if shape == "Duration" and not isinstance(value, str):
            return self._wrong(value, "string", path)
        try:
            _PARSED[shape](value)
        except ValueError as error:
            self.errors.append(DecodingError(str(error), path, shape))
            return None
        return value

    def _wrong(self, value: Any, shape: str, path: str) -> None:
        expected = _NOUNS.get(shape, "a list" if shape.startswith(_LIST) else "an object")
        # A text may be a secret.
        actual = "a string" if isinstance(value, str) else describe(value)
        if shape in _BITS and _is_number(value):
            actual = _number(value)
        self.errors.append(DecodingError(f"expected {expected}, found {actual}", path, shape))


def _fits(value: Any, shape: str) -> bool:
    if shape == "bool" or isinstance(value, bool):
        return shape == "bool" and isinstance(value, bool)
    if shape in _BITS:
        return isinstance(value, int) and -(2 ** _BITS[shape]) <= value < 2 ** _BITS[shape]
    return isinstance(value, str) or (shape == "IntOrString" and isinstance(value, int))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: float) -> str:
    # Python does not print an integer of more than 4,300 digits.
    return "a larger one" if isinstance(value, int) and value.bit_length() > _PRINTED_BITS else repr(value)


_Check = Callable[[Any, str], None]
"""Raises DecodingError for a value that stands at a path."""
_TIMES = frozenset({"creation_timestamp", "deletion_timestamp", "start_time", "last_transition_time"})
"""Times that an answer cannot do without."""


def check(obj: KubeObject, path: str = "") -> None:
    """Raise DecodingError for the first amount, selector or time in ``obj`` that cannot be parsed.

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
        return None if element is None else partial(_follow_each, element)
    return None


def _follow_each(look: _Check, values: list[Any] | dict[str, Any], path: str) -> None:
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        look(value, f"{path}[{key}]")


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
"""Raise DecodingError for an invalid time."""
