"""Which workloads are asked about, what is lost, and when the answer is no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kubespread.cli.options import spelling
from kubespread.cli.options.workloads import WorkloadsOptions

if TYPE_CHECKING:
    from kubespread.planner.reports.survive import SurviveReport, Trouble


class FailOn(StrEnum):
    PENDING = "pending"
    SHORT = "short"
    LOST = "lost"
    ANY = "any"

    @property
    def trouble(self) -> Trouble | None:
        """As the report has it; None is any."""
        return _TROUBLES.get(self)


_TROUBLES: Mapping[FailOn, Trouble] = {FailOn.PENDING: "pending", FailOn.SHORT: "short", FailOn.LOST: "lost"}


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
            "Exit with 1 when losing some domain leaves pods pending or workloads short of ready pods, while its "
            "Node objects are there or once they are deleted, takes pods that nothing makes again (lost), or any of "
            "these. Repeatable."
        ),
    ] = None

    def failures(self, report: SurviveReport) -> Iterator[str]:
        """What --fail-on asks about and some loss does: what the worst of them does."""
        for asked in dict.fromkeys(self.fail_on or ()):
            if (said := report.worst(asked.trouble)) is not None:
                yield f"--fail-on {asked}: {said}"
