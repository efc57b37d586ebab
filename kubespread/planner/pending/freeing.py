"""The least change that frees pods that wait for the same thing: found and proven by letting them all be placed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest

from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.planner.advise.candidates import BY_LEAST_COST
from kubespread.planner.advise.change import Answer, Change, Ladder
from kubespread.planner.advise.one_pod import consequences
from kubespread.planner.advise.search import Found, smallest
from kubespread.planner.advise.stuck import Stuck
from kubespread.planner.world.editing import apply
from kubespread.planner.world.pod_book import PodKey, key_of
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World

RevisePod = Callable[[Pod, Sequence[str]], Pod | None]
"""A pod of the cluster with fields set as ``--set`` has them, None where it has no such field or the API server refuses
it.
"""
_OF_A_FAMILY = 4
"""How many changes of one family are tried for a group, besides the one that takes several nodes."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Pods that wait and are alike: what is true of one is true of all."""

    waiting: Sequence[Waiting]

    @property
    def pod(self) -> Pod:
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


@dataclass
class Group:
    """Kinds of pods asked about together in a world in which nobody else waits and nobody is preempted."""

    world: World
    kinds: Sequence[Kind]
    revise: RevisePod
    freed: dict[Change, frozenset[PodKey]] = field(default_factory=dict)
    """Per change that was asked about, who has a node then."""

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    def ask(self, change: Change) -> Answer | None:
        world = self.world.fork()
        waiting = [each for kind in self.kinds for each in kind.waiting]
        # Nobody is tried before all is done that is to be done.
        world.queue.waiting = {}
        try:
            for edit in change.edits:
                apply(world, edit, waiting[0].pod.metadata.namespace)
        except KubespreadError:
            return None
        if world.happenings.blocked:
            return None
        world.queue.waiting.update({key_of(each.pod): each for each in waiting})
        if change.settings and not self._set(world, change.settings):
            return None
        world.settle()
        keys = {key_of(each.pod) for each in waiting}
        left = keys & world.queue.waiting.keys()
        self.freed[change] = frozenset(keys - left)
        return Answer(len(keys) - len(left), len(keys), tuple(consequences(world, keys)))

    def _set(self, world: World, settings: Sequence[str]) -> bool:
        """Make the pods that wait others; whether there is any that takes the settings. The rest stay as they are."""
        any_taken = False
        for kind in self.kinds:
            template = self.revise(kind.pod, settings)
            if template is None:
                continue
            any_taken = True
            for each in kind.waiting:
                pod = Pod(metadata=each.pod.metadata, spec=template.spec, status=each.pod.status)
                world.book.replace(each.pod, pod)
                world.queue.add(pod, template)
        return any_taken


def least_change(group: Group, stuck: Stuck) -> Found | None:
    """The change that costs least among those that free the whole group, else among those that free most of it.

    ``stuck`` is the group's first pod asked about by itself. What does not help it is not tried on a larger scale, nor
    are more than a few changes of one family tried.
    """
    search = _Search(group)
    for least_cost, family in BY_LEAST_COST:
        if search.full is not None and search.full.change.cost <= least_cost:
            break
        several = _few(family(replace(stuck, lacking=len(group))))
        is_of_use = False
        # Of one pod and of many the same changes come in the same order; those of several nodes are for many alone.
        for one, many in zip_longest(_few(family(stuck)), several):
            if one is not None:
                is_of_use |= search.helps_the_first(one)
            if is_of_use and not search.frees_all(one) and many is not None:
                search.try_sizes(many)
    return search.full or search.most_freed()


def _few(ladders: Iterator[Ladder]) -> Iterator[Ladder]:
    """The first of a family, and those of several sizes behind them."""
    yield from islice(ladders, _OF_A_FAMILY)
    yield from (ladder for ladder in ladders if ladder.sizes > 1)


class _Search:
    """What was found for a group so far."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._first = Group(group.world, [Kind(group.kinds[0].waiting[:1])], group.revise)
        self.full: Found | None = None
        """The least change that frees all."""
        self._partial: list[Found] = []
        """Changes that free some."""

    def helps_the_first(self, one: Ladder) -> bool:
        """Whether the least of a change lets the first pod find a node."""
        if not (one.can_help and one.sizes):
            return False
        answer = self._first.ask(one.at(0))
        return answer is not None and answer.suffices

    def frees_all(self, one: Ladder | None) -> bool:
        """Whether a change does for all as it does for one; of requests each pod may take a hole of its own."""
        if one is None or not one.sizes:
            return False
        answer = self._group.ask(one.at(0))
        if answer is None or not answer.count:
            return False
        if answer.suffices:
            self._keep(Found(one.at(0), answer))
            return True
        self._partial.append(Found(one.at(0), answer))
        found = smallest(one, self._group) if one.sizes > 1 else None
        if found is not None:
            self._keep(found)
        return found is not None

    def try_sizes(self, many: Ladder) -> None:
        """The sizes that it may take for many pods."""
        if not many.sizes or (self.full is not None and many.at(0).cost >= self.full.change.cost):
            return
        answer = self._group.ask(many.most)
        if answer is None or not answer.count:
            return
        if not answer.suffices:
            self._partial.append(Found(many.most, answer))
        elif (found := smallest(many, self._group)) is not None:
            self._keep(found)

    def _keep(self, found: Found) -> None:
        if self.full is None or found.change.cost < self.full.change.cost:
            self.full = found

    def most_freed(self) -> Found | None:
        """What frees most of them, and costs least of that, where nothing frees all."""
        ranked = sorted(self._partial, key=lambda each: (-each.answer.count, each.change.cost))
        return next(iter(ranked), None)
