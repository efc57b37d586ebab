"""What is printed to standard error beside an answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kubespread.cli.streams import say, stdout_takes_tables
from kubespread.wording import Decisive, count_of

if TYPE_CHECKING:
    from kubespread.reports.parts import Unfinished
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.formats import Format


_MOST_NOTES = 3
_KINDS = ("not modeled", "gap", "note", "admission")
"""In the order of how much they may change of an answer."""


class _Note(NamedTuple):
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Choosing:
    """Which notes are read: few, and never without those that change what an answer means."""

    known: Collection[str]
    """What is always true of the command, which its help says."""
    of_clusters: Collection[str]
    """What is about the cluster and not about the answer; other notes come first."""
    has_all_gaps: bool
    """Whether the answer is unknown, which gaps may be the reason for."""

    def __call__(self, notes: Sequence[tuple[str, _Note]]) -> list[tuple[str, _Note]]:
        """Of these, each with its subject, those that always count; then as far as there is room one of each kind, then
        another.
        """
        ranks = dict[str, int]()
        ranked = list[tuple[int, int, int]]()
        kept = {place for place, (_, note) in enumerate(notes) if self._always_counts(note)}
        by_weight = sorted(enumerate(notes), key=lambda item: item[1][1].text in self.of_clusters)
        for place, (_, note) in by_weight:
            if place not in kept:
                rank = ranks[note.kind] = ranks.get(note.kind, -1) + 1
                ranked.append((rank, _KINDS.index(note.kind), place))
        kept |= {place for _, _, place in sorted(ranked)[: max(_MOST_NOTES - len(kept), 1)]}
        return [note for place, note in enumerate(notes) if place in kept]

    def _always_counts(self, note: _Note) -> bool:
        return (
            note.kind == "not modeled" or isinstance(note.text, Decisive) or (self.has_all_gaps and note.kind == "gap")
        )


class Noted(Protocol):
    """A report: what it has beside its answer."""

    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def gaps(self) -> Sequence[str]: ...
    @property
    def not_modelled(self) -> Sequence[str]: ...


class Answered(Noted, Protocol):
    """A report with its own verdict."""

    @property
    def verdict(self) -> str: ...
    @property
    def answer(self) -> Sequence[str]: ...
    @property
    def unmet(self) -> Sequence[str]: ...
    @property
    def unfinished(self) -> Unfinished | None: ...


def note_source(cluster: Snapshot, report: Any) -> None:
    """Where the cluster comes from and which scheduler answers, for -v."""
    note_cluster(cluster)
    # Questions about all workloads at once have no single profile.
    profile = getattr(report, "scheduler_name", None)
    say(f"{f'profile {profile}, ' if profile else ''}kube-scheduler v{report.kube_version}")


def note_cluster(cluster: Snapshot) -> None:
    """Where the cluster comes from, and what was read of it."""
    skipped = ", ".join(f"{count} {kind}" for kind, count in sorted(cluster.skipped.items())) or "none"
    origin = cluster.origin
    versions = {
        "from": origin.source,
        "taken": origin.time,
        "server": origin.server_version,
        "resourceVersion": origin.resource_version,
    }
    if any(versions.values()):
        say(", ".join(f"{name} {value}" for name, value in versions.items() if value))
    say(f"read {len(cluster.nodes)} nodes, {len(cluster.pods)} pods; ignored (not read by scheduling): {skipped}")


def note_beside_each(answers: Sequence[tuple[str, Noted]], written: Format, choosing: Choosing | None) -> None:
    """What belongs to answers but is not in their format, each line with its subject; common notes are printed once.
    ``choosing`` leaves some of them out; None: none.
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
    shown = all_notes if choosing is None else choosing(all_notes)
    for whose, note in shown:
        say(f"{whose}{note.kind}: {note.text}")
    if len(shown) < len(all_notes):
        say(f"{count_of(len(all_notes) - len(shown), 'more note')} (-v shows all)")
    if not written.has_conclusion and not stdout_takes_tables():
        for whose, report in answers:
            # The sides of a comparison have notes but no answers.
            answer: Sequence[str] = getattr(report, "answer", ())
            for sentence in (*answer[1:], *answer[:1]):
                say(f"{whose}{sentence}")


def _notes(report: Noted) -> list[_Note]:
    scaled = getattr(report, "autoscaling", None)
    said_beside = {
        "note": (*getattr(report, "all_notes", report.notes), *(scaled.notes if scaled is not None else ())),
        "admission": getattr(report, "admission", ()),
        "gap": report.gaps,
        "not modeled": (*report.not_modelled, *(scaled.not_modelled if scaled is not None else ())),
    }
    return [_Note(kind, text) for kind, texts in said_beside.items() for text in texts]
