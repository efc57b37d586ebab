"""An answer about a cluster: notes on standard error, the answer itself on standard output, and its exit code."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kubespread.cli.streams import ExitCode, emit, look_of_stdout, say, stderr_is_terminal, stdout_takes_tables
from kubespread.escaping import escaped
from kubespread.questions.provenance import drawn_for, with_provenance
from kubespread.views import lines
from kubespread.views.formats import IN_PIPE, Format, Writer, chosen_format
from kubespread.wording import Decisive, count_of

if TYPE_CHECKING:
    from kubespread import Scheduler
    from kubespread.cli.command import Typed
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.look import Look

_MOST_NOTES = 3
_MOST_ON_SCREEN = 2
_LEAST_OF_ANSWER = 6
"""Rows of a terminal, however much is said beside it."""
_KINDS = ("not modeled", "gap", "note", "admission")
"""In the order of how much they may change of an answer."""


class _Note(NamedTuple):
    kind: str
    text: str


class Choosing(Struct, frozen=True):
    """Choice of the notes that are read: few, and never without those that change what an answer means."""

    known: Collection[str]
    """Notes that are always true of the command, which its help says."""
    of_clusters: Collection[str]
    """Notes about the cluster and not about the answer; other notes come first."""
    has_all_gaps: bool
    """True if the answer is unknown, which gaps may be the reason for."""

    def __call__(self, notes: Sequence[tuple[str, _Note]]) -> list[tuple[str, _Note]]:
        """Choose from the notes, each with its subject: those that always count; then as far as there is room one of
        each kind, then another.
        """
        ranks = dict[str, int]()
        ranked = list[tuple[int, int, int]]()
        kept = {place for place, (_, note) in enumerate(notes) if self.always_counts(note)}
        by_weight = sorted(enumerate(notes), key=lambda item: item[1][1].text in self.of_clusters)
        for place, (_, note) in by_weight:
            if place not in kept:
                rank = ranks[note.kind] = ranks.get(note.kind, -1) + 1
                ranked.append((rank, _KINDS.index(note.kind), place))
        kept |= {place for _, _, place in sorted(ranked)[: max(_MOST_NOTES - len(kept), 1)]}
        return [note for place, note in enumerate(notes) if place in kept]

    def always_counts(self, note: _Note) -> bool:
        return (
            note.kind == "not modeled" or isinstance(note.text, Decisive) or (self.has_all_gaps and note.kind == "gap")
        )


def source_of(cluster: Snapshot, report: Any) -> Iterator[str]:
    """Yield the source of the cluster and the scheduler that answers, for -v."""
    yield from read_of(cluster)
    # Questions about all workloads at once have no single profile.
    profile = getattr(report, "scheduler_name", None)
    yield f"{f'profile {profile}, ' if profile else ''}kube-scheduler v{report.kube_version}"


def read_of(cluster: Snapshot) -> Iterator[str]:
    """Yield the source of the cluster, and what was read of it."""
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


def beside_each(
    answers: Sequence[tuple[str, Any]], written: Format, choosing: Choosing | None, *, is_short: bool
) -> Iterator[str]:
    """Yield what belongs to answers but is not in their format, each line with its subject; common notes are told once.
    ``choosing`` leaves some of them out, and most where a screen ``is_short``; None: none.
    """
    known = () if choosing is None else choosing.known
    notes = [
        [] if written.has_notes else [note for note in _notes(report) if note.text not in known]
        for _, report in answers
    ]
    common = [note for note in notes[0] if all(note in own for own in notes)]
    all_notes = [("", note) for note in common]
    for (whose, _), own in zip(answers, notes, strict=True):
        all_notes += [(whose, note) for note in own if note not in common]
    if choosing is not None and is_short:
        yield from _on_screen(all_notes, choosing)
    else:
        shown = all_notes if choosing is None else choosing(all_notes)
        yield from (f"{whose}{note.kind}: {note.text}" for whose, note in shown)
        if len(shown) < len(all_notes):
            yield f"{count_of(len(all_notes) - len(shown), 'more note')} (-v shows all)"
    if not written.has_conclusion and not stdout_takes_tables():
        for whose, report in answers:
            for doubt in getattr(report, "doubts", ()):
                yield f"{whose}in doubt: {doubt}"
            # The sides of a comparison have notes but no answers.
            answer: Sequence[str] = getattr(report, "said", ())
            for sentence in (*answer[1:], *answer[:1]):
                yield f"{whose}{sentence}"


def _on_screen(notes: Sequence[tuple[str, _Note]], choosing: Choosing) -> Iterator[str]:
    """The few that change most what an answer means, and how many others there are."""
    loud = sorted(
        (item for item in notes if item[1].kind == "gap" or choosing.always_counts(item[1])),
        key=lambda item: not choosing.always_counts(item[1]),
    )
    shown = loud[:_MOST_ON_SCREEN]
    for whose, note in shown:
        yield f"{whose}{note.kind}: {note.text}"
    gaps = sum(note.kind == "gap" for _, note in loud[_MOST_ON_SCREEN:])
    others = {"gap": gaps, "note": len(notes) - len(shown) - gaps}
    rest = [count_of(number, f"more {noun}" if shown else noun) for noun, number in others.items() if number]
    if rest:
        yield f"{', '.join(rest)}: -v"


def _notes(report: Any) -> list[_Note]:
    scaled = getattr(report, "autoscaling", None)
    said_beside = {
        "note": (*getattr(report, "all_notes", report.notes), *(scaled.notes if scaled is not None else ())),
        "admission": getattr(report, "admission", ()),
        "gap": [gap for gap in report.gaps if gap not in getattr(report, "doubts", ())],
        "not modeled": (*report.not_modelled, *(scaled.not_modelled if scaled is not None else ())),
    }
    return [_Note(kind, text) for kind, texts in said_beside.items() for text in texts]


class Answering(Struct, frozen=True):
    """Clusters that an answer is about, and the way to print it."""

    typed: Typed
    clusters: Sequence[tuple[Snapshot, Scheduler]] = ()
    """In order; a page draws the last."""
    never_modelled: Sequence[str] = ()
    """Circumstances that the help of the command says already, and notes need not say again."""

    @property
    def written(self) -> Format:
        """The format that is asked for, else the one that standard output calls for."""
        return chosen_format(self.typed["output"], is_terminal=stdout_takes_tables())

    def look(self) -> Look:
        """Look of the answer, in full where -v asks for that."""
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
        """Write ``answer``, which ends with ``code``, and below it what is beside it. ``parts`` holds each report in it
        with the prefix of its notes; ``beside`` those that have the notes instead.
        """
        answer = with_provenance(answer, sys.argv[1:])
        write = writers.get(self.written.name, IN_PIPE).load()
        if self.written.is_page and self.clusters:
            look = replace(look, drawn=drawn_for(answer, *self.clusters[-1]))
        width = look.width if look.rows is not None and self.written.name == "table" else None
        said = [*self._said(parts, beside or parts, code, is_short=width is not None)]
        if width is not None and look.rows is not None and stderr_is_terminal():
            said = [part for line in said for part in lines.folded_text(escaped(line), width)]
            look = replace(look, rows=max(look.rows - len(said), _LEAST_OF_ANSWER))
        emit(write(answer, look))
        for line in said:
            say(line)

    def _said(
        self, parts: Sequence[tuple[str, Any]], beside: Sequence[tuple[str, Any]], code: ExitCode, *, is_short: bool
    ) -> Iterator[str]:
        """Lines to say beside the answer, with few notes where a screen ``is_short``."""
        if not self.typed["quiet"]:
            yield from self._notes(parts, beside, code, is_short=is_short)
        for whose, report in parts:
            is_said = self.written.has_conclusion or not (self.typed["quiet"] or stdout_takes_tables())
            if report.unfinished is not None and not is_said:
                yield f"{whose}{report.unfinished.sentence}"
            for requirement in report.unmet:
                yield f"requirement not met: {whose}{requirement}"

    def _notes(
        self, parts: Sequence[tuple[str, Any]], beside: Sequence[tuple[str, Any]], code: ExitCode, *, is_short: bool
    ) -> Iterator[str]:
        """The notes that matter to the answer, and what its format lacks of it."""
        choosing = None
        if self.typed["verbose"]:
            for (snapshot, _), (_, part) in zip(self.clusters, beside, strict=False):
                yield from source_of(snapshot, part)
        else:
            origins = [(scheduler, snapshot.origin) for snapshot, scheduler in self.clusters]
            choosing = Choosing(
                known=self.never_modelled,
                of_clusters={text for scheduler, origin in origins for text in scheduler.notes(origin)},
                has_all_gaps=code is ExitCode.NO_CLUSTER,
            )
        yield from beside_each(beside, self.written, choosing, is_short=is_short)
        if len(beside) > len(parts) and not self.written.has_conclusion and not stdout_takes_tables():
            yield parts[0][1].said[0]
