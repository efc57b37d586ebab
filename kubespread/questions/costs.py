"""What nodes cost, by a file of prices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal

from kubespread.kube.api.core import Node
from kubespread.kube.providers import CAPACITY_TYPES
from kubespread.reports.cost import Cost, CostChange, Pricing, UnpricedNodes
from kubespread.scenario.prices import Prices
from kubespread.snapshot.topology_keys import label_keys, near_keys
from kubespread.wording import count_of, some_of

_MAX_NAMED = 3


def cost_of(nodes: Iterable[Node], prices: Prices) -> Cost:
    """What ``nodes`` cost together: the exact sum of the prices of those that have one, and the others by value."""
    counted = Counter(node.metadata.labels.get(prices.label) for node in nodes)
    priced = {value: number for value, number in counted.items() if value in prices.prices}
    unpriced = {value: number for value, number in counted.items() if value not in prices.prices}
    amount = sum((prices.prices[value] * number for value, number in priced.items() if value is not None), Decimal(0))
    return Cost(
        nodes=counted.total(),
        amount=as_text(amount) if priced or not unpriced else None,
        unpriced=tuple(
            UnpricedNodes(value=value, nodes=number)
            for value, number in sorted(unpriced.items(), key=lambda item: (item[0] is None, item[0] or ""))
        ),
    )


def cost_change(before: Iterable[Node], after: Iterable[Node], prices: Prices) -> CostChange:
    """What the nodes of a cluster cost before and after."""
    first, then = cost_of(before, prices), cost_of(after, prices)
    difference = as_text(then.known - first.known) if first.unpriced == then.unpriced else None
    pricing = Pricing(label=prices.label, currency=prices.currency or None, per=prices.per or None)
    return CostChange(pricing=pricing, before=first, after=then, difference=difference)


def price_gaps(nodes: Iterable[Node], prices: Prices) -> Iterator[str]:
    """Of how many nodes no price is known, and what the prices would have to have for them; and which prices stand for
    nodes that are bought in several ways, as spot nodes and others are.
    """
    nodes = tuple(nodes)
    for value in prices.prices:
        ways = Counter(
            way for node in nodes if node.metadata.labels.get(prices.label) == value for way in _bought(node)
        )
        if len(ways) > 1:
            told = ", ".join(f"{number:,} {way}" for way, number in sorted(ways.items()))
            yield f"one price of {value} is counted for nodes that are bought in several ways: {told}"
    cost, keys = cost_of(nodes, prices), label_keys(nodes)
    if nodes and prices.label not in keys:
        yield f"no price of any node is known: none has the label {prices.label}{near_keys(prices.label, keys)}"
    elif cost.unpriced:
        named = [
            f"{row.nodes:,} without the label {prices.label}"
            if row.value is None
            else f"{row.nodes:,} with {prices.label}={row.value}"
            for row in cost.unpriced
        ]
        yield f"no price is known of {count_of(cost.unknown, 'node')}: {some_of(named, _MAX_NAMED)}"


def _bought(node: Node) -> Iterator[str]:
    """``SPOT``: how its cloud says that it is paid for; nothing where that is not said."""
    labels = node.metadata.labels
    yield from (labels[key] for key in CAPACITY_TYPES if key in labels)


def as_text(amount: Decimal) -> str:
    """``2.304``: exact, without an exponent or zeros at the end."""
    text = f"{amount:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
