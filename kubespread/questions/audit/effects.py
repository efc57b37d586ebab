"""What is wrong with the placement of a workload's pods, and whether placing them differently ends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct

from kubespread.questions.audit.afresh import Afresh, Otherwise, Placed
from kubespread.questions.audit.counting import MANY, Spread
from kubespread.questions.audit.report import DomainPods, PlacedAfresh
from kubespread.scheduler.cluster.cluster import Cluster


class Effect(Protocol):
    def judged(self, placed: Placed, otherwise: Otherwise, *, afresh: bool = True) -> PlacedAfresh:
        """The result of a trial, and whether the effect is over; not ``afresh``: the pods stayed where they were."""


def tried(effect: Effect, afresh: Afresh, otherwise: Otherwise) -> PlacedAfresh:
    """The pods placed afresh with one thing changed."""
    return effect.judged(afresh.placed(otherwise), otherwise)


class Exceeded(Struct, frozen=True):
    """A constraint whose skew is above its maxSkew."""

    afresh: Afresh
    spread: Spread
    position: int
    """The constraint's place among those of the template."""

    def judged(self, placed: Placed, otherwise: Otherwise, *, afresh: bool = True) -> PlacedAfresh:
        position = self.position if otherwise.position is None else otherwise.position
        spread = self.afresh.spread(placed.cluster, placed.template, position)
        return PlacedAfresh(
            what=otherwise.what,
            afresh=afresh,
            placed=len(placed.nodes),
            counts=None if spread is None else spread.pods,
            skew=0 if spread is None else spread.skew,
            holds=spread is not None and spread.is_even and len(placed.nodes) == placed.desired,
        )


class InOneDomain(Struct, frozen=True):
    """All pods of a workload are in one of several domains of a key."""

    key: str

    def judged(self, placed: Placed, otherwise: Otherwise, *, afresh: bool = True) -> PlacedAfresh:
        domains = pods_in_domains(placed.cluster, self.key, placed.nodes)
        inside = sum(domain.pods for domain in domains)
        is_spread = inside < len(placed.nodes) or sum(domain.pods > 0 for domain in domains) > 1
        return PlacedAfresh(
            what=otherwise.what,
            afresh=afresh,
            placed=len(placed.nodes),
            counts=domains if len(domains) <= MANY else None,
            skew=0,
            holds=is_spread and len(placed.nodes) == placed.desired,
        )


def pods_in_domains(cluster: Cluster, key: str, nodes: Sequence[int]) -> tuple[DomainPods, ...]:
    """How many pods on ``nodes`` each domain of a key has, by value, for all domains of the cluster."""
    column = cluster.nodes.label(key)
    codes = column.codes[list(nodes)]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.values))
    return tuple(DomainPods(column.values[code], int(counts[code])) for code in column.sorted_codes.tolist())
