"""Which workloads are asked about, what is lost, and when the answer is no."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kubespread.cli.options import spelling
from kubespread.cli.options.workloads import WorkloadsOptions

if TYPE_CHECKING:
    from kubespread.planner.reports.survive import SurviveReport


class FailOn(StrEnum):
    PENDING = "pending"
    SHORT = "short"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class SurvivalOptions(WorkloadsOptions):
    """Which workloads are asked about, what is lost, and when the answer is no."""

    key: Annotated[
        list[str] | None,
        spelling.valued(
            "--key",
            metavar="KEY",
            help="Lose each domain of this topology key (default: zone, or hostname without zones). Repeatable.",
        ),
    ] = None
    fail_on: Annotated[
        list[FailOn] | None,
        spelling.fail_on(
            "Exit with 1 when losing some domain leaves pods pending, leaves workloads short of ready pods while "
            "its Node objects are there, or takes pods that nothing makes again (lost). Repeatable."
        ),
    ] = None

    def failures(self, report: SurviveReport) -> list[str]:
        """What --fail-on asks about and some domain does."""
        counts = {
            FailOn.PENDING: ("leaves {} pods pending", {loss.domain: loss.pending for loss in report.losses}),
            FailOn.SHORT: ("leaves {} workloads short", {loss.domain: len(loss.short) for loss in report.losses}),
            FailOn.LOST: (
                "takes {} pods that nothing makes again",
                {loss.domain: len(loss.not_made_again) for loss in report.losses},
            ),
        }
        failures = []
        for asked in dict.fromkeys(self.fail_on or ()):
            said, numbers = counts[asked]
            worst = max(numbers, key=lambda domain: numbers[domain], default=None)
            if worst is not None and numbers[worst]:
                failures.append(f"--fail-on {asked.value}: losing {worst} {said.format(numbers[worst])}")
        return failures
