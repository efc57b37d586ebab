"""Replicas of workloads on a cluster: how each grows, shrinks or is rolled out, and the reports of it. Where replicas
are left pending, an autoscaler adds nodes for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import msgspec
from msgspec import Struct, structs

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.companions import with_companions
from kubespread.candidate.replicas import waiting_pods
from kubespread.candidate.sources import PodGiven, read_once
from kubespread.controllers.adoption import pods_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.text import STDIN
from kubespread.node_groups.groups import asked_autoscaler
from kubespread.questions.scene import Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.demand import Demand, pod_group_gaps
from kubespread.questions.simulate.placing import Posed, Queue
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import Limits, PlacedByEdits, SimulateReport
from kubespread.questions.worlds import world_of
from kubespread.reports.parts import Unfinished
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import NOTHING_LOST
from kubespread.world.store.chance import check_runs
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.pod_book import alike, as_template, copy_of, key_of, on_node, running_since


class Simulated(Struct, frozen=True):
    """One workload, placed as far as possible."""

    demand: Demand
    report: SimulateReport

    @property
    def lacking(self) -> int:
        """Number of replicas that exist without a node; a DaemonSet's pods are for existing nodes."""
        if self.demand.candidate.is_daemon:
            return 0
        if self.demand.change.played is not None:
            return self.demand.change.played.report.pending
        preempted = len(self.demand.present) - self.report.present
        return max(0, (self.demand.growth.count or 0) + preempted - self.report.placed)


def world_with(snapshot: Snapshot, scheduler: Scheduler, simulated: Sequence[Simulated]) -> World:
    """The cluster without its own waiting pods, but with the placed replicas; the others wait, as do the replacements
    of preempted pods unless they find a node.
    """
    placed = [pod for simulation in simulated for pod in _placed_pods(simulation)]
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
        replicas = (replica for replica in simulation.demand.replicas() if key_of(replica.pod) not in world.book)
        template = as_template(simulation.demand.pod)
        for replica in islice(replicas, simulation.lacking):
            world.create_claims(replica.claims)
            template = alike(as_template(replica.pod), template)
            world.create(copy_of(template, replica.pod.metadata.name, world.timestamp), template)
    # Controllers should want the requested replicas, whatever their objects say.
    for simulation in simulated:
        if (owner := world.book.owner_of(simulation.demand.candidate.pod)) is not None:
            world.owner(owner).replicas = len(world.book.of(owner))
    if victims:
        world.settle()
    return world


def with_autoscaling(scene: Scene, posed: Posed, reports: Sequence[SimulateReport]) -> tuple[SimulateReport, ...]:
    """The reports; those with pending replicas get the autoscaler's account.

    All workloads wait together, so each such report has the same account. Raises UsageError.
    """
    resolved, cluster = posed.resolved, posed.cluster
    simulated = list(map(Simulated, posed.demands, reports))
    world = world_with(replace(resolved.snapshot, pods=tuple(cluster.running.pods)), scene.scheduler, simulated)
    grow = scene.grow_in(resolved.snapshot)
    if grow is not None and world.waiting:
        account = grow(world, NOTHING_LOST).with_notes(_notes(simulated))
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


def _placed_pods(simulation: Simulated) -> Iterator[Pod]:
    """The placed pods; those of a rollout are in the cluster already."""
    placements = simulation.report.placements if simulation.demand.change.played is None else ()
    nodes = {placement.pod: placement.node for placement in placements}
    replicas = simulation.demand.replicas()
    while nodes:
        pod = next(replicas).pod
        if (node := nodes.pop(pod.metadata.name, None)) is not None:
            yield on_node(copy_of(pod, pod.metadata.name, ""), node, running_since("", ready=True))


def _notes(simulated: Sequence[Simulated]) -> Iterator[str]:
    if any(simulation.demand.candidate.one_by_one and simulation.lacking for simulation in simulated):
        yield "a StatefulSet makes its pods one by one; to the autoscaler all wait at once here"
    if any(simulation.demand.change.played is not None and simulation.lacking for simulation in simulated):
        yield "a rollout that waits for nodes is not taken up again once they are there"


def answer(question: Simulate, scene: Scene) -> tuple[SimulateReport, ...]:
    """All workloads in question, placed in one queue; raises the first refusal unless ``on_refused`` is given."""
    check_runs(question.runs)
    is_scaled = asked_autoscaler(question) is not None
    required = question.require_placed
    return tuple(
        structs.replace(report, required_placed=report.replicas if required == "all" else required)
        for report in _placed(question, scene, is_scaled=is_scaled)
    )


def _placed(question: Simulate, scene: Scene, *, is_scaled: bool) -> tuple[SimulateReport, ...]:
    # Other processes pose the question too, and standard input can be read only once.
    question = _with_pods(question, (read_once(pod) if pod == STDIN else pod for pod in question.pods))
    queue = Queue.posing(question, scene, scene.budget.on_progress, scene.on_refused)
    posed = queue.posed
    resolved = posed.resolved
    # Progress is that of the first run's replicas.
    of_runs = msgspec.structs.replace(scene, budget=msgspec.structs.replace(scene.budget, on_progress=None))
    reports = queue.reports(
        lambda seeds: of_runs.tasks(queue, seeds, _with_pods(question, map(read_once, question.pods)))
    )
    if question.as_many_as_fit and len(reports) == 1:
        reports = (_limited(reports[0], posed.demands[0].growth.created.copies, question, scene),)
    if is_scaled:
        reports = with_autoscaling(scene, posed, reports)
    return tuple(
        structs.replace(
            report,
            cluster=scene.source,
            gaps=tuple(dict.fromkeys((*resolved.gaps_of(candidate), *pod_group_gaps(resolved), *report.gaps))),
            not_modelled=(*report.not_modelled, *_chance(report, resolved.version)),
            unfinished=_unfinished(report, scene, queue.runs),
            by_edits=_by_edits(candidate, scene.snapshot, resolved.snapshot) if scene.snapshot.edits else None,
        )
        for report, candidate in zip(reports, resolved.candidates, strict=True)
    )


def _by_edits(candidate: Candidate, before: Snapshot, after: Snapshot) -> PlacedByEdits | None:
    """Report what became of the workload's pods that waited ``before`` the edits; None where none did."""
    if candidate.workload is None:
        return None
    waited = pods_of(candidate.workload, candidate.companions, before.objects.of(ReplicaSet), waiting_pods(before))
    if not waited:
        return None
    keys = set(map(key_of, waited))
    nodes = Counter(pod.spec.node_name for pod in after.pods if pod.spec.node_name and key_of(pod) in keys)
    return PlacedByEdits(pending=len(waited), nodes=dict(sorted(nodes.items())))


def _limited(report: SimulateReport, quota: int | None, question: Simulate, scene: Scene) -> SimulateReport:
    """The report of as many as fit, with what binds first, and how many the other limit would allow."""
    nodes = report.placed
    if quota is not None and nodes >= quota:
        alone = msgspec.structs.replace(question, runs=1)
        unlimited = Queue.posing(alone, scene, on_refused=lambda _: None, counts_quotas=False)
        (free,) = unlimited.reports(lambda seeds: map(unlimited, seeds))
        nodes = free.placed
    return structs.replace(report, limits=Limits(nodes=nodes, quota=quota))


def _with_pods(question: Simulate, pods: Iterable[PodGiven]) -> Simulate:
    return msgspec.structs.replace(question, pods=tuple(pods))


def _unfinished(report: SimulateReport, scene: Scene, runs: int) -> Unfinished | None:
    missing = () if report.runs is None else range(report.runs.count + 1, runs + 1)
    return scene.budget.unfinished("run", runs, [f"run {number}" for number in missing])


def _chance(report: SimulateReport, version: KubeVersion) -> Iterator[str]:
    """Up to 1.34 any of the equal nodes may be taken, so a pod's node cannot be foretold. Pods that preempt wait until
    their victims are gone, and meanwhile spreading does not count them.
    """
    has_ties = any(placement.ties > 1 for placement in report.placements)
    if has_ties and report.seed is None and not version.since(35):
        yield f"kube-scheduler {version} takes any of the nodes with equal scores, at random (--seed does, too)"
    if len(report.preempted) > 1:
        yield "pods that come at once may preempt more than these, which come one after another: play a scale step"
