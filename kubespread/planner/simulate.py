"""N replicas of a pod placed one after another: where they land, what stops them, how evenly they are spread."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median_low

import msgspec
import numpy as np

from kubespread.kube.objects import Pod
from kubespread.planner.explain import constraint_reports, preemption_report
from kubespread.planner.gaps import gaps
from kubespread.planner.honesty import not_modelled
from kubespread.planner.look_ahead import look_ahead
from kubespread.planner.report import ConstraintReport, PodReference, PreemptionReport
from kubespread.planner.simulation_report import (
    DomainChange,
    DomainSpread,
    LookAhead,
    Loss,
    Placement,
    Runs,
    SimulateReport,
    SkewChange,
    Spread,
)
from kubespread.planner.taints_policy import Closed, closed_minimums, taints_policy_hints
from kubespread.scheduler.cluster import ABSENT, Cluster, Counts
from kubespread.scheduler.placing import Choice, Placing, Tiebreaker
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.registry import framework
from kubespread.scheduler.profile import Profile

MAX_REPLICAS = 1_000_000
_NOW_AND_THEN = 200
_WELL_KNOWN = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be placed, and how ties are broken."""

    pod: Pod
    replicas: int | None
    """How many to add; None for as many as fit."""
    names: Iterator[str]
    """What replicas are called, in order."""
    is_daemon: bool = False
    """One on every node that the pod's affinity and tolerations allow, instead of a number of them."""
    present: Sequence[int] = ()
    """Nodes of the workload's replicas that run already, by position."""
    seed: int | None = None
    """Break ties at random with this seed; by name without one."""
    runs: int = 1
    preemption: bool = False
    workload: str | None = None
    keys: Sequence[str] = ()
    """Topology keys to report about, besides those of the constraints, zone and hostname."""
    heard: Callable[[int], None] | None = None
    """Told now and then how many replicas are placed."""
    notes: Sequence[str] = field(default_factory=tuple)
    admission: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One run: the choices made, the constraints before and after, and why it ended."""

    wanted: int | None
    choices: list[Choice]
    before: Sequence[ConstraintReport]
    after: Sequence[ConstraintReport]
    copies: Counts
    stopped: str | None
    stuck: bool = False
    """Whether the next replica found no node, as opposed to an error."""
    closed: Closed = field(default_factory=dict)
    """The domains that kept it from a node though none of theirs is open."""


def simulate(cluster: Cluster, profile: Profile, question: Question) -> SimulateReport:
    """Place the question's pod on ``cluster`` as kube-scheduler with ``profile`` would."""
    pod, version = question.pod, profile.args.version
    report = SimulateReport(
        kube_version=str(version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        workload=question.workload,
        replicas=0,
        present=len(question.present),
        placed=0,
        placements=(),
        stopped=None,
        seed=_seeds(question)[0],
        gaps=gaps(pod, profile, cluster, preemption=question.preemption, workload=question.workload or ""),
        not_modelled=(*not_modelled(cluster, pod, profile), *_shared_claims(pod)),
        admission=tuple(question.admission),
        notes=tuple(question.notes),
    )
    try:
        if question.is_daemon:
            outcomes = [_daemons(cluster, profile, question)]
        else:
            outcomes = [_run(cluster, profile, question, seed) for seed in _seeds(question)]
    except SchedulingError as error:
        # It fails every replica alike before the first is placed.
        outcomes = [_Outcome(question.replicas, [], (), (), np.zeros(len(cluster), dtype=np.int64), str(error))]
    shown = outcomes[0]
    return msgspec.structs.replace(
        report,
        replicas=None if shown.wanted is None else shown.wanted + len(question.present),
        placed=len(shown.choices),
        placements=tuple(_placements(cluster, question, shown.choices)),
        stopped=shown.stopped,
        constraints=tuple(shown.after),
        distribution=tuple(_changes(before, after) for before, after in zip(shown.before, shown.after, strict=True)),
        skew=tuple(_skew_change(before, after) for before, after in zip(shown.before, shown.after, strict=True)),
        worst_loss=_worst_loss(cluster, question, shown),
        runs=_runs(outcomes) if question.runs > 1 else None,
        look_ahead=_look_ahead(cluster, profile, question, shown),
        preemption=_preemption(cluster, profile, question, shown) if question.preemption else None,
        notes=(*question.notes, *_hints(cluster, profile, question, shown)),
    )


def _shared_claims(pod: Pod) -> Iterator[str]:
    """A controller may give each replica claims of its own."""
    if any(volume.persistent_volume_claim is not None or volume.ephemeral is not None for volume in pod.spec.volumes):
        yield "claims of each replica: all are judged with those of the first, and none is bound by a placement"


def _seeds(question: Question) -> list[int | None]:
    if question.runs == 1:
        return [question.seed]
    first = question.seed or 0
    return list(range(first, first + question.runs))


def _run(cluster: Cluster, profile: Profile, question: Question, seed: int | None) -> _Outcome:
    placing = Placing(framework(profile), cluster, question.pod)
    before = constraint_reports(placing.evaluation())
    break_tie = _at_random(seed) if seed is not None else None
    wanted = MAX_REPLICAS if question.replicas is None else question.replicas
    choices: list[Choice] = []
    stopped, stuck = None, False
    while len(choices) < wanted:
        try:
            choice = placing.choose(break_tie)
        except SchedulingError as error:
            stopped = str(error)
            break
        if choice is None:
            stuck = True
            break
        choices.append(choice)
        placing.place(choice.node)
        if question.heard is not None and len(choices) % _NOW_AND_THEN == 0:
            question.heard(len(choices))
    last = placing.evaluation()
    if len(choices) < wanted and stopped is None:
        stopped = last.message
    closed = closed_minimums(last) if stuck else {}
    return _Outcome(question.replicas, choices, before, constraint_reports(last), placing.copies, stopped, stuck, closed)


def _daemons(cluster: Cluster, profile: Profile, question: Question) -> _Outcome:
    """A DaemonSet's controller pins one pod to each node it may run on; here each is judged as the unpinned pod is."""
    placing = Placing(framework(profile), cluster, question.pod)
    evaluation = placing.evaluation()
    allowed = np.ones(len(cluster), dtype=np.bool_)
    for name in ("NodeAffinity", "TaintToleration"):
        if name in evaluation.verdicts:
            allowed &= evaluation.verdicts[name].passes
    running = set(question.present)
    targets = [int(node) for node in np.flatnonzero(allowed)[cluster.name_rank[allowed].argsort()] if int(node) not in running]
    choices = [Choice(node, int(evaluation.total[node]), 1) for node in targets if evaluation.feasible[node]]
    for choice in choices:
        placing.place(choice.node)
    failing = [node for node in targets if not evaluation.feasible[node]]
    stopped = None
    if failing:
        first = evaluation.verdict(failing[0])
        others = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        stopped = f"no room on {cluster.names[failing[0]]}{others}: {', '.join(first.reasons)}"
    after = constraint_reports(placing.evaluation())
    return _Outcome(len(targets), choices, constraint_reports(evaluation), after, placing.copies, stopped, bool(failing))


def _at_random(seed: int) -> Tiebreaker:
    chance = random.Random(seed)
    return lambda equals: int(equals[chance.randrange(len(equals))])


def _placements(cluster: Cluster, question: Question, choices: Sequence[Choice]) -> list[Placement]:
    return [
        Placement(
            replica=position,
            pod=name,
            node=cluster.names[choice.node],
            total=choice.total,
            ties=choice.ties,
        )
        for position, (choice, name) in enumerate(zip(choices, question.names, strict=False))
    ]


def _changes(before: ConstraintReport, after: ConstraintReport) -> tuple[DomainChange, ...]:
    return tuple(
        DomainChange(value=domain.value, before=was.matching, after=domain.matching)
        for was, domain in zip(before.domains, after.domains, strict=True)
    )


def _skew_change(before: ConstraintReport, after: ConstraintReport) -> SkewChange:
    return SkewChange(topology_key=after.topology_key, max_skew=after.max_skew, before=_skew(before), after=_skew(after))


def _skew(constraint: ConstraintReport) -> int:
    counts = [domain.matching for domain in constraint.domains if domain.eligible_nodes]
    if not counts:
        return 0
    least = 0 if len(counts) < (constraint.min_domains or 1) else min(counts)
    return max(counts) - least


def _worst_loss(cluster: Cluster, question: Question, outcome: _Outcome) -> dict[str, Loss]:
    """Per topology key of interest: the domain that holds most replicas of the workload."""
    replicas = outcome.copies.copy()
    np.add.at(replicas, list(question.present), 1)
    keys = dict.fromkeys((*(constraint.topology_key for constraint in outcome.after), *_WELL_KNOWN, *question.keys))
    losses = {}
    for key in keys:
        column = cluster.label(key)
        there = column.codes != ABSENT
        if not there.any():
            continue
        held = np.bincount(column.codes[there], weights=replicas[there], minlength=len(column.values)).astype(np.int64)
        worst = min(range(len(held)), key=lambda code: (-held[code], column.values[code]))
        losses[key] = Loss(
            domain=column.values[worst],
            remaining=int(replicas.sum() - held[worst]),
            domains=int(np.count_nonzero(held)),
            least=int(held.min()),
        )
    return losses


def _runs(outcomes: Sequence[_Outcome]) -> Runs:
    per_constraint = zip(*(outcome.after for outcome in outcomes), strict=True)
    distribution = tuple(
        tuple(
            DomainSpread(value=domains[0].value, after=_spread([domain.matching for domain in domains]))
            for domains in zip(*(constraint.domains for constraint in constraints), strict=True)
        )
        for constraints in per_constraint
    )
    return Runs(count=len(outcomes), placed=_spread([len(outcome.choices) for outcome in outcomes]), distribution=distribution)


def _spread(figures: Sequence[int]) -> Spread:
    return Spread(minimum=min(figures), median=median_low(figures), maximum=max(figures))


def _look_ahead(cluster: Cluster, profile: Profile, question: Question, outcome: _Outcome) -> LookAhead | None:
    if question.is_daemon or question.replicas is None or len(outcome.choices) >= question.replicas or not outcome.stuck:
        return None
    return look_ahead(framework(profile), cluster, question.pod, question.replicas)


def _preemption(cluster: Cluster, profile: Profile, question: Question, outcome: _Outcome) -> PreemptionReport | None:
    """What preemption would do for the first replica that found no node, in a cluster that holds those before it."""
    if not outcome.stuck or not len(cluster):
        return None
    plugins = framework(profile)
    evaluation = plugins.evaluate(_afterwards(cluster, question, outcome), question.pod)
    return None if evaluation.feasible.any() else preemption_report(plugins, evaluation, profile.args)


def _hints(cluster: Cluster, profile: Profile, question: Question, outcome: _Outcome) -> Iterator[str]:
    if outcome.closed:
        there = _afterwards(cluster, question, outcome)
        yield from taints_policy_hints(framework(profile), there, question.pod, outcome.closed, profile.args.version)


def _afterwards(cluster: Cluster, question: Question, outcome: _Outcome) -> Cluster:
    return cluster.with_pods(question.pod, [choice.node for choice in outcome.choices])
