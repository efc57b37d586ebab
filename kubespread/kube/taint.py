"""Taints and tolerations.

Source of the rules: k8s.io/component-helpers/scheduling/corev1 (FindMatchingUntoleratedTaint) and the Toleration type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kubespread.kube.api.core import Taint, Toleration

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
DO_NOT_SCHEDULE_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
PREFER_NO_SCHEDULE = "PreferNoSchedule"
COMPARING_OPERATORS = ("Lt", "Gt")
COMPARISON_GATE = "TaintTolerationComparisonOperators"

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)


def tolerates(toleration: Toleration, taint: Taint, *, compares: bool = False) -> bool:
    """Whether one toleration covers one taint.

    The operators Gt and Lt do so only where ``compares`` is set: their gate is off by default up to 1.36.
    """
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in COMPARING_OPERATORS:
        return compares and _compares(toleration, taint)
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def untolerated(
    taints: Iterable[Taint], tolerations: Sequence[Toleration], effects: frozenset[str], *, compares: bool = False
) -> list[Taint]:
    """The taints with one of ``effects`` that no toleration covers, in the node's order."""
    return [
        taint
        for taint in taints
        if taint.effect in effects
        and not any(tolerates(toleration, taint, compares=compares) for toleration in tolerations)
    ]


def comparable(value: str) -> int | None:
    """The int64 that Gt and Lt compare: as it would be printed, no sign or zeros ahead; else None."""
    if not _CANONICAL_INTEGER.fullmatch(value):
        return None
    number = int(value)
    return number if -(2**63) <= number < 2**63 else None


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """The taint's number stands on the left: ``Gt 4`` covers a taint of 5."""
    left, right = comparable(taint.value), comparable(toleration.value)
    if left is None or right is None:
        return False
    return left < right if toleration.operator == "Lt" else left > right
