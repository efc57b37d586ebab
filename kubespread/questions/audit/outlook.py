"""What happens to waiting pods and to rollouts under way if nobody intervenes: played once, for all workloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import is_active, is_ready
from kubespread.questions.audit.report import RolloutState, RolloutUnderWay
from kubespread.questions.audit.revisions import Group, Revisions, RevisionsOf
from kubespread.reports.parts import PreemptedPod
from kubespread.world.events.world import Unmade, World, unmade
from kubespread.world.reporting.happenings import preempted_pods
from kubespread.world.store.pod_book import key_of
from kubespread.world.store.waiting import Waiting

_MAKING = ("ReplicaSet", "ReplicationController", "StatefulSet")


class Outlook:
    """A world played on by its controllers and kube-scheduler. Pods that are not ready now never become ready."""

    def __init__(self, world: World, revisions_of: RevisionsOf) -> None:
        """``world`` is not changed."""
        self._world, self._revisions_of = world, revisions_of

    @cached_property
    def settled(self) -> World | None:
        """The world in the end; None where a controller cannot go on."""
        world = self._world.fork()
        workloads = world.workloads
        try:
            for name, rollout in self._revisions_of.changing():
                world.rollouts[name] = rollout
                world.dirty[name] = None
            for name in (*world.book.owners, *workloads.replica_sets, *workloads.stateful_sets):
                if name.kind in _MAKING:
                    world.dirty[name] = None
            world.settle()
        except KubespreadError:
            return None
        return world

    @property
    def made_room(self) -> tuple[PreemptedPod, ...]:
        """The pods preempted by waiting pods; empty unless the outcome was needed."""
        was_asked = "settled" in self.__dict__
        return tuple(preempted_pods(self.settled.happenings)) if was_asked and self.settled is not None else ()

    def pods(self, group: Group) -> list[Pod]:
        """The active pods of a workload in the end; none where that cannot be told."""
        world = self.settled
        if world is None:
            return []
        if group.name.kind == "Pod":
            pods = [world.book[key] for pod in group.pods if (key := key_of(pod)) in world.book]
        else:
            pods = [pod for owner in world.owners_below(group.name) for pod in world.book.of(owner)]
        return [pod for pod in pods if is_active(pod)]

    def placeable(self, pods: Iterable[Pod]) -> int | None:
        """How many of the waiting ``pods`` find a node; None where it cannot be told."""
        world = self.settled
        if world is None:
            return None
        return sum(key in world.book and bool(world.book[key].spec.node_name) for key in map(key_of, pods))

    def first_message(self, pods: Iterable[Pod]) -> str:
        """Why the first of ``pods`` that still waits in the end has no node; empty where none does."""
        return next(map(self._message, self._waiting(pods)), "")

    def unmade(self, group: Group) -> list[Unmade]:
        """Pods of a workload that are not made in the end, and why."""
        world = self.settled
        if world is None:
            return []
        makers = {*self._revisions_of.makers(group.name), *world.owners_below(group.name)}
        return list(unmade(world, makers))

    def _waiting(self, pods: Iterable[Pod]) -> list[Waiting]:
        """Those of ``pods`` that still wait in the end."""
        waiting = self.settled.queue.waiting if self.settled is not None else {}
        return [waiting[key] for pod in pods if (key := key_of(pod)) in waiting]

    def _message(self, waiting: Waiting) -> str:
        return "" if self.settled is None else self.settled.message(waiting)

    def rollout(self, group: Group, revisions: Revisions, replicas: int) -> RolloutUnderWay | None:
        """How far a workload's rollout is, and whether it gets any further; None where none is under way."""
        if not revisions.is_rolling:
            return None
        end = self.pods(group)
        new = [pod for pod in end if not revisions.is_old(pod)]
        waiting = self._waiting(new)
        old = sum(map(revisions.is_old, group.pods))
        refused = (missing.message for missing in self.unmade(group) if missing.is_refused)
        messages = [
            *map(self._message, waiting),
            *refused,
            *_stall_of(self._world.workloads.deployments.get(group.name)),
        ]
        is_done = len(end) == len(new) == replicas and all(map(is_ready, new))
        return RolloutUnderWay(
            old=old,
            new=len(group.pods) - old,
            state=self._state(group, is_stuck=bool(messages), is_done=is_done),
            pending=len(waiting),
            message=messages[0] if messages else None,
        )

    def _state(self, group: Group, *, is_stuck: bool, is_done: bool) -> RolloutState:
        deployment = self._world.workloads.deployments.get(group.name)
        if self.settled is None or (deployment is None and group.name.kind != "StatefulSet"):
            return "unknown"
        if deployment is not None and deployment.spec.paused:
            return "paused"
        if is_stuck:
            return "stuck"
        return "advancing" if is_done else "waiting"


def _stall_of(deployment: Deployment | None) -> Iterator[str]:
    """The Deployment's own condition about a stalled rollout."""
    for condition in deployment.status.conditions if deployment is not None else ():
        if (condition.type, condition.status) == ("Progressing", "False"):
            yield condition.reason
