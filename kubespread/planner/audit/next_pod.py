"""A workload's next pod: whether it finds a node, and which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubespread.controllers.statefulset import ordinal_of
from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.planner.audit.groups import Group
from kubespread.planner.living import Applicant
from kubespread.planner.world.editing import apply
from kubespread.planner.world.world import World
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import SchedulingError
from kubespread.snapshot.edits.types import Scale


@dataclass(frozen=True, slots=True)
class NextPod:
    fits: bool | None
    """None where nobody can say."""
    message: str = ""
    """kube-scheduler's where it does not fit."""
    choose: Callable[[], int | None] = lambda: None
    """Its node; None where it has none."""


UNKNOWN = NextPod(None)


def with_own_claims(world: World, group: Group, plugins: Framework) -> NextPod:
    """Of a StatefulSet whose pods have claims of their own: the first that waits, as nobody comes before it."""
    if not group.waiting:
        return _grown(world, group)
    first = min(group.waiting, key=lambda pod: ordinal_of(pod, group.name.name) or 0)
    try:
        return of_placing(Applicant(world.living, first, plugins).placing())
    except SchedulingError as error:
        return NextPod(False, str(error))


def of_placing(placing: Placing) -> NextPod:
    """The pod that is being placed."""
    if not placing.feasible().any():
        return NextPod(False, placing.evaluation().message or "")
    return NextPod(True, choose=lambda: _chosen(placing))


def _chosen(placing: Placing) -> int | None:
    try:
        choice = placing.choose(first_in_heap)
    except SchedulingError:
        return None
    return None if choice is None else choice.node


def _grown(now: World, group: Group) -> NextPod:
    """It is scaled up by one, while no pods of others wait that could take the room."""
    world, name = now.fork(), group.name
    world.queue.waiting.clear()
    try:
        apply(world, Scale(name.kind, name.name, group.replicas(world) + 1, name.namespace), "")
    except KubespreadError as error:
        return NextPod(None, str(error))
    waiting = [each for each in world.waiting if world.book.owner_of(each.pod) in group.owners]
    if waiting:
        return NextPod(False, world.message(waiting[0]))
    came: list[Pod] = [pod for pod in world.happenings.placed if world.book.owner_of(pod) in group.owners]
    return NextPod(True, choose=lambda: world.living.nodes.index[came[-1].spec.node_name] if came else None)
