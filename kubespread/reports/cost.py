"""What nodes cost, by prices that the user gives. Amounts are exact decimals as text, in the currency of the prices."""

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
    """How many there are."""


class Cost(Report, frozen=True):
    """What some nodes cost together."""

    nodes: int
    """How many there are, those of unknown price too."""
    amount: str | None
    """The sum of the known prices, such as ``2.304``; null where there are nodes and no price of any is known."""
    unpriced: tuple[UnpricedNodes, ...] = ()
    """The nodes that are not in the sum, by value."""

    @property
    def unknown(self) -> int:
        """How many nodes are not in the sum."""
        return sum(row.nodes for row in self.unpriced)

    @property
    def known(self) -> Decimal:
        return Decimal(self.amount or 0)


class Pricing(Report, frozen=True):
    """What prices are."""

    label: str
    """The node label whose values have prices."""
    currency: str | None
    """As the user calls it; null where they do not."""
    per: str | None
    """What time prices are for, as the user says; null where they do not."""

    def text(self, amount: str | None) -> str:
        """``2.304 EUR per hour``."""
        if amount is None:
            return "an unknown amount"
        return (
            f"{Decimal(amount):,}{f' {self.currency}' if self.currency else ''}{f' per {self.per}' if self.per else ''}"
        )


class CostChange(Report, frozen=True):
    """What the nodes of a cluster cost, before and after what is asked about."""

    pricing: Pricing
    before: Cost
    after: Cost
    difference: str
    """The known prices after without those before: ``-1.536`` where it costs less."""

    @property
    def change(self) -> str:
        """``1.536 less``."""
        if self.difference == "0":
            return "the same"
        return f"{abs(Decimal(self.difference)):,} {'less' if self.difference.startswith('-') else 'more'}"

    @property
    def not_counted(self) -> str:
        """How many nodes are in none of the amounts, as the end of a sentence."""
        if self.before.unknown == self.after.unknown:
            return not_counted(self.before)
        return f", not counting nodes of unknown price ({self.before.unknown:,} before, {self.after.unknown:,} after)"


def not_counted(cost: Cost) -> str:
    """``, not counting 3 nodes of unknown price``; nothing where there are none."""
    return f", not counting {count_of(cost.unknown, 'node')} of unknown price" if cost.unpriced else ""
