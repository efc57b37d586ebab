"""The functions of lists, sets, maps and optional values.

Source: vendor/github.com/google/cel-go/ext/lists.go, Lists
Source: vendor/github.com/google/cel-go/ext/sets.go
Source: vendor/github.com/google/cel-go/ext/comprehensions.go
Source: vendor/github.com/google/cel-go/cel/library.go, OptionalTypes
Source: staging/src/k8s.io/apiserver/pkg/cel/library/lists.go
Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, includesFunc
"""

from __future__ import annotations

from functools import cmp_to_key, reduce

from kubespread.scheduler.plugins.dynamicresources.cel.declaring import Run, declare
from kubespread.scheduler.plugins.dynamicresources.cel.standard import add
from kubespread.scheduler.plugins.dynamicresources.cel.texts import INDEX_OF, LAST_INDEX_OF
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    MAX_WEIGHT,
    NO_OVERLOAD,
    NONE,
    TOO_MUCH,
    EvaluationError,
    GrowingMap,
    List,
    Map,
    Optional,
    Uint,
    Value,
    compare,
    is_comparable,
    is_same,
    key_text,
    keys_of,
    map_key,
    type_of,
)

MAX_INCLUDED = 48
"""resourceapi.ResourceSliceMaxAttributeValuesPerDevice"""


def _slice(values: List, start: int, end: int) -> List:
    prefix = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{prefix}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{prefix}, start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"{prefix}, list is length {len(values)}")
    return List(values[start:end])


def _flatten(values: Value, levels: int | None = None) -> List:
    if not isinstance(values, list):
        raise EvaluationError(f"{NO_OVERLOAD}: {type_of(values).name}.flatten({'' if levels is None else 'int'})")
    depth = 1 if levels is None else levels
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat = List()
    for value in values:
        flat.extend(_flatten(value, depth - 1) if isinstance(value, list) and depth else [value])
    return List(flat)


def _sort(values: List) -> List:
    return _sorted_by(values, values)


def _sorted_by(values: List, keys: List) -> List:
    if not values:
        return values
    if not is_comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")
    key_of = cmp_to_key(compare)
    return List(values[place] for place in sorted(range(len(values)), key=lambda place: key_of(keys[place])))


def _range(count: int) -> List:
    if count > MAX_WEIGHT:
        raise EvaluationError(TOO_MUCH)
    return List(range(count))


def _distinct(values: List) -> List:
    distinct: list[Value] = []
    for value in values:
        if not any(is_same(value, other) for other in distinct):
            distinct.append(value)
    return List(distinct)


def _order(left: Value, right: Value) -> int:
    """Order of two values; 0 if they cannot be compared with each other."""
    if not is_comparable(left) or not is_comparable(right):
        raise EvaluationError(NO_OVERLOAD)
    try:
        return compare(left, right)
    except EvaluationError:
        return 0


def _is_sorted(values: List) -> bool:
    return all(_order(left, right) <= 0 for left, right in zip(values, values[1:], strict=False))


def _extreme(name: str, sign: int) -> Run:
    def choose(values: List) -> Value:
        if not values:
            raise EvaluationError(f"{name} called on empty list")
        return reduce(lambda best, value: value if _order(best, value) == sign else best, values)

    return choose


def _sum(zero: Value) -> Run:
    return lambda values: reduce(add, values, zero)


def _index_of(values: List, item: Value) -> int:
    return next((place for place, value in enumerate(values) if is_same(value, item)), -1)


def _last_index_of(values: List, item: Value) -> int:
    return next((place for place in reversed(range(len(values))) if is_same(values[place], item)), -1)


def _contains(values: List, items: List) -> bool:
    return all(any(is_same(item, value) for value in values) for item in items)


def _includes(target: Value, item: Value) -> bool:
    if not isinstance(target, list):
        return is_same(target, item)
    for place, value in enumerate(target):
        if place >= MAX_INCLUDED:
            text = f"'includes' function cannot be applied to lists longer than {MAX_INCLUDED} values"
            raise EvaluationError(text)
        if is_same(value, item):
            return True
    return False


def _insert(holder: Map, *entry: Value) -> Map:
    """Insert a key and its value, or another map; a map that is growing grows."""
    pairs = [entry] if len(entry) == 2 else list(zip(keys_of(entry[0]), entry[0].values(), strict=True))
    larger = (
        holder if isinstance(holder, GrowingMap) else GrowingMap(zip(keys_of(holder), holder.values(), strict=True))
    )
    for key, value in pairs:
        if map_key(key) in larger:
            raise EvaluationError(f"insert failed: key {key_text(key)} already exists")
        larger.insert(key, value)
    return larger


def _value(optional: Optional) -> Value:
    if not optional.is_set:
        raise EvaluationError("optional.none() dereference")
    return optional.value


_ZEROS: tuple[Value, ...] = (False, 0, 0.0, "", b"", None)


def _of_non_zero(value: Value) -> Optional:
    is_zero = (
        len(value) == 0
        if isinstance(value, list | dict)
        else any(type(value) in (type(zero), Uint if zero == 0 else type(zero)) and value == zero for zero in _ZEROS)
    )
    return NONE if is_zero else Optional(value)


def _unwrap(values: List) -> List:
    return List(value.value for value in values if value.is_set)


_COMPARABLE = ("int", "uint", "double", "bool", "string", "bytes")
_SUMMABLE: dict[str, Value] = {"int": 0, "uint": Uint(0), "double": 0.0}


FUNCTIONS = [
    declare("isSorted", {f"list({kind}) | -> bool": _is_sorted for kind in _COMPARABLE}),
    declare("sum", {f"list({kind}) | -> {kind}": _sum(zero) for kind, zero in _SUMMABLE.items()}),
    declare("max", {f"list({kind}) | -> {kind}": _extreme("max", -1) for kind in _COMPARABLE}),
    declare("min", {f"list({kind}) | -> {kind}": _extreme("min", 1) for kind in _COMPARABLE}),
    declare("indexOf", {"list(A) | A -> int": _index_of, **INDEX_OF}),
    declare("lastIndexOf", {"list(A) | A -> int": _last_index_of, **LAST_INDEX_OF}),
    declare("slice", {"list(T) | int, int -> list(T)": _slice}),
    declare(
        "flatten", {"list(list(T)) | -> list(T)": _flatten, "list(dyn) | int -> list(dyn)": _flatten}, is_guarded=False
    ),
    declare("sort", {f"list({kind}) | -> list({kind})": None for kind in _COMPARABLE}, _sort, (list,)),
    declare(
        "@sortByAssociatedKeys",
        {f"list(T) | list({kind}) -> list(T)": None for kind in _COMPARABLE},
        _sorted_by,
        (list,),
    ),
    declare("lists.range", {"int -> list(int)": _range}),
    declare("reverse", {"list(T) | -> list(T)": lambda values: List(reversed(values))}),
    declare("distinct", {"list(T) | -> list(T)": _distinct}, squares=True),
    declare("sets.contains", {"list(T), list(T) -> bool": _contains}, squares=True),
    declare(
        "sets.equivalent",
        {"list(T), list(T) -> bool": lambda left, right: _contains(left, right) and _contains(right, left)},
        squares=True,
    ),
    declare(
        "sets.intersects",
        {
            "list(T), list(T) -> bool": lambda left, right: any(
                any(is_same(item, value) for value in right) for item in left
            )
        },
        squares=True,
    ),
    declare("includes", {"dyn | dyn -> bool": _includes}),
    declare(
        "cel.@mapInsert",
        {"map(K, V), K, V -> map(K, V)": _insert, "map(K, V), map(K, V) -> map(K, V)": _insert},
        iterates=False,
    ),
    declare("optional.of", {"V -> optional(V)": Optional}, iterates=False),
    declare("optional.ofNonZeroValue", {"V -> optional(V)": _of_non_zero}, iterates=False),
    declare("optional.none", {"-> optional(V)": lambda: NONE}),
    declare("hasValue", {"optional(V) | -> bool": lambda optional: optional.is_set}, iterates=False),
    declare("value", {"optional(V) | -> V": _value}, iterates=False),
    declare("or", ["optional(V) | optional(V) -> optional(V)"]),
    declare("orValue", ["optional(V) | V -> V"]),
    declare("optional.unwrap", {"list(optional(V)) -> list(V)": _unwrap}),
    declare("unwrapOpt", {"list(optional(V)) | -> list(V)": _unwrap}),
    declare(
        "first", {"list(V) | -> optional(V)": lambda values: Optional(values[0]) if values else NONE}, iterates=False
    ),
    declare(
        "last", {"list(V) | -> optional(V)": lambda values: Optional(values[-1]) if values else NONE}, iterates=False
    ),
]
