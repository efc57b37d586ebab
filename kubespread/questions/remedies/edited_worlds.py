"""A cluster with all its waiting pods after edits: the effect of ``--uncordon`` and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field

from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of
from kubespread.questions.remedies.change import Answer, Change, Goal
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.verb import Edit
from kubespread.wording import count_of
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World, unmade
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.happenings import EVICTED, PREEMPTED, UNSELECTED, Gone, Happenings
from kubespread.world.store.pod_book import key_of

_MOST_KEPT = 64
_PER_EDIT, _PER_NODE, _PER_NEW_NODE = 8, 0.05, 6
"""Milliseconds."""


class Edited(Struct, frozen=True):
    """The result of edits."""

    world: World
    consequences: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """Pods that are gone and that no known controller recreates."""
    preempted: tuple[Gone, ...] = ()
    """Those that made room for others."""
    has_moved: bool = False
    """Whether any pod had to go."""

    def then(self, world: World) -> Edited:
        """This result extended by what happened in ``world`` since."""
        happenings = world.happenings
        return Edited(
            world,
            (*self.consequences, *_moved_away(happenings)),
            (*self.lost, *_lost(happenings)),
            (*self.preempted, *(gone for gone in happenings.gone if gone.why == PREEMPTED)),
            self.has_moved or bool(happenings.gone),
        )


class EditedWorlds(Struct, dict=True):
    """One world, edited in different ways; results are kept."""

    world_as_it_is: Callable[[], World]
    """Called on first use."""
    namespace: str
    """The namespace of names without one."""
    effort: float = 0
    """The effort so far, as in `Goal.effort`."""
    _made: dict[tuple[Edit, ...], Edited | None] = field(default_factory=dict)

    @cached_property
    def unchanged(self) -> Edited:
        """The world as it is, before kube-scheduler looks at it again."""
        return Edited(self.world_as_it_is())

    @cached_property
    def _left_alone(self) -> Edited:
        """The world left alone."""
        world = self.unchanged.world.fork()
        world.settle()
        return self.unchanged.then(world)

    def if_alone(self, is_own: Callable[[Pod], bool]) -> EditedWorlds | None:
        """The world in which only its own pods wait; None if no others do."""
        queue = self.unchanged.world.queue.waiting
        if all(is_own(waiting.pod) for waiting in queue.values()):
            return None

        def world() -> World:
            alone = self.unchanged.world.fork()
            alone.queue.waiting = {key: waiting for key, waiting in queue.items() if is_own(waiting.pod)}
            return alone

        return EditedWorlds(world, self.namespace)

    def after(self, edits: tuple[Edit, ...]) -> Edited | None:
        """The world after ``edits``, in order, once nothing changes anymore. None where one is refused."""
        reused = next((length for length in range(len(edits), 0, -1) if edits[:length] in self._made), 0)
        edited = self._made[edits[:reused]] if reused else self.unchanged
        for length in range(reused + 1, len(edits) + 1):
            if edited is None:
                return None
            if len(self._made) >= _MOST_KEPT:
                del self._made[next(iter(self._made))]
            edited = self._made[edits[:length]] = self._edited(edited, edits[length - 1])
        return edited

    def _edited(self, before: Edited, edit: Edit) -> Edited | None:
        self.effort += _PER_EDIT + _PER_NODE * len(self.unchanged.world.living.nodes.objects)
        if isinstance(edit, AddNode):
            self.effort += _PER_NEW_NODE * edit.count
        world = before.world.fork()
        try:
            apply(world, edit, self.namespace)
        except KubespreadError:
            return None
        return None if world.happenings.blocked else before.then(world)

    def consequences(self, edited: Edited) -> tuple[str, ...]:
        """Effects on others that would not occur without the edits."""
        return tuple(
            consequence for consequence in edited.consequences if consequence not in self._left_alone.consequences
        )

    def harm(self, edited: Edited, is_own: Callable[[Pod], bool]) -> tuple[str, ...]:
        """What others lose: pods that wait, or are gone, only because of the edits."""
        return (
            *(pod for pod in edited.lost if pod not in self._left_alone.lost),
            *self._left_pending(edited.world, is_own),
            *(self._not_made(edited.world) if edited.has_moved else ()),
        )

    def _left_pending(self, world: World, is_own: Callable[[Pod], bool]) -> Iterator[str]:
        """Replacements have new names, so they are compared by number."""
        then = [_others_waiting(edited.world, is_own) for edited in (self.unchanged, self._left_alone)]
        more = _others_waiting(world, is_own) - (then[0] | then[1])
        waited = self.unchanged.world.queue.waiting
        for pod in sorted((waiting.pod for waiting in world.waiting), key=lambda pod: key_of(pod) in waited):
            workload = workload_of(world, pod)
            if more[workload] > 0 and not is_own(pod):
                more[workload] -= 1
                yield f"{NamespacedName.of(pod)} would be pending"

    def _not_made(self, world: World) -> Iterator[str]:
        """Pods that are gone and not recreated, for example because a quota is full."""
        worlds = (self.unchanged.world, self._left_alone.world)
        then = [Counter({row.owner: row.count for row in unmade(before)}) for before in worlds]
        for row in unmade(world):
            more = row.count - max(counts[row.owner] for counts in then)
            if more > 0:
                pods = f"{count_of(more, 'pod')} of {row.owner.kind}/{row.owner.name}"
                yield f"{pods} would not be made again: {row.message}"


class PlayedGoal(Goal):
    """A goal for some pods: what else becomes of the cluster is played in a world after a change's edits."""

    worlds: EditedWorlds
    spent: float = 0
    """Effort spent outside of worlds, in milliseconds."""

    def is_own(self, pod: Pod) -> bool:
        """Whether it is one of these pods."""
        raise NotImplementedError

    def ask_in(self, worlds: EditedWorlds, change: Change) -> Answer | None:
        """The answer after ``change``, its edits made in ``worlds``."""
        raise NotImplementedError

    def ask(self, change: Change) -> Answer | None:
        return self.ask_in(self.worlds, change)

    def ask_alone(self, change: Change) -> Answer | None:
        return None if self.alone is None else self.ask_in(self.alone, change)

    @cached_property
    def alone(self) -> EditedWorlds | None:
        """Where no other pods wait; None if none do, and where only what frees them among all others counts."""
        return self.worlds.if_alone(self.is_own)

    def answered(
        self, worlds: EditedWorlds, edited: Edited | None, count: int, needed: int = 1, harm: Sequence[str] = ()
    ) -> Answer:
        """So many of them find a node, with what becomes of others in ``edited`` (None: nothing is edited)."""
        if edited is None:
            return Answer(count, needed, harm=tuple(harm))
        return Answer(count, needed, worlds.consequences(edited), (*harm, *worlds.harm(edited, self.is_own)))

    @property
    def effort(self) -> float:
        return self.spent + self.worlds.effort + (0 if self.alone is None else self.alone.effort)


def _others_waiting(world: World, is_own: Callable[[Pod], bool]) -> Counter[WorkloadName]:
    return Counter(workload_of(world, waiting.pod) for waiting in world.waiting if not is_own(waiting.pod))


def _moved_away(happenings: Happenings) -> Iterator[str]:
    """Pods that were preempted, or that their DaemonSet no longer wants on their node."""
    for gone in happenings.gone:
        name = NamespacedName.of(gone.pod)
        if gone.why == PREEMPTED:
            yield f"preempting {name}"
        elif gone.why == UNSELECTED:
            yield f"{name} leaves {gone.pod.spec.node_name}: its DaemonSet no longer selects the node"


def _lost(happenings: Happenings) -> Iterator[str]:
    for gone in happenings.gone:
        if gone.why not in (EVICTED, PREEMPTED) or gone.owner is not None:
            continue
        name, controller = NamespacedName.of(gone.pod), controller_of(gone.pod)
        if controller is None:
            yield f"{name} would be lost for good"
        else:
            yield f"whether {controller.kind}/{controller.name} makes {name} again is not modeled"
