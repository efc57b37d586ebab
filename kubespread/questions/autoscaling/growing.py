"""A cluster that gets nodes one by one in a simulation: nothing of it happens in the world.

Pods that wait for a node, grouped as autoscalers do: identical ones together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
import numpy as np
from msgspec import Struct, field

from kubespread.controllers.daemonset import pinned_to, should_run
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import WorkloadName
from kubespread.questions.autoscaling.templates import Machine, ZoneGroup
from kubespread.reports.autoscaling import GroupNodes, ScalingLoop
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Mask, allocatable, requested
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Choice
from kubespread.scheduler.plugin import SUCCESS, Code, SchedulingError, Status
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.controllers import follow
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Applicant, LivingCluster, Waiting


class Alike(Struct, frozen=True):
    """Pods of one controller with the same labels and spec: what is true of one is true of all."""

    plugins: Framework
    waiting: list[Waiting] = field(default_factory=list)

    @property
    def pod(self) -> Pod:
        """One for all of them."""
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


def pod_groups(world: World) -> list[Alike]:
    """Pods that an autoscaler provisions for, in the order they came: kube-scheduler found no node for them. A pod of a
    DaemonSet is for a node that exists.

    Source: karpenter v1.14: pkg/utils/pod/scheduling.go, IsProvisionable
    Source: cluster-autoscaler 1.36.1: cluster-autoscaler/core/podlistprocessor/filter_out_daemon_sets.go, Process
    """
    groups: dict[tuple[WorkloadName | PodKey, bytes], Alike] = {}
    specs: dict[int, bytes] = {}
    for waiting in world.waiting:
        scheduled = world.surroundings.scheduler_of(waiting.pod)
        if waiting.pod.spec.scheduling_gates or scheduled is None or is_daemons(world, waiting.pod):
            continue
        template = id(waiting.template)
        if template not in specs:
            specs[template] = msgspec.json.encode((waiting.pod.metadata.labels, waiting.pod.spec))
        key = world.book.owner_of(waiting.pod) or key_of(waiting.pod), specs[template]
        groups.setdefault(key, Alike(scheduled[1])).waiting.append(waiting)
    return list(groups.values())


def largest_first(groups: Iterable[Alike], node: Node) -> list[Alike]:
    """Sort by the share of ``node`` that a pod takes, cpu and memory together."""
    offered = allocatable(node)

    def share(group: Alike) -> float:
        requests, _ = requested(group.pod)
        return sum(requests.get(name, 0) / offered[name] for name in ("cpu", "memory") if offered.get(name))

    return sorted(groups, key=share, reverse=True)


class GrowingCluster:
    """Nodes arrive with their DaemonSets' pods; only filters decide what fits, as in autoscalers."""

    def __init__(self, cluster: Cluster, daemons: Sequence[Pod]) -> None:
        """``daemons`` are the pods of all DaemonSets, not pinned to any node."""
        self._daemons = daemons
        self._living = LivingCluster(cluster)
        self._applicants: dict[tuple[int, int], tuple[Pod, Framework, Applicant]] = {}
        """Applicants by the identities of what they are made of."""

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self._living.nodes)

    @property
    def cluster(self) -> Cluster:
        return self._living.cluster

    def add(self, node: Node) -> int:
        """Position of the added node; the others keep theirs."""
        cluster = self._living.cluster.after(ClusterChange(added=[node]))
        position = len(cluster) - 1
        daemons = [pinned_to(pod, node.metadata.name) for pod in self._daemons if should_run(pod, node)]
        if daemons:
            cluster = cluster.after(ClusterChange(come=[(pod, position) for pod in daemons]))
        self._living = LivingCluster(cluster)
        self._applicants.clear()
        return position

    def fitting(self, pod: Pod, plugins: Framework) -> Mask:
        """The nodes that all filters let pass."""
        try:
            return self._applicant(pod, plugins).placing().feasible()
        except SchedulingError:
            return np.zeros(len(self), dtype=np.bool_)

    def verdict(self, pod: Pod, plugins: Framework, node: int) -> Status:
        """Status by the first filter that rejects the node."""
        try:
            return self._applicant(pod, plugins).placing().evaluation().verdict(node)
        except SchedulingError as error:
            return Status(Code.ERROR, (str(error),))

    def place(self, pod: Pod, plugins: Framework, node: int) -> None:
        """A copy of the pod runs on a node that `fitting` named."""
        applicant = self._applicant(pod, plugins)
        applicant.placing()
        applicant.take(Choice(node, 0, 1))

    def _applicant(self, pod: Pod, plugins: Framework) -> Applicant:
        key = id(pod), id(plugins)
        if key not in self._applicants:
            self._applicants[key] = pod, plugins, Applicant(self._living, pod, plugins)
        return self._applicants[key][-1]


def verdicts_on(
    cluster: Cluster, daemons: Sequence[Pod], nodes: Sequence[Node], groups: Sequence[Alike]
) -> list[Status]:
    """The verdicts on a pod of each of ``groups`` on each of ``nodes``, which are in the same domains, if they were
    added with only their DaemonSets' pods: all of the first group first.
    """
    growing = GrowingCluster(cluster, daemons)
    positions = [growing.add(node) for node in nodes]
    return [growing.verdict(group.pod, group.plugins, position) for group in groups for position in positions]


def helps(cluster: Cluster, daemons: Sequence[Pod], node: Node, groups: Sequence[Alike]) -> list[Alike]:
    """The ``groups`` whose pods pass all filters on ``node``, if it were added."""
    verdicts = verdicts_on(cluster, daemons, [node], groups)
    return [group for group, verdict in zip(groups, verdicts, strict=True) if verdict == SUCCESS]


Additions = Sequence[tuple[ZoneGroup, Sequence[Machine]]]
"""Machines to add to each group."""


class Decision(Struct, frozen=True):
    """Decision of an autoscaler on pending pods."""

    additions: Additions
    expected: int
    """Number of the pods it finds room for there."""
    why: str | None
    tied: tuple[str, ...] = ()
    """Groups that might have been taken as well."""


def grown_by(world: World, decide: Callable[[Sequence[Alike]], Decision | None]) -> Iterator[ScalingLoop]:
    """Let the world grow until nothing waits, ``decide`` finds nothing that helps, or new nodes helped no pod."""
    number = 0
    while pending := pod_groups(world):
        decision = decide(pending)
        if decision is None:
            return
        number += 1
        before, mark = sum(map(len, pending)), len(world.happenings.placed)
        added = scale_up(world, decision.additions)
        placed = _placed_since(world, mark)
        yield ScalingLoop(
            number=number,
            added=tuple(added),
            pending=before,
            expected=decision.expected,
            placed=placed,
            left=sum(map(len, pod_groups(world))),
            why=decision.why,
            tied=decision.tied,
        )
        # As many may wait again: a rollout that was held up makes its next pods.
        if not placed:
            return


def scale_up(world: World, additions: Additions) -> list[GroupNodes]:
    """Add the nodes, create the pods of their DaemonSets, and let everyone work until nothing changes."""
    taken = set(world.cluster.nodes.names)
    came: list[GroupNodes] = []
    arrived: list[Node] = []
    for group, machines in additions:
        if not machines:
            continue
        nodes = group.new_nodes(machines, taken)
        names = tuple(node.metadata.name for node in nodes)
        taken.update(names)
        group.added += names
        group.launched += machines
        arrived += nodes
        types = tuple(machine.type for machine in machines if machine.type is not None)
        came.append(GroupNodes(group=group.name, zone=group.zone, nodes=names, types=types))
    change = NodeChange(added=tuple(arrived))
    world.change_nodes(change)
    follow(world, change, {})
    world.settle()
    return came


def _placed_since(world: World, mark: int) -> int:
    """Number of pods placed since there were ``mark`` of them, without those of DaemonSets."""
    return sum(not is_daemons(world, pod) for pod in world.happenings.placed[mark:])


def is_daemons(world: World, pod: Pod) -> bool:
    owner = world.book.owner_of(pod)
    return owner is not None and owner.kind == "DaemonSet"
