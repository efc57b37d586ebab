"""Amounts that are numbers or percentages of a total.

Source of the rules: GetScaledValueFromIntOrPercent of k8s.io/apimachinery/pkg/util/intstr.
"""

from __future__ import annotations

import math

from kubespread.kube.api.meta import IntOrString
from kubespread.kube.gotext import quote
from kubespread.kube.selector import parse_int64


class IntOrStringError(ValueError):
    """Text that is no percentage; the message is Kubernetes'."""


def scaled(value: IntOrString, total: int, *, round_up: bool) -> int:
    """``value`` itself if it is a number, else that many percent of ``total``. Raises IntOrStringError."""
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise IntOrStringError("invalid value for IntOrString: invalid type: string is not a percentage")
    digits = value.removesuffix("%")
    percent = parse_int64(digits)
    if percent is None:
        fault = f"strconv.Atoi: parsing {quote(digits)}: invalid syntax"
        raise IntOrStringError(f"invalid value for IntOrString: invalid value {quote(value)}: {fault}")
    # In floating point, as Kubernetes does it: the last bit decides what is rounded.
    share = float(percent) * float(total) / 100
    return math.ceil(share) if round_up else math.floor(share)
