"""What constraints count, in columns: a hostname has as many domains as there are nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct

from kubespread.questions.audit.report import AuditedConstraint, DomainPods
from kubespread.reports.constraint_counts import counted_constraints, in_domains
from kubespread.reports.skew import skew_between
from kubespread.scheduler.cluster.labels import Codes, Counts, Mask
from kubespread.scheduler.plugin import State
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint

MANY = 16
"""With more domains than this, only the extremes are reported."""


class Spread(Struct, frozen=True):
    """One constraint's domains that count, in the order of their values."""

    counted: HardConstraint | SoftConstraint
    codes: Codes
    """Of the domains, in the column of the key."""
    counts: Counts

    @property
    def skew(self) -> int:
        """Most minus least; the least is 0 while the domains are fewer than minDomains."""
        return skew_between(self.counts, lacks_domains=len(self.counts) < (self.counted.constraint.min_domains or 1))

    @property
    def is_even(self) -> bool:
        return self.skew <= self.counted.constraint.max_skew

    @property
    def state(self) -> Literal["ok", "violated", "uneven", "vacuous"]:
        constraint = self.counted.constraint
        if not constraint.counts_pods or constraint.selector.nothing or len(self.counts) < 2:
            return "vacuous" if self.is_even else "violated" if constraint.is_hard else "uneven"
        if self.is_even:
            return "ok"
        return "violated" if constraint.is_hard else "uneven"

    @property
    def pods(self) -> tuple[DomainPods, ...] | None:
        """By domain; None where there are many."""
        return None if len(self.codes) > MANY else tuple(map(self._domain, range(len(self.codes))))

    def value(self, position: int) -> str:
        """The domain at a position."""
        return self.counted.column.values[self.codes.item(position)]

    @property
    def least(self) -> list[str]:
        """The domains with the fewest pods."""
        return (
            list(map(self.value, np.flatnonzero(self.counts == self.counts.min()).tolist())) if len(self.counts) else []
        )

    def _domain(self, position: int) -> DomainPods:
        return DomainPods(self.value(position), self.counts.item(position))

    def report(self) -> AuditedConstraint:
        constraint, has_domains = self.counted.constraint, bool(len(self.counts))
        return AuditedConstraint(
            topology_key=constraint.topology_key,
            when_unsatisfiable=constraint.when_unsatisfiable,
            source=constraint.source,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            selector=str(constraint.selector),
            domains=len(self.counts),
            skew=self.skew,
            most=self._domain(int(self.counts.argmax())) if has_domains else None,
            least=self._domain(int(self.counts.argmin())) if has_domains else None,
            counts=self.pods,
            state=self.state,
        )

    @property
    def least_nodes(self) -> Mask:
        """The nodes of the domains with the fewest pods."""
        column = self.counted.column
        if not len(self.counts):
            return np.zeros(len(column.codes), dtype=np.bool_)
        is_least = np.zeros(len(column.values), dtype=np.bool_)
        is_least[self.codes[self.counts == self.counts.min()]] = True
        least: Mask = column.present & is_least[column.codes]
        return least


def spreads(states: Mapping[str, State]) -> list[Spread]:
    """The spread of each constraint in force for a pod, in the order declared; ``states`` are by plugin."""
    state = states.get(PodTopologySpread.name)
    return [_spread(constraint) for constraint in counted_constraints(state)] if isinstance(state, SpreadState) else []


def _spread(counted: HardConstraint | SoftConstraint) -> Spread:
    column = counted.column
    eligible = np.bincount(column.codes[column.present & counted.eligible], minlength=len(column.values)) > 0
    order = column.sorted_codes[eligible[column.sorted_codes]]
    counts = in_domains(counted, counted.around())[order]
    return Spread(counted, order, counts)
