"""Replicas that preempt pods of lower priority, as kube-scheduler does for those that fit nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.scheduler.building import post_filters
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.preemption import Preemption, has_lower, preempt
from kubespread.scheduler.profile.profile import Profile
from kubespread.world.store.living_cluster import LivingCluster
from kubespread.world.store.pod_book import PodKey, key_of

if TYPE_CHECKING:
    from kubespread.world.events.world import World


class Preempted(Struct, frozen=True):
    """A preempted pod."""

    pod: Pod
    node: int
    """Where it ran, by position."""
    broken_budgets: tuple[str, ...]
    """The names of the disruption budgets that did not allow it."""


class Preemptions:
    """Preemption in one living cluster, whose disruption budgets are kept current."""

    def __init__(self, living: LivingCluster, make_world: Callable[[], World]) -> None:
        """``make_world`` makes the world of the cluster on demand: only a world knows budgets."""
        self._living, self._make_world = living, make_world
        self._world: World | None = None
        self.preemption: Preemption | None = None
        """The last preemption that helped."""
        self.on_lost: Mapping[PodKey, Callable[[int], None]] = {}
        """Callbacks by pod, called with the node where it was preempted."""

    def make_room(
        self, pod: Pod, evaluate: Callable[[], Evaluation], profile: Profile
    ) -> tuple[int, list[Preempted]] | None:
        """Preempt what kube-scheduler would for ``pod``, which fits nowhere as ``evaluate`` shows: the node, by
        position, that is free for it now, and the pods that ran there; None where that does not help.
        """
        if not has_lower(self._living.cluster, pod):
            return None
        evaluation = evaluate()
        world = self._world = self._world or self._make_world()
        budgets = world.budgets
        preemption = preempt(evaluation, post_filters(profile), budgets=budgets.current(world.time))
        candidate = preemption.candidate
        if candidate is None:
            return None
        self.preemption = preemption
        node = self._living.nodes.index[candidate.node]
        self._living.change(gone=[(pod, node) for pod in candidate.victims])
        for pod in candidate.victims:
            budgets.removed(pod)
            if (on_lost := self.on_lost.get(key_of(pod))) is not None:
                on_lost(node)
        victims = zip(candidate.victims, candidate.broken, strict=True)
        return node, [Preempted(pod, node, broken) for pod, broken in victims]
