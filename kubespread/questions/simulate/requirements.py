"""A script's requirements of a simulation: each one not met is one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.simulate.report import SimulateReport

Keyed = tuple[tuple[str, int], ...]
"""Numbers by topology key; a repeated key is kept twice."""
_MAX_DIGITS = 9
_NO_SUCH_LABEL = "no node has that label"


class Requirements(Struct, frozen=True):
    """``placed`` replicas, or all of them; the others are numbers per topology key."""

    placed: int | None
    all_placed: bool
    max_skew: Keyed
    min_domains: Keyed
    survive: Keyed

    @property
    def is_any(self) -> bool:
        """Whether anything is required."""
        return self.judges_placed or bool(self.keys)

    @property
    def judges_placed(self) -> bool:
        """Whether a number of placed replicas is required."""
        return self.all_placed or self.placed is not None

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

    def judged(self, report: SimulateReport) -> SimulateReport:
        """The report with its requirements, and those not met."""
        enough = report.replicas if self.all_placed else self.placed
        return replace(report, required_placed=enough, unmet=tuple(self._failures(report)))

    def _failures(self, report: SimulateReport) -> Iterator[str]:
        """The requirements not met."""
        if self.all_placed and report.lacking:
            what = "are not placed" if report.not_created or report.not_made_yet else "are pending"
            lacking = (report.replicas or 0) - report.running
            yield f"--require-placed all: {lacking} of {count_of(report.replicas or 0, 'replica')} {what}"
        if self.placed is not None and report.running < self.placed:
            are = "is" if report.running == 1 else "are"
            yield f"--require-placed {self.placed}: {count_of(report.running, 'replica')} {are} placed"
        for option, pairs, shortfall in (
            ("--max-skew", self.max_skew, _too_much_skew),
            ("--min-domains", self.min_domains, _too_few_domains),
            ("--survive", self.survive, _too_few_survivors),
        ):
            for key, number in pairs:
                failure = shortfall(report, key, number) if key in report.worst_loss else _NO_SUCH_LABEL
                if failure is not None:
                    yield f"{option} {key}={number}: {failure}"


def _too_much_skew(report: SimulateReport, key: str, most: int) -> str | None:
    skew = report.skew_of(key)
    return f"the skew is {skew}" if skew > most else None


def _too_few_domains(report: SimulateReport, key: str, least: int) -> str | None:
    domains = report.worst_loss[key].domains
    return f"{count_of(domains, 'domain')} hold{'s' if domains == 1 else ''} replicas" if domains < least else None


def _too_few_survivors(report: SimulateReport, key: str, least: int) -> str | None:
    loss = report.worst_loss[key]
    return f"losing {loss.domain} leaves {loss.remaining}" if loss.remaining < least else None


def keyed(option: str, texts: Sequence[str]) -> Keyed:
    """``KEY=N``, as often as wanted. Raises UsageError."""
    pairs = []
    for text in texts:
        key, _, number = text.partition("=")
        if not key or not (number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS):
            raise UsageError(f"invalid {option} {text!r}: expected KEY=N, such as topology.kubernetes.io/zone=1")
        pairs.append((key, int(number)))
    return tuple(pairs)
