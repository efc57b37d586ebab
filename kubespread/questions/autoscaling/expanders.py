"""Which of several scale-ups cluster-autoscaler makes: its expanders, each of which leaves those that it ranks first.

What the last one leaves is chosen from at random; here the first by name is taken.

Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/factory/chain.go, BestOption
Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/waste/waste.go, BestOptions
Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/mostpods/mostpods.go, BestOptions
Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/priority/priority.go, BestOptions
Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/price/price.go, BestOptions
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from kubespread.node_groups.groups import Expander
from kubespread.questions.autoscaling.templates import ZoneGroup


class Option(Struct, frozen=True):
    """What one scale-up of one group would be."""

    group: ZoneGroup
    nodes: int
    """Nodes to request: one for every node that gets a pod in the simulation."""
    pods: int
    """How many of the pending pods find room in the simulation."""
    helped: int
    """Pending pods that one node of the group would help."""
    waste: float
    """The shares of the new nodes' cpu and memory that stay free, added up."""
    why: str | None
    """Why the estimate stopped before all pods it helps found room."""


Options = Sequence[Option]


def best(options: Options, expanders: Sequence[Expander]) -> list[Option]:
    """What the expanders leave, one after the other until there is but one; by name. Empty where one takes none."""
    left = sorted(options, key=lambda option: option.group.name)
    for expander in expanders:
        if len(left) > 1 or expander is Expander.PRICE:
            left = _EXPANDERS[expander](left)
    return left


def _least(options: Options, key: Callable[[Option], Any]) -> list[Option]:
    least = min(map(key, options), default=None)
    return [option for option in options if key(option) == least]


def _by_priority(options: Options) -> list[Option]:
    """A group without a priority is not chosen, unless none has one."""
    known = [option for option in options if option.group.group.priority is not None]
    return _least(known, lambda option: -(option.group.group.priority or 0)) or [*options]


def _by_price(options: Options) -> list[Option]:
    """By what a pod that finds room costs: pods of one kind have one price, so this orders options for the same pods as
    cluster-autoscaler does before it weighs how large nodes are. A group whose price is not known is not chosen.
    """

    def key(option: Option) -> Fraction:
        (machine,) = option.group.machines
        return Fraction(machine.price or 0) * option.nodes / option.pods

    return _least([option for option in options if option.group.machines[0].price is not None], key)


_EXPANDERS: Mapping[Expander, Callable[[Options], list[Option]]] = {
    Expander.LEAST_WASTE: lambda options: _least(options, lambda option: option.waste),
    Expander.MOST_PODS: lambda options: _least(options, lambda option: -option.pods),
    Expander.PRIORITY: _by_priority,
    Expander.PRICE: _by_price,
    Expander.RANDOM: list,
}
