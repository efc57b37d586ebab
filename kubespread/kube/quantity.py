"""resource.Quantity: exact values, Go's conversions to int64 and the canonical text. Numbers or percentages.

Go keeps a quantity either in short form, an int64 and a power of ten, or in big form, of any size. Values and sums are
exact in both; they differ in how they treat a value that an int64 cannot hold.

Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go, ParseQuantity, Value, MilliValue, Add, Cmp,
    CanonicalizeBytes
Source: staging/src/k8s.io/apimachinery/pkg/api/resource/scale_int.go, scaledValue
Source: staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent,
    getIntOrPercentValueSafely
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from kubespread.errors import UsageError
from kubespread.kube.gotext import INTEGER, parse_int64, quote
from kubespread.regex import regex

QuantityText = str | int | float
"""A quantity as in an object: text, or a YAML/JSON number."""
IntOrString = int | str
"""An absolute number or a percentage."""

INT64_MAX = 2**63 - 1
_MAX_EXPONENT = 400
_MAX_LENGTH = 1000
_MAX_BITS = 3000
_SHORT_DIGITS = 18
_DIRECT_SCALES = (1, 2, 3, 6, 9)

BAD_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
BAD_SUFFIX = "unable to parse quantity's suffix"
BAD_NUMBER = "unable to parse numeric part of quantity"
OUT_OF_RANGE = "quantity out of range"

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

_SCAN = regex(r"(?P<sign>[+-]?)0*(?P<num>[0-9]*)(?:\.(?P<den>[0-9]*))?(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_EXPONENT = regex(r"[eE]([-+]?[0-9]+)", re.ASCII)
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BINARY_UNITS = tuple((2 ** _BINARY[suffix], suffix) for suffix in ("Pi", "Ti", "Gi", "Mi", "Ki"))
_DECIMAL_UNITS = tuple((10 ** _DECIMAL[suffix], suffix) for suffix in "PTGM")

NANO = 10**9


class QuantityError(ValueError):
    """Text that is no quantity; the message is the API server's."""


class Quantity(Struct, frozen=True):
    """An exact value as a whole number of 10^-9 units, and how it was written."""

    nano: int
    format: Format = "DecimalSI"
    text: str | None = None
    """Original text, if Kubernetes keeps it for printing."""
    scale: int | None = 0
    """Power of ten of its int64 in short form; None in big form."""

    @property
    def value(self) -> int:
        """The value rounded away from zero to a whole number, as Go's int64 has it: see `_int64`."""
        return self._int64(0)

    @property
    def milli_value(self) -> int:
        """A thousand times the value, rounded like `value`."""
        return self._int64(-3)

    def rounded_up(self) -> Quantity:
        """The quantity rounded up to a multiple of 1/1000, as API defaulting does in every resource list."""
        milli = _away_from_zero(self.nano, NANO // 1000) * (NANO // 1000)
        return self if milli == self.nano else Quantity(milli, self.format, scale=None if self.scale is None else -3)

    def _int64(self, scale: int) -> int:
        """Count how often 10^scale goes into the value, as an int64.

        Beyond it big form keeps the lowest 64 bits. So does short form where it is multiplied by a power of ten that Go
        has a product of its own for, and by any other it becomes 0.
        """
        exact = _away_from_zero(self.nano, 10 ** (scale + 9))
        if abs(exact) <= INT64_MAX or self.scale is None or self.scale - scale in _DIRECT_SCALES:
            return (exact + 2**63) % 2**64 - 2**63
        return 0

    def __add__(self, other: Quantity) -> Quantity:
        scale = self.scale if other.nano == 0 else other.scale if self.nano == 0 else _common(self, other)
        return Quantity(self.nano + other.nano, self.format if self.nano else other.format, scale=scale)

    def __str__(self) -> str:
        return self.text if self.text is not None else _canonical(self)


ZERO = Quantity(0)


def parse(text: QuantityText | None) -> Quantity:
    """Parse a text or number; null is an explicit zero. Raises QuantityError."""
    if text is None:
        return ZERO
    if isinstance(text, bool):
        raise QuantityError(BAD_FORMAT)
    if isinstance(text, int) and text.bit_length() > _MAX_BITS:
        raise QuantityError(OUT_OF_RANGE)
    return _parse(text.strip() if isinstance(text, str) else repr(text))


def shorten(quantity: str, *, up: bool = False) -> str:
    """Quantity for people: in the largest unit it reaches, with at most one decimal, or exact below that.

    Rounded down, or ``up`` for needed amounts, so that too little never looks like enough.
    """
    exact = parse(quantity)
    units = _BINARY_UNITS if exact.format == "BinarySI" else _DECIMAL_UNITS
    unit, suffix = next(((unit, suffix) for unit, suffix in units if abs(exact.nano) >= unit * NANO), (1, ""))
    if unit == 1:
        return _in_full(exact)
    tenths = Fraction(10 * exact.nano, unit * NANO)
    whole = tenths.__ceil__() if up else tenths.__floor__()
    return f"{'-' if whole < 0 else ''}{abs(whole) // 10}{f'.{abs(whole) % 10}' if whole % 10 else ''}{suffix}"


def _in_full(quantity: Quantity) -> str:
    """The number without a unit, with as many decimals as it has."""
    whole, fraction = divmod(abs(quantity.nano), NANO)
    decimals = f"{fraction:09d}".rstrip("0")
    return f"{'-' if quantity.nano < 0 else ''}{whole}{f'.{decimals}' if decimals else ''}"


@lru_cache(maxsize=65536)
def _parse(text: str) -> Quantity:
    scan = _SCAN.fullmatch(text)
    if scan is None or not text:
        raise QuantityError(BAD_FORMAT)
    if len(text) > _MAX_LENGTH:
        raise QuantityError(OUT_OF_RANGE)
    num, den, suffix = scan["num"], scan["den"] or "", scan["suffix"]
    fmt, base, exponent = _suffix(suffix)
    if not num and not den and not suffix:
        return ZERO
    if not num and not den and base == 10 and exponent < -9:
        raise QuantityError(BAD_NUMBER)
    magnitude = Fraction(int((num + den) or "0"), 10 ** len(den)) * Fraction(base) ** exponent * NANO
    nano = -(-magnitude.numerator // magnitude.denominator)
    scale = _short_scale(num or "0", den, fmt, exponent, nano)
    if fmt == "BinarySI":
        nano = min(nano, INT64_MAX * NANO)
    original = text if scale is not None and _keeps_text(num or "0", den, fmt, scale) else None
    return Quantity(-nano if scan["sign"] == "-" else nano, fmt, original, scale)


def _suffix(suffix: str) -> tuple[Format, int, int]:
    if suffix in _DECIMAL:
        return "DecimalSI", 10, _DECIMAL[suffix]
    if suffix in _BINARY:
        return "BinarySI", 2, _BINARY[suffix]
    if match := _EXPONENT.fullmatch(suffix):
        exponent = int(match[1])
        if abs(exponent) > _MAX_EXPONENT:
            raise QuantityError(OUT_OF_RANGE)
        return "DecimalExponent", 10, exponent
    raise QuantityError(BAD_SUFFIX)


def _short_scale(num: str, den: str, fmt: Format, exponent: int, nano: int) -> int | None:
    """Scale of an amount in short form; None in big form."""
    if fmt == "BinarySI":
        short = not den and 15 - len(num) - (3 * exponent) // 10 - 1 >= 0 and nano <= INT64_MAX * NANO
        return 0 if short else None
    scale = exponent - len(den)
    return scale if len(num + den) <= _SHORT_DIGITS and scale >= -9 else None


def _keeps_text(num: str, den: str, fmt: Format, scale: int) -> bool:
    """Kubernetes prints short texts as they were written, unless the mantissa could lose three zeros or three bits."""
    if fmt == "BinarySI":
        return int(num) % 8 != 0
    digits = num + den
    return scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")


def _common(one: Quantity, other: Quantity) -> int | None:
    """The scale of a sum: the finer of two in short form, none where its int64 cannot hold them or the sum."""
    if one.scale is None or other.scale is None:
        return None
    scale = min(one.scale, other.scale)
    largest = max(abs(nano) for nano in (one.nano, other.nano, one.nano + other.nano))
    return scale if largest // 10 ** (scale + 9) <= INT64_MAX else None


def _canonical(quantity: Quantity) -> str:
    nano = quantity.nano
    if nano == 0:
        return "0"
    if quantity.format == "BinarySI" and nano % NANO == 0 and abs(nano) >= 1024 * NANO:
        mantissa, power = nano // NANO, 0
        while mantissa % 1024 == 0 and power < len(_BINARY_SUFFIX) - 1:
            mantissa, power = mantissa // 1024, power + 1
        return f"{mantissa}{_BINARY_SUFFIX[power]}"
    mantissa, scale = nano, -9
    while mantissa % 10 == 0:
        mantissa, scale = mantissa // 10, scale + 1
    while scale % 3:
        mantissa, scale = mantissa * 10, scale - 1
    while scale > max(_DECIMAL_SUFFIX):
        mantissa, scale = mantissa * 1000, scale - 3
    if quantity.format == "DecimalExponent":
        return f"{mantissa}e{scale}" if scale else str(mantissa)
    return f"{mantissa}{_DECIMAL_SUFFIX[scale]}"


def _away_from_zero(nano: int, unit: int) -> int:
    times = -(-abs(nano) // unit)
    return -times if nano < 0 else times


_INVALID = "invalid value for IntOrString"


class IntOrStringError(UsageError):
    """Text that is no percentage; the message is Kubernetes'."""


def scaled_value(value: IntOrString, total: int, *, round_up: bool) -> int:
    """An absolute number as it is, or a percentage of ``total``. Raises IntOrStringError for other text."""
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise IntOrStringError(f"{_INVALID}: invalid type: string is not a percentage")
    digits = value.removesuffix("%")
    percent = parse_int64(digits)
    if percent is None:
        reason = "value out of range" if INTEGER.fullmatch(digits) else "invalid syntax"
        parsing = f"strconv.Atoi: parsing {quote(digits)}: {reason}"
        raise IntOrStringError(f"{_INVALID}: invalid value {quote(value)}: {parsing}")
    # In floating point, as Kubernetes does it: the last bit decides what is rounded.
    part = float(percent) * float(total) / 100
    return math.ceil(part) if round_up else math.floor(part)
