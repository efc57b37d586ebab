"""Continues a simulation that left replicas pending: an autoscaler adds nodes for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from msgspec import Struct, structs

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.companions import with_companions
from kubespread.candidate.replicas import replica_names
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.node_groups.cluster import groups_of_cluster
from kubespread.node_groups.file import read_node_groups
from kubespread.node_groups.groups import Autoscaler, InstanceType, NodeGroup, NodeGroups
from kubespread.questions.autoscaling.autoscale import autoscale
from kubespread.questions.costs import price_gaps, total_cost
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.demand import Demand
from kubespread.questions.simulate.placing import Posed
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import SimulateReport
from kubespread.questions.worlds import world_of
from kubespread.scenario.instance_types import InstanceTypesGiven, read_instance_types
from kubespread.scenario.prices import read_prices
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.pod_book import as_template, copy_of, on_node, running_since

GroupsGiven = str | NodeGroups | Sequence[NodeGroup] | None
"""A file, or the groups themselves; None for those that the cluster's own objects define."""


class Simulated(Struct, frozen=True):
    """One workload, placed as far as possible."""

    demand: Demand
    report: SimulateReport

    @property
    def lacking(self) -> int:
        """How many replicas exist without a node; a DaemonSet's pods are for existing nodes."""
        if self.demand.candidate.is_daemon:
            return 0
        if self.demand.change.played is not None:
            return self.demand.change.played.report.pending
        preempted = len(self.demand.present) - self.report.present
        return max(0, (self.demand.growth.count or 0) + preempted - self.report.placed)


def groups_of(snapshot: Snapshot, kind: Autoscaler, chosen: GroupsGiven) -> NodeGroups:
    """The groups that may grow. Raises UsageError where nothing tells of any, and ManifestError for a file's faults."""
    if chosen is None:
        return NodeGroups(groups_of_cluster(snapshot.objects, kind))
    if isinstance(chosen, NodeGroups):
        return chosen
    return read_node_groups(chosen) if isinstance(chosen, str) else NodeGroups(tuple(chosen))


def types_of(kind: Autoscaler, chosen: InstanceTypesGiven | None) -> Sequence[InstanceType]:
    """What Karpenter may launch; nothing where nobody says. Raises UsageError, and ManifestError for what is wrong."""
    if chosen is not None and kind is not Autoscaler.KARPENTER:
        raise UsageError(f"instance types are what karpenter chooses among: to {kind} a node group is of one kind")
    return () if chosen is None else read_instance_types(chosen)


def world_with(snapshot: Snapshot, scheduler: Scheduler, simulated: Sequence[Simulated]) -> World:
    """The cluster without its own waiting pods, but with the placed replicas; the others wait, as do the replacements
    of preempted pods unless they find a node.
    """
    placed = [pod for simulation in simulated for pod in _placed(simulation)]
    companions = [
        _owned(companion, simulation.demand.candidate)
        for simulation in simulated
        for companion in simulation.demand.candidate.companions
    ]
    objects = with_companions(snapshot.objects, companions)
    world = world_of(replace(snapshot, pods=(*snapshot.pods, *placed), objects=objects), scheduler, preempts=False)
    preempted = (gone.pod for simulation in simulated for gone in simulation.report.preempted)
    victims = [key for pod in preempted if (key := (pod.namespace, pod.name)) in world.book]
    world.remove([world.book[key] for key in victims], PREEMPTED)
    for simulation in simulated:
        pod = simulation.demand.candidate.pod
        template = as_template(pod)
        names = (name for name in replica_names(pod, ()) if (template.metadata.namespace, name) not in world.book)
        for name in islice(names, simulation.lacking):
            world.create(copy_of(template, name, world.timestamp), template)
    # Controllers should want the requested replicas, whatever their objects say.
    for simulation in simulated:
        if (owner := world.book.owner_of(simulation.demand.candidate.pod)) is not None:
            world.owner(owner).replicas = len(world.book.of(owner))
    if victims:
        world.settle()
    return world


def with_autoscaling(
    question: Simulate, posed: Posed, reports: Sequence[SimulateReport], scheduler: Scheduler, kind: Autoscaler
) -> tuple[SimulateReport, ...]:
    """The reports; those with pending replicas get the autoscaler's account.

    All workloads wait together, so each such report has the same account. Raises UsageError.
    """
    resolved, cluster = posed.resolved, posed.cluster
    simulated = list(map(Simulated, posed.demands, reports))
    world = world_with(replace(resolved.snapshot, pods=tuple(cluster.running.pods)), scheduler, simulated)
    groups = groups_of(resolved.snapshot, kind, question.node_groups)
    prices = None if question.prices is None else read_prices(question.prices)
    types = types_of(kind, question.instance_types)
    if any(report.replicas is None for report in reports):
        raise UsageError("an autoscaler is for a number of replicas: as many as fit leaves none pending")
    if world.waiting:
        account = autoscale(world, groups.groups, kind, types=types, expanders=groups.expanders, prices=prices)
        account = account.with_notes(_notes(simulated))
        if prices is not None and account.added:
            names = [name for loop in account.loops for group in loop.added for name in group.nodes]
            nodes = [world.living.nodes.objects[world.living.nodes.index[name]] for name in names]
            account = structs.replace(account, cost=total_cost(nodes, prices))
            world.assume(price_gaps(nodes, prices))
        reports = [
            structs.replace(simulation.report, autoscaling=account)
            if simulation.lacking or simulation.report.preempted
            else simulation.report
            for simulation in simulated
        ]
    cluster.assume(world.assumed)
    return tuple(reports)


def _owned(companion: ApiObject, candidate: Candidate) -> ApiObject:
    """The ReplicaSet that a Deployment would make, with its owner reference."""
    workload = candidate.workload
    if workload is None or workload.kind != "Deployment" or not isinstance(companion, ReplicaSet):
        return companion
    reference = OwnerReference(api_version="apps/v1", kind=workload.kind, name=workload.name, controller=True)
    return structs.replace(companion, metadata=structs.replace(companion.metadata, owner_references=[reference]))


def _placed(simulation: Simulated) -> Iterator[Pod]:
    """The placed pods; those of a rollout are in the cluster already."""
    for placement in simulation.report.placements if simulation.demand.change.played is None else ():
        pod = copy_of(simulation.demand.candidate.pod, placement.pod, "")
        yield on_node(pod, placement.node, running_since("", ready=True))


def _notes(simulated: Sequence[Simulated]) -> Iterator[str]:
    if any(simulation.demand.candidate.one_by_one and simulation.lacking for simulation in simulated):
        yield "a StatefulSet makes its pods one by one; to the autoscaler all wait at once here"
    if any(simulation.demand.change.played is not None and simulation.lacking for simulation in simulated):
        yield "a rollout that waits for nodes is not taken up again once they are there"
