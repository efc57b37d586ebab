"""A cluster with all its waiting pods after edits, such as ``--uncordon``; and the goal that waiting pods find nodes,
proven by placing all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import msgspec
from msgspec import Struct

from kubespread.candidate.candidate import from_stored_pod
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import Surroundings
from kubespread.errors import KubespreadError, ManifestError, UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of, full_name
from kubespread.kube.versions import KubeVersion
from kubespread.questions.remedies.change import Answer, Change, Goal
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline, Difference
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.store.happenings import EVICTED, PREEMPTED, UNSELECTED, Departure, Happenings
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

_MAX_RESULTS = 64


class EditResult(Struct, frozen=True):
    """Result of edits."""

    world: World
    happened: tuple[Happenings, ...] = ()
    """Happenings of each edit since the unedited world."""

    def extend(self, world: World) -> EditResult:
        """Result with the happenings of ``world`` added."""
        return EditResult(world, (*self.happened, world.happenings))

    @property
    def departures(self) -> list[Departure]:
        """Pods that had to leave."""
        return [departure for step in self.happened for departure in step.departures]


class EditedWorlds(Struct, dict=True):
    """One world after different edits; results are cached."""

    world_as_it_is: Callable[[], World]
    """Function that makes the world, called on first use."""
    namespace: str
    """Namespace of names without one."""
    _results: dict[tuple[Edit, ...], EditResult | None] = msgspec.field(default_factory=dict)

    @cached_property
    def original(self) -> EditResult:
        """The unedited world, before kube-scheduler tries pending pods again."""
        return EditResult(self.world_as_it_is())

    @cached_property
    def _left_alone(self) -> Baseline:
        """World settled without edits: the baseline for the effects of edits."""
        world = self.original.world.fork()
        world.settle()
        happenings = world.next_step()
        world.book.changed.clear()
        return Baseline(world, happenings)

    def apply(self, edits: tuple[Edit, ...]) -> EditResult | None:
        """The settled world after ``edits``; None if one is refused."""
        reused = next((length for length in range(len(edits), 0, -1) if edits[:length] in self._results), 0)
        edited = self._results[edits[:reused]] if reused else self.original
        for length in range(reused + 1, len(edits) + 1):
            if edited is None:
                return None
            if len(self._results) >= _MAX_RESULTS:
                del self._results[next(iter(self._results))]
            edited = self._results[edits[:length]] = self._edit(edited, edits[length - 1])
        return edited

    def _edit(self, before: EditResult, edit: Edit) -> EditResult | None:
        world = before.world.fork()
        try:
            apply(world, edit, self.namespace)
        except KubespreadError:
            return None
        return None if world.happenings.blocked else before.extend(world)

    def consequences(self, edited: EditResult) -> Iterator[str]:
        """Yield effects on others that would not occur without the edits."""
        for departure in self._departures_by(edited):
            name = full_name(departure.pod)
            if departure.why == PREEMPTED:
                yield f"preempting {name}"
            elif departure.why == UNSELECTED:
                yield f"{name} leaves {departure.pod.spec.node_name}: its DaemonSet no longer selects the node"

    def harm(self, edited: EditResult, is_own: Callable[[Pod], bool]) -> Iterator[str]:
        """Yield losses of others: pods pending or gone only because of the edits.

        A pod that waits in place of one's own counts as another pod, even of the same workload.
        """
        difference = Difference(self._left_alone, edited.world, edited.happened)
        others = [_waiting(world, is_own) for world in (edited.world, self._left_alone.world, self.original.world)]
        for departure in self._departures_by(edited):
            if departure.why in (EVICTED, PREEMPTED) and departure.owner is None:
                name, controller = full_name(departure.pod), controller_of(departure.pod)
                if controller is None:
                    yield f"{name} would be lost for good"
                else:
                    yield f"whether {controller.kind}/{controller.name} makes {name} again is not modeled"
        for workload, number in (others[0] - (others[1] | others[2])).items():
            yield f"{count_of(number, 'pod')} of {workload.short_name} would be pending"
        for row in unmade_pods(edited.world, difference.unmade) if edited.departures else ():
            yield f"{count_of(row.count, 'pod')} of {row.workload.short_name} would not be made: {row.message}"

    def _departures_by(self, edited: EditResult) -> list[Departure]:
        """Departures that would not occur without the edits."""
        anyway = {key_of(departure.pod) for departure in self._left_alone.happenings.departures}
        return [departure for departure in edited.departures if key_of(departure.pod) not in anyway]


def _waiting(world: World, is_own: Callable[[Pod], bool]) -> Counter[WorkloadName]:
    """Number of other waiting pods of each workload."""
    return Counter(workload_of(world, waiting.pod) for waiting in world.waiting if not is_own(waiting.pod))


class PlayedGoal(Goal):
    """Goal for some pods; other effects of a change's edits are played in a world."""

    worlds: EditedWorlds

    def is_own(self, pod: Pod) -> bool:
        """True for one of these pods."""
        raise NotImplementedError

    @property
    def rivals(self) -> int:
        """Number of other pending pods."""
        return sum(not self.is_own(waiting.pod) for waiting in self.worlds.original.world.waiting)

    def answer(self, edited: EditResult | None, count: int, needed: int = 1, harm: Sequence[str] = ()) -> Answer:
        """Answer that ``count`` find a node, with the effects of ``edited`` on others; None without edits."""
        if edited is None:
            return Answer(count, needed, harm=tuple(harm))
        consequences = tuple(self.worlds.consequences(edited))
        return Answer(count, needed, consequences, (*harm, *self.worlds.harm(edited, self.is_own)))


RevisePod = Callable[[Pod, Sequence[str]], Pod | None]
"""Function that makes a pod of the cluster with settings; None if it lacks the field or the API server refuses it."""


class AlikePods(Struct, frozen=True):
    """Identical waiting pods: one stands for all."""

    waiting: Sequence[Waiting]

    @classmethod
    def kinds(cls, waiting: Iterable[Waiting]) -> list[Self]:
        """Group waiting pods by template."""
        kinds: dict[int, list[Waiting]] = {}
        for stuck in waiting:
            kinds.setdefault(id(stuck.template), []).append(stuck)
        return list(map(cls, kinds.values()))

    @property
    def pod(self) -> Pod:
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


@dataclass
class FreeAll(PlayedGoal):
    """Goal that kinds of waiting pods all find a node.

    Edits are made in a cluster with all waiting pods, as they would be in practice; changes of the pods themselves
    apply to these alone.
    """

    worlds: EditedWorlds
    kinds: Sequence[AlikePods]
    revise: RevisePod
    _freed: dict[Hashable, frozenset[PodKey]] = field(default_factory=dict)
    _victims: dict[Hashable, tuple[NamespacedName, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    @cached_property
    def keys(self) -> frozenset[PodKey]:
        return frozenset(key_of(waiting.pod) for kind in self.kinds for waiting in kind.waiting)

    def ask(self, change: Change) -> Answer | None:
        edited = self.worlds.apply(change.edits)
        if edited is None:
            return None
        if not change.edits or change.settings:
            placed = self._place(edited.world, change.settings)
            if placed is None:
                return None
            edited = edited.extend(placed)
        book, waiting = edited.world.book, edited.world.queue.waiting
        freed = self._freed[change.key] = frozenset(key for key in self.keys if key in book and key not in waiting)
        self._victims[change.key] = victims_of(edited.departures, self.keys)
        return self.answer(edited, len(freed), len(self)) if freed else Answer(0, len(self))

    def freed_pods(self, change: Change) -> frozenset[PodKey]:
        """Pods with a node after a tried change."""
        return self._freed[change.key]

    def victims(self, change: Change) -> tuple[NamespacedName, ...]:
        """Pods preempted for them after a tried change."""
        return self._victims[change.key]

    def is_own(self, pod: Pod) -> bool:
        return key_of(pod) in self.keys

    def _place(self, edited: World, settings: Sequence[str]) -> World | None:
        """Place pods that still wait, in order, with ``settings`` applied; None if no pod accepts these."""
        world = edited.fork()
        others = {key: waiting for key, waiting in world.queue.waiting.items() if key not in self.keys}
        world.queue.waiting = {key: waiting for key, waiting in world.queue.waiting.items() if key in self.keys}
        if settings and not self._set(world, settings):
            return None
        world.settle()
        world.queue.waiting.update(others)
        world.settle()
        return world

    def _set(self, world: World, settings: Sequence[str]) -> bool:
        """Apply settings to the waiting pods; False if none accepts them. The others stay as they are."""
        is_any_set = False
        for kind in self.kinds:
            template = self.revise(kind.pod, settings)
            if template is None:
                continue
            is_any_set = True
            for stuck in kind.waiting:
                if (waiting := world.queue.waiting.get(key_of(stuck.pod))) is not None:
                    pod = Pod(metadata=waiting.pod.metadata, spec=template.spec, status=waiting.pod.status)
                    world.book.replace(waiting.pod, pod)
                    world.queue.add(pod, template)
        return is_any_set


def victims_of(departures: Iterable[Departure], keys: Collection[PodKey]) -> tuple[NamespacedName, ...]:
    return tuple(
        full_name(departure.pod)
        for departure in departures
        if departure.made_room_for is not None and key_of(departure.made_room_for) in keys
    )


def pod_reviser(snapshot: Snapshot, version: KubeVersion) -> RevisePod:
    revisions: dict[tuple[int, tuple[str, ...]], tuple[Pod, Pod | None]] = {}

    def revise(pod: Pod, settings: Sequence[str]) -> Pod | None:
        key = id(pod), tuple(settings)
        if key not in revisions:
            surroundings = Surroundings(snapshot, version, settings=parse_settings(settings))
            try:
                revised = from_stored_pod(pod, surroundings).pod
            except (ManifestError, UsageError):
                revised = None
            # The pod itself is kept, so that no other object gets its id.
            revisions[key] = pod, revised
        return revisions[key][1]

    return revise
