"""What nodes cost, as a file says it: one price for each value of a node label. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct

from kubespread.kube.name_rules import label_key_faults, label_value_faults
from kubespread.kube.well_known import INSTANCE_TYPE
from kubespread.scenario.document import API_VERSION, Document, read_document
from kubespread.snapshot.edits.verb import Field, Fields, Holds

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
    """What time the prices are for; empty where nobody says."""


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
