"""Go's integer arithmetic on arrays: division truncates toward zero, where numpy's rounds down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def divide(numerator: Integers, denominator: Integers | int) -> Integers:
    """``numerator / denominator`` truncated; 0 where the denominator is 0, which callers mask out."""
    if numerator.size and numerator.min() >= 0 and np.min(denominator) > 0:
        return numerator // denominator  # the usual case, where both roundings are one
    bottom = np.where(denominator == 0, 1, denominator)
    # Not by way of absolute values: the least int64 has none.
    with np.errstate(over="ignore"):
        floor: Integers = numerator // bottom
    is_too_low = (floor < 0) & (numerator % bottom != 0)
    return np.where(denominator == 0, 0, floor + is_too_low)


def round_half_away(values: NDArray[np.float64]) -> Integers:
    """Go's math.Round for values that are not negative."""
    whole = np.trunc(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)


def wrapped(number: int) -> int:
    """What is left of a number in Go's int64."""
    return (number + 2**63) % 2**64 - 2**63
