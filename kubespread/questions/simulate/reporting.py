"""The outcome of placing one workload's replicas, as a report.

Workloads to be placed, as given to a simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from statistics import median_low

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, controller_of
from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.gangs.gang import Gang
from kubespread.questions.queue.entries import Outcome
from kubespread.questions.queue.manner import Manner, Way
from kubespread.questions.remedies.taints_policy import closed_minimums, taints_policy_hints
from kubespread.questions.simulate.report import (
    DeletedReplica,
    DomainRange,
    Loss,
    NodeReplicas,
    Placement,
    Range,
    Run,
    Runs,
    Sampling,
    SimulateReport,
)
from kubespread.reports.gang import GangReport
from kubespread.reports.happened import RolloutReport
from kubespread.reports.judged_nodes import domain_counts, preemption_report
from kubespread.reports.parts import (
    ConstraintReport,
    Dealt,
    DomainChange,
    LookAhead,
    PodReference,
    PreemptedPod,
    PreemptionReport,
    SkewChange,
    skew_now,
    skew_of,
)
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import ABSENT
from kubespread.scheduler.cluster.nodes import SearchRules
from kubespread.scheduler.evaluation import has_lower, preempt
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.profile.profile import Profile, post_filters
from kubespread.world.store import claims
from kubespread.world.store.claims import Replicas
from kubespread.world.store.pod_book import PodKey


class Played(Struct, frozen=True):
    """A rollout that is finished or stuck."""

    outcome: Outcome
    rollout: RolloutReport
    preempted: Sequence[PreemptedPod] = ()
    """The pods that its new pods preempted."""


class Question(Struct, frozen=True):
    """One workload to be placed."""

    pod: Pod
    profile: Profile
    replicas: int | None
    """How many to add; None for as many as fit."""
    names: Iterator[str]
    """The names of replicas, in order."""
    creatable: int | None = None
    """How many of them admission allows, None for all."""
    refusal: str = ""
    """The message for the first one refused."""
    is_daemon: bool = False
    """One on every node that the pod's affinity and tolerations allow, instead of a number of them."""
    waiting: int = 0
    """How many of the replicas exist already, and wait for a node."""
    one_by_one: bool = False
    """Whether the next one is only created once the last one runs, as a StatefulSet does unless it is Parallel."""
    played: Played | None = None
    """The result so far, where its controller rolled it out: the cluster is as that left it."""
    claimants: Replicas | None = None
    """The replicas where each has claims of its own."""
    gang: Gang | None = None
    """The gang of its pods, placed together or not at all."""
    deleted: Sequence[tuple[Pod, int]] = ()
    """The replicas that its controller deletes, each with its node; the cluster is without them."""
    dealt_skews: Sequence[Dealt | None] = ()
    """Per constraint the skew over all deals of equal replicas, where some are deleted."""
    present: Mapping[PodKey, int] = field(default_factory=dict)
    """The workload's replicas that run already, each with its node, by position."""
    workload: str | None = None
    """Kind/name of what the replicas belong to."""
    notes: Sequence[str] = ()
    admission: Sequence[str] = ()

    def as_gang(self, gang: Gang | None, notes: Iterable[str]) -> Question:
        """The same workload with its pods as members of ``gang``."""
        return replace(self, gang=gang, notes=(*self.notes, *notes))

    @property
    def count(self) -> int | None:
        """How many are created."""
        counts = [count for count in (self.replicas, self.creatable) if count is not None]
        return min(counts, default=None)


class Ran(Struct, frozen=True):
    """What one run of a workload's replicas comes to."""

    placed: int
    after: Sequence[ConstraintReport]
    """The constraints once the queue is done."""


def ran(outcome: Outcome) -> Ran:
    return Ran(len(outcome.choices), outcome.after)


def report_of(
    cluster: Cluster,
    question: Question,
    plugins: Framework,
    manner: Manner,
    shown: Outcome,
    runs: Sequence[Ran],
    full: Cluster,
    another_order: LookAhead | None,
) -> SimulateReport:
    pod, profile = question.pod, question.profile
    before = _before(cluster, question, plugins) if question.deleted else shown.before or ()
    placed, present = [choice.node for choice in shown.choices], _left(question, shown)
    shared = [question.gang.topology_key] if question.gang is not None and question.gang.topology_key else []
    keys = (*shared, *(constraint.topology_key for constraint in shown.after), ZONE, HOSTNAME, *manner.keys)
    worst_loss = worst_losses(cluster, [*placed, *present], keys)
    desired = shown.wanted if question.is_daemon else question.replicas
    existing, refused, missing = _made(question, shown, desired)
    placements = tuple(_placements(cluster, question, shown))
    ways = manner.ways(len(cluster))
    sampled = sampling(shown, plugins.search, ways[0])
    return SimulateReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        workload=question.workload,
        replicas=None if desired is None else desired + len(question.present),
        present=len(present),
        created=None if desired is None else len(present) + existing,
        not_created=refused,
        not_made_yet=missing - refused,
        placed=len(placed),
        placements=placements,
        preempts=manner.preempts and question.replicas is not None,
        preempted=tuple(_preempted(cluster, question, shown, placements)),
        stopped=shown.stopped or _refusal(question, shown),
        conclusion=None if shown.unplaced is None else bars(shown.unplaced),
        seed=ways[0].seed,
        ties=manner.ties,
        constraints=tuple(shown.after),
        distribution=tuple(_changes(was, now) for was, now in zip(before, shown.after, strict=True)),
        skew=tuple(map(_skew_change, before, shown.after, question.dealt_skews or repeat(None))),
        deleted=tuple(_deleted(cluster, question)),
        rollout=None if question.played is None else question.played.rollout,
        worst_loss=worst_loss,
        nodes=tuple(nodes_of_replicas(cluster, placed, present, list(worst_loss))),
        sampling=sampled,
        runs=_runs_report(ways, runs) if manner.runs > 1 else None,
        look_ahead=another_order,
        gang=shown.gang and _gang_of(question, shown.gang),
        preemption=_preemption(question, shown, manner),
        not_modelled=(
            *not_modelled(pod, plugins, cluster, profile, is_grouped=question.gang is not None),
            *(question.gang.not_modelled if question.gang is not None else ()),
            *_preemption_not_modelled(question, shown),
            *_claims_not_modelled(cluster, question),
            *_behind_not_modelled(question, shown),
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
    """The matching pods of every domain before the deletions."""
    return domain_counts(plugins.prepare(cluster.after(Change(come=question.deleted)), question.pod).states)


def _deleted(cluster: Cluster, question: Question) -> Iterator[DeletedReplica]:
    for pod, node in question.deleted:
        yield DeletedReplica(pod=pod.metadata.name, node=cluster.nodes.names[node])


def _left(question: Question, outcome: Outcome) -> list[int]:
    """The nodes of running replicas that stay."""
    nodes = Counter(question.present.values())
    nodes.subtract(outcome.lost)
    return list(nodes.elements())


def _made(question: Question, outcome: Outcome, desired: int | None) -> tuple[int, int, int]:
    """How many of the ``desired`` replicas are created, how many the API server refuses, and how many do not exist."""
    if question.played is not None:
        rollout = question.played.rollout
        return len(outcome.choices) + rollout.pending, rollout.not_created, rollout.not_created
    if desired is None:
        return 0, 0, 0
    desired += len(outcome.lost)
    if question.one_by_one and outcome.stuck:
        made = min(desired, max(len(outcome.choices) + 1, question.waiting))
        return made, 0, desired - made
    made = desired if question.creatable is None else min(desired, question.creatable + len(outcome.lost))
    # Pods after a refused one are not even tried where each waits for the one before.
    return made, min(1, desired - made) if question.one_by_one else desired - made, desired - made


def _refusal(question: Question, outcome: Outcome) -> str | None:
    """Admission's message, where it prevents further replicas."""
    if question.creatable is None or len(outcome.choices) < question.creatable:
        return None
    return question.refusal if question.replicas is None or question.replicas > question.creatable else None


def _preemption_not_modelled(question: Question, outcome: Outcome) -> Iterator[str]:
    if outcome.preempted:
        yield "the pods that controllers make for those that are preempted: they are not placed"
        if question.creatable is not None and question.creatable < (question.replicas or 0):
            yield "what quotas allow once pods are preempted: replicas that are refused before stay refused"
    stuck = outcome.unplaced
    if question.gang is not None and stuck is not None and has_lower(stuck.cluster, question.pod):
        yield "preemption by pods of a group"


def _behind_not_modelled(question: Question, outcome: Outcome) -> Iterator[str]:
    if question.claimants is not None and outcome.stuck and len(outcome.choices) + 1 < question.waiting:
        yield "pods that wait behind one that finds no node: each has claims of its own, so they may find one"


def _claims_not_modelled(cluster: Cluster, question: Question) -> Iterator[str]:
    if question.workload is None:
        return claims.of_pods_by_themselves(cluster, question.pod)
    return claims.of_replicas(cluster, question.pod, has_own=question.claimants is not None)


def _placements(cluster: Cluster, question: Question, outcome: Outcome) -> Iterator[Placement]:
    for position, (choice, name) in enumerate(zip(outcome.choices, question.names, strict=False)):
        yield Placement(
            replica=position, pod=name, node=cluster.nodes.names[choice.node], total=choice.total, ties=choice.ties
        )


def _preempted(
    cluster: Cluster, question: Question, outcome: Outcome, placements: Sequence[Placement]
) -> Iterator[PreemptedPod]:
    if question.played is not None:
        yield from question.played.preempted
    for copy, victim in outcome.preempted:
        owner = controller_of(victim.pod)
        yield PreemptedPod(
            pod=NamespacedName.of(victim.pod),
            node=cluster.nodes.names[victim.node],
            owner=None if owner is None else f"{owner.kind}/{owner.name}",
            made_room_for=NamespacedName(question.pod.metadata.namespace, placements[copy].pod),
            broken_budgets=victim.broken_budgets,
        )


def _gang_of(question: Question, gang: GangReport) -> GangReport:
    """The gang's report with the name of the stuck member; placed members have used theirs."""
    if gang.blocked is None:
        return gang
    name = next(islice(question.names, gang.blocked.member - 1, None))
    return msgspec.structs.replace(gang, blocked=msgspec.structs.replace(gang.blocked, pod=name))


def _changes(before: Sequence[int], after: ConstraintReport) -> tuple[DomainChange, ...]:
    values = [domain.value for domain in after.domains]
    matching = [domain.matching for domain in after.domains]
    return tuple(map(DomainChange, values, before, matching))


def _skew_change(before: Sequence[int], after: ConstraintReport, dealt: Dealt | None) -> SkewChange:
    matching = [domain.matching for domain in after.domains]
    return SkewChange(
        topology_key=after.topology_key,
        when_unsatisfiable=after.when_unsatisfiable,
        max_skew=after.max_skew,
        before=skew_of(before, after),
        after=skew_of(matching, after),
        after_dealt=dealt,
    )


def _preemption(question: Question, outcome: Outcome, manner: Manner) -> PreemptionReport | None:
    """What preemption does for the first replica that needs it, in a cluster with those before it.

    Where none happens: what it would do for the replica after as many as fit, or why it does not help.
    """
    if outcome.preemption is not None:
        return preemption_report(outcome.preemption, question.profile.version)
    stuck = outcome.unplaced
    is_next = question.replicas is None and stuck is not None and has_lower(stuck.cluster, question.pod)
    if (
        not manner.preempts
        or not (is_next or manner.tells_preemption)
        or question.gang is not None
        or stuck is None
        or not len(stuck.cluster)
        or stuck.feasible.any()
    ):
        return None
    return preemption_report(preempt(stuck, post_filters(question.profile)), question.profile.version)


def _hints(question: Question, plugins: Framework, outcome: Outcome, full: Cluster) -> Iterator[str]:
    if outcome.unplaced is not None and (closed := closed_minimums(outcome.unplaced)):
        yield from taints_policy_hints(plugins, full, question.pod, closed, question.profile.version)


def worst_losses(cluster: Cluster, nodes: Sequence[int], keys: Iterable[str]) -> dict[str, Loss]:
    """Per topology key that some node has: the domain with most replicas; ``nodes`` are positions, once per replica."""
    replicas = np.bincount(np.array(nodes, dtype=np.int64), minlength=len(cluster))
    losses = {}
    for key in dict.fromkeys(keys):
        column = cluster.nodes.label(key)
        has_key = column.codes != ABSENT
        if not has_key.any():
            continue
        held = np.bincount(column.codes[has_key], weights=replicas[has_key], minlength=len(column.values)).astype(
            np.int64
        )
        # Ties go to the first value.
        worst = int(column.sorted_codes[held[column.sorted_codes].argmax()])
        losses[key] = Loss(
            domain=column.values[worst],
            remaining=int(replicas.sum() - held[worst]),
            domains=int(np.count_nonzero(held)),
            least=int(held.min()),
        )
    return losses


def nodes_of_replicas(
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


def sampling(shown: Outcome, rules: SearchRules, way: Way) -> Sampling | None:
    """None where kube-scheduler looks at every node."""
    enough = rules.enough(shown.listed)
    if enough is None or not shown.listed:
        return None
    return Sampling(nodes=shown.listed, enough=enough, start=way.start)


def sampling_not_modelled(sampled: Sampling | None, manner: Manner, *, is_rollout: bool) -> Iterator[str]:
    """What cannot be foretold about sampled nodes."""
    if sampled is not None and sampled.start is not None:
        yield (
            "sampling: kube-scheduler's parallel workers look at some nodes more than it needs, so that the next "
            "search begins a little further on"
        )
    if manner.sample and is_rollout:
        yield "sampling: rollouts are played with all nodes that fit scored"


def sampling_notes(sampled: Sampling | None, manner: Manner, listed: int) -> Iterator[str]:
    """A note where there is nothing to sample among the ``listed`` nodes."""
    if manner.sample and sampled is None and listed:
        nodes = "the only node" if listed == 1 else f"all {listed} nodes"
        yield f"sampling: kube-scheduler looks at {nodes}, so there is nothing to sample"


def _runs_report(ways: Sequence[Way], runs: Sequence[Ran]) -> Runs:
    """Of the first ways, where the time was up before the others."""
    constraints = list(zip(*(each.after for each in runs), strict=True))
    skews = [tuple(map(skew_now, each.after)) for each in runs]
    return Runs(
        count=len(runs),
        placed=_range([each.placed for each in runs]),
        distribution=tuple(
            tuple(
                DomainRange(value=domains[0].value, after=_range([domain.matching for domain in domains]))
                for domains in zip(*(constraint.domains for constraint in of_runs), strict=True)
            )
            for of_runs in constraints
        ),
        skew=tuple(_range([skew[place] for skew in skews]) for place in range(len(constraints))),
        each=tuple(
            Run(
                seed=way.seed,
                start=way.start,
                placed=each.placed,
                skew=skew,
                domains=tuple(tuple(domain.matching for domain in constraint.domains) for constraint in each.after),
            )
            for way, each, skew in zip(ways, runs, skews, strict=False)
        ),
    )


def _range(figures: Sequence[int]) -> Range:
    return Range(minimum=min(figures), median=median_low(figures), maximum=max(figures))
