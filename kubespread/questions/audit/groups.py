"""The workloads of a world with their pods, and pods without a controller that look like one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from msgspec import Struct, field

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_ready, is_terminating
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import AskedWorkloads, desired_replicas


class Group(Struct):
    """A workload, or pods by themselves that share their labels."""

    name: WorkloadName
    pods: list[Pod] = field(default_factory=list)
    """Those that have neither ended nor are terminating."""
    terminating: list[Pod] = field(default_factory=list)
    owners: dict[WorkloadName, None] = field(default_factory=dict)
    """Whose the pods are directly."""

    @property
    def waiting(self) -> Sequence[Pod]:
        return [pod for pod in self.pods if not pod.spec.node_name]

    @property
    def ready(self) -> int:
        return sum(map(is_ready, self.pods))

    def replicas(self, world: World) -> int:
        """Desired pods; of pods without a controller as many as there are."""
        return len(self.pods) if self.name.kind == "Pod" else desired_replicas(world, self.name)


def groups(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[Group]:
    """Workloads that have pods or should have some, without DaemonSets and static pods, of which every node has its
    own.
    """
    by_key: dict[Hashable, Group] = {}
    workloads = AskedWorkloads(world, is_asked)
    for pod in world.book:
        name = workloads.of(pod) if pod.status.phase not in ENDED_PHASES else None
        if name is None:
            continue
        owner = world.book.owner_of(pod)
        key = name if owner is not None or not pod.metadata.labels else _alike(pod)
        group = by_key.setdefault(key, Group(name))
        (group.terminating if is_terminating(pod) else group.pods).append(pod)
        if owner is not None:
            group.owners[owner] = None
    for name in _without_pods(world, is_asked):
        by_key.setdefault(name, Group(name))
    yield from (
        group for group in by_key.values() if group.pods or (group.name.kind != "Pod" and group.replicas(world))
    )


def _without_pods(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[WorkloadName]:
    """Workloads that may have no pods although they should."""
    workloads = world.workloads
    by_themselves = (
        name
        for name in (*workloads.replica_sets, *workloads.replication_controllers)
        if workloads.above(name) == name and workloads.replicas(name)
    )
    yield from filter(is_asked, (*workloads.deployments, *workloads.stateful_sets, *by_themselves))


def _alike(pod: Pod) -> Hashable:
    """What makes pods by themselves one group: the same labels."""
    return pod.metadata.namespace, tuple(sorted(pod.metadata.labels.items()))
