"""Constraints among the devices of one claim, and taints of devices.

Source of the rules: kube-scheduler 1.36, dynamic-resource-allocation/structured (constraints) and resourceclaim
(ToleratesTaint).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubespread.kube.api.devices import DeviceAttribute, DeviceConstraint, DeviceTaint, DeviceToleration
from kubespread.scheduler.plugins.dynamicresources.devices import OfferedDevice
from kubespread.scheduler.plugins.dynamicresources.rules import Rules

_EFFECTS = ("NoSchedule", "NoExecute")


class Constraint:
    """One constraint of a claim, and the values of the devices it has let pass so far."""

    def __init__(self, constraint: DeviceConstraint, rules: Rules) -> None:
        self._requests = constraint.requests
        self._must_match = constraint.match_attribute is not None
        self._attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        self._values: list[tuple[str, object]] = []
        """The request and the value of each device, in the order they came."""
        self._forgets = rules.distinct_forgets and not self._must_match
        self._last: dict[str, object] = {}
        """What a release that forgets compares with: by request the value of its last device, none once one went."""

    def add(self, request: str, alternative: str, device: OfferedDevice) -> bool:
        """Whether the device may be allocated too; if so, it counts from now on."""
        if not self._applies(request, alternative):
            return True
        value = _comparable(device.attribute(self._attribute))
        if value is None or not self._admits(value):
            return False
        self._values.append((request, value))
        self._last[request] = value
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Take back the last device that was added."""
        if self._applies(request, alternative):
            self._values.pop()
            self._last.pop(request, None)

    def _applies(self, request: str, alternative: str) -> bool:
        named = self._requests
        return not named or request in named or bool(alternative and f"{request}/{alternative}" in named)

    def _admits(self, value: object) -> bool:
        known = list(self._last.values()) if self._forgets else [each for _, each in self._values]
        if self._must_match:
            return not known or known[0] == value
        return not self._values or value not in known


def _comparable(attribute: DeviceAttribute | None) -> tuple[str, object] | None:
    """The value with its kind: values of different kinds are different."""
    if attribute is None:
        return None
    values = {
        "string": attribute.string_value,
        "int": attribute.int_value,
        "bool": attribute.bool_value,
        "version": attribute.version_value,
    }
    return next(((kind, value) for kind, value in values.items() if value is not None), None)


def keeps_away(taints: Iterable[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> bool:
    """Whether some taint of a device prevents a request with these tolerations from getting it."""
    return any(
        taint.effect in _EFFECTS and not any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
    )


def _tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
    return False
