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
from kubespread.snapshot.edits.verb import Edit
from kubespread.wording import count_of
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline, Difference
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.store.happenings import EVICTED, PREEMPTED, UNSELECTED, Gone, Happenings
from kubespread.world.store.pod_book import key_of

_MOST_KEPT = 64


class Edited(Struct, frozen=True):
    """The result of edits."""

    world: World
    happened: tuple[Happenings, ...] = ()
    """Happenings since the world was in its first state, one edit after another."""

    def then(self, world: World) -> Edited:
        """Result extended by what happened in ``world`` since."""
        return Edited(world, (*self.happened, world.happenings))

    @property
    def gone(self) -> list[Gone]:
        """Pods that had to go."""
        return [gone for step in self.happened for gone in step.gone]


class EditedWorlds(Struct, dict=True):
    """One world, edited in different ways; results are kept."""

    world_as_it_is: Callable[[], World]
    """Source of the world, called on first use."""
    namespace: str
    """The namespace of names without one."""
    _made: dict[tuple[Edit, ...], Edited | None] = field(default_factory=dict)

    @cached_property
    def unchanged(self) -> Edited:
        """The world as it is, before kube-scheduler looks at it again."""
        return Edited(self.world_as_it_is())

    @cached_property
    def _left_alone(self) -> Baseline:
        """World left alone, to tell the effects of edits from what would happen anyway."""
        world = self.unchanged.world.fork()
        world.settle()
        happenings = world.next_step()
        world.book.changed.clear()
        return Baseline(world, happenings)

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
        world = before.world.fork()
        try:
            apply(world, edit, self.namespace)
        except KubespreadError:
            return None
        return None if world.happenings.blocked else before.then(world)

    def consequences(self, edited: Edited) -> Iterator[str]:
        """Effects on others that would not occur without the edits."""
        for gone in self._gone_anew(edited):
            name = NamespacedName.of(gone.pod)
            if gone.why == PREEMPTED:
                yield f"preempting {name}"
            elif gone.why == UNSELECTED:
                yield f"{name} leaves {gone.pod.spec.node_name}: its DaemonSet no longer selects the node"

    def harm(self, edited: Edited, is_own: Callable[[Pod], bool]) -> Iterator[str]:
        """Yield what others lose: pods that wait, or are gone, only because of the edits. A pod that waits in place of
        one's own pod is another, also of the same workload.
        """
        difference = Difference(self._left_alone, edited.world, edited.happened)
        others = [_waiting(world, is_own) for world in (edited.world, self._left_alone.world, self.unchanged.world)]
        for gone in self._gone_anew(edited):
            if gone.why in (EVICTED, PREEMPTED) and gone.owner is None:
                name, controller = NamespacedName.of(gone.pod), controller_of(gone.pod)
                if controller is None:
                    yield f"{name} would be lost for good"
                else:
                    yield f"whether {controller.kind}/{controller.name} makes {name} again is not modeled"
        for workload, number in (others[0] - (others[1] | others[2])).items():
            yield f"{count_of(number, 'pod')} of {workload.called} would be pending"
        for row in unmade_pods(edited.world, difference.unmade) if edited.gone else ():
            yield f"{count_of(row.count, 'pod')} of {row.workload.called} would not be made: {row.message}"

    def _gone_anew(self, edited: Edited) -> list[Gone]:
        """The pods that had to go and would not without the edits."""
        anyway = {key_of(gone.pod) for gone in self._left_alone.happenings.gone}
        return [gone for gone in edited.gone if key_of(gone.pod) not in anyway]


def _waiting(world: World, is_own: Callable[[Pod], bool]) -> Counter[WorkloadName]:
    """Number of other waiting pods of each workload."""
    return Counter(workload_of(world, waiting.pod) for waiting in world.waiting if not is_own(waiting.pod))


class PlayedGoal(Goal):
    """A goal for some pods: what else becomes of the cluster is played in a world after a change's edits."""

    worlds: EditedWorlds

    def is_own(self, pod: Pod) -> bool:
        """True if it is one of these pods."""
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
        """Worlds where no other pods wait; None if none do, and where only what frees it among all others counts."""
        return self.worlds.if_alone(self.is_own)

    def answered(
        self, worlds: EditedWorlds, edited: Edited | None, count: int, needed: int = 1, harm: Sequence[str] = ()
    ) -> Answer:
        """Answer that ``count`` find a node, with what becomes of others in ``edited`` (None: nothing is edited)."""
        if edited is None:
            return Answer(count, needed, harm=tuple(harm))
        consequences = tuple(worlds.consequences(edited))
        return Answer(count, needed, consequences, (*harm, *worlds.harm(edited, self.is_own)))
