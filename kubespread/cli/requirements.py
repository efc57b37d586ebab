"""What a script requires of a simulation: each requirement that is not met is one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.planner.reports.simulate import SimulateReport

_ALL = "all"
_MAX_DIGITS = 9
_NO_SUCH_LABEL = "no node has that label"

Keyed = tuple[tuple[str, int], ...]
"""Numbers by topology key; a key given twice is required twice."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """``placed`` replicas, or all of them; the others are numbers per topology key."""

    placed: int | None
    all_placed: bool
    max_skew: Keyed
    min_domains: Keyed
    survive: Keyed

    @classmethod
    def parse(
        cls,
        placed: str | None,
        max_skew: Sequence[str] | None,
        min_domains: Sequence[str] | None,
        survive: Sequence[str] | None,
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
        return [key for key, _ in (*self.max_skew, *self.min_domains, *self.survive)]

    def with_keys(self, full: Callable[[str], str]) -> Requirements:
        """The same with every topology key in full."""

        def spelled_out(pairs: Keyed) -> Keyed:
            return tuple((full(key), number) for key, number in pairs)

        return replace(
            self,
            max_skew=spelled_out(self.max_skew),
            min_domains=spelled_out(self.min_domains),
            survive=spelled_out(self.survive),
        )

    def failures(self, report: SimulateReport) -> Iterator[str]:
        """What the outcome falls short of."""
        there = report.present + report.placed
        if self.all_placed and report.pending:
            yield f"--require-placed all: {report.pending} of {report.replicas} replicas are pending"
        if self.placed is not None and there < self.placed:
            yield f"--require-placed {self.placed}: {there} replicas are placed"
        for key, most in self.max_skew:
            if key not in report.worst_loss:
                yield f"--max-skew {key}={most}: {_NO_SUCH_LABEL}"
            elif (skew := report.skew_of(key)) > most:
                yield f"--max-skew {key}={most}: the skew is {skew}"
        for key, least in self.min_domains:
            if key not in report.worst_loss:
                yield f"--min-domains {key}={least}: {_NO_SUCH_LABEL}"
            elif (domains := report.worst_loss[key].domains) < least:
                yield f"--min-domains {key}={least}: {domains} domains hold replicas"
        for key, least in self.survive:
            loss = report.worst_loss.get(key)
            if loss is None:
                yield f"--survive {key}={least}: {_NO_SUCH_LABEL}"
            elif loss.remaining < least:
                yield f"--survive {key}={least}: losing {loss.domain} leaves {loss.remaining}"


def count(option: str, text: str, expected: str) -> int:
    """A number that is not negative. Raises UsageError."""
    if not _is_count(text):
        raise UsageError(f"invalid {option} {text!r}: expected {expected}")
    return int(text)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def _keyed(option: str, given: Sequence[str] | None) -> Keyed:
    expected = "KEY=N, such as topology.kubernetes.io/zone=1"
    pairs = []
    for text in given or ():
        key, _, number = text.partition("=")
        if not key or not _is_count(number):
            raise UsageError(f"invalid {option} {text!r}: expected {expected}")
        pairs.append((key, int(number)))
    return tuple(pairs)
