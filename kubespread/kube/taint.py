"""Taints and tolerations.

Source of the rules: k8s.io/component-helpers/scheduling/corev1 (FindMatchingUntoleratedTaint) and the Toleration type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubespread.kube.objects import Taint, Toleration

DO_NOT_SCHEDULE_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
PREFER_NO_SCHEDULE = "PreferNoSchedule"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint.

    The operators Gt and Lt never do: the gate TaintTolerationComparisonOperators is off by default up to 1.36.
    """
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration], effects: frozenset[str]) -> list[Taint]:
    """The taints with one of ``effects`` that no toleration covers, in the node's order."""
    return [taint for taint in taints if taint.effect in effects and not any(tolerates(toleration, taint) for toleration in tolerations)]
