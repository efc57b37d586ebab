"""Replicas of workloads placed one after another: how each grows, shrinks or is rolled out, where they land, and the
reports of it. Where replicas are left pending, an autoscaler adds nodes for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.applied import with_companions
from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import DesiredReplicas, Growth, growth_gaps, growths, waiting_pods
from kubespread.candidate.sources import Surroundings, read_once
from kubespread.controllers.adoption import pods_of
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.api.cluster_objects import PersistentVolumeClaim
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import NamespacedName, controller_of, full_name
from kubespread.kube.persistent_volumes import driver_of, is_provisioned, storage_class_name
from kubespread.kube.versions import SCORES_SINCE, KubeVersion
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.manifest.text import STDIN
from kubespread.node_groups import autoscaler_of
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.queue import Entry, ScheduleResult, run
from kubespread.questions.resolving import gaps_of, resolve
from kubespread.questions.scene import OnProgress, Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate import (
    DeletedReplica,
    Limits,
    Loss,
    NodeReplicas,
    PlacedByEdits,
    Placement,
    Sampling,
    Simulate,
    SimulateReport,
)
from kubespread.questions.simulate.demand import (
    ControlledChange,
    Demand,
    cluster_after,
    controlled_changes,
    gang_notes,
    gangs_of,
    pod_group_gaps,
)
from kubespread.questions.simulate.gangs import run_with_gangs
from kubespread.questions.worlds import world_of
from kubespread.reports.gang import GangReport
from kubespread.reports.judged_nodes import domain_counts, preemption_report
from kubespread.reports.parts import (
    ConstraintReport,
    DomainChange,
    PodReference,
    PreemptedPod,
    PreemptionReport,
    SkewChange,
    skew_of,
)
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import ABSENT
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.scheduler.evaluation import outranks_any, preempt
from kubespread.scheduler.plugins.volumes.matching import counts_capacity
from kubespread.scheduler.profile.profile import framework, post_filters
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import NOTHING_LOST
from kubespread.world.store.chance import Chance, notes_on_runs, run_count, seeds
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.pod_book import as_template, copy_of, key_of, on_node, reuse_if_alike, running_since

MOST_REPLICAS = 50_000
"""Most replicas to place, as many as take seconds. A cluster has at most 150,000 pods."""


class Demands(Struct, frozen=True):
    """Workloads to place, after controllers have done their work."""

    question: Simulate
    scheduler: Scheduler
    demands: Sequence[Demand]
    cluster: Cluster

    @property
    def surroundings(self) -> Surroundings:
        return self.demands[0].candidate.surroundings

    @property
    def preempts(self) -> bool:
        """True if replicas that fit nowhere preempt others; never with gangs."""
        return self.question.preemption and not any(demand.gang is not None for demand in self.demands)

    def place(self, chance: Chance, on_progress: OnProgress | None = None) -> list[ScheduleResult]:
        """Place all workloads in one queue, as kube-scheduler would; the outcome of each.

        ``on_progress`` is called now and then with the number of replicas placed.
        """
        cluster = self.cluster
        pending = [demand for demand in self.demands if demand.change.played is None]
        # Pods of one framework share the state that its plugins prepare.
        frameworks = {id(demand.profile): framework(demand.profile) for demand in pending}
        gangs = [demand.gang for demand in pending]
        entries = [
            Entry(
                demand.pod,
                frameworks[id(demand.profile)],
                demand.growth.count,
                demand.candidate.is_daemon,
                frozenset(demand.present.values()),
                frozenset(demand.present),
                demand.distinct_replicas,
                existing=len(demand.growth.waiting) if demand.candidate.one_by_one else None,
                # Claims of a single pod are not bound: it is judged in the cluster as it is.
                binds=demand.workload is not None,
                # As many as fit means as many as fit besides the others.
                preempts_as=demand.profile if self.preempts and demand.growth.further is not None else None,
            )
            for demand in pending
        ]
        if any(gangs):
            outcomes = run_with_gangs(cluster, entries, gangs, chance, on_progress)
        else:
            outcomes, _ = run(
                cluster,
                entries,
                chance.tiebreaker,
                search=chance.search(len(cluster)),
                on_progress=on_progress,
                make_world=partial(world_of, self.surroundings.snapshot, self.scheduler, assumed=self.cluster.assumed),
            )
        rest = iter(outcomes)
        # What was played before keeps its position.
        return [next(rest) if demand.change.played is None else demand.change.played.outcome for demand in self.demands]


def pose(
    question: Simulate,
    snapshot: Snapshot,
    scheduler: Scheduler,
    on_refused: Callable[[KubespreadError], None] | None = None,
    *,
    counts_quotas: bool = True,
) -> Demands:
    """Prepare ``question`` for placing. Raises ManifestError, SnapshotError and UsageError."""
    replicas = question.count
    if replicas is not None and not 0 <= replicas <= MOST_REPLICAS:
        raise UsageError(f"replicas must be from 0 to {MOST_REPLICAS}, not {replicas}")
    as_gangs = question.as_gangs
    candidates, before = resolve(
        snapshot,
        question.pods,
        scheduler,
        question.surroundings,
        settings=question.settings,
        preempts=question.preemption,
        on_refused=on_refused,
    )
    snapshot, version = candidates[0].surroundings.snapshot, candidates[0].surroundings.version
    if not version.reaches(SCORES_SINCE):
        reason = f"where replicas land depends on scores, which are modeled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {version}: {reason}")
    if as_gangs is not None and as_gangs.topology_key:
        nodes = snapshot.nodes
        as_gangs = replace(as_gangs, topology_key=full_topology_key(as_gangs.topology_key, nodes))
        check_topology_keys([as_gangs.topology_key], nodes)
    desired = DesiredReplicas(
        as_gangs.size if as_gangs is not None and replicas is None else replicas,
        question.as_many_as_fit,
        question.from_scratch,
        counts_quotas=counts_quotas and scheduler.admission,
    )
    before.assume(growth_gaps(candidates, snapshot))
    grown = growths(candidates, desired, snapshot, before.running.pods)
    names = dict.fromkeys(candidate.pod.spec.scheduler_name for candidate in candidates)
    profile_of = {name: scheduler.profile_for(name, version) for name in names}
    profiles = [profile_of[candidate.pod.spec.scheduler_name] for candidate in candidates]
    changes: Sequence[ControlledChange] = [ControlledChange()] * len(grown)
    cluster = before
    if any(growth.surplus or growth.is_rollout for growth in grown):
        world = world_of(snapshot, scheduler, preempts=question.preemption, assumed=before.assumed)
        # Waiting pods of others are not in question.
        world.queue.waiting.clear()
        world.settings = replace(world.settings, chance=Chance.from_seed(question.seed))
        changes = controlled_changes(world, candidates, profiles, grown)
        cluster = cluster_after(before, world)
    index = before.nodes.index
    leaving = [(pod, index[pod.spec.node_name]) for growth in grown for pod in growth.taken_away]
    cluster = cluster.apply(ClusterChange(removed_pods=leaving))
    gangs = gangs_of(as_gangs, candidates, grown, cluster)
    counting = [candidate.pod for candidate in candidates]
    demands = [
        Demand.build(
            candidate, profile, growth, change, cluster, gang, gang_notes(as_gangs, candidate, version), counting
        )
        for candidate, profile, growth, change, gang in zip(candidates, profiles, grown, changes, gangs, strict=True)
    ]
    return Demands(question, scheduler, demands, cluster)


def report_of(posed: Demands, demand: Demand, shown: ScheduleResult) -> SimulateReport:
    """Report on one workload: ``shown`` is its outcome."""
    cluster, seed, preempts = posed.cluster, posed.question.seed, posed.preempts
    pod, profile, candidate, change = demand.pod, demand.profile, demand.candidate, demand.change
    plugins = framework(profile)
    names, before = cluster.nodes.names, shown.before or ()
    deleted = [(replica, cluster.nodes.index[replica.spec.node_name]) for replica in change.deleted]
    if deleted:
        before = domain_counts(plugins.prepare(cluster.apply(ClusterChange(added_pods=deleted)), pod).states)
    staying = Counter(demand.present.values())
    staying.subtract(shown.vacated_nodes)
    placed, present = [choice.node for choice in shown.choices], list(staying.elements())
    shared = [demand.gang.topology_key] if demand.gang is not None and demand.gang.topology_key else []
    keys = (*shared, *(constraint.topology_key for constraint in shown.after), ZONE, HOSTNAME)
    worst_loss = _worst_losses(cluster, [*placed, *present], keys)
    desired = shown.count if candidate.is_daemon else demand.growth.further
    existing, refused, missing = _creations(demand, shown, desired)
    placements = tuple(
        Placement(replica=position, pod=name, node=names[choice.node], total=choice.total, ties=choice.ties)
        for position, (choice, name) in enumerate(zip(shown.choices, demand.names(shown), strict=False))
    )
    # kube-scheduler looks at every node where nothing says how many are enough.
    enough = plugins.search.enough(shown.listed) if shown.listed else None
    sampled = None if enough is None else Sampling(nodes=shown.listed, enough=enough)
    return SimulateReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        workload=demand.workload,
        replicas=None if desired is None else desired + len(demand.present),
        present=len(present),
        outdated=demand.growth.outdated,
        created=None if desired is None else len(present) + existing,
        not_created=refused,
        not_made_yet=missing - refused,
        placed=len(placed),
        placements=placements,
        preempts=preempts and demand.growth.further is not None,
        preempted=tuple(_preemptions(cluster, demand, shown, placements)),
        stopped=shown.stopped or _refusal(demand.growth, len(placed)),
        conclusion=None if shown.unplaced is None else bars(shown.unplaced),
        gates=tuple(gate.name for gate in pod.spec.scheduling_gates) if shown.choices or shown.stopped else (),
        seed=seed,
        constraints=tuple(shown.after),
        distribution=tuple(_changes(was, now) for was, now in zip(before, shown.after, strict=True)),
        skew=tuple(map(_skew_change, before, shown.after)),
        deleted=tuple(DeletedReplica(pod=replica.metadata.name, node=names[node]) for replica, node in deleted),
        rollout=None if change.played is None else change.played.report,
        worst_loss=worst_loss,
        nodes=tuple(
            _nodes_of_replicas(cluster, placed, present if change.played is None else change.played.old, worst_loss)
        ),
        sampling=sampled,
        gang=shown.gang and _gang_of(demand, shown, shown.gang),
        preemption=_preemption(demand, shown, preempts=preempts),
        not_modelled=(
            *not_modelled(pod, plugins, cluster, profile, is_grouped=demand.gang is not None),
            *(demand.gang.not_modelled if demand.gang is not None else ()),
            *_not_modelled(cluster, demand, shown, is_sampled=sampled is not None and seed is not None),
        ),
        admission=tuple(candidate.admission),
        notes=demand.notes,
    )


def _creations(demand: Demand, outcome: ScheduleResult, desired: int | None) -> tuple[int, int, int]:
    """Count the ``desired`` replicas that are created, that the API server refuses, and that are not created at all."""
    placed, creatable, one_by_one = len(outcome.choices), demand.growth.created.copies, demand.candidate.one_by_one
    if demand.change.played is not None:
        rollout = demand.change.played.report
        return placed + rollout.pending, rollout.not_created, rollout.not_created
    if desired is None:
        return 0, 0, 0
    desired += len(outcome.vacated_nodes)
    if one_by_one and outcome.stuck:
        created = min(desired, max(placed + 1, len(demand.growth.waiting)))
        return created, 0, desired - created
    created = desired if creatable is None else min(desired, creatable + len(outcome.vacated_nodes))
    # Pods after a refused one are not even tried where each waits for the one before.
    return created, min(1, desired - created) if one_by_one else desired - created, desired - created


def _refusal(growth: Growth, placed: int) -> str | None:
    """Admission's message, where it prevents further replicas."""
    most = growth.created.copies
    if most is None or placed < most or (growth.further is not None and growth.further <= most):
        return None
    return growth.created.refusal


def _not_modelled(cluster: Cluster, demand: Demand, outcome: ScheduleResult, *, is_sampled: bool) -> Iterator[str]:
    """Yield notes on behavior of kube-scheduler and controllers that the simulation does not model."""
    growth, stuck = demand.growth, outcome.unplaced
    if outcome.preempted:
        yield "the pods that controllers make for those that are preempted: they are not placed"
        if growth.created.copies is not None and growth.created.copies < (growth.further or 0):
            yield "what quotas allow once pods are preempted: replicas that are refused before stay refused"
    if demand.gang is not None and stuck is not None and outranks_any(stuck.cluster, demand.pod):
        yield "preemption by pods of a group"
    if demand.workload is None:
        yield from _claims_of_pods(cluster, demand.pod)
    else:
        yield from _claims_of_replicas(cluster, demand.pod, has_own=bool(next(demand.replicas()).claims))
    if is_sampled:
        yield (
            "sampling: kube-scheduler's parallel workers look at some nodes more than it needs, so that the next "
            "search begins a little further on"
        )
    if is_sampled and demand.change.played is not None:
        yield "sampling: rollouts are played with all nodes that fit scored"


def _unbound_claims(cluster: Cluster, pod: Pod) -> list[PersistentVolumeClaim]:
    """Claims of the pod that placing it binds."""
    claims = (cluster.storage.claim(pod, name) for name in claim_names(pod))
    return [
        claim
        for claim in claims
        if claim is not None and not claim.spec.volume_name and cluster.storage.is_delayed(claim)
    ]


def _claims_of_pods(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Yield a note if a bare pod has claims that its placement would bind."""
    if _unbound_claims(cluster, pod):
        yield "claims of a pod by itself: none is bound by a placement"


def _claims_of_replicas(cluster: Cluster, pod: Pod, *, has_own: bool) -> Iterator[str]:
    """Yield notes on claims of replicas with a binding that only their drivers know; ``has_own`` if each replica has
    its own claims.
    """
    registered = {driver.name for node in cluster.storage.csi_nodes.values() for driver in node.spec.drivers}
    for name, claim in {storage_class_name(claim): claim for claim in _unbound_claims(cluster, pod)}.items():
        storage_class = cluster.storage.classes[name]
        if is_provisioned(storage_class) and not has_own and driver_of(storage_class) not in registered:
            yield f"where volumes of StorageClass {name} are reached: from every node, as no CSINode names the driver"
        if counts_capacity(cluster, storage_class, claim):
            yield f"free storage for StorageClass {name}: taken to shrink by what each claim requests"


def _preemptions(
    cluster: Cluster, demand: Demand, outcome: ScheduleResult, placements: Sequence[Placement]
) -> Iterator[PreemptedPod]:
    if demand.change.played is not None:
        yield from demand.change.played.preempted
    for copy, victim in outcome.preempted:
        owner = controller_of(victim.pod)
        yield PreemptedPod(
            pod=full_name(victim.pod),
            node=cluster.nodes.names[victim.node],
            owner=None if owner is None else f"{owner.kind}/{owner.name}",
            made_room_for=NamespacedName(demand.pod.metadata.namespace, placements[copy].pod),
            broken_budgets=victim.broken_budgets,
        )


def _gang_of(demand: Demand, outcome: ScheduleResult, gang: GangReport) -> GangReport:
    """Add the name of the stuck member to the gang's report."""
    if gang.blocked is None:
        return gang
    name = next(islice(demand.names(outcome), len(outcome.choices) + gang.blocked.member - 1, None))
    return replace(gang, blocked=replace(gang.blocked, pod=name))


def _changes(before: Sequence[int], after: ConstraintReport) -> tuple[DomainChange, ...]:
    values = [domain.value for domain in after.domains]
    matching = [domain.matching for domain in after.domains]
    return tuple(map(DomainChange, values, before, matching))


def _skew_change(before: Sequence[int], after: ConstraintReport) -> SkewChange:
    matching = [domain.matching for domain in after.domains]
    return SkewChange(
        topology_key=after.topology_key,
        when_unsatisfiable=after.when_unsatisfiable,
        max_skew=after.max_skew,
        before=skew_of(before, after),
        after=skew_of(matching, after),
    )


def _preemption(demand: Demand, outcome: ScheduleResult, *, preempts: bool) -> PreemptionReport | None:
    """Report on preemption for the first replica that needs it; for as many as fit, for one more replica."""
    if outcome.preemption is not None:
        return preemption_report(outcome.preemption, demand.profile.version)
    stuck = outcome.unplaced
    is_next = preempts and demand.growth.further is None and demand.gang is None
    if not is_next or stuck is None or not stuck.fits_nowhere or not outranks_any(stuck.cluster, demand.pod):
        return None
    return preemption_report(preempt(stuck, post_filters(demand.profile)), demand.profile.version)


def _worst_losses(cluster: Cluster, nodes: Sequence[int], keys: Iterable[str]) -> dict[str, Loss]:
    """Domain with most replicas, per topology key that some node has; ``nodes`` are positions, once per replica."""
    replicas = np.bincount(np.array(nodes, dtype=np.int64), minlength=len(cluster))
    losses = {}
    for key in dict.fromkeys(keys):
        column = cluster.nodes.label(key)
        has_key = column.codes != ABSENT
        if not has_key.any():
            continue
        weights = np.bincount(column.codes[has_key], weights=replicas[has_key], minlength=len(column.values))
        in_domain = weights.astype(np.int64)
        # Ties go to the first value.
        worst = int(column.sorted_codes[in_domain[column.sorted_codes].argmax()])
        losses[key] = Loss(domain=column.values[worst], remaining=int(replicas.sum() - in_domain[worst]))
    return losses


def _nodes_of_replicas(
    cluster: Cluster, placed: Iterable[int], present: Iterable[int], keys: Iterable[str]
) -> Iterator[NodeReplicas]:
    """The nodes, passed as positions once per replica, by name, each with its values of ``keys``."""
    newly, already = Counter(placed), Counter(present)
    names = cluster.nodes.names
    columns = {key: cluster.nodes.label(key) for key in keys}
    for node in sorted(newly.keys() | already.keys(), key=names.__getitem__):
        codes = {key: int(column.codes[node]) for key, column in columns.items()}
        domains = {key: columns[key].values[code] for key, code in codes.items() if code != ABSENT}
        yield NodeReplicas(name=names[node], domains=domains, present=already[node], placed=newly[node])


class SimulatedWorkload(Struct, frozen=True):
    """One workload, placed as far as possible."""

    demand: Demand
    report: SimulateReport

    @property
    def lacking(self) -> int:
        """Number of replicas without a node; a DaemonSet's pods are for existing nodes."""
        if self.demand.candidate.is_daemon:
            return 0
        if self.demand.change.played is not None:
            return self.demand.change.played.report.pending
        preempted = len(self.demand.present) - self.report.present
        return max(0, (self.demand.growth.count or 0) + preempted - self.report.placed)


def world_with(snapshot: Snapshot, scheduler: Scheduler, simulated: Sequence[SimulatedWorkload]) -> World:
    """World of the placed replicas, without the cluster's own pending pods; other replicas wait, as do replacements of
    preempted pods.
    """
    placed = [pod for simulation in simulated for pod in _placed_pods(simulation)]
    companions = [
        _owned_companion(companion, simulation.demand.candidate)
        for simulation in simulated
        for companion in simulation.demand.candidate.companions
    ]
    objects = with_companions(snapshot.objects, companions)
    snapshot = replace(snapshot, pods=(*snapshot.pods, *placed), objects=objects)
    world = world_of(snapshot, scheduler, preempts=False)
    preempted = (victim.pod for simulation in simulated for victim in simulation.report.preempted)
    victims = [key for pod in preempted if (key := (pod.namespace, pod.name)) in world.book]
    world.remove([world.book[key] for key in victims], PREEMPTED)
    for simulation in simulated:
        replicas = (replica for replica in simulation.demand.replicas() if key_of(replica.pod) not in world.book)
        template = as_template(simulation.demand.pod)
        for replica in islice(replicas, simulation.lacking):
            world.create_claims(replica.claims)
            template = reuse_if_alike(as_template(replica.pod), template)
            world.create(copy_of(template, replica.pod.metadata.name, world.timestamp), template)
    # Controllers should want the requested replicas, whatever their objects say.
    for simulation in simulated:
        if (owner := world.book.owner_of(simulation.demand.candidate.pod)) is not None:
            world.owner(owner).replicas = len(world.book.pods_of(owner))
    if victims:
        world.settle()
    return world


def with_autoscaling(scene: Scene, posed: Demands, reports: Sequence[SimulateReport]) -> tuple[SimulateReport, ...]:
    """Add the autoscaler's report to reports with pending replicas or preempted pods.

    All workloads wait together, so each such report has the same one. Raises UsageError.
    """
    cluster, now = posed.cluster, posed.surroundings.snapshot
    simulated = list(map(SimulatedWorkload, posed.demands, reports))
    snapshot = replace(now, pods=tuple(cluster.running.pods))
    world = world_with(snapshot, scene.scheduler, simulated)
    grow = scene.grow_in(now)
    if grow is not None and world.waiting:
        account = grow(world, NOTHING_LOST).with_notes(_notes(simulated))
        reports = [
            replace(simulation.report, autoscaling=account)
            if simulation.lacking or simulation.report.preempted
            else simulation.report
            for simulation in simulated
        ]
    cluster.assume(world.assumed)
    return tuple(reports)


def _owned_companion(companion: ApiObject, candidate: Candidate) -> ApiObject:
    """The ReplicaSet that a Deployment would make, with its owner reference."""
    workload = candidate.workload
    if workload is None or workload.kind != "Deployment" or not isinstance(companion, ReplicaSet):
        return companion
    reference = OwnerReference(api_version="apps/v1", kind=workload.kind, name=workload.name, controller=True)
    return replace(companion, metadata=replace(companion.metadata, owner_references=[reference]))


def _placed_pods(simulation: SimulatedWorkload) -> Iterator[Pod]:
    """Placed pods to add to the cluster; none of a rollout, as the cluster has them already."""
    placements = simulation.report.placements if simulation.demand.change.played is None else ()
    nodes = {placement.pod: placement.node for placement in placements}
    replicas = simulation.demand.replicas()
    while nodes:
        pod = next(replicas).pod
        if (node := nodes.pop(pod.metadata.name, None)) is not None:
            yield on_node(copy_of(pod, pod.metadata.name, ""), node, running_since("", ready=True))


def _notes(simulated: Sequence[SimulatedWorkload]) -> Iterator[str]:
    if any(simulation.demand.candidate.one_by_one and simulation.lacking for simulation in simulated):
        yield "a StatefulSet makes its pods one by one; to the autoscaler all wait at once here"
    if any(simulation.demand.change.played is not None and simulation.lacking for simulation in simulated):
        yield "a rollout that waits for nodes is not taken up again once they are there"


def answer(question: Simulate, scene: Scene) -> tuple[SimulateReport, ...]:
    """Place all workloads in one queue; raises the first refusal unless ``on_refused`` is set."""
    # As many as fit are posed twice, and standard input can be read only once.
    pods = tuple(read_once(pod) if pod == STDIN else pod for pod in question.pods)
    question = replace(question, pods=pods)
    posed = pose(question, scene.snapshot, scene.scheduler, scene.on_refused)
    surroundings, required = posed.surroundings, question.require_placed
    candidates = [demand.candidate for demand in posed.demands]
    of_groups = pod_group_gaps(candidates)
    outcomes = posed.place(Chance.from_seed(question.seed), scene.budget.on_progress)
    reports = tuple(report_of(posed, demand, outcome) for demand, outcome in zip(posed.demands, outcomes, strict=True))
    if others := list(_other_runs(posed, scene)):
        notes = tuple(notes_on_runs(question.seed, len(others) + 1))
        reports = tuple(
            replace(own.merge(same), notes=(*own.notes, *notes)) for own, *same in zip(reports, *others, strict=True)
        )
    if question.as_many_as_fit and len(reports) == 1:
        reports = (_limit(reports[0], posed.demands[0].growth.created.copies, question, scene),)
    if autoscaler_of(question) is not None:
        reports = with_autoscaling(scene, posed, reports)
    return tuple(
        replace(
            report,
            cluster=scene.source,
            gaps=tuple(dict.fromkeys((*gaps_of(candidate, posed.cluster), *of_groups, *report.gaps))),
            not_modelled=(*report.not_modelled, *_chance(report, surroundings.version)),
            by_edits=_by_edits(candidate, scene.snapshot, surroundings.snapshot) if scene.snapshot.edits else None,
            required_placed=report.replicas if required == "all" else required,
        )
        for report, candidate in zip(reports, candidates, strict=True)
    )


def _other_runs(posed: Demands, scene: Scene) -> Iterator[Sequence[SimulateReport]]:
    """Yield the reports of further runs, each with its own seed, where controllers picked among equals."""
    happened = [change for demand in posed.demands if (change := demand.change.happened) is not None]
    for seed in seeds(posed.question.seed, run_count(happened)):
        again = pose(replace(posed.question, seed=seed), scene.snapshot, scene.scheduler, lambda _: None)
        outcomes = again.place(Chance.from_seed(seed))
        yield [report_of(again, demand, outcome) for demand, outcome in zip(again.demands, outcomes, strict=True)]


def _by_edits(candidate: Candidate, before: Snapshot, after: Snapshot) -> PlacedByEdits | None:
    """Report the nodes of the workload's pods that were pending ``before`` the edits; None if none were."""
    if candidate.workload is None:
        return None
    waited = pods_of(candidate.workload, candidate.companions, before.objects.get(ReplicaSet), waiting_pods(before))
    if not waited:
        return None
    keys = set(map(key_of, waited))
    nodes = Counter(pod.spec.node_name for pod in after.pods if pod.spec.node_name and key_of(pod) in keys)
    return PlacedByEdits(pending=len(waited), nodes=dict(sorted(nodes.items())))


def _limit(report: SimulateReport, quota: int | None, question: Simulate, scene: Scene) -> SimulateReport:
    """Add the number of replicas that quotas and nodes each allow to the report of as many as fit."""
    nodes = report.placed
    if quota is not None and nodes >= quota:
        unlimited = pose(question, scene.snapshot, scene.scheduler, lambda _: None, counts_quotas=False)
        (free,) = unlimited.place(Chance.from_seed(question.seed))
        nodes = len(free.choices)
    return replace(report, limits=Limits(nodes=nodes, quota=quota))


def _chance(report: SimulateReport, version: KubeVersion) -> Iterator[str]:
    """Yield notes on placements that may differ in a cluster.

    Up to 1.34 any of the equal nodes may be taken, so a pod's node cannot be foretold. Pods that preempt wait until
    their victims are gone, and meanwhile spreading does not count them.
    """
    has_ties = any(placement.ties > 1 for placement in report.placements)
    if has_ties and report.seed is None and not version.reaches(35):
        yield f"kube-scheduler {version} takes any of the nodes with equal scores, at random (--seed does, too)"
    if len(report.preempted) > 1:
        yield "pods that come at once may preempt more than these, which come one after another: play a scale step"
