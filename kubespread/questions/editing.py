"""The edits of a snapshot, made before a question is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.questions.scheduler import Scheduler
from kubespread.snapshot.edits.pods import Scale
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from kubespread.world.events.world import World
from collections import Counter
from collections.abc import Collection

from kubespread.kube.owners import NamespacedName
from kubespread.world.events.unmade import unmade
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import pending_pods, unmade_pods
from kubespread.world.store.pod_book import PodKey, key_of


def edited(
    snapshot: Snapshot, scheduler: Scheduler, namespace: str | None = None, *, preempts: bool = True
) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster after the edits of ``snapshot``, and what to say whatever is asked of it: what ``scheduler`` has to
    say of its release, and what the edits came to. ``preempts`` is False where nobody is evicted to make room.
    Raises UsageError.
    """
    if not snapshot.edits:
        return snapshot, tuple(scheduler.notes(snapshot.origin))
    # A world with its controllers is a tenth of a small question, and few questions edit anything.
    from kubespread.questions.editing import NO_TIME, told
    from kubespread.questions.worlds import as_snapshot, world_of
    from kubespread.world.events.editing import apply

    world = world_of(snapshot, scheduler, preempts=preempts)
    default = namespace or snapshot.origin.namespace or DEFAULT_NAMESPACE
    notes = [*scheduler.notes(snapshot.origin)]
    has_happened = False
    for edit in snapshot.edits:
        waited = set(world.queue.waiting)
        apply(world, edit, default)
        notes += (*told(str(edit), world, waited), *_beyond(edit, world, default))
        step = world.next_step()
        has_happened |= bool(step.gone or step.placed)
    after = as_snapshot(world, snapshot)
    if has_happened:
        notes.append(NO_TIME)
    else:
        after = replace(after, pods=tuple(_as_listed(after.pods, snapshot.pods)))
    made = "; ".join(map(str, snapshot.edits))
    known = snapshot.origin
    # Nobody is to take it for the cluster as it was.
    origin = msgspec.structs.replace(
        known,
        source=f"{known.source}, after {made}" if known.source else f"after {made}",
        gaps=tuple(dict.fromkeys((*known.gaps, *(world.assumed if has_happened else ())))),
    )
    return replace(after, origin=origin), tuple(notes)


def _as_listed(pods: Iterable[Pod], listed: Iterable[Pod]) -> Iterator[Pod]:
    """Without what was taken for granted of pods that do not say whether they are ready: who asks is told again."""
    from kubespread.world.store.pod_book import key_of
    from kubespread.world.store.pod_states import readiness_known, taken_to_be_ready

    unknown = {key_of(pod): pod for pod in listed if not readiness_known(pod)}
    for pod in pods:
        was = unknown.get(key_of(pod))
        yield was if was is not None and pod == taken_to_be_ready(was) else pod


def _beyond(edit: Edit, world: World, namespace: str) -> Iterator[str]:
    """Who else has a say in a number of replicas."""
    if not isinstance(edit, Scale):
        return
    from kubespread.candidate.replicas import autoscaling_notes

    where, objects = edit.namespace or namespace, world.workloads.objects
    for note in autoscaling_notes(WorkloadName(edit.kind, where, edit.name), objects):
        yield f"{edit}: {note}"


_FEW = 3


NO_TIME = "edits: pods are ready once they have a node; timers, rate limits and back-offs are not waited for"


def told(edit: str, world: World, waited: Collection[PodKey] = ()) -> Iterator[str]:
    """What came of ``edit``, which was just done: nothing where no pod was touched and nothing is to be said.

    ``waited`` are the pods that waited before; of those there is nothing to say.
    """
    happened = world.happenings
    yield from (note if names_edit else f"{edit}: {note}" for note, names_edit in happened.notes.items())
    counts = Counter(gone.why for gone in happened.gone)
    parts = [f"{_pods(count)} {why}" for why, count in sorted(counts.items())]
    if happened.placed:
        parts.append(f"{len(happened.placed)} placed")
    if lost := len(list(happened.lost_for_good())):
        parts.append(f"{lost} that no controller makes again")
    if parts:
        yield f"{edit}: {', '.join(parts)}"
    for blocked in happened.blocked[:_FEW]:
        yield f"{edit}: pod {NamespacedName.of(blocked.pod)} stays: {blocked.message} {blocked.cause}".rstrip()
    if len(happened.blocked) > _FEW:
        yield f"{edit}: {len(happened.blocked) - _FEW} more pods stay"
    pending = list(pending_pods(world, (each for each in world.waiting if key_of(each.pod) not in waited)))
    for each in pending[:_FEW]:
        waits = "waits" if len(each.pods) == 1 else "wait"
        yield f"{edit}: {_pods(len(each.pods))} of {each.workload} {waits} for a node: {each.message}"
    if len(pending) > _FEW:
        yield f"{edit}: pods of {len(pending) - _FEW} more workloads wait for a node"
    touched = {world.book.owner_of(pod) for pod in (*(gone.pod for gone in happened.gone), *happened.created)}
    lacking = [each for each in unmade(world) if each.is_refused or each.owner in touched]
    for what, is_refused in (("not created", True), ("not made yet", False)):
        for row in unmade_pods(world, (each for each in lacking if each.is_refused == is_refused)):
            yield f"{edit}: {_pods(row.count)} of {row.workload} {what}: {row.message}"


def _pods(count: int) -> str:
    return f"{count} pod{'s' if count != 1 else ''}"
