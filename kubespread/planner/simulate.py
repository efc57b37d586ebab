"""N replicas of pods placed one after another: where they land, what stops them, how evenly they are spread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.planner import claims
from kubespread.planner.bars import bars
from kubespread.planner.claims import Replicas
from kubespread.planner.entries import Entry, Outcome
from kubespread.planner.explain import domain_counts, preemption_report
from kubespread.planner.gangs.gang import Asked, Gang
from kubespread.planner.gangs.queueing import run_with_gangs
from kubespread.planner.honesty import gaps, not_modelled
from kubespread.planner.look_ahead import look_ahead
from kubespread.planner.manner import Manner, Way
from kubespread.planner.queue import run
from kubespread.planner.replica_nodes import nodes_of_replicas, worst_losses
from kubespread.planner.reports.gang import GangReport
from kubespread.planner.reports.parts import ConstraintReport, DomainChange, PodReference, PreemptionReport
from kubespread.planner.reports.rollout import RolloutReport
from kubespread.planner.reports.simulate import (
    DeletedReplica,
    LookAhead,
    Placement,
    SimulateReport,
    SkewChange,
)
from kubespread.planner.runs import runs_report, sampling, sampling_not_modelled, sampling_notes
from kubespread.planner.skew import skew_of
from kubespread.planner.taints_policy import closed_minimums, taints_policy_hints
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import Profile


@dataclass(frozen=True, slots=True)
class Played:
    """A rollout that is over, or goes no further."""

    outcome: Outcome
    rollout: RolloutReport


@dataclass(frozen=True, slots=True)
class Question:
    """One workload that is to be placed."""

    pod: Pod
    profile: Profile
    replicas: int | None
    """How many to add; None for as many as fit."""
    names: Iterator[str]
    """What replicas are called, in order."""
    creatable: int | None = None
    """How many of them admission lets be created, None for all."""
    refusal: str = ""
    """What is said to the first one that it does not."""
    is_daemon: bool = False
    """One on every node that the pod's affinity and tolerations allow, instead of a number of them."""
    one_by_one: bool = False
    """Whether the next one is only created once the last one runs, as a StatefulSet does unless it is Parallel."""
    played: Played | None = None
    """What came of it already, where its controller rolled it out: the cluster is as it was left."""
    claimants: Replicas | None = None
    """The replicas where each has claims of its own."""
    gang: Gang | None = None
    """What its pods are members of, to be placed together or not at all."""
    deleted: Sequence[tuple[Pod, int]] = ()
    """The replicas that its controller deletes, each with its node; the cluster is without them."""
    present: Sequence[int] = ()
    """Nodes of the workload's replicas that run already, by position."""
    workload: str | None = None
    """Kind/name of what the replicas belong to."""
    notes: Sequence[str] = ()
    admission: Sequence[str] = ()

    def as_gang(self, gang: Gang | None, notes: Iterable[str]) -> Question:
        """The same workload with its pods as members of ``gang``."""
        return replace(self, gang=gang, notes=(*self.notes, *notes))

    @property
    def count(self) -> int | None:
        """How many come into being."""
        counts = [count for count in (self.replicas, self.creatable) if count is not None]
        return min(counts, default=None)


def simulate(cluster: Cluster, questions: Sequence[Question], manner: Manner) -> tuple[SimulateReport, ...]:
    """Place the pods of all ``questions`` on ``cluster`` in one queue, as kube-scheduler would; a report each, in the
    order given.
    """
    frameworks = _frameworks(questions)
    played = [_placed(cluster, questions, frameworks, manner, way) for way in manner.ways(len(cluster))]
    shown, full = played[0]
    return tuple(
        _report(
            cluster,
            question,
            plugins,
            manner,
            [outcomes[place] for outcomes, _ in played],
            full,
            _look_ahead(cluster, questions, shown, place, plugins),
        )
        for place, (question, plugins) in enumerate(zip(questions, frameworks, strict=True))
    )


def outcomes(cluster: Cluster, questions: Sequence[Question], manner: Manner) -> list[Outcome]:
    """What becomes of each of ``questions`` in the same queue, without a report."""
    (way, *_) = manner.ways(len(cluster))
    return _placed(cluster, questions, _frameworks(questions), manner, way)[0]


def _placed(
    cluster: Cluster, questions: Sequence[Question], frameworks: Sequence[Framework], manner: Manner, way: Way
) -> tuple[list[Outcome], Cluster]:
    entries = [
        Entry(
            question.pod,
            plugins,
            question.count,
            question.is_daemon,
            frozenset(question.present),
            question.claimants,
            # Nobody binds the claims of a pod by itself: it is asked about in the cluster as it stands.
            binds=question.workload is not None,
        )  # fmt: skip
        for question, plugins in zip(questions, frameworks, strict=True)
        if question.played is None
    ]
    gangs = [question.gang for question in questions if question.played is None]
    found, full = _run(cluster, entries, gangs, way, manner)
    return _with_played(questions, found), full


def _run(
    cluster: Cluster, entries: Sequence[Entry], gangs: Sequence[Gang | None], way: Way, manner: Manner
) -> tuple[list[Outcome], Cluster]:
    break_tie, on_progress = way.tiebreaker(), manner.on_progress
    if not any(gangs):
        return run(cluster, entries, break_tie, search=way.search(), on_progress=on_progress)
    return run_with_gangs(cluster, list(map(Asked, entries, gangs)), break_tie, seed=way.seed, on_progress=on_progress)


def _with_played(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """What came of all of them, those that were played before at their places."""
    rest = iter(outcomes)
    return [next(rest) if question.played is None else question.played.outcome for question in questions]


def _frameworks(questions: Sequence[Question]) -> list[Framework]:
    """One for each profile: pods of one framework share what its plugins prepare."""
    made = {id(question.profile): framework(question.profile) for question in questions}
    return [made[id(question.profile)] for question in questions]


def _report(
    cluster: Cluster,
    question: Question,
    plugins: Framework,
    manner: Manner,
    outcomes: Sequence[Outcome],
    full: Cluster,
    another_order: LookAhead | None,
) -> SimulateReport:
    pod, profile, shown = question.pod, question.profile, outcomes[0]
    before = _before(cluster, question, plugins) if question.deleted else shown.before or ()
    placed = [choice.node for choice in shown.choices]
    shared = [question.gang.topology_key] if question.gang is not None and question.gang.topology_key else []
    keys = (*shared, *(constraint.topology_key for constraint in shown.after), ZONE, HOSTNAME, *manner.keys)
    worst_loss = worst_losses(cluster, [*placed, *question.present], keys)
    wanted = shown.wanted if question.is_daemon else question.replicas
    ways = manner.ways(len(cluster))
    sampled = sampling(shown, plugins.search, ways[0])
    return SimulateReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        workload=question.workload,
        replicas=None if wanted is None else wanted + len(question.present),
        present=len(question.present),
        created=None if wanted is None else len(question.present) + _created(question, shown, wanted),
        placed=len(placed),
        placements=tuple(_placements(cluster, question, shown)),
        stopped=shown.stopped or _refusal(question, shown),
        conclusion=None if shown.unplaced is None else bars(shown.unplaced),
        seed=ways[0].seed,
        ties=manner.ties,
        constraints=tuple(shown.after),
        distribution=tuple(_changes(was, now) for was, now in zip(before, shown.after, strict=True)),
        skew=tuple(_skew_change(was, now) for was, now in zip(before, shown.after, strict=True)),
        deleted=tuple(_deleted(cluster, question)),
        rollout=None if question.played is None else question.played.rollout,
        worst_loss=worst_loss,
        nodes=tuple(nodes_of_replicas(cluster, placed, question.present, list(worst_loss))),
        sampling=sampled,
        runs=runs_report(ways, outcomes) if manner.runs > 1 else None,
        look_ahead=another_order,
        gang=shown.gang and _gang_of(question, shown.gang),
        preemption=_preemption(question, shown) if manner.preemption else None,
        gaps=gaps(pod, plugins, cluster, preemption=manner.preemption, workload=question.workload or ""),
        not_modelled=(
            *not_modelled(pod, plugins, cluster, profile, is_grouped=question.gang is not None),
            *(question.gang.not_modelled if question.gang is not None else ()),
            *_claims_not_modelled(cluster, question),
            *sampling_not_modelled(sampled, manner, is_rollout=question.played is not None),
        ),
        admission=tuple(question.admission),
        notes=(
            *question.notes,
            *sampling_notes(sampled, manner, shown.listed),
            *_hints(question, plugins, shown, full),
        ),
    )


def _before(cluster: Cluster, question: Question, plugins: Framework) -> Sequence[Sequence[int]]:
    """The matching pods of every domain while those that are deleted were there."""
    return domain_counts(plugins.prepare(cluster.after(Change(come=question.deleted)), question.pod).states)


def _deleted(cluster: Cluster, question: Question) -> Iterator[DeletedReplica]:
    for pod, node in question.deleted:
        yield DeletedReplica(pod=pod.metadata.name, node=cluster.nodes.names[node])


def _created(question: Question, outcome: Outcome, wanted: int) -> int:
    if question.one_by_one and outcome.stuck:
        return len(outcome.choices) + 1
    return min(wanted, question.creatable) if question.creatable is not None else wanted


def _refusal(question: Question, outcome: Outcome) -> str | None:
    """What admission says, where it is what keeps further replicas away."""
    if question.creatable is None or len(outcome.choices) < question.creatable:
        return None
    return question.refusal if question.replicas is None or question.replicas > question.creatable else None


def _claims_not_modelled(cluster: Cluster, question: Question) -> Iterator[str]:
    if question.workload is None:
        return claims.of_pods_by_themselves(cluster, question.pod)
    return claims.of_replicas(cluster, question.pod, has_own=question.claimants is not None)


def _placements(cluster: Cluster, question: Question, outcome: Outcome) -> Iterator[Placement]:
    for position, (choice, name) in enumerate(zip(outcome.choices, question.names, strict=False)):
        yield Placement(
            replica=position, pod=name, node=cluster.nodes.names[choice.node], total=choice.total, ties=choice.ties
        )


def _gang_of(question: Question, gang: GangReport) -> GangReport:
    """With the name of the member that is stuck; those that are placed have taken theirs."""
    if gang.blocked is None:
        return gang
    name = next(islice(question.names, gang.blocked.member - 1, None))
    return msgspec.structs.replace(gang, blocked=msgspec.structs.replace(gang.blocked, pod=name))


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


def _look_ahead(
    cluster: Cluster, questions: Sequence[Question], outcomes: Sequence[Outcome], place: int, plugins: Framework
) -> LookAhead | None:
    question, outcome = questions[place], outcomes[place]
    if (
        question.played is not None
        or question.is_daemon
        or question.gang is not None
        or question.count is None
        or len(outcome.choices) >= question.count
        or not outcome.stuck
        # Each placement would bind claims.
        or question.claimants is not None
        or claims.unbound_claims(cluster, question.pod)
    ):
        return None
    return look_ahead(plugins, _beside(cluster, questions, outcomes, place), question.pod, question.count)


def _beside(cluster: Cluster, questions: Sequence[Question], outcomes: Sequence[Outcome], place: int) -> Cluster:
    """The cluster with what was placed of all workloads but the one at ``place``."""
    others = [
        (question.pod, choice.node)
        for position, (question, outcome) in enumerate(zip(questions, outcomes, strict=True))
        if position != place
        for choice in outcome.choices
    ]
    return cluster.after(Change(come=others)) if others else cluster


def _preemption(question: Question, outcome: Outcome) -> PreemptionReport | None:
    """What preemption would do for the first replica that found no node, in a cluster that holds those before it."""
    stuck = outcome.unplaced
    if question.gang is not None or stuck is None or not len(stuck.cluster) or stuck.feasible.any():
        return None
    return preemption_report(stuck, question.profile)


def _hints(question: Question, plugins: Framework, outcome: Outcome, full: Cluster) -> Iterator[str]:
    if outcome.unplaced is not None and (closed := closed_minimums(outcome.unplaced)):
        yield from taints_policy_hints(plugins, full, question.pod, closed, question.profile.version)
