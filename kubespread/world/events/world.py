"""A cluster in which things happen: nodes change, pods go, controllers make new ones, kube-scheduler places them.

Everything happens in one order: nodes first, then the pods that go, then controllers by namespace, kind and name, then
the scheduler's queue, whose pods become ready at once; and again until nothing changes. Timers and rate limits are
named in reports, not waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kubespread.kube.owners import WorkloadName
from kubespread.world.events import daemon_sets as daemons
from kubespread.world.events import deployments, jobs, replicas, stateful_sets
from kubespread.world.events.scheduling import schedule
from kubespread.world.store.owners import in_order
from kubespread.world.store.store import ABOVE, BELOW, Store


class Reconcile(Protocol):
    """One pass over one object; whether it did anything."""

    def __call__(self, world: Store, name: WorkloadName, /) -> bool: ...


CONTROLLERS: Mapping[str, Reconcile] = {
    "ReplicaSet": replicas.reconcile,
    "ReplicationController": replicas.reconcile,
    "Deployment": deployments.reconcile,
    "StatefulSet": stateful_sets.reconcile,
    "Job": jobs.reconcile,
    "DaemonSet": daemons.reconcile,
}
"""By kind."""
assert CONTROLLERS.keys() == ABOVE | BELOW, "who makes pods has a controller"


class World(Store):
    """One cluster through time, in which controllers and kube-scheduler are at work."""

    def settle(self) -> None:
        """Let controllers and the scheduler work until nothing changes any more.

        A Deployment is reconciled again once its ReplicaSets have carried out its last change.
        """
        # A Deployment that writes nothing may still have looked at ReplicaSets that have another number of pods.
        while self.reconcile(BELOW) or schedule(self) or self.reconcile(ABOVE) or self.dirty:
            pass

    def reconcile(self, kinds: frozenset[str]) -> bool:
        """One pass over the dirty objects of these kinds, else over those that may try again; whether any acted."""
        kind_of = self.controlled_as
        dirty = sorted((name for name in self.dirty if kind_of(name) in kinds), key=in_order)
        return self._pass(dirty) or self._pass(self.api_server.who_may_retry(kinds, kind_of))

    def _pass(self, names: Sequence[WorkloadName]) -> bool:
        for name in names:
            self.dirty.pop(name, None)
        # What it makes of no pods, and of refused ones, differs too.
        self.book.changed.update(names)
        changed = [CONTROLLERS[self.controlled_as(name)](self, name) for name in names]
        return any(changed)
