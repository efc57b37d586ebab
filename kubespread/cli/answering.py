"""An answer about a cluster given: notes on standard error, the answer itself on standard output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from kubespread.cli.notes import note_beside, note_source
from kubespread.cli.options.answer import SpeakingOptions
from kubespread.cli.page import write_page
from kubespread.cli.stdout import emit, look_of_stdout
from kubespread.render.formats import Format, ReportKind

if TYPE_CHECKING:
    from kubespread import Scheduler
    from kubespread.planner.reports.advise import AdviseReport
    from kubespread.planner.reports.audit import AuditReport
    from kubespread.planner.reports.capacity import CapacityReport
    from kubespread.planner.reports.pending import PendingReport
    from kubespread.planner.reports.rebalance import RebalanceReport
    from kubespread.planner.reports.removable import RemovableReport
    from kubespread.snapshot.snapshot import Snapshot

    AnyReport = AdviseReport | AuditReport | CapacityReport | PendingReport | RebalanceReport | RemovableReport


class AnswerOptions(Protocol):
    """What all commands ask of how an answer is given."""

    @property
    def no_headers(self) -> bool: ...
    @property
    def html(self) -> str | None: ...
    @property
    def color(self) -> str: ...
    @property
    def strict(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Answering:
    """Which cluster an answer is about, and how it is to be given."""

    cluster: Snapshot
    scheduler: Scheduler
    written: Format
    options: AnswerOptions
    speaking: SpeakingOptions

    def give(self, kind: ReportKind, report: AnyReport, conclusion: Iterable[str], *, in_full: bool = False) -> bool:
        """Write the answer, in full where -v or ``in_full`` asks for that.

        Whether it is whole: not where a source was read in part, nor where it has gaps and --strict was asked for.
        """
        speaking, options = self.speaking, self.options
        if not speaking.quiet:
            if speaking.verbose:
                note_source(self.cluster, report)
            note_beside(report, conclusion, self.written)
        look = look_of_stdout(color=options.color, headers=not options.no_headers)
        write_page(options.html, report, self.cluster, self.scheduler)
        emit(self.written.writers[kind].load()(report, replace(look, in_full=in_full or speaking.verbose > 0)))
        return not (self.cluster.faults or (options.strict and report.gaps))
