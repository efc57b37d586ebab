"""What a world is given from outside."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from kubespread.controllers.replicaset import Pick, first_by_name
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.placing import Tiebreaker, first_in_heap
from kubespread.world.store.owners import Making
from kubespread.world.store.waiting import SchedulerOf


class Chance(Struct, frozen=True):
    """The picks of one deal."""

    pick: Pick = first_by_name
    """Which of equal pods a controller deletes."""
    tiebreaker: Tiebreaker = first_in_heap
    """Which of equal nodes a pod gets."""
    turns: Callable[[Sequence[str]], Sequence[str]] = tuple
    """The order in which nodes that fail together lose their pods."""


def dealt(seed: int) -> Chance:
    """Picks at random; the same ``seed`` and cluster give the same picks."""
    drawn = random.Random(seed)

    def some_of(equals: Sequence[Pod], count: int) -> Sequence[Pod]:
        return drawn.sample(equals, count)

    return Chance(
        some_of,
        lambda _cluster, _found, equals: int(equals[drawn.randrange(len(equals))]),
        lambda nodes: drawn.sample(nodes, len(nodes)),
    )


class Surroundings(Struct, frozen=True):
    """What a world is given from outside."""

    scheduler_of: SchedulerOf
    making: Making
    time: datetime.datetime
    """When what happens here begins."""
    version: KubeVersion
    """The release whose controllers are at work."""
    preempts: bool = True
    stuck: frozenset[WorkloadName] = frozenset()
    """Workloads, and ReplicaSets of Deployments, whose new pods never become ready."""
    chance: Chance = Chance()
    admission: AdmissionPlugins = AdmissionPlugins(enabled=False)
    """What the API server's admission does to the pods that controllers create."""
    assumed: dict[str, None] = field(default_factory=dict)
    """Shared record of what was assumed where the cluster's source does not say."""
