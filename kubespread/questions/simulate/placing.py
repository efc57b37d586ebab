"""N replicas of workloads placed one after another: how each grows, shrinks or is rolled out, and where they land."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import Desired, growth_gaps, growths
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.versions import SCORES_SINCE
from kubespread.questions.gangs.gang import run_with_gangs
from kubespread.questions.queue.look_ahead import look_ahead
from kubespread.questions.queue.manner import Manner, Way
from kubespread.questions.queue.queue import Entry, Outcome, run
from kubespread.questions.resolving import Resolved, resolve
from kubespread.questions.scene import OnProgress, Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.demand import Demand, controlled_changes
from kubespread.questions.simulate.gangs import gang_notes, gangs_of, what_if
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import SimulateReport
from kubespread.questions.simulate.reporting import Ran, report_of
from kubespread.questions.worlds import world_of
from kubespread.reports.parts import LookAhead
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.constraints import PodTopologySpreadArgs
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.world.store import claims

if TYPE_CHECKING:
    from kubespread.world.events.world import World

MOST_REPLICAS = 50_000
"""The most replicas to request: as many as finish within seconds on nodes that hold them. A cluster has at most 150,000
pods.
"""


class Posed(Struct, frozen=True):
    """Workloads and the cluster they will be placed in, after their controllers' work."""

    resolved: Resolved
    demands: Sequence[Demand]
    cluster: Cluster
    manner: Manner


def pose(
    question: Simulate,
    snapshot: Snapshot,
    scheduler: Scheduler,
    on_progress: Callable[[int], None] | None = None,
    on_refused: Callable[[KubespreadError], None] | None = None,
    *,
    counts_quotas: bool = True,
) -> Posed:
    """What ``question`` will place, up to the placing itself. Raises ManifestError, SnapshotError and UsageError."""
    replicas = question.desired
    if replicas is not None and not 0 <= replicas <= MOST_REPLICAS:
        raise UsageError(f"replicas must be from 0 to {MOST_REPLICAS}, not {replicas}")
    as_gangs = what_if(question.gang, question.same, replicas, refused=_refused_with_gangs(question))
    resolved = resolve(
        snapshot, question.pods, scheduler, question.choosing,
        settings=question.settings, counts_quotas=False, preempts=question.preemption, on_refused=on_refused,
    )  # fmt: skip
    if not resolved.version.since(SCORES_SINCE):
        reason = f"where replicas land depends on scores, which are modeled since 1.{SCORES_SINCE}"
        raise UsageError(f"kube-scheduler {resolved.version}: {reason}")
    nodes = resolved.snapshot.nodes
    keys = [full_topology_key(key, nodes) for key in (*question.keys, *question.requirements.keys)]
    if as_gangs is not None and as_gangs.topology_key:
        as_gangs = replace(as_gangs, topology_key=full_topology_key(as_gangs.topology_key, nodes))
        check_topology_keys([as_gangs.topology_key], nodes, ())
    pairs = list(zip(resolved.candidates, resolved.profiles, strict=True))
    check_topology_keys(keys, nodes, (key for pair in pairs for key in _constraint_keys(*pair)))
    desired = Desired(
        as_gangs.size if as_gangs is not None and replicas is None else replicas,
        question.as_many_as_fit,
        question.from_scratch,
        counts_quotas=counts_quotas and scheduler.admission,
    )
    manner = Manner(
        question.ties, question.seed, question.runs, question.deals,
        preempts=question.preemption, tells_preemption=question.tells_preemption, keys=keys,
        on_progress=on_progress, sample=question.sample,
    )  # fmt: skip
    resolved.cluster.assume(growth_gaps(resolved.candidates, resolved.snapshot))
    grown = growths(resolved.candidates, desired, resolved.snapshot, resolved.cluster.running.pods)
    changes, cluster = controlled_changes(resolved, grown, scheduler, manner)
    index = resolved.cluster.nodes.index
    leaving = [(pod, index[pod.spec.node_name]) for growth in grown for pod in growth.taken_away]
    cluster = cluster.after(Change(gone=leaving))
    gangs = gangs_of(as_gangs, resolved, grown, cluster)
    if any(gangs) and question.sample:
        raise UsageError("sampling does not go with pods of a PodGroup")
    demands = [
        Demand.of(*pair, growth, change, cluster, gang, gang_notes(as_gangs, pair[0], resolved.version))
        for pair, growth, change, gang in zip(pairs, grown, changes, gangs, strict=True)
    ]
    return Posed(resolved, demands, cluster, manner)


def _refused_with_gangs(question: Simulate) -> list[str]:
    """Requested options that are not modeled for gangs."""
    asked_for = {
        "preemption": question.tells_preemption,
        "an autoscaler": question.autoscaler is not None,
        "sampling": question.sample,
    }
    return [name for name, is_asked in asked_for.items() if is_asked]


def _constraint_keys(candidate: Candidate, profile: Profile) -> list[str]:
    """The topology keys of the pod's constraints, else of the profile's own defaults."""
    defaults = profile.args_of(PodTopologySpread.name, PodTopologySpreadArgs).default_constraints
    constraints = candidate.pod.spec.topology_spread_constraints or defaults
    return [constraint.topology_key for constraint in constraints]


class Queue:
    """The pods of posed workloads placed in one queue, as kube-scheduler would; independent runs of it are work for
    several processes.
    """

    def __init__(self, posed: Posed, make_world: Callable[[], World]) -> None:
        """``make_world`` makes the cluster's world, for replicas that preempt others."""
        self.posed, self._make_world = posed, make_world
        is_with_gangs = any(demand.gang is not None for demand in posed.demands)
        self._manner = replace(posed.manner, preempts=False) if is_with_gangs else posed.manner
        # Pods of one framework share what its plugins prepare.
        made = {id(demand.profile): framework(demand.profile) for demand in posed.demands}
        self._frameworks = [made[id(demand.profile)] for demand in posed.demands]

    @classmethod
    def of(cls, question: Simulate, scene: Scene) -> Self:
        """In a worker: what was refused was said where the question was asked."""
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
        """As for `pose`."""
        scheduler = scene.scheduler
        posed = pose(question, scene.snapshot, scheduler, on_progress, on_refused, counts_quotas=counts_quotas)
        return cls(posed, lambda: world_of(posed.resolved.snapshot, scheduler, assumed=posed.cluster.assumed))

    @property
    def assumed(self) -> dict[str, None]:
        return self.posed.cluster.assumed

    def __call__(self, way: Way) -> list[Ran]:
        """What one run of each workload comes to."""
        return [Ran(len(outcome.choices), outcome.after) for outcome in self.placed(way)[0]]

    def reports(self, run_besides: Callable[[Sequence[Way]], Iterable[Sequence[Ran]]]) -> tuple[SimulateReport, ...]:
        """One for each workload, in the order given: how the first run ends, and beside it what ``run_besides`` gives
        for the ways of the others.
        """
        cluster, manner = self.posed.cluster, self._manner
        first, *others = manner.ways(len(cluster))
        shown, full = self.placed(first)
        runs = [
            [Ran(len(outcome.choices), outcome.after) for outcome in shown],
            *(run_besides(others) if others else ()),
        ]
        return tuple(
            report_of(
                cluster, demand, plugins, manner, shown[place], [each[place] for each in runs], full,
                self._look_ahead(shown, place),
            )
            for place, (demand, plugins) in enumerate(zip(self.posed.demands, self._frameworks, strict=True))
        )  # fmt: skip

    def placed(self, way: Way) -> tuple[list[Outcome], Cluster]:
        """The outcome of each workload in one run, and the resulting cluster."""
        cluster, manner = self.posed.cluster, self._manner
        gangs = [demand.gang for demand in self.posed.demands if demand.change.played is None]
        entries = [
            Entry(
                demand.pod,
                plugins,
                demand.growth.count,
                demand.candidate.is_daemon,
                frozenset(demand.present.values()),
                frozenset(demand.present),
                demand.claimants,
                # Claims of a single pod are not bound: it is judged in the cluster as it is.
                binds=demand.workload is not None,
                # As many as fit means as many as fit besides the others.
                preempts_as=demand.profile if manner.preempts and demand.growth.further is not None else None,
            )
            for demand, plugins in zip(self.posed.demands, self._frameworks, strict=True)
            if demand.change.played is None
        ]
        break_tie, on_progress = way.tiebreaker(), manner.on_progress
        if any(gangs):
            outcomes, full = run_with_gangs(cluster, entries, gangs, break_tie, seed=way.seed, on_progress=on_progress)
        else:
            outcomes, full = run(
                cluster, entries, break_tie, search=way.search(), on_progress=on_progress, make_world=self._make_world
            )
        rest = iter(outcomes)
        # What was played before keeps its position.
        return [
            next(rest) if demand.change.played is None else demand.change.played.outcome
            for demand in self.posed.demands
        ], full

    def _look_ahead(self, outcomes: Sequence[Outcome], place: int) -> LookAhead | None:
        """Another order of the replicas at ``place``, where they stay pending though their order could matter."""
        cluster, demand, outcome = self.posed.cluster, self.posed.demands[place], outcomes[place]
        count = demand.growth.count
        if (
            demand.change.played is not None
            or demand.candidate.is_daemon
            or demand.gang is not None
            or count is None
            or len(outcome.choices) >= count
            or not outcome.stuck
            # Each placement would bind claims.
            or demand.claimants is not None
            or claims.unbound_claims(cluster, demand.pod)
        ):
            return None
        others = [
            (other.pod, choice.node)
            for position, (other, theirs) in enumerate(zip(self.posed.demands, outcomes, strict=True))
            if position != place
            for choice in theirs.choices
        ]
        gone = [(victim.pod, victim.node) for theirs in outcomes for _, victim in theirs.preempted]
        beside = cluster.after(Change(come=others, gone=gone)) if others or gone else cluster
        return look_ahead(self._frameworks[place], beside, demand.pod, count)
