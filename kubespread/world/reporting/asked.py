"""Which workloads of a world a question is about."""

from __future__ import annotations

from collections.abc import Callable

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import workload_of

GO_WITH_THEIR_NODES = frozenset({"DaemonSet", "Node"})
"""Controllers of which every node has its own pods: where these are is no question."""


class AskedWorkloads:
    """Those that a question chooses, without the ones whose pods go with their nodes."""

    def __init__(self, world: World, is_asked: Callable[[WorkloadName], bool]) -> None:
        self._world, self._is_asked = world, is_asked
        self._known: dict[WorkloadName, WorkloadName | None] = {}

    def of(self, pod: Pod) -> WorkloadName | None:
        """What the pod counts for, the pod itself where nothing controls it; None where it does not count."""
        owner = self._world.book.owner_of(pod)
        if owner is None:
            return self._counting(workload_of(self._world, pod))
        # Asked once a controller: clusters have many more pods.
        if owner not in self._known:
            self._known[owner] = self._counting(self._world.workloads.above(owner, [pod]))
        return self._known[owner]

    def _counting(self, workload: WorkloadName) -> WorkloadName | None:
        return workload if workload.kind not in GO_WITH_THEIR_NODES and self._is_asked(workload) else None
