"""An answer about a cluster: notes on standard error, the answer itself on standard output, and its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import Noted, note_beside_each, note_source
from kubespread.cli.page import write_page
from kubespread.cli.stdout import emit, look_of_stdout, stdout_is_terminal
from kubespread.render.formats import Format, ReportKind, chosen_format

if TYPE_CHECKING:
    from kubespread import Scheduler
    from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions
    from kubespread.render.formats import Write
    from kubespread.render.look import Look
    from kubespread.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Answering:
    """Which cluster an answer is about, if any, and how it is to be given."""

    cluster: Snapshot | None
    scheduler: Scheduler
    options: AnswerOptions
    speaking: SpeakingOptions

    @property
    def written(self) -> Format:
        """The format that is asked for, else the one that standard output calls for."""
        return chosen_format(self.options.output, is_terminal=stdout_is_terminal())

    def look(self, *, in_full: bool = False) -> Look:
        """How the answer is laid out, in full where -v or ``in_full`` asks for that."""
        look = look_of_stdout(color=self.options.color, headers=not self.options.no_headers)
        return replace(look, in_full=in_full or self.speaking.verbose > 0)

    def give(
        self, kind: ReportKind, report: Noted, conclusion: Iterable[str], *, is_yes: bool,
        look: Look | None = None, write: Write | None = None,
    ) -> ExitCode:  # fmt: skip
        """Write the answer; ``look`` and ``write`` are for those that have others than all do."""
        return self.give_each(kind, report, [("", report, conclusion)], is_yes=is_yes, look=look, write=write)

    def give_each(
        self, kind: ReportKind, answer: Any, parts: Sequence[tuple[str, Noted, Iterable[str]]], *, is_yes: bool,
        look: Look | None = None, write: Write | None = None,
    ) -> ExitCode:  # fmt: skip
        """Write ``answer``. Of each report in it ``parts`` has how its notes begin, itself and its conclusion.

        The exit code is NO_CLUSTER where a source was read in part, or where there are gaps and --strict was asked for.
        """
        if not self.speaking.quiet:
            if self.speaking.verbose and self.cluster is not None:
                note_source(self.cluster, parts[0][1])
            note_beside_each(parts, self.written)
        write_page(self.options.html, answer, self.cluster, self.scheduler)
        write = write or self.written.writers[kind].load()
        emit(write(answer, look or self.look()))
        is_in_part = self.cluster is not None and self.cluster.faults
        if is_in_part or (self.options.strict and any(report.gaps for _, report, _ in parts)):
            return ExitCode.NO_CLUSTER
        return ExitCode.YES if is_yes else ExitCode.NO
