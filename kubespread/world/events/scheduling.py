"""kube-scheduler at work in a world: pods that wait get nodes, and push others away where they may."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.scheduler.placing import Choice
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.living_cluster import Applicant
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.store import Store
from kubespread.world.store.waiting import Waiting


def schedule(world: Store, only: Sequence[PodKey] | None = None) -> bool:
    """Place waiting pods (all, or only some, given as they came) until none finds a node; whether any did."""
    placed = 0
    waiting = world.queue.in_order(only)
    while waiting:
        unplaced = [pod for pod in waiting if not _place(world, pod)]
        if len(unplaced) == len(waiting):
            break
        placed += len(waiting) - len(unplaced)
        waiting = unplaced
    return placed > 0


def _place(world: Store, waiting: Waiting) -> bool:
    break_tie = world.surroundings.chance.tiebreaker
    chosen = world.queue.choose(waiting, world.living, break_tie) or _preempted_for(world, waiting)
    if chosen is None:
        return False
    applicant, choice = chosen
    _bind(world, waiting, applicant, choice)
    return True


def _preempted_for(world: Store, waiting: Waiting) -> tuple[Applicant, Choice] | None:
    candidate = world.queue.victims(waiting, world.living, lambda: world.budgets.current(world.time))
    if candidate is None:
        return None
    happenings, broken = world.happenings, dict(zip(map(key_of, candidate.victims), candidate.broken, strict=True))
    gone = len(happenings.gone)
    world.remove(candidate.victims, PREEMPTED)
    happenings.gone[gone:] = [
        replace(gone_pod, made_room_for=waiting.pod, broken_budgets=broken[key_of(gone_pod.pod)])
        for gone_pod in happenings.gone[gone:]
    ]
    return world.queue.applicant_on(waiting, world.living, world.cluster.nodes.index[candidate.node])


def _bind(world: Store, waiting: Waiting, applicant: Applicant, choice: Choice) -> None:
    pod = waiting.pod
    owner = world.book.owner_of(pod)
    ready = owner is None or _becomes_ready(world, owner, pod)
    node = world.living.nodes.names[choice.node]
    placed = states.on_node(pod, node, states.running_since(world.timestamp, ready=ready))
    applicant.take(choice, placed)
    world.note_placed(pod, placed, choice)


def _becomes_ready(world: Store, owner: WorkloadName, pod: Pod) -> bool:
    above, stuck = world.workloads.above(owner, [pod]), world.surroundings.stuck
    if owner != above and owner in stuck:
        note = "its new pods are taken not to become ready, like those of their template in the snapshot"
        world.happenings.note(f"{above.kind}/{above.name}: {note}")
    return above not in stuck and owner not in stuck
