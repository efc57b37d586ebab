"""A simulation that left replicas pending goes on: an autoscaler adds nodes for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.companions import with_companions
from kubespread.candidate.growth import Growth
from kubespread.candidate.replicas import replica_names
from kubespread.deciding import Scheduler
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.node_groups.choosing import groups_of_cluster
from kubespread.node_groups.reading import read_node_groups
from kubespread.node_groups.types import Autoscaler, NodeGroup
from kubespread.planner.autoscaling.autoscale import autoscale
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.planner.world import pods as states
from kubespread.planner.world.world import World
from kubespread.resolving import Resolved
from kubespread.worlds import world_of

GroupsGiven = str | Sequence[NodeGroup] | None
"""A file, or groups at hand; None for those that the cluster's own objects tell of."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """One workload that was placed, as far as it could be."""

    candidate: Candidate
    growth: Growth
    report: SimulateReport


def with_autoscaling(
    asked: Resolved, scheduler: Scheduler, simulated: Sequence[Simulated], kind: Autoscaler, given: GroupsGiven
) -> tuple[SimulateReport, ...]:
    """The reports, those with pending replicas with what the autoscaler would do about them.

    All workloads wait together, so each such report has the same account. Raises UsageError and ManifestError.
    """
    if any(each.report.replicas is None for each in simulated):
        raise UsageError("an autoscaler is for a number of replicas: as many as fit leaves none pending")
    groups = _groups(asked, kind, given)
    world = _world(asked, scheduler, simulated)
    if not world.waiting:
        return tuple(each.report for each in simulated)
    report = autoscale(world, groups, kind).with_notes(_notes(asked, simulated))
    return tuple(each.report if not _lacking(each) else each.report.with_autoscaling(report) for each in simulated)


def _groups(asked: Resolved, kind: Autoscaler, given: GroupsGiven) -> Sequence[NodeGroup]:
    if given is None:
        return groups_of_cluster(asked.snapshot.objects, kind)
    return read_node_groups(given) if isinstance(given, str) else given


def _lacking(each: Simulated) -> int:
    """How many replicas came into being and found no node; a DaemonSet's pods are for nodes that are there."""
    count = each.growth.count
    return 0 if count is None or each.candidate.is_daemon else max(0, count - each.report.placed)


def _world(asked: Resolved, scheduler: Scheduler, simulated: Sequence[Simulated]) -> World:
    """The cluster with all replicas that were placed, those that were not waiting; nobody else waits."""
    gone = {id(pod) for each in simulated for pod in (*each.growth.taken_away, *each.growth.deleted)}
    running = [pod for pod in asked.cluster.running.pods if id(pod) not in gone]
    placed = [pod for each in simulated for pod in _placed(each)]
    companions = [companion for each in simulated for companion in each.candidate.companions]
    snapshot = replace(
        asked.snapshot,
        pods=(*running, *placed),
        objects=with_companions(asked.snapshot.objects, companions),
    )
    world = world_of(snapshot, scheduler, preempts=False)
    for each in simulated:
        template = states.as_template(each.candidate.pod)
        names = islice(replica_names(each.candidate.pod, each.growth.present), each.report.placed, None)
        for name in islice(names, _lacking(each)):
            world.create(states.copy_of(template, name, world.timestamp), template)
    _agree_on_numbers(world, [each.candidate.pod for each in simulated])
    return world


def _placed(each: Simulated) -> Iterator[Pod]:
    template = each.candidate.pod
    for placement in each.report.placements:
        pod = states.copy_of(template, placement.pod, "")
        yield states.on_node(pod, placement.node, states.running_since("", ready=True))


def _agree_on_numbers(world: World, pods: Sequence[Pod]) -> None:
    """Let controllers want the pods there are: they were asked for here, whatever the workload's object says."""
    owners: set[WorkloadName] = {owner for pod in pods if (owner := world.book.owner_of(pod)) is not None}
    for owner in owners:
        world.owner(owner).replicas = len(world.book.of(owner))


def _notes(asked: Resolved, simulated: Sequence[Simulated]) -> Iterator[str]:
    if any(each.candidate.one_by_one and _lacking(each) for each in simulated):
        yield "a StatefulSet makes its pods one by one; to the autoscaler all wait at once here"
    waiting = sum(not pod.spec.node_name for pod in asked.snapshot.pods)
    if waiting:
        yield f"pods that wait in the cluster already are left out ({waiting})"
