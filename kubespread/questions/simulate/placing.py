"""N replicas of workloads placed one after another: how each grows, shrinks or is rolled out, and where they land."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.replicas import Desired, Growth, growth_gaps, growths
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.owners import NamespacedName, controller_of
from kubespread.kube.versions import SCORES_SINCE
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.causes.bars import bars, taints_policy_hints
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.gangs import run_with_gangs
from kubespread.questions.queue import Entry, ScheduleResult, run
from kubespread.questions.resolving import Resolved, resolve
from kubespread.questions.scene import OnProgress, Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.demand import (
    ControlledChange,
    Demand,
    as_left,
    controlled_changes,
    gang_notes,
    gangs_of,
)
from kubespread.questions.simulate.question import Simulate, WhatIf
from kubespread.questions.simulate.report import (
    DeletedReplica,
    DomainRange,
    Loss,
    NodeReplicas,
    Placement,
    Run,
    Runs,
    Sampling,
    SimulateReport,
)
from kubespread.questions.worlds import world_of
from kubespread.reports.gang import GangReport
from kubespread.reports.judged_nodes import domain_counts, preemption_report
from kubespread.reports.parts import (
    ConstraintReport,
    DomainChange,
    PodReference,
    PreemptedPod,
    PreemptionReport,
    Range,
    SkewChange,
    skew_now,
    skew_of,
)
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import ABSENT
from kubespread.scheduler.evaluation import has_lower, preempt
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import framework, post_filters
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.world.store import claims
from kubespread.world.store.chance import Chance, notes_on_runs, runs_worth, seeds
from kubespread.world.store.happenings import Happenings

if TYPE_CHECKING:
    from kubespread.world.events.world import World


class Ran(Struct, frozen=True):
    """Outcome of one run of a workload's replicas."""

    placed: int
    after: Sequence[ConstraintReport]
    """The constraints once the queue is done."""
    rollout: RolloutReport | None

    @classmethod
    def of(cls, demand: Demand, outcome: ScheduleResult) -> Self:
        played = demand.change.played
        return cls(len(outcome.choices), outcome.after, None if played is None else played.report)


def report_of(
    posed: Posed,
    demand: Demand,
    plugins: Framework,
    shown: ScheduleResult,
    runs: Sequence[Ran],
    count: int,
    full: Cluster,
) -> SimulateReport:
    """``runs`` are all of the workload, the one that is ``shown`` first, of a ``count`` to be made."""
    cluster, seed, preempts = posed.cluster, posed.question.seed, posed.preempts
    is_seeded = seed is not None or count > 1
    rollouts = [each.rollout for each in runs[1:] if each.rollout is not None]
    pod, profile, candidate, change = demand.pod, demand.profile, demand.candidate, demand.change
    names, before = cluster.nodes.names, shown.before or ()
    deleted = [(gone, cluster.nodes.index[gone.spec.node_name]) for gone in change.deleted]
    if deleted:
        before = domain_counts(plugins.prepare(cluster.after(ClusterChange(come=deleted)), pod).states)
    staying = Counter(demand.present.values())
    staying.subtract(shown.lost)
    placed, present = [choice.node for choice in shown.choices], list(staying.elements())
    shared = [demand.gang.topology_key] if demand.gang is not None and demand.gang.topology_key else []
    keys = (*shared, *(constraint.topology_key for constraint in shown.after), ZONE, HOSTNAME)
    worst_loss = _worst_losses(cluster, [*placed, *present], keys)
    desired = shown.wanted if candidate.is_daemon else demand.growth.further
    existing, refused, missing = _made(demand, shown, desired)
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
        preempted=tuple(_preempted(cluster, demand, shown, placements)),
        stopped=shown.stopped or _refusal(demand.growth, len(placed)),
        conclusion=None if shown.unplaced is None else bars(shown.unplaced),
        seed=seed,
        constraints=tuple(shown.after),
        distribution=tuple(_changes(was, now) for was, now in zip(before, shown.after, strict=True)),
        skew=tuple(map(_skew_change, before, *(each.after for each in runs))),
        deleted=tuple(DeletedReplica(pod=gone.metadata.name, node=names[node]) for gone, node in deleted),
        rollout=None if change.played is None else change.played.report.over(rollouts),
        worst_loss=worst_loss,
        nodes=tuple(_nodes_of_replicas(cluster, placed, present, list(worst_loss))),
        sampling=sampled,
        runs=_runs_report([seed, *seeds(seed, len(runs))], runs) if count > 1 else None,
        gang=shown.gang and _gang_of(demand, shown, shown.gang),
        preemption=_preemption(demand, shown, preempts=preempts),
        not_modelled=(
            *not_modelled(pod, plugins, cluster, profile, is_grouped=demand.gang is not None),
            *(demand.gang.not_modelled if demand.gang is not None else ()),
            *_not_modelled(cluster, demand, shown, is_sampled=sampled is not None and is_seeded),
        ),
        admission=tuple(candidate.admission),
        notes=(
            *demand.notes,
            *notes_on_runs(seed, count),
            *(() if shown.unplaced is None else taints_policy_hints(shown.unplaced, full, pod, profile.version)),
        ),
    )


def _made(demand: Demand, outcome: ScheduleResult, desired: int | None) -> tuple[int, int, int]:
    """Count the ``desired`` replicas that are created, those the API server refuses, and those that do not exist."""
    placed, creatable, one_by_one = len(outcome.choices), demand.growth.created.copies, demand.candidate.one_by_one
    if demand.change.played is not None:
        rollout = demand.change.played.report
        return placed + rollout.pending, rollout.not_created, rollout.not_created
    if desired is None:
        return 0, 0, 0
    desired += len(outcome.lost)
    if one_by_one and outcome.stuck:
        made = min(desired, max(placed + 1, len(demand.growth.waiting)))
        return made, 0, desired - made
    made = desired if creatable is None else min(desired, creatable + len(outcome.lost))
    # Pods after a refused one are not even tried where each waits for the one before.
    return made, min(1, desired - made) if one_by_one else desired - made, desired - made


def _refusal(growth: Growth, placed: int) -> str | None:
    """Admission's message, where it prevents further replicas."""
    most = growth.created.copies
    if most is None or placed < most or (growth.further is not None and growth.further <= most):
        return None
    return growth.created.refusal


def _not_modelled(cluster: Cluster, demand: Demand, outcome: ScheduleResult, *, is_sampled: bool) -> Iterator[str]:
    """Yield what a simulation leaves out, whatever its pod is."""
    growth, stuck = demand.growth, outcome.unplaced
    if outcome.preempted:
        yield "the pods that controllers make for those that are preempted: they are not placed"
        if growth.created.copies is not None and growth.created.copies < (growth.further or 0):
            yield "what quotas allow once pods are preempted: replicas that are refused before stay refused"
    if demand.gang is not None and stuck is not None and has_lower(stuck.cluster, demand.pod):
        yield "preemption by pods of a group"
    if demand.workload is None:
        yield from claims.of_pods_by_themselves(cluster, demand.pod)
    else:
        yield from claims.of_replicas(cluster, demand.pod, has_own=bool(next(demand.replicas()).claims))
    if is_sampled:
        yield (
            "sampling: kube-scheduler's parallel workers look at some nodes more than it needs, so that the next "
            "search begins a little further on"
        )
    if is_sampled and demand.change.played is not None:
        yield "sampling: rollouts are played with all nodes that fit scored"


def _preempted(
    cluster: Cluster, demand: Demand, outcome: ScheduleResult, placements: Sequence[Placement]
) -> Iterator[PreemptedPod]:
    if demand.change.played is not None:
        yield from demand.change.played.preempted
    for copy, victim in outcome.preempted:
        owner = controller_of(victim.pod)
        yield PreemptedPod(
            pod=NamespacedName.of(victim.pod),
            node=cluster.nodes.names[victim.node],
            owner=None if owner is None else f"{owner.kind}/{owner.name}",
            made_room_for=NamespacedName(demand.pod.metadata.namespace, placements[copy].pod),
            broken_budgets=victim.broken_budgets,
        )


def _gang_of(demand: Demand, outcome: ScheduleResult, gang: GangReport) -> GangReport:
    """The gang's report with the name of the stuck member, which comes after those that are placed."""
    if gang.blocked is None:
        return gang
    name = next(islice(demand.names(outcome), len(outcome.choices) + gang.blocked.member - 1, None))
    return replace(gang, blocked=replace(gang.blocked, pod=name))


def _changes(before: Sequence[int], after: ConstraintReport) -> tuple[DomainChange, ...]:
    values = [domain.value for domain in after.domains]
    matching = [domain.matching for domain in after.domains]
    return tuple(map(DomainChange, values, before, matching))


def _skew_change(before: Sequence[int], after: ConstraintReport, *others: ConstraintReport) -> SkewChange:
    """``others`` are the constraint after the other runs."""
    matching = [domain.matching for domain in after.domains]
    return SkewChange(
        topology_key=after.topology_key,
        when_unsatisfiable=after.when_unsatisfiable,
        max_skew=after.max_skew,
        before=skew_of(before, after),
        after=skew_of(matching, after),
        after_runs=Range.over(map(skew_now, (after, *others))),
    )


def _preemption(demand: Demand, outcome: ScheduleResult, *, preempts: bool) -> PreemptionReport | None:
    """Report what preemption does for the first replica that needs it, in a cluster with those before it.

    Where as many as fit are placed: what it would do for the one after those.
    """
    if outcome.preemption is not None:
        return preemption_report(outcome.preemption, demand.profile.version)
    stuck = outcome.unplaced
    is_next = preempts and demand.growth.further is None and demand.gang is None
    if not is_next or stuck is None or not stuck.fits_nowhere or not has_lower(stuck.cluster, demand.pod):
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
        held = weights.astype(np.int64)
        # Ties go to the first value.
        worst = int(column.sorted_codes[held[column.sorted_codes].argmax()])
        losses[key] = Loss(domain=column.values[worst], remaining=int(replicas.sum() - held[worst]))
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


def _runs_report(seeds: Sequence[int | None], runs: Sequence[Ran]) -> Runs:
    constraints = list(zip(*(each.after for each in runs), strict=True))
    return Runs(
        count=len(runs),
        placed=Range.of(each.placed for each in runs),
        distribution=tuple(
            tuple(
                DomainRange(value=domains[0].value, after=Range.of(domain.matching for domain in domains))
                for domains in zip(*(constraint.domains for constraint in of_runs), strict=True)
            )
            for of_runs in constraints
        ),
        each=tuple(
            Run(
                seed=seed,
                placed=each.placed,
                skew=tuple(map(skew_now, each.after)),
                domains=tuple(tuple(domain.matching for domain in constraint.domains) for constraint in each.after),
            )
            for seed, each in zip(seeds, runs, strict=True)
        ),
    )


MOST_REPLICAS = 50_000
"""The most replicas to request: as many as finish within seconds on nodes that hold them. A cluster has at most 150,000
pods.
"""


class Begun(Struct, frozen=True):
    """Replicas to be placed in one run, and their cluster, once controllers have done their work."""

    demands: Sequence[Demand]
    cluster: Cluster
    happened: Sequence[Happenings]
    """Actions of controllers."""


class Posed(Struct, frozen=True):
    """Workloads to be placed."""

    question: Simulate
    resolved: Resolved
    begin: Callable[[Chance], Begun]
    first: Begun
    """Start of the run that is shown."""

    @property
    def demands(self) -> Sequence[Demand]:
        return self.first.demands

    @property
    def cluster(self) -> Cluster:
        return self.first.cluster

    @property
    def preempts(self) -> bool:
        """True if replicas that fit nowhere preempt pods of lower priority, where a number of them is requested."""
        return self.question.preemption and not any(demand.gang is not None for demand in self.demands)

    def begun(self, seed: int | None) -> Begun:
        """Another run. Only controllers make it begin otherwise."""
        return self.begin(Chance.of(seed)) if self.first.happened else self.first


def pose(
    question: Simulate,
    snapshot: Snapshot,
    scheduler: Scheduler,
    on_refused: Callable[[KubespreadError], None] | None = None,
    *,
    counts_quotas: bool = True,
) -> Posed:
    """Pose ``question``, up to the placing itself. Raises ManifestError, SnapshotError and UsageError."""
    replicas = question.desired
    if replicas is not None and not 0 <= replicas <= MOST_REPLICAS:
        raise UsageError(f"replicas must be from 0 to {MOST_REPLICAS}, not {replicas}")
    as_gangs = question.as_gangs
    resolved = resolve(
        snapshot,
        question.pods,
        scheduler,
        question.choosing,
        settings=question.settings,
        counts_quotas=False,
        preempts=question.preemption,
        on_refused=on_refused,
    )
    if not resolved.version.since(SCORES_SINCE):
        reason = f"where replicas land depends on scores, which are modeled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {resolved.version}: {reason}")
    if as_gangs is not None and as_gangs.topology_key:
        nodes = resolved.snapshot.nodes
        as_gangs = replace(as_gangs, topology_key=full_topology_key(as_gangs.topology_key, nodes))
        check_topology_keys([as_gangs.topology_key], nodes)
    desired = Desired(
        as_gangs.size if as_gangs is not None and replicas is None else replicas,
        question.as_many_as_fit,
        question.from_scratch,
        counts_quotas=counts_quotas and scheduler.admission,
    )
    resolved.cluster.assume(growth_gaps(resolved.candidates, resolved.snapshot))
    grown = growths(resolved.candidates, desired, resolved.snapshot, resolved.cluster.running.pods)
    world = None
    if any(growth.surplus or growth.is_rollout for growth in grown):
        world = world_of(resolved.snapshot, scheduler, preempts=question.preemption, assumed=resolved.cluster.assumed)
        # Waiting pods of others are not in question.
        world.queue.waiting.clear()
    begin = partial(_begun, resolved, grown, as_gangs, world)
    return Posed(question, resolved, begin, begin(Chance.of(question.seed)))


def _begun(
    resolved: Resolved, grown: Sequence[Growth], as_gangs: WhatIf | None, world: World | None, chance: Chance
) -> Begun:
    """``world`` is that before controllers act; None where none has to."""
    changes: Sequence[ControlledChange] = [ControlledChange()] * len(grown)
    cluster, happened = resolved.cluster, list[Happenings]()
    if world is not None:
        world = world.fork()
        world.surroundings = replace(world.surroundings, chance=chance)
        changes, happened = controlled_changes(world, resolved, grown)
        cluster = as_left(resolved.cluster, world)
    index = resolved.cluster.nodes.index
    leaving = [(pod, index[pod.spec.node_name]) for growth in grown for pod in growth.taken_away]
    cluster = cluster.after(ClusterChange(gone=leaving))
    gangs = gangs_of(as_gangs, resolved, grown, cluster)
    counting = [candidate.pod for candidate in resolved.candidates]
    demands = [
        Demand.of(
            candidate,
            profile,
            growth,
            change,
            cluster,
            gang,
            gang_notes(as_gangs, candidate, resolved.version),
            counting,
        )
        for candidate, profile, growth, change, gang in zip(
            resolved.candidates, resolved.profiles, grown, changes, gangs, strict=True
        )
    ]
    return Begun(demands, cluster, happened)


class Queue:
    """The pods of posed workloads placed in one queue, as kube-scheduler would; independent runs of it are work for
    several processes.
    """

    def __init__(
        self, posed: Posed, make_world: Callable[[], World], on_progress: Callable[[int], None] | None = None
    ) -> None:
        """``make_world`` makes the cluster's world, for replicas that preempt others; ``on_progress`` is called now and
        then with the number of replicas placed.
        """
        self.posed, self._make_world, self._on_progress = posed, make_world, on_progress
        # Pods of one framework share what its plugins prepare.
        made = {id(demand.profile): framework(demand.profile) for demand in posed.demands}
        self._frameworks = [made[id(demand.profile)] for demand in posed.demands]
        asked = posed.question.runs
        self.runs = runs_worth(posed.first.happened) if asked is None else asked
        """Number of runs to make in all."""

    @classmethod
    def of(cls, question: Simulate, scene: Scene) -> Self:
        """Pose the question in a worker: what was refused was said where the question was asked."""
        return cls.posing(question, scene, on_refused=lambda _: None)

    @classmethod
    def posing(
        cls,
        question: Simulate,
        scene: Scene,
        on_progress: OnProgress | None = None,
        on_refused: Callable[[KubespreadError], None] | None = None,
        *,
        counts_quotas: bool = True,
    ) -> Self:
        """Pose the question, with the arguments of `pose`."""
        scheduler = scene.scheduler
        posed = pose(question, scene.snapshot, scheduler, on_refused, counts_quotas=counts_quotas)
        world = partial(world_of, posed.resolved.snapshot, scheduler, assumed=posed.cluster.assumed)
        return cls(posed, world, on_progress)

    @property
    def assumed(self) -> dict[str, None]:
        return self.posed.cluster.assumed

    def __call__(self, seed: int) -> list[Ran]:
        """Outcome of one run, for each workload."""
        begun = self.posed.begun(seed)
        return list(map(Ran.of, begun.demands, self.placed(begun, Chance.of(seed))[0]))

    def reports(self, run_besides: Callable[[Sequence[int]], Iterable[Sequence[Ran]]]) -> tuple[SimulateReport, ...]:
        """One for each workload, in the order given: how the first run ends, and beside it what ``run_besides`` gives
        for the seeds of the others.
        """
        posed, seed = self.posed, self.posed.question.seed
        shown, full = self.placed(posed.first, Chance.of(seed))
        others = list(seeds(seed, self.runs))
        runs = [list(map(Ran.of, posed.demands, shown)), *(run_besides(others) if others else ())]
        return tuple(
            report_of(posed, demand, plugins, shown[place], [each[place] for each in runs], self.runs, full)
            for place, (demand, plugins) in enumerate(zip(posed.demands, self._frameworks, strict=True))
        )

    def placed(self, begun: Begun, chance: Chance) -> tuple[list[ScheduleResult], Cluster]:
        """The outcome of each workload in one run, and the resulting cluster."""
        cluster, preempts = begun.cluster, self.posed.preempts
        gangs = [demand.gang for demand in begun.demands if demand.change.played is None]
        entries = [
            Entry(
                demand.pod,
                plugins,
                demand.growth.count,
                demand.candidate.is_daemon,
                frozenset(demand.present.values()),
                frozenset(demand.present),
                demand.told_apart,
                made=len(demand.growth.waiting) if demand.candidate.one_by_one else None,
                # Claims of a single pod are not bound: it is judged in the cluster as it is.
                binds=demand.workload is not None,
                # As many as fit means as many as fit besides the others.
                preempts_as=demand.profile if preempts and demand.growth.further is not None else None,
            )
            for demand, plugins in zip(begun.demands, self._frameworks, strict=True)
            if demand.change.played is None
        ]
        if any(gangs):
            outcomes, full = run_with_gangs(cluster, entries, gangs, chance, self._on_progress)
        else:
            outcomes, full = run(
                cluster,
                entries,
                chance.tiebreaker,
                search=chance.search(len(cluster)),
                on_progress=self._on_progress,
                make_world=self._make_world,
            )
        rest = iter(outcomes)
        # What was played before keeps its position.
        return [
            next(rest) if demand.change.played is None else demand.change.played.outcome for demand in begun.demands
        ], full
