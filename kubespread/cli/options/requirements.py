"""What the outcome must be, for scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kubespread.cli.options import spelling
from kubespread.cli.options.counts import count, keyed
from kubespread.cli.requirements import Requirements

_ALL = "all"


@dataclass(frozen=True, slots=True)
class RequirementOptions:
    """What is required, as it was typed."""

    require_placed: Annotated[
        str | None,
        spelling.valued("--require-placed", metavar="N|all", help="Fail unless N replicas (or all) are placed."),
    ] = None
    max_skew: Annotated[
        list[str] | None,
        spelling.valued("--max-skew", metavar="KEY=N", help="Fail if the final skew across KEY exceeds N."),
    ] = None
    min_domains: Annotated[
        list[str] | None,
        spelling.valued("--min-domains", metavar="KEY=N", help="Fail unless replicas use at least N KEY domains."),
    ] = None
    survive: Annotated[
        list[str] | None,
        spelling.valued(
            "--survive", metavar="KEY=N", help="Fail unless N replicas survive the loss of any one KEY domain."
        ),
    ] = None

    def required(self) -> Requirements:
        """Raises UsageError."""
        placed = self.require_placed
        return Requirements(
            placed=(
                None
                if placed is None or placed == _ALL
                else count("--require-placed", placed, "a number from 0, or all")
            ),
            all_placed=placed == _ALL,
            max_skew=keyed("--max-skew", self.max_skew),
            min_domains=keyed("--min-domains", self.min_domains),
            survive=keyed("--survive", self.survive),
        )
