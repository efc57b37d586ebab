"""What is printed to standard error beside an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from kubespread.cli.stderr import say
from kubespread.cli.stdout import stdout_takes_tables

if TYPE_CHECKING:
    from kubespread.reports.parts import Unfinished
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.formats import Format


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


def note_beside_each(answers: Sequence[tuple[str, Noted]], written: Format) -> None:
    """What belongs to answers but is not in their format, each line with its subject; common notes are printed once."""
    notes = [[] if written.has_notes else _notes(report) for _, report in answers]
    common = [line for line in notes[0] if all(line in own for own in notes)]
    for line in common:
        say(line)
    for (whose, report), own in zip(answers, notes, strict=True):
        lines = [line for line in own if line not in common]
        if not written.has_conclusion and not stdout_takes_tables():
            # The sides of a comparison have notes but no answers.
            answer: Sequence[str] = getattr(report, "answer", ())
            lines += [*answer[1:], *answer[:1]]
        for line in lines:
            say(f"{whose}{line}")


def _notes(report: Noted) -> list[str]:
    scaled = getattr(report, "autoscaling", None)
    said_beside = {
        "note": (*getattr(report, "all_notes", report.notes), *(scaled.notes if scaled is not None else ())),
        "admission": getattr(report, "admission", ()),
        "gap": report.gaps,
        "not modeled": (*report.not_modelled, *(scaled.not_modelled if scaled is not None else ())),
    }
    return [f"{prefix}: {text}" for prefix, texts in said_beside.items() for text in texts]
