"""The arguments of PodTopologySpread: which constraints a pod without any gets.

Source of the rules: kube-scheduler 1.36, config/validation/validation_pluginargs.go, podtopologyspread/plugin.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec import field

from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.name_rules import label_key_faults
from kubespread.kube.validation.faults import (
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    required,
    unsupported,
)
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, SCHEDULE_ANYWAY, ZONE
from kubespread.scheduler.specification import Args

Source = Literal["pod", "profile", "system"]
"""Where a constraint is from."""
SYSTEM, LIST = "System", "List"


@dataclass(frozen=True, slots=True)
class DefaultConstraints:
    """The constraints of pods that declare none; their selector is derived."""

    source: Source
    constraints: tuple[TopologySpreadConstraint, ...]


SYSTEM_DEFAULTS = DefaultConstraints(
    "system",
    (
        TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
        TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=SCHEDULE_ANYWAY),
    ),
)


class PodTopologySpreadArgs(Args):
    default_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    defaulting_type: str = ""

    def defaults(self, version: KubeVersion) -> DefaultConstraints:
        """Without the gate DefaultPodTopologySpread there are no built-in constraints."""
        if self.defaulting_type != LIST:
            return SYSTEM_DEFAULTS if version.has("DefaultPodTopologySpread") else DefaultConstraints("profile", ())
        # matchLabelKeys of a default constraint have no effect: the derived selector replaces the whole selector.
        constraints = (msgspec.structs.replace(each, match_label_keys=[]) for each in self.default_constraints)
        return DefaultConstraints("profile", tuple(constraints))

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        defaulting_type = self.defaulting_type or SYSTEM
        if defaulting_type not in (SYSTEM, LIST):
            yield unsupported(f"{path}.defaultingType", defaulting_type, (SYSTEM, LIST))
        elif defaulting_type == SYSTEM and self.default_constraints:
            yield invalid(f"{path}.defaultingType", defaulting_type, "when .defaultConstraints are not empty")
        seen: set[tuple[str, str]] = set()
        for position, constraint in enumerate(self.default_constraints):
            here = f"{path}.defaultConstraints[{position}]"
            yield from _constraint_faults(constraint, here)
            pair = (constraint.topology_key, constraint.when_unsatisfiable)
            if pair in seen:
                # The later of the two is reported here, the earlier one in a pod.
                yield duplicate(here, f"{{{pair[0]}, {pair[1]}}}")
            seen.add(pair)


def _constraint_faults(constraint: TopologySpreadConstraint, path: str) -> Iterator[FieldFault]:
    key, action = constraint.topology_key, constraint.when_unsatisfiable
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from invalid_each(f"{path}.topologyKey", key, label_key_faults(key))
    if not action:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif action not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
        yield unsupported(f"{path}.whenUnsatisfiable", action, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
    if constraint.label_selector is not None:
        yield forbidden(f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod")
