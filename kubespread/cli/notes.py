"""What is said on standard error beside an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from kubespread.cli.stderr import say
from kubespread.cli.stdout import stdout_is_terminal

if TYPE_CHECKING:
    from kubespread.render.formats import Format
    from kubespread.snapshot.snapshot import Snapshot


class Noted(Protocol):
    """A report: what it has beside its answer."""

    @property
    def kube_version(self) -> str: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def gaps(self) -> Sequence[str]: ...
    @property
    def not_modelled(self) -> Sequence[str]: ...


def note_source(cluster: Snapshot, report: Noted) -> None:
    """Where the cluster comes from and what is asked of it, for -v."""
    skipped = ", ".join(f"{count} {kind}" for kind, count in sorted(cluster.skipped.items())) or "none"
    origin = cluster.origin
    known = {
        "from": origin.source,
        "taken": origin.time,
        "server": origin.server_version,
        "resourceVersion": origin.resource_version,
    }
    if any(known.values()):
        say(", ".join(f"{name} {value}" for name, value in known.items() if value))
    say(f"read {len(cluster.nodes)} nodes, {len(cluster.pods)} pods; ignored (not read by scheduling): {skipped}")
    # Questions about all workloads at once have no profile of their own.
    profile = getattr(report, "scheduler_name", None)
    say(f"{f'profile {profile}, ' if profile else ''}kube-scheduler v{report.kube_version}")


def note_beside_each(answers: Sequence[tuple[str, Noted, Iterable[str]]], written: Format) -> None:
    """What belongs to answers and is not in their format, each line after whose it is; a note on all is said once."""
    notes = [[] if written.has_notes else _notes(report) for _, report, _ in answers]
    common = [line for line in notes[0] if all(line in own for own in notes)]
    for line in common:
        say(line)
    for (whose, _, conclusion), own in zip(answers, notes, strict=True):
        said = [line for line in own if line not in common]
        if not written.has_conclusion and not stdout_is_terminal():
            said += conclusion
        for line in said:
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
