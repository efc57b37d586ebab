"""Waiting pods that are all to find a node: the goal of a search for what frees them, proven by placing all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from msgspec import Struct

from kubespread.candidate.candidate import Surroundings, from_stored_pod
from kubespread.candidate.settings import parse_settings
from kubespread.errors import ManifestError, UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName
from kubespread.kube.versions import KubeVersion
from kubespread.questions.remedies.change import Answer, Change
from kubespread.questions.remedies.edited_worlds import EditedWorlds, PlayedGoal
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World
from kubespread.world.store.happenings import Gone
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

RevisePod = Callable[[Pod, Sequence[str]], Pod | None]
"""A pod of the cluster with fields set as ``--set`` has them, None where it has no such field or the API server refuses
it.
"""


class AlikePods(Struct, frozen=True):
    """Identical waiting pods: what is true of one is true of all."""

    waiting: Sequence[Waiting]

    @classmethod
    def kinds(cls, waiting: Iterable[Waiting]) -> list[Self]:
        """The waiting pods by their templates."""
        kinds: dict[int, list[Waiting]] = {}
        for each in waiting:
            kinds.setdefault(id(each.template), []).append(each)
        return list(map(cls, kinds.values()))

    @property
    def pod(self) -> Pod:
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


@dataclass
class AllFreed(PlayedGoal):
    """Kinds of pods that are all to find a node.

    Edits are made in a cluster with all waiting pods, as they would be in practice; changes of the pods themselves
    apply to these alone.
    """

    worlds: EditedWorlds
    kinds: Sequence[AlikePods]
    revise: RevisePod
    _freed: dict[Hashable, frozenset[PodKey]] = field(default_factory=dict)
    _victims: dict[Hashable, tuple[NamespacedName, ...]] = field(default_factory=dict)
    alone = None

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    @cached_property
    def keys(self) -> frozenset[PodKey]:
        return frozenset(key_of(waiting.pod) for kind in self.kinds for waiting in kind.waiting)

    def ask_in(self, worlds: EditedWorlds, change: Change) -> Answer | None:
        edited = worlds.after(change.edits)
        if edited is None:
            return None
        if not change.edits or change.settings:
            placed = self._placed(edited.world, change.settings)
            if placed is None:
                return None
            edited = edited.then(placed)
        book, waiting = edited.world.book, edited.world.queue.waiting
        freed = self._freed[change.key] = frozenset(key for key in self.keys if key in book and key not in waiting)
        self._victims[change.key] = victims_of(edited.gone, self.keys)
        return self.answered(worlds, edited, len(freed), len(self)) if freed else Answer(0, len(self))

    def freed(self, change: Change) -> frozenset[PodKey]:
        """The pods that have a node after a change that was tried."""
        return self._freed[change.key]

    def victims(self, change: Change) -> tuple[NamespacedName, ...]:
        """The pods that they take the room of then."""
        return self._victims[change.key]

    def is_own(self, pod: Pod) -> bool:
        return key_of(pod) in self.keys

    def _placed(self, edited: World, settings: Sequence[str]) -> World | None:
        """Place the pods that still wait one after another, with ``settings`` applied. None where no pod accepts
        these.
        """
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
        any_taken = False
        for kind in self.kinds:
            template = self.revise(kind.pod, settings)
            if template is None:
                continue
            any_taken = True
            for stuck in kind.waiting:
                if (waiting := world.queue.waiting.get(key_of(stuck.pod))) is not None:
                    pod = Pod(metadata=waiting.pod.metadata, spec=template.spec, status=waiting.pod.status)
                    world.book.replace(waiting.pod, pod)
                    world.queue.add(pod, template)
        return any_taken


def victims_of(gone: Iterable[Gone], keys: Collection[PodKey]) -> tuple[NamespacedName, ...]:
    """Pods whose room those among ``keys`` took."""
    made_room = (each for each in gone if each.made_room_for is not None and key_of(each.made_room_for) in keys)
    return tuple(NamespacedName.of(each.pod) for each in made_room)


def pod_reviser(snapshot: Snapshot, version: KubeVersion) -> RevisePod:
    revisions: dict[tuple[int, tuple[str, ...]], tuple[Pod, Pod | None]] = {}

    def revise(pod: Pod, settings: Sequence[str]) -> Pod | None:
        key = id(pod), tuple(settings)
        if key not in revisions:
            surroundings = Surroundings(snapshot.objects, version, settings=parse_settings(settings))
            try:
                revised = from_stored_pod(pod, surroundings).pod
            except (ManifestError, UsageError):
                revised = None
            # The pod itself is kept, so that no other object gets its id.
            revisions[key] = pod, revised
        return revisions[key][1]

    return revise
