"""Numbers that may be written as a percentage.

Source: staging/src/k8s.io/apimachinery/pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent,
    getIntOrPercentValueSafely
"""

from __future__ import annotations

import math
import re

from kubespread.errors import UsageError
from kubespread.kube.api.meta import IntOrString
from kubespread.kube.gotext import quote
from kubespread.kube.selector import parse_int64

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_INVALID = "invalid value for IntOrString"


class IntOrStringError(UsageError):
    """Text that is no percentage; the message is Kubernetes'."""


def scaled(value: IntOrString, total: int, *, round_up: bool) -> int:
    """An absolute number as it is, a percentage as its part of ``total``. Raises IntOrStringError for other text."""
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise IntOrStringError(f"{_INVALID}: invalid type: string is not a percentage")
    digits = value.removesuffix("%")
    percent = parse_int64(digits)
    if percent is None:
        reason = "value out of range" if _INTEGER.fullmatch(digits) else "invalid syntax"
        parsing = f"strconv.Atoi: parsing {quote(digits)}: {reason}"
        raise IntOrStringError(f"{_INVALID}: invalid value {quote(value)}: {parsing}")
    # In floating point, as Kubernetes does it: the last bit decides what is rounded.
    part = float(percent) * float(total) / 100
    return math.ceil(part) if round_up else math.floor(part)
