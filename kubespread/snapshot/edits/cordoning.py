"""Cordoned nodes: the field that ``kubectl cordon`` sets, and the taint that the node controller makes of it.

Both are needed: the NodeUnschedulable filter reads the field, ``nodeTaintsPolicy: Honor`` reads only taints.
"""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.well_known import CORDON_TAINT_KEY

_CORDON_TAINT = Taint(key=CORDON_TAINT_KEY, effect="NoSchedule")


def cordoned(node: Node) -> Node:
    """``node`` as it is once it is cordoned: its new taint is the last one."""
    taints = node.spec.taints
    if _CORDON_TAINT not in taints:
        taints = [*_others(taints), _CORDON_TAINT]
    return replace(node, spec=replace(node.spec, unschedulable=True, taints=taints))


def uncordoned(node: Node) -> Node:
    """``node`` without either."""
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=_others(node.spec.taints)))


def _others(taints: list[Taint]) -> list[Taint]:
    """Those that are not told from it by key and effect."""
    return [taint for taint in taints if (taint.key, taint.effect) != (_CORDON_TAINT.key, _CORDON_TAINT.effect)]
