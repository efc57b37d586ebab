"""Costs of nodes, by a file of prices: one for each value of a node label. Nothing is fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct

from kubespread.kube.api.core import Node
from kubespread.kube.name_rules import label_key_faults, label_value_faults
from kubespread.kube.providers import CAPACITY_TYPES
from kubespread.kube.well_known import INSTANCE_TYPE
from kubespread.reports.cost import Cost, CostChange, Pricing, UnpricedNodes
from kubespread.scenario.document import API_VERSION, Document, Field, Fields, Holds, read_document
from kubespread.snapshot.topology_keys import label_keys, near_keys
from kubespread.wording import count_of, some_of

_MAX_NAMED = 3
KIND = "Prices"
PRICES: Fields = {
    "apiVersion": Field(Holds.TEXT, "kubespread.dev/v1alpha1", is_required=True),
    "kind": Field(Holds.TEXT, "Prices", is_required=True),
    "label": Field(Holds.TEXT, f"the node label whose values have prices, by default {INSTANCE_TYPE}"),
    "currency": Field(Holds.TEXT, "what the prices are in, such as EUR"),
    "per": Field(Holds.TEXT, "what time they are for, such as hour"),
    "prices": Field(Holds.OBJECT, "one node's price by its value of the label: m6i.2xlarge: 0.384", is_required=True),
}
PRICE = Field(Holds.DECIMAL, "the price of one node")
_SMALLEST = f"{{apiVersion: {API_VERSION}, kind: {KIND}, prices: {{m6i.2xlarge: 0.384}}}}"


class Prices(Struct, frozen=True):
    """Prices of nodes by the values of one label."""

    prices: Mapping[str, Decimal]
    label: str = INSTANCE_TYPE
    currency: str = ""
    per: str = ""
    """Unit of time that the prices are for; empty where nobody says."""


PricesGiven = Prices | Mapping[str, Any] | str | Path


def read_prices(source: PricesGiven) -> Prices:
    """The prices that were given: a path (``-``: standard input), a text, which has a line break or begins with a
    brace, or plain data. Raises ManifestError with every fault.
    """
    return source if isinstance(source, Prices) else _prices(read_document(source, KIND, _SMALLEST))


def _prices(document: Document) -> Prices:
    faults = document.faults
    fields = faults.checked(document.data, PRICES, "")
    label, given = fields.get("label", INSTANCE_TYPE), fields.get("prices", {})
    for fault in label_key_faults(label):
        faults.add("label", f"{label!r}: {fault}")
    if given == {} and "prices" in fields:
        faults.add("prices", "expected at least one price, found none")
    for value in given:
        for fault in label_value_faults(str(value)):
            faults.add(f"prices.{value}", f"no label has the value {value!r}: {fault}")
    prices = faults.checked(given, dict.fromkeys(given, PRICE), "prices")
    if faults.entries:
        raise faults.error()
    # As it was written: no number that is let through has more digits than a float keeps.
    exact = {str(value): Decimal(str(price)) for value, price in prices.items()}
    return Prices(exact, label, fields.get("currency", ""), fields.get("per", ""))


def cost_of(nodes: Iterable[Node], prices: Prices) -> Cost:
    """Add up the prices of ``nodes``: the exact sum for those that have one, and the others by value."""
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
    """Compare the costs of a cluster's nodes before and after."""
    first, then = cost_of(before, prices), cost_of(after, prices)
    difference = as_text(then.known - first.known) if first.unpriced == then.unpriced else None
    pricing = Pricing(label=prices.label, currency=prices.currency or None, per=prices.per or None)
    return CostChange(pricing=pricing, before=first, after=then, difference=difference)


def price_gaps(nodes: Iterable[Node], prices: Prices) -> Iterator[str]:
    """Yield the nodes without a known price, counted, and what the prices would have to have for them; and the prices
    that stand for nodes that are bought in several ways, as spot nodes and others are.
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
