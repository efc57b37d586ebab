"""What happened in a world, in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from kubespread.kube.owners import NamespacedName
from kubespread.world.events.unmade import unmade
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import pending_pods, unmade_pods
from kubespread.world.store.pod_book import PodKey, key_of

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
