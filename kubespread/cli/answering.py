"""An answer about a cluster: notes on standard error, the answer itself on standard output, and its exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kubespread.cli.streams import ExitCode, emit, look_of_stdout, say, stderr_is_terminal, stdout_takes_tables
from kubespread.escaping import escape
from kubespread.questions.commands import drawn_for, with_provenance
from kubespread.views import lines
from kubespread.views.formats import IN_PIPE, Format, Writer, chosen_format
from kubespread.wording import Decisive, count_of

if TYPE_CHECKING:
    from kubespread import Scheduler
    from kubespread.cli.command import Argv
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.look import Look

_MOST_NOTES = 3
_MOST_ON_SCREEN = 2
_LEAST_OF_ANSWER = 6
"""Rows of a terminal that an answer gets, however many notes there are."""
_KINDS = ("not modeled", "gap", "note", "admission")
"""Kinds of notes, the most important first."""


class _Note(NamedTuple):
    prefix: str
    kind: str
    text: str
    counts: bool
    """True if it affects the meaning of the answer, and so is never left out."""
    is_of_cluster: bool
    """True if it is about the cluster and not about the answer: other notes come first."""

    def __str__(self) -> str:
        return f"{self.prefix}{self.kind}: {self.text}"


def _few(notes: Sequence[_Note]) -> Iterator[str]:
    """Yield notes that always count, then as far as there is room one of each kind, then another."""
    ranks, ranked = dict[str, int](), list[tuple[int, int, int]]()
    shown = {place for place, note in enumerate(notes) if note.counts}
    for place, note in sorted(enumerate(notes), key=lambda item: item[1].is_of_cluster):
        if place not in shown:
            rank = ranks[note.kind] = ranks.get(note.kind, -1) + 1
            ranked.append((rank, _KINDS.index(note.kind), place))
    shown |= {place for _, _, place in sorted(ranked)[: max(_MOST_NOTES - len(shown), 1)]}
    yield from (str(notes[place]) for place in sorted(shown))
    if len(shown) < len(notes):
        yield f"{count_of(len(notes) - len(shown), 'more note')} (-v shows all)"


def _fewest(notes: Sequence[_Note]) -> Iterator[str]:
    """Yield the few most important notes, and the numbers of others."""
    loud = sorted((note for note in notes if note.kind == "gap" or note.counts), key=lambda note: not note.counts)
    shown = loud[:_MOST_ON_SCREEN]
    yield from map(str, shown)
    gaps = sum(note.kind == "gap" for note in loud[_MOST_ON_SCREEN:])
    others = {"gap": gaps, "note": len(notes) - len(shown) - gaps}
    rest = [count_of(number, f"more {noun}" if shown else noun) for noun, number in others.items() if number]
    if rest:
        yield f"{', '.join(rest)}: -v"


def source_lines(cluster: Snapshot) -> Iterator[str]:
    """Yield the source of the cluster, and the numbers of its objects read and ignored."""
    skipped = ", ".join(f"{count} {kind}" for kind, count in sorted(cluster.skipped.items())) or "none"
    origin = cluster.origin
    versions = {
        "from": origin.source,
        "taken": origin.time,
        "server": origin.server_version,
        "resourceVersion": origin.resource_version,
    }
    if any(versions.values()):
        yield ", ".join(f"{name} {value}" for name, value in versions.items() if value)
    yield f"read {len(cluster.nodes)} nodes, {len(cluster.pods)} pods; ignored (not read by scheduling): {skipped}"


class Answering(Struct, frozen=True):
    """Clusters of an answer, and how to print it."""

    typed: Argv
    clusters: Sequence[tuple[Snapshot, Scheduler]] = ()
    """In order; a page draws the last."""
    never_modelled: Sequence[str] = ()
    """Circumstances in the command's help, which notes need not repeat."""

    @property
    def format_to_write(self) -> Format:
        """Requested format, else the default of standard output."""
        return chosen_format(self.typed["output"], is_terminal=stdout_takes_tables())

    def look(self) -> Look:
        """Look of the answer, in full with -v."""
        look, in_full = look_of_stdout(headers=not self.typed["no_headers"]), self.typed["verbose"] > 0
        return replace(look, in_full=in_full, rows=None if in_full else look.rows)

    def show(
        self,
        answer: Any,
        parts: Sequence[tuple[str, Any]],
        code: ExitCode,
        writers: Mapping[str, Writer],
        look: Look,
        beside: Sequence[tuple[str, Any]] = (),
    ) -> None:
        """Write ``answer``, which ends with ``code``, and its notes below it.

        ``parts`` holds each report in it with the prefix of its notes; ``beside`` the reports with the notes instead.
        """
        answer = with_provenance(answer, sys.argv[1:])
        write = writers.get(self.format_to_write.name, IN_PIPE).load()
        if self.format_to_write.is_page and self.clusters:
            look = replace(look, drawn=drawn_for(answer, *self.clusters[-1]))
        width = look.width if look.rows is not None and self.format_to_write.name == "table" else None
        remarks = [*self._remarks(parts, beside or parts, code, is_short=width is not None)]
        if width is not None and look.rows is not None and stderr_is_terminal():
            remarks = [part for line in remarks for part in lines.folded_text(escape(line), width)]
            look = replace(look, rows=max(look.rows - len(remarks), _LEAST_OF_ANSWER))
        emit(write(answer, look))
        for line in remarks:
            say(line)

    def _remarks(
        self, parts: Sequence[tuple[str, Any]], beside: Sequence[tuple[str, Any]], code: ExitCode, *, is_short: bool
    ) -> Iterator[str]:
        """Yield lines for standard error, with few notes if the screen ``is_short``."""
        is_quiet, has_tables = self.typed["quiet"], stdout_takes_tables()
        if not is_quiet:
            if self.typed["verbose"]:
                for (snapshot, _), (_, part) in zip(self.clusters, beside, strict=False):
                    yield from source_lines(snapshot)
                    # Questions about all workloads at once have no single profile.
                    profile = getattr(part, "scheduler_name", None)
                    yield f"{f'profile {profile}, ' if profile else ''}kube-scheduler v{part.kube_version}"
            notes = [] if self.format_to_write.has_notes else self._notes(beside, code)
            yield from map(str, notes) if self.typed["verbose"] else _fewest(notes) if is_short else _few(notes)
        if not (is_quiet or has_tables or self.format_to_write.has_conclusion):
            for prefix, report in beside:
                yield from (f"{prefix}in doubt: {doubt}" for doubt in getattr(report, "doubts", ()))
                # The sides of a comparison have notes but no answers.
                answer: Sequence[str] = getattr(report, "statements", ())
                yield from (f"{prefix}{sentence}" for sentence in (*answer[1:], *answer[:1]))
            if len(beside) > len(parts):
                yield parts[0][1].statements[0]
        for prefix, report in parts:
            is_said = self.format_to_write.has_conclusion or not (is_quiet or has_tables)
            if report.unfinished is not None and not is_said:
                yield f"{prefix}{report.unfinished.sentence}"
            for requirement in report.unmet:
                yield f"requirement not met: {prefix}{requirement}"

    def _notes(self, reports: Sequence[tuple[str, Any]], code: ExitCode) -> Sequence[_Note]:
        """Notes on ``reports``: a note of all only once, and notes in the command's help only with -v."""
        of_clusters = {text for snapshot, scheduler in self.clusters for text in scheduler.notes(snapshot.origin)}
        in_help = () if self.typed["verbose"] else self.never_modelled
        texts = [[(kind, text) for kind, text in _texts(report) if text not in in_help] for _, report in reports]
        common = [note for note in texts[0] if all(note in notes for notes in texts)]
        own = [
            (prefix, *note)
            for (prefix, _), notes in zip(reports, texts, strict=True)
            for note in notes
            if note not in common
        ]
        return [
            _Note(
                prefix,
                kind,
                text,
                kind == "not modeled" or isinstance(text, Decisive) or (kind == "gap" and code is ExitCode.NO_CLUSTER),
                text in of_clusters,
            )
            for prefix, kind, text in (*(("", *note) for note in common), *own)
        ]


def _texts(report: Any) -> Iterator[tuple[str, str]]:
    """Each text beside a report, with its kind."""
    scaled = getattr(report, "autoscaling", None)
    texts = {
        "note": (*getattr(report, "all_notes", report.notes), *(scaled.notes if scaled is not None else ())),
        "admission": getattr(report, "admission", ()),
        "gap": [gap for gap in report.gaps if gap not in getattr(report, "doubts", ())],
        "not modeled": (*report.not_modelled, *(scaled.not_modelled if scaled is not None else ())),
    }
    return ((kind, text) for kind, own in texts.items() for text in own)
