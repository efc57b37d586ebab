"""The smallest change that frees pods with the same cause: found and proven by placing all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct, field

from kubespread.kube.api.core import Pod
from kubespread.questions.remedies.candidates import FAMILIES
from kubespread.questions.remedies.change import Answer, Change
from kubespread.questions.remedies.edited_worlds import EditedWorlds
from kubespread.questions.remedies.search import Found, Trials, combined, search_least
from kubespread.questions.remedies.stuck import Stuck
from kubespread.snapshot.edits.verb import Edit
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

RevisePod = Callable[[Pod, Sequence[str]], Pod | None]
"""A pod of the cluster with fields set as ``--set`` has them, None where it has no such field or the API server refuses
it.
"""
_PER_QUESTION, _PER_POD, _PER_POD_THERE, _PER_KIND_AND_NODE = 3, 0.5, 0.0005, 0.002
"""Milliseconds."""
_OF_A_FAMILY = 4
"""Changes per family that are tried on large clusters."""


class Kind(Struct, frozen=True):
    """Identical waiting pods: what is true of one is true of all."""

    waiting: Sequence[Waiting]

    @property
    def pod(self) -> Pod:
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


class Group(Struct, dict=True):
    """Kinds of pods asked about together.

    Edits are made in a cluster with all waiting pods, as they would be in practice; changes of the pods themselves
    apply to these alone.
    """

    worlds: EditedWorlds
    kinds: Sequence[Kind]
    revise: RevisePod
    _freed: dict[tuple[tuple[str, ...], tuple[Edit, ...]], frozenset[PodKey]] = field(default_factory=dict)
    _spent: float = 0

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    @cached_property
    def keys(self) -> frozenset[PodKey]:
        return frozenset(key_of(waiting.pod) for kind in self.kinds for waiting in kind.waiting)

    def ask(self, change: Change) -> Answer | None:
        edited = self.worlds.after(change.edits)
        if edited is None:
            return None
        self._spent += _PER_QUESTION
        if not change.edits or change.settings:
            placed = self._placed(edited.world, change.settings)
            if placed is None:
                return None
            edited = edited.then(placed)
        freed = self._freed[change.settings, change.edits] = self.keys - edited.world.queue.waiting.keys()
        if not freed:
            return Answer(0, len(self))
        harm = self.worlds.harm(edited, self._is_own)
        return Answer(len(freed), len(self), self.worlds.consequences(edited), harm)

    def freed(self, change: Change) -> frozenset[PodKey]:
        """The pods that have a node after a change that was tried."""
        return self._freed[change.settings, change.edits]

    def ask_alone(self, change: Change) -> Answer | None:
        """Never: only what frees them among all the others counts."""
        return None

    @property
    def effort(self) -> float:
        return self.worlds.effort + self._spent

    def _is_own(self, pod: Pod) -> bool:
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
        cluster = world.cluster
        self._spent += _PER_POD * len(self) + _PER_POD_THERE * len(cluster.running)
        self._spent += _PER_KIND_AND_NODE * len(self.kinds) * len(cluster)
        world.settle()
        world.queue.waiting.update(others)
        return world

    def _set(self, world: World, settings: Sequence[str]) -> bool:
        """Apply settings to the waiting pods; False if none accepts them. The others stay as they are."""
        any_taken = False
        for kind in self.kinds:
            template = self.revise(kind.pod, settings)
            if template is None:
                continue
            any_taken = True
            for key in map(_key, kind.waiting):
                if (waiting := world.queue.waiting.get(key)) is not None:
                    pod = Pod(metadata=waiting.pod.metadata, spec=template.spec, status=waiting.pod.status)
                    world.book.replace(waiting.pod, pod)
                    world.queue.add(pod, template)
        return any_taken


def _key(waiting: Waiting) -> PodKey:
    return key_of(waiting.pod)


def least_change(stuck: Stuck, trials: Trials) -> Found | None:
    """The search for one pod, extended to a group: the cheapest change that frees all of it, else the cheapest of those
    that free most of it.
    """
    alone = search_least(stuck, FAMILIES, trials, _OF_A_FAMILY)
    if alone is not None:
        return alone
    together = combined(stuck, FAMILIES, trials, enough=1).found
    return together[0] if together else trials.best_of_those_that_help(stuck.fitting)
