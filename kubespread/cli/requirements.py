"""What a script requires of a simulation: each requirement that is not met is one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.planner.simulation_report import SimulateReport

_ALL = "all"


@dataclass(frozen=True, slots=True)
class Requirements:
    """``placed`` replicas, or all of them; the others are numbers per topology key."""

    placed: int | None
    all_placed: bool
    max_skew: Mapping[str, int]
    min_domains: Mapping[str, int]
    survive: Mapping[str, int]

    @classmethod
    def parse(
        cls, placed: str | None, max_skew: Sequence[str] | None, min_domains: Sequence[str] | None, survive: Sequence[str] | None
    ) -> Requirements:
        """The options as they were typed. Raises UsageError."""
        return cls(
            None if placed is None or placed == _ALL else count("--require-placed", placed, "a number from 0, or all"),
            placed == _ALL,
            _keyed("--max-skew", max_skew),
            _keyed("--min-domains", min_domains),
            _keyed("--survive", survive),
        )

    @property
    def keys(self) -> list[str]:
        return [*self.max_skew, *self.min_domains, *self.survive]

    def failures(self, report: SimulateReport) -> Iterator[str]:
        """What the outcome falls short of."""
        there = report.present + report.placed
        if self.all_placed and report.pending:
            yield f"--require-placed all: {report.pending} of {report.replicas} replicas are pending"
        if self.placed is not None and there < self.placed:
            yield f"--require-placed {self.placed}: {there} replicas are placed"
        for key, most in self.max_skew.items():
            if key in report.worst_loss and (skew := report.skew_of(key)) > most:
                yield f"--max-skew {key}={most}: the skew is {skew}"
        for key, least in self.min_domains.items():
            domains = report.worst_loss[key].domains if key in report.worst_loss else 0
            if domains < least:
                yield f"--min-domains {key}={least}: {domains} domains hold replicas"
        for key, least in self.survive.items():
            loss = report.worst_loss.get(key)
            if loss is None:
                yield f"--survive {key}={least}: no node has that label"
            elif loss.remaining < least:
                yield f"--survive {key}={least}: without {loss.domain} there remain {loss.remaining}"


def count(option: str, text: str, expected: str) -> int:
    """A number that is not negative. Raises UsageError."""
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"invalid {option} {text!r}: expected {expected}")
    return int(text)


def _keyed(option: str, given: Sequence[str] | None) -> dict[str, int]:
    expected = "KEY=N, such as topology.kubernetes.io/zone=1"
    pairs = {}
    for text in given or ():
        key, _, number = text.partition("=")
        if not key or not number.isascii() or not number.isdigit():
            raise UsageError(f"invalid {option} {text!r}: expected {expected}")
        pairs[key] = int(number)
    return pairs
