"""Taints as people type them for ``kubectl taint``: ``key=value:Effect``, ``key:Effect``, and with ``-`` to remove.

Source of the rules: parseTaints of k8s.io/kubectl/pkg/cmd/taint.
"""

from __future__ import annotations

from typing import NamedTuple

from kubespread.kube.api.core import Taint, Toleration
from kubespread.kube.names import label_key_faults, label_value_faults
from kubespread.kube.taint import EFFECTS


class TaintError(ValueError):
    """The text is no taint, or no toleration; the message is kubectl's where kubectl reads such texts."""


class TaintChange(NamedTuple):
    """A taint to put on a node, or to take off it."""

    taint: Taint
    removes: bool


def parse_taint(text: str) -> TaintChange:
    """The change that ``text`` stands for. Raises TaintError.

    A taint to remove needs no effect, and then stands for those of its key with any; its value is not looked at.
    """
    if text.endswith("-"):
        taint = _taint(text.removesuffix("-"))
        return TaintChange(Taint(key=taint.key, effect=taint.effect), removes=True)
    taint = _taint(text)
    if not taint.effect:
        raise TaintError(f"invalid taint spec: {text}")
    return TaintChange(taint, removes=False)


def parse_toleration(text: str) -> Toleration:
    """What ``KEY[=VALUE][:EFFECT]`` tolerates: without a value any, without an effect all. Raises TaintError."""
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
