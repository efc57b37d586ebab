"""Cost of nodes, by prices that the user gives. Amounts are exact decimals as text, in the currency of the prices."""

from __future__ import annotations

from decimal import Decimal

from kubespread.reports.parts import Report
from kubespread.wording import count_of

UNKNOWN = "what the nodes cost is not known: no price of any of them is"


class UnpricedNodes(Report, frozen=True):
    """Nodes whose price is not known."""

    value: str | None
    """Their value of the label, which the prices do not have; null without the label."""
    nodes: int
    """Number of such nodes."""


class Cost(Report, frozen=True):
    """Cost of some nodes together."""

    nodes: int
    """Number of nodes, those of unknown price too."""
    amount: str | None
    """The sum of the known prices, such as ``2.304``; null where there are nodes and no price of any is known."""
    unpriced: tuple[UnpricedNodes, ...] = ()
    """The nodes that are not in the sum, by value."""

    @property
    def unknown(self) -> int:
        """Number of nodes that are not in the sum."""
        return sum(row.nodes for row in self.unpriced)

    @property
    def known(self) -> Decimal:
        return Decimal(self.amount or 0)


class Pricing(Report, frozen=True):
    """Meaning of the prices."""

    label: str
    """The node label whose values have prices."""
    currency: str | None
    """Currency as the user calls it; null where they do not."""
    per: str | None
    """Time that prices are for, as the user says; null where they do not."""

    def text(self, amount: str | None) -> str:
        """``2.304 EUR per hour``."""
        if amount is None:
            return "an unknown amount"
        return (
            f"{Decimal(amount):,}{f' {self.currency}' if self.currency else ''}{f' per {self.per}' if self.per else ''}"
        )


class CostChange(Report, frozen=True):
    """Cost of the nodes of a cluster, before and after what happens in the question."""

    pricing: Pricing
    before: Cost
    after: Cost
    difference: str | None
    """Cost after minus cost before: ``-1.536`` where it costs less; null where nodes of unknown price come or go."""

    @property
    def change(self) -> str:
        """``1.536 less``."""
        if self.difference is None:
            return "how much more or less is not known"
        if self.difference == "0":
            return "the same"
        return f"{abs(Decimal(self.difference)):,} {'less' if self.difference.startswith('-') else 'more'}"


def not_counted(**costs: Cost) -> str:
    """Ending of a sentence that counts the nodes not in amounts: ``, not counting 3 nodes of unknown price``, and where
    numbers differ ``, not counting nodes of unknown price (1 before, 0 after)``.
    """
    numbers = {name.replace("_", " "): cost.unknown for name, cost in costs.items()}
    first, *others = {*numbers.values()}
    if others:
        told = ", ".join(f"{number:,} {name}" for name, number in numbers.items())
        return f", not counting nodes of unknown price ({told})"
    return f", not counting {count_of(first, 'node')} of unknown price" if first else ""
