"""One pod asked about in its cluster, once the pod or the cluster is other than it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.planner.advise.change import Answer, Change
from kubespread.planner.advise.revising import Revise
from kubespread.planner.world.editing import apply
from kubespread.planner.world.happenings import PREEMPTED
from kubespread.planner.world.pod_book import PodKey, key_of
from kubespread.planner.world.reporting import name_of
from kubespread.planner.world.world import World
from kubespread.scheduler.cluster.change import Change as ClusterChange
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.edits.types import Edit


@dataclass(frozen=True, slots=True)
class Edited:
    """The cluster once edits are made in it."""

    cluster: Cluster
    consequences: tuple[str, ...]


@dataclass
class OnePod:
    """A pod that is to find a node; what is edited plays in a world, as it does for ``--uncordon`` and the like."""

    pod: Pod
    cluster: Cluster
    plugins: Framework
    revise: Revise
    world_of_all: Callable[[], World]
    """The same cluster as a world, made when first needed."""
    _world: World | None = None
    _edited: dict[tuple[Edit, ...], Edited | None] = field(default_factory=dict)

    def ask(self, change: Change) -> Answer | None:
        revised = self.revise(change.settings)
        edited = self._after(change.edits) if change.edits else Edited(self.cluster, ())
        if edited is None or revised is None:
            return None
        try:
            evaluation = self.plugins.evaluate(revised.dressed(edited.cluster), revised.pod)
        except SchedulingError:
            return Answer(0)
        fitting = 0 if evaluation.error is not None else int(evaluation.feasible.sum())
        return Answer(fitting, consequences=edited.consequences)

    def _after(self, edits: tuple[Edit, ...]) -> Edited | None:
        if edits not in self._edited:
            self._edited[edits] = self._made(edits)
        return self._edited[edits]

    def _made(self, edits: Sequence[Edit]) -> Edited | None:
        """None where an edit is refused."""
        if self._world is None:
            self._world = self.world_of_all()
        world, own = self._world.fork(), key_of(self.pod)
        waited = set(world.queue.waiting)
        try:
            for edit in edits:
                apply(world, edit, self.pod.metadata.namespace)
        except KubespreadError:
            return None
        if world.happenings.blocked:
            return None
        return Edited(_without(world, own), tuple(consequences(world, waited, own)))


def consequences(world: World, waited: set[PodKey], own: PodKey | None = None) -> Iterator[str]:
    """What becomes of other pods: those that wait now and did not, and those that had to make room for them."""
    for each in world.waiting:
        key = key_of(each.pod)
        if key not in waited and key != own:
            yield f"{name_of(each.pod)} is left pending"
    for gone in world.happenings.gone:
        if gone.why == PREEMPTED:
            yield f"{name_of(gone.pod)} is preempted"


def _without(world: World, own: PodKey) -> Cluster:
    """The cluster without the pod itself, which it may hold."""
    cluster = world.cluster
    if own not in world.book:
        return cluster
    stored = world.book[own]
    position = cluster.nodes.index.get(stored.spec.node_name)
    if position is not None:
        cluster = cluster.after(ClusterChange(gone=[(stored, position)]))
    return cluster
