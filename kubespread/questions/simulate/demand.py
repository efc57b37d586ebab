"""Replicas of workloads to be placed, and what controllers do before: they shrink workloads, or roll out a new
template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import Growth, first_missing, replica_names
from kubespread.controllers.deployment.revisions import new_replica_set
from kubespread.kube.api.core import Pod
from kubespread.questions.gangs.gang import Gang
from kubespread.questions.queue.manner import Manner, deals_worth, other_deals
from kubespread.questions.queue.queue import Outcome
from kubespread.questions.resolving import Resolved, claimants_of
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import world_of
from kubespread.reports.judged_nodes import constraint_reports, domain_counts
from kubespread.reports.parts import Dealt, PreemptedPod, skew_now
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.profile.profile import Profile
from kubespread.world.events.applying import apply_workload
from kubespread.world.events.creating import AppliedWorkload
from kubespread.world.events.deployments import name_of
from kubespread.world.events.editing import scale
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import preempted_pods
from kubespread.world.store.claims import Replicas
from kubespread.world.store.happenings import SCALED_DOWN
from kubespread.world.store.pod_book import PodKey, key_of


class Played(Struct, frozen=True):
    """A rollout that is finished or stuck."""

    outcome: Outcome
    report: RolloutReport
    preempted: Sequence[PreemptedPod]
    """The pods that its new pods preempted."""
    names: Sequence[str]
    """Of its new pods, in the order they were placed."""


class ControlledChange(Struct, frozen=True):
    """What the controller of one workload did."""

    deleted: Sequence[Pod] = ()
    """The replicas it deleted because fewer are asked for; the cluster is without them."""
    dealt_skews: Sequence[Dealt | None] = ()
    """Per constraint the skew over all deals of equal replicas, where some were deleted."""
    played: Played | None = None
    """The rollout of a new template: the cluster is as that left it."""
    notes: tuple[str, ...] = ()


class Demand(Struct, frozen=True):
    """Replicas of one workload that are to be placed."""

    candidate: Candidate
    profile: Profile
    growth: Growth
    change: ControlledChange
    pod: Pod
    """The first that is missing."""
    names: Iterator[str]
    """The names of replicas, in order."""
    claimants: Replicas | None
    """The replicas where each has claims of its own."""
    present: Mapping[PodKey, int]
    """The workload's replicas that run already, each with its node, by position."""
    gang: Gang | None
    """The gang of its pods, placed together or not at all."""
    gang_notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        profile: Profile,
        growth: Growth,
        change: ControlledChange,
        cluster: Cluster,
        gang: Gang | None,
        gang_notes: Iterable[str],
    ) -> Demand:
        deleted = {key_of(pod) for pod in change.deleted}
        present = [] if growth.is_rollout else [pod for pod in growth.present if key_of(pod) not in deleted]
        pod = first_missing(candidate, present)
        return cls(
            candidate, profile, growth, change, pod,
            names=replica_names(pod, present) if change.played is None else iter(change.played.names),
            claimants=claimants_of(replace(candidate, pod=pod), present, cluster),
            present={key_of(pod): cluster.nodes.index[pod.spec.node_name] for pod in present},
            gang=gang,
            gang_notes=tuple(gang_notes),
        )  # fmt: skip

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.candidate.notes, *self.growth.notes, *self.change.notes, *self.gang_notes)

    @property
    def workload(self) -> str | None:
        """Kind/name of what the replicas belong to."""
        name = self.candidate.workload
        return None if name is None else f"{name.kind}/{name.name}"


def controlled_changes(
    resolved: Resolved, grown: Sequence[Growth], scheduler: Scheduler, manner: Manner
) -> tuple[Sequence[ControlledChange], Cluster]:
    """Play the controllers of workloads that shrink or are rolled out, in the order given: what each did, and the
    resulting cluster.
    """
    if not any(growth.surplus or growth.is_rollout for growth in grown):
        return [ControlledChange()] * len(grown), resolved.cluster
    world = world_of(resolved.snapshot, scheduler, preempts=manner.preempts, assumed=resolved.cluster.assumed)
    # Waiting pods of others are not in question.
    world.queue.waiting.clear()
    changes = []
    for growth, candidate, profile in zip(grown, resolved.candidates, resolved.profiles, strict=True):
        if growth.surplus:
            changes.append(_scaled_down(world, growth, candidate, profile, manner.deals))
        elif growth.is_rollout:
            changes.append(_rolled_out(world, growth, candidate, profile, manner.deals))
        else:
            changes.append(ControlledChange())
        world.next_step()
    return changes, _as_left(resolved.cluster, world)


def _scaled_down(
    world: World, growth: Growth, candidate: Candidate, profile: Profile, deals: int | None
) -> ControlledChange:
    assert candidate.workload is not None
    begun, plugins = world.fork(), framework(profile)
    skews = []
    for dealt in _deals(world, begun, deals):
        scale(dealt, candidate.workload, len(growth.present) - growth.surplus)
        evaluation = evaluate(plugins, dealt.cluster, candidate.pod)
        skews.append(list(map(skew_now, constraint_reports(evaluation.states, evaluation.feasible))))
    gone = {key_of(gone.pod) for gone in world.happenings.gone if gone.why == SCALED_DOWN}
    deleted = [pod for pod in growth.present if key_of(pod) in gone]
    dealt_skews = [Dealt.of(values) for values in zip(*skews, strict=True)]
    return ControlledChange(deleted, dealt_skews=dealt_skews, notes=tuple(world.happenings.notes))


def _deals(world: World, begun: World, deals: int | None) -> Iterator[World]:
    """The world, and after the caller changed it, forks of ``begun`` for all other deals."""
    yield world
    yield from other_deals(begun, deals_worth([world.happenings]) if deals is None else deals)


def _rolled_out(
    world: World, growth: Growth, candidate: Candidate, profile: Profile, deals: int | None
) -> ControlledChange:
    assert candidate.workload is not None
    before, begun = world.cluster, world.fork()
    workload = AppliedWorkload(candidate.pod, candidate.workload, candidate.object, growth.further)
    report, *others = (apply_workload(dealt, workload) for dealt in _deals(world, begun, deals))
    assert report is not None
    report = report.dealt([other for other in others if other is not None]) if others else report
    rollout = world.rollouts[candidate.workload]
    replica_set = new_replica_set(rollout.deployment, rollout.replica_sets)
    own = None if replica_set is None else name_of(replica_set)
    choices = zip(world.happenings.placed, world.happenings.choices, strict=True)
    new = [(pod, choice) for pod, choice in choices if world.book.owner_of(pod) == own]
    plugins = framework(profile)
    evaluation = evaluate(plugins, world.cluster, candidate.pod)
    outcome = Outcome(
        growth.further,
        [choice for _, choice in new],
        # Default constraints also take selectors from the new ReplicaSet.
        before=domain_counts(plugins.prepare(before.with_objects(world.cluster.objects), candidate.pod).states),
        after=constraint_reports(evaluation.states, evaluation.feasible),
    )
    if not report.complete:
        outcome.stopped, outcome.stuck = report.wedged_on, bool(report.pending)
        outcome.unplaced = evaluation if report.pending else None
    names = [pod.metadata.name for pod, _ in new]
    preempted = list(preempted_pods(world.happenings))
    return ControlledChange(played=Played(outcome, report, preempted, names), notes=tuple(world.happenings.notes))


def _as_left(before: Cluster, world: World) -> Cluster:
    """``before`` with the pods where they are now, and the claims they bound."""
    position_of, running = before.nodes.index, before.running
    now = {key_of(pod): pod for pod in world.book if pod.spec.node_name in position_of}
    earlier = {key_of(pod) for pod in running.pods}
    gone = [
        (pod, node) for pod, node in zip(running.pods, running.node.tolist(), strict=True) if key_of(pod) not in now
    ]
    come = [(pod, position_of[pod.spec.node_name]) for key, pod in now.items() if key not in earlier]
    return before.after(Change(gone=gone, come=come, storage=world.cluster.storage.since(before.storage)))
