"""Taints and tolerations, also as people type them for ``kubectl taint``: ``key=value:Effect``, ``key-`` to remove.

A cordoned node has both the field that ``kubectl cordon`` sets and the taint that the node controller makes of it: the
NodeUnschedulable filter reads the field, ``nodeTaintsPolicy: Honor`` reads only taints. The flags of ``kubectl drain``.

Source: staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go, FindMatchingUntoleratedTaint
Source: staging/src/k8s.io/api/core/v1/toleration.go, ToleratesTaint, compareNumericValues
Source: staging/src/k8s.io/kubectl/pkg/cmd/taint/utils.go, parseTaints, parseTaint
Source: staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go, NewCmdDrain
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import Node, Taint, Toleration
from kubespread.kube.gotext import parse_int64
from kubespread.kube.name_rules import label_key_faults, label_value_faults
from kubespread.kube.well_known import CORDON_TAINT_KEY
from kubespread.regex import regex


class DrainFlags(Struct, frozen=True):
    """kubectl's flags for draining pods, with the defaults of managed node pools."""

    force: bool = False
    ignore_daemonsets: bool = True
    delete_emptydir_data: bool = True


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
DO_NOT_SCHEDULE_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
PREFER_NO_SCHEDULE = "PreferNoSchedule"
COMPARING_OPERATORS = ("Lt", "Gt")
COMPARISON_GATE = "TaintTolerationComparisonOperators"

_CANONICAL_INTEGER = regex(r"0|-?[1-9][0-9]{0,18}", re.ASCII)


def tolerates(toleration: Toleration, taint: Taint, *, compares: bool = False) -> bool:
    """True if the toleration covers the taint.

    The operators Gt and Lt do so only with ``compares``: their gate is off by default up to 1.36.
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
    """Taints with one of ``effects`` that no toleration covers, in the node's order."""
    return [
        taint
        for taint in taints
        if taint.effect in effects
        and not any(tolerates(toleration, taint, compares=compares) for toleration in tolerations)
    ]


def comparable(value: str) -> int | None:
    """The int64 that Gt and Lt compare, if printed canonically, without sign or leading zeros; else None."""
    return parse_int64(value) if _CANONICAL_INTEGER.fullmatch(value) else None


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """The taint's number stands on the left: ``Gt 4`` covers a taint of 5."""
    left, right = comparable(taint.value), comparable(toleration.value)
    if left is None or right is None:
        return False
    return left < right if toleration.operator == "Lt" else left > right


class TaintError(ValueError):
    """Text that is no taint or toleration; the message is kubectl's where kubectl reads such texts."""


class TaintChange(NamedTuple):
    """A taint to add to a node, or to remove."""

    taint: Taint
    removes: bool


def parse_taint(text: str) -> TaintChange:
    """Parse a taint to add or remove. Raises TaintError.

    A taint to remove needs no effect, and then means all of its key; its value is ignored.
    """
    if text.endswith("-"):
        taint = _taint(text.removesuffix("-"))
        return TaintChange(Taint(key=taint.key, effect=taint.effect), removes=True)
    taint = _taint(text)
    if not taint.effect:
        raise TaintError(f"invalid taint spec: {text}")
    return TaintChange(taint, removes=False)


def parse_toleration(text: str) -> Toleration:
    """Parse ``KEY[=VALUE][:EFFECT]``: without a value it tolerates any, without an effect all. Raises TaintError."""
    rest, colon, effect = text.partition(":")
    key, equals, value = rest.partition("=")
    if colon and effect not in EFFECTS:
        raise TaintError(f"invalid toleration {text!r}: the effect is one of {', '.join(EFFECTS)}")
    if faults := [*label_key_faults(key), *label_value_faults(value)]:
        raise TaintError(f"invalid toleration {text!r}: expected KEY[=VALUE][:EFFECT]: {'; '.join(faults)}")
    return Toleration(key=key, operator="Equal" if equals else "Exists", value=value, effect=effect)


def taint_text(taint: Taint) -> str:
    """``key=value:Effect``, as kubectl prints it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def _taint(text: str) -> Taint:
    key, *effects = text.split(":")
    value = ""
    if len(effects) > 1:
        raise TaintError(f"invalid taint spec: {text}")
    if effects:
        if effects[0] not in EFFECTS:
            raise TaintError(f"invalid taint effect: {effects[0]}, unsupported taint effect")
        key, *values = key.split("=")
        if len(values) > 1:
            raise TaintError(f"invalid taint spec: {text}")
        value = values[0] if values else ""
    # Without an effect an equals sign is a part of the key, and refused as such.
    for faults in (label_value_faults(value), label_key_faults(key)):
        if faults:
            raise TaintError(f"invalid taint spec: {text}, {'; '.join(faults)}")
    return Taint(key=key, value=value, effect=effects[0] if effects else "")


CORDON_TAINT = Taint(key=CORDON_TAINT_KEY, effect="NoSchedule")


def cordon_node(node: Node) -> Node:
    """``node`` after a cordon, with its taint as the last one."""
    taints = node.spec.taints
    if CORDON_TAINT not in taints:
        taints = [*_without_cordon(taints), CORDON_TAINT]
    return replace(node, spec=replace(node.spec, unschedulable=True, taints=taints))


def uncordon_node(node: Node) -> Node:
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=_without_cordon(node.spec.taints)))


def _without_cordon(taints: list[Taint]) -> list[Taint]:
    """Taints that differ from the cordon taint in key or effect."""
    return [taint for taint in taints if (taint.key, taint.effect) != (CORDON_TAINT.key, CORDON_TAINT.effect)]
