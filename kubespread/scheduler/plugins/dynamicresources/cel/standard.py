"""The functions of the language itself: operators and conversions.

Source: vendor/github.com/google/cel-go/common/stdlib/standard.go
Source: vendor/github.com/google/cel-go/common/types
Source: vendor/github.com/google/cel-go/common/types/overflow.go
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable

from kubespread.regex import regex
from kubespread.scheduler.plugins.dynamicresources.cel.declaring import Run, declare
from kubespread.scheduler.plugins.dynamicresources.cel.types import BOOL, DOUBLE, INT, STRING, UINT, Type
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    LONGEST,
    NO_OVERLOAD,
    TOO_MUCH,
    EvaluationError,
    Growing,
    List,
    Uint,
    Value,
    compare,
    equals,
    format_general,
    is_same,
    map_key,
    type_of,
)

_COMPARABLE = (bool, int, Uint, float, str, bytes)


def check_overflow(value: int, kind: type) -> Value:
    """The integer as one of its kind. Raises EvaluationError beyond 64 bits."""
    if kind is Uint:
        if not 0 <= value < 2**64:
            raise EvaluationError("unsigned integer overflow")
        return Uint(value)
    if not -(2**63) <= value < 2**63:
        raise EvaluationError("integer overflow")
    return value


def add(left: Value, right: Value) -> Value:
    """``left + right``; a growing list is extended in place, as nothing else refers to it yet."""
    match left, right:
        case Growing(), List():
            left.grow(right)
            return left
        case (List(), List()):
            return left.join(right)
        case (str(), str()) | (bytes(), bytes()):
            if len(left) + len(right) > LONGEST:
                raise EvaluationError(TOO_MUCH)
            return left + right
    return _plus(left, right)


def _arithmetic(on_integers: Callable[[int, int], int], on_doubles: Callable[[float, float], float] | None) -> Run:
    def calculate(left: Value, right: Value) -> Value:
        kind = type(left)
        if kind is not type(right) or kind not in (int, Uint, float):
            raise EvaluationError(NO_OVERLOAD)
        if kind is float:
            if on_doubles is None:
                raise EvaluationError(NO_OVERLOAD)
            return on_doubles(left, right)
        return check_overflow(on_integers(left, right), kind)

    return calculate


_plus, _minus = _arithmetic(operator.add, operator.add), _arithmetic(operator.sub, operator.sub)


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if (left, right) == (-(2**63), -1):
        raise EvaluationError("integer overflow")
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)


def _multiply(left: float, right: float) -> float:
    return left * right


def _negate(value: Value) -> Value:
    if type(value) is bool:
        raise EvaluationError(NO_OVERLOAD)
    return -value if isinstance(value, float) else check_overflow(-value, int)


def _not(value: Value) -> bool:
    if type(value) is not bool:
        raise EvaluationError(NO_OVERLOAD)
    return not value


def is_in(item: Value, holder: Value) -> bool:
    if isinstance(holder, dict):
        return map_key(item) in holder
    if isinstance(holder, list):
        return any(is_same(item, member) for member in holder)
    raise EvaluationError(NO_OVERLOAD)


def _ordering(judge: Callable[[int, int], bool]) -> Run:
    return lambda left, right: judge(compare(left, right), 0)


_PAIRS = [
    *((name, name) for name in ("bool", "int", "uint", "double", "string", "bytes")),
    ("int", "double"),
    ("int", "uint"),
    ("uint", "double"),
    ("uint", "int"),
    ("double", "int"),
    ("double", "uint"),
]
_COMPARISONS = {f"{left}, {right} -> bool": None for left, right in _PAIRS}


def _identity(value: Value) -> Value:
    return value


def _conversion_error(value: Value, type_: Type) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{type_of(value).name}' to '{type_.name}'")


def _int(value: Value) -> int:
    if isinstance(value, float):
        if not -(2**63) < value < 2**63:
            raise EvaluationError("integer overflow")
        return int(value)
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?0*\d{1,19}", value, re.ASCII) or not -(2**63) <= int(value) < 2**63:
            raise _conversion_error(value, INT)
        return int(value)
    return int(check_overflow(int(value), int))


def _uint(value: Value) -> Uint:
    if isinstance(value, str):
        if not re.fullmatch(r"0*\d{1,20}", value, re.ASCII) or int(value) >= 2**64:
            raise _conversion_error(value, UINT)
        return Uint(value)
    if isinstance(value, float) and not 0 <= value < 2**64:
        raise EvaluationError("unsigned integer overflow")
    return Uint(check_overflow(int(value), Uint))


_DECIMAL = regex(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
_HEXADECIMAL = regex(r"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+", re.ASCII | re.IGNORECASE)


def _double(value: Value) -> float:
    """Parse a text as Go's ParseFloat does: no blanks, no underscores, nothing beyond the largest number."""
    if not isinstance(value, str):
        return float(value)
    is_hexadecimal = _HEXADECIMAL.fullmatch(value) is not None
    if not is_hexadecimal and _DECIMAL.fullmatch(value) is None:
        raise _conversion_error(value, DOUBLE)
    try:
        number = float.fromhex(value) if is_hexadecimal else float(value)
    except OverflowError as error:
        raise _conversion_error(value, DOUBLE) from error
    if math.isinf(number) and "n" not in value.lower():
        raise _conversion_error(value, DOUBLE)
    return number


def _bool(value: str) -> bool:
    if value not in ("1", "t", "true", "TRUE", "True", "T", "0", "f", "false", "FALSE", "False", "F"):
        raise _conversion_error(value, BOOL)
    return value[0] in "1tT"


def string(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return format_general(value)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
    return str(value)


def _conversion(type_: Type, convert: Run, *sources: str) -> dict[str, Run]:
    name = type_.name.rpartition(".")[2].lower()
    return {f"{name} -> {name}": _identity} | {f"{source} -> {name}": convert for source in sources}


_ARITHMETIC = ("double, double -> double", "int, int -> int", "uint, uint -> uint")
_NUMBERS = (int, Uint, float)
FUNCTIONS = [
    declare("_?_:_", ["bool, A, A -> A"]),
    declare("_&&_", ["bool, bool -> bool"]),
    declare("_||_", ["bool, bool -> bool"]),
    declare("!_", ["bool -> bool"], _not),
    declare("@not_strictly_false", ["bool -> bool"]),
    declare("_==_", {"A, A -> bool": None}, equals),
    declare("_!=_", {"A, A -> bool": None}, lambda left, right: not is_same(left, right)),
    declare(
        "_+_",
        {
            "bytes, bytes -> bytes": None,
            "double, double -> double": None,
            "int, int -> int": None,
            "list(A), list(A) -> list(A)": None,
            "string, string -> string": None,
            "uint, uint -> uint": None,
        },
        add,
        (int, float, str, bytes, list),
    ),
    declare("_-_", _ARITHMETIC, _minus, _NUMBERS),
    declare("_*_", _ARITHMETIC, _arithmetic(operator.mul, _multiply), _NUMBERS),
    declare("_/_", _ARITHMETIC, _arithmetic(_quotient, _divide), _NUMBERS),
    declare("_%_", _ARITHMETIC[1:], _arithmetic(_remainder, None), (int, Uint)),
    declare("-_", ["double -> double", "int -> int"], _negate, (bool, int, float)),
    declare("_<_", _COMPARISONS, _ordering(operator.lt), _COMPARABLE),
    declare("_<=_", _COMPARISONS, _ordering(operator.le), _COMPARABLE),
    declare("_>_", _COMPARISONS, _ordering(operator.gt), _COMPARABLE),
    declare("_>=_", _COMPARISONS, _ordering(operator.ge), _COMPARABLE),
    declare("@in", {"A, list(A) -> bool": None, "A, map(A, B) -> bool": None}, is_in),
    declare(
        "_[_]",
        [
            "list(A), int -> A",
            "map(A, B), A -> B",
            "optional(list(V)), int -> optional(V)",
            "optional(map(K, V)), K -> optional(V)",
        ],
    ),
    declare(
        "_[?_]",
        [
            "list(V), int -> optional(V)",
            "optional(list(V)), int -> optional(V)",
            "map(K, V), K -> optional(V)",
            "optional(map(K, V)), K -> optional(V)",
        ],
    ),
    declare("_?._", ["dyn, string -> optional(V)"]),
    declare(
        "size",
        [
            "bytes -> int",
            "bytes | -> int",
            "list(A) -> int",
            "list(A) | -> int",
            "map(A, B) -> int",
            "map(A, B) | -> int",
            "string -> int",
            "string | -> int",
        ],
        len,
        (str, bytes, list, dict),
        iterates=False,
    ),
    declare("type", ["A -> type(A)"], type_of, iterates=False),
    declare("dyn", ["A -> dyn"], _identity, iterates=False),
    declare("bool", _conversion(BOOL, _bool, "string")),
    declare("bytes", {"bytes -> bytes": _identity, "string -> bytes": str.encode}),
    declare("double", _conversion(DOUBLE, _double, "int", "string", "uint")),
    declare("int", _conversion(INT, _int, "double", "string", "uint")),
    declare(
        "string",
        {
            **_conversion(STRING, string, "bool"),
            "bytes -> string": string,
            **_conversion(STRING, string, "double", "int", "uint"),
        },
    ),
    declare("uint", _conversion(UINT, _uint, "double", "int", "string")),
]
