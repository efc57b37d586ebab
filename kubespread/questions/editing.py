"""The cluster of a question, read from files or a running cluster, and its edits, made before the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.questions.scheduler import Scheduler
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.pods import Scale, Spread
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.files.reader import load as load_files
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import Decisive, count_of

if TYPE_CHECKING:
    from kubespread.reports.outcome import Outcome
    from kubespread.snapshot.live.connection import OnPage
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.world.events.world import World
    from kubespread.world.store.happenings import Happenings
    from kubespread.world.store.store import Start


NO_TIME = "edits: pods are ready once they have a node; timers, rate limits and back-offs are not waited for"


def apply_edits(
    snapshot: Snapshot, scheduler: Scheduler, namespace: str | None = None, *, preempts: bool = True
) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster after the edits of ``snapshot``, and notes on the release and the edits.

    ``preempts`` is False where no pod is evicted to make room. Raises UsageError.
    """
    if not snapshot.edits:
        return snapshot, tuple(scheduler.notes(snapshot.origin))

    def make() -> tuple[Snapshot, tuple[str, ...]]:
        return _apply_edits(snapshot, scheduler, namespace, preempts=preempts)

    # A file may have changed by the next question.
    reads_file = any(isinstance(edit, AddNode) and edit.manifest is not None for edit in snapshot.edits)
    is_cached = scheduler.config is None and not reads_file
    key = ("edited", repr(snapshot.edits), scheduler, namespace, preempts)
    return snapshot.cache.get_or_make(key, make) if is_cached else make()


def _apply_edits(
    snapshot: Snapshot, scheduler: Scheduler, namespace: str | None, *, preempts: bool
) -> tuple[Snapshot, tuple[str, ...]]:
    # A world with its controllers costs a tenth of a small question, and few questions edit anything.
    from kubespread.questions.remedies.spreading import spread
    from kubespread.questions.worlds import as_snapshot, start_of, world_of

    notes, undone, assumed = [*scheduler.notes(snapshot.origin)], list[str](), dict[str, None]()
    after, where = snapshot, namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    for _, group in groupby(snapshot.edits, lambda edit: edit if isinstance(edit, Spread) else None):
        before, edits = after, [*group]
        world, has_happened = world_of(before, scheduler, preempts=preempts), False
        if isinstance(edits[0], Spread):
            after, edit_notes = spread(world, before, edits[0], where)
            notes += edit_notes
            continue
        for edit, (edit_notes, happened) in zip(edits, play(world, edits, where), strict=True):
            notes += edit_notes
            has_happened |= bool(happened.departures or happened.placed)
            if happened.blocked or happened.refused:
                undone.append(str(edit))
        after = as_snapshot(world, before)
        if has_happened:
            notes += [] if NO_TIME in notes else [NO_TIME]
            assumed |= world.assumed
        else:
            after = replace(after, pods=tuple(_as_listed(after.pods, start_of(before, world.settings.version))))
    edits_text = "; ".join(map(str, snapshot.edits))
    origin = snapshot.origin
    # The result must not pass for the original cluster.
    origin = replace(
        origin,
        source=f"{origin.source}, after {edits_text}" if origin.source else f"after {edits_text}",
        gaps=tuple(dict.fromkeys((*origin.gaps, *assumed))),
        undone=(*origin.undone, *undone),
    )
    return replace(after, origin=origin, edits=()), tuple(notes)


def play(world: World, edits: Iterable[Edit], namespace: str) -> Iterator[tuple[Sequence[str], Happenings]]:
    """Yield the notes and the effects of each edit, made one after another; ``namespace`` is for names without one.
    Raises UsageError.
    """
    from kubespread.reports.outcome import Outcome
    from kubespread.world.events.editing import apply
    from kubespread.world.reporting.difference import Baseline, Difference
    from kubespread.world.reporting.outcomes import outcome
    from kubespread.world.store.happenings import Happenings

    for edit in edits:
        baseline = Baseline(world.fork(), Happenings())
        apply(world, edit, namespace)
        row = outcome(Outcome, str(edit), Difference(baseline, world, (world.happenings,)))
        notes = (*_consequences(row, world), *_autoscaler_notes(edit, world, namespace))
        yield notes, world.next_step()


def _consequences(row: Outcome, world: World) -> Iterator[str]:
    """Yield the consequences of an edit; none if it touched no pod and has no notes."""
    from kubespread.reports.outcome import phrase

    happened = world.happenings
    yield from (note if names_edit else f"{row.name}: {note}" for note, names_edit in happened.notes.items())
    removals = Counter(departure.why for departure in happened.departures)
    parts = [f"{count_of(number, 'pod')} {why}" for why, number in sorted(removals.items())]
    if row.placed:
        parts.append(f"{row.placed:,} placed")
    if asked_for := len(row.lost) - row.count("lost"):
        parts.append(f"{asked_for:,} that no controller makes again")
    if parts:
        yield f"{row.name}: {', '.join(parts)}"
    kinds = dict.fromkeys(trouble.kind for trouble in row.troubles)
    yield from (Decisive(f"{row.name}: {phrase(row, kind)}") for kind in kinds)


def _as_listed(pods: Iterable[Pod], start: Start) -> Iterator[Pod]:
    """Pods as listed, without the readiness assumed where none is reported: the next reader assumes it again."""
    from kubespread.world.store.pod_book import key_of

    if not start.listed:
        yield from pods
        return
    ready = {key_of(pod): pod for pod in start.pods if id(pod) in start.listed}
    for pod in pods:
        listed = start.listed.get(id(pod))
        if listed is None and (ready_pod := ready.get(key_of(pod))) is not None and pod.status == ready_pod.status:
            listed = msgspec.structs.replace(pod, status=start.listed[id(ready_pod)].status)
        yield pod if listed is None else listed


def _autoscaler_notes(edit: Edit, world: World, namespace: str) -> Iterator[str]:
    """Notes on autoscalers that also set the number of replicas."""
    if not isinstance(edit, Scale):
        return
    from kubespread.candidate.replicas import autoscaling_notes

    where, objects = edit.namespace or namespace, world.workloads.objects
    for note in autoscaling_notes(WorkloadName(edit.kind, where, edit.name), objects):
        yield f"{edit}: {note}"


_DEFAULT = Scheduler()


def load(path: str | Path, *more: str | Path) -> Snapshot:
    """Read a cluster from files, directories and archives, together one snapshot; ``-`` is standard input.

    A large file's decoded content is cached in ``$XDG_CACHE_HOME/kubespread``. Raises SnapshotError, UsageError and
    ManifestError.
    """
    paths = tuple(str(part) for part in (path, *more))
    return replace(load_files(paths), files=paths)


def connect(access: Access | None = None, on_page: OnPage | None = None) -> Snapshot:
    """Read a running cluster without writing to it; by default that of the kubeconfig's current context.

    Raises SnapshotError, ManifestError and UsageError.
    """
    # TLS and threads, which no file needs.
    from kubespread.snapshot.live.connection import load_cluster
    from kubespread.snapshot.live.kubeconfig import Access

    return load_cluster(access or Access(), on_page)


def after_edits(snapshot: Snapshot, scheduler: Scheduler = _DEFAULT) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster after its edits, ready to be saved, and notes on them.

    Not needed before a question, which makes the edits itself. Raises UsageError.
    """
    if snapshot.edits:
        return apply_edits(snapshot, scheduler)
    # Without edits no release matters.
    return snapshot, tuple(scheduler.unreleased_notes(snapshot.origin))
