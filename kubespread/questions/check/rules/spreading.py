"""Rules for what spreads replicas, or does not: constraints beside each other, other terms and scores, defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.core import Affinity, Pod, PodAffinityTerm, PodAntiAffinity, Service, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.selector import Selector, SelectorError, from_label_selector
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, SCHEDULE_ANYWAY
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.check.rule import Case, ClusterRule, Declared, Rule, RuleFinding, remedy_of
from kubespread.questions.check.trial import (
    Mended,
    Placed,
    ReplicaTrial,
    Subject,
    by_domain,
    domains,
    own_counts,
    skew_of,
    with_constraints,
)
from kubespread.questions.remedies.spreading import is_gathered, lacking, spreading
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugins.podtopologyspread.constraints import default_selector
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SoftConstraint
from kubespread.wording import count_of, short_key


class NoNodeCap(ClusterRule, code="KS106", name="no-node-cap", severity=Severity.INFO):
    """maxSkew over nodes is taken for a limit per node.

    `maxSkew: 1` over `kubernetes.io/hostname` reads like one pod per node. It only bounds the difference from the
    emptiest node: once every node has one, each may take a second. With more replicas than nodes that the pod can go
    to, a node holds more than maxSkew of them, and its loss takes more than one replica.

    Example: six nodes, eight replicas, and a hard constraint over nodes with `maxSkew: 1`. Two nodes get two.

    Remedy: none where an even spread is meant. For a limit, minDomains above the number of nodes keeps the minimum at
    0, and replicas beyond maxSkew per node wait; for one per node, a required podAntiAffinity does the same.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter, minMatchNum"""
        for declared, hard in case.hard(trial):
            max_skew, landed = declared.constraint.max_skew, trial.placed.by_domain(HOSTNAME)
            most = max(landed.values(), default=0)
            if declared.key != HOSTNAME or not declared.constraint.self_match or most <= max_skew:
                continue
            nodes = sum(count == most for count in landed.values())
            message = (
                f"maxSkew {max_skew} is no limit per node: of {trial.placed.count} replicas "
                f"{f'a node gets {most}' if nodes == 1 else f'{nodes} nodes get {most} each'}"
            )
            capped = declared.with_fields(minDomains=len(domains(hard)) + 1)
            remedy = Remedy(
                text=f"for at most {count_of(max_skew, 'replica')} per node, minDomains above the number of nodes; the "
                "others wait",
                settings=capped.settings,
                outcome=trial.placed_with(capped).text,
            )
            yield RuleFinding(f"{declared.path}.maxSkew", message, remedy)


class Deadlock(ClusterRule, code="KS207", name="deadlock", severity=Severity.ERROR):
    """Hard constraints that can each be met cannot be met together.

    kube-scheduler places one pod after another and never moves one. With a hard constraint over zones and another one
    over nodes the first replicas may leave every node of the emptiest zone full by the second constraint, and every
    other zone full by the first: the next replica fits nowhere, though each constraint alone would place them all.
    Zones with different numbers of nodes do this sooner or later.

    Example: zones a and b with two nodes each, zone c with one, and two hard constraints with `maxSkew: 1`, one over
    zones and one over nodes.

    Remedy: relax one of them, usually the one over nodes: a higher maxSkew, or ScheduleAnyway.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter"""
        hard = [declared for declared, _ in case.hard(trial)]

        def alone(declared: Declared) -> Placed:
            kept = [own.position for own in case.own if own is declared or not own.constraint.is_hard]
            return trial.placed_with(lambda pod: _with_only(pod, kept))

        if len(hard) < 2 or trial.placed.is_complete or not all(alone(declared).is_complete for declared in hard):
            return
        names = [f"{declared.name} ≤ {declared.constraint.max_skew}" for declared in hard]
        message = (
            f"{' and '.join(names)} deadlock: {trial.placed.text}, and each constraint alone places all "
            f"{trial.placed.desired}"
        )
        mended, remedy = _relaxed(hard, trial)
        yield RuleFinding(case.subject.field("spec.topologySpreadConstraints"), message, remedy, mended)


def _with_only(pod: Pod, positions: Sequence[int]) -> Pod:
    return with_constraints(pod, [pod.spec.topology_spread_constraints[position] for position in positions])


def _relaxed(hard: Sequence[Declared], trial: ReplicaTrial) -> tuple[Mended | None, Remedy]:
    """The least that gives way and places all, the last constraints first."""
    wider = [declared.with_fields(maxSkew=declared.constraint.max_skew + 1) for declared in reversed(hard)]
    # minDomains is for hard constraints alone.
    softer = [
        declared.with_fields(whenUnsatisfiable=SCHEDULE_ANYWAY)
        for declared in reversed(hard)
        if declared.constraint.min_domains is None
    ]
    for change in (*wider, *softer):
        mended = trial.mended(change)
        if mended.placed.is_complete:
            (declared,) = change.values
            text = f"{change.text} on the constraint over {declared.key}"
            return mended, Remedy(text=text, settings=change.settings, outcome=mended.placed.text)
    return None, Remedy(text="relax one of the constraints")


_FIELD = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"


class AntiAffinity(Rule, code="KS303", name="anti-affinity", severity=Severity.INFO):
    """A required anti-affinity over the same domains makes the constraint redundant, or contradicts it.

    A required podAntiAffinity against the pods' own labels allows one replica in a domain. A constraint over the same
    key that counts the same pods then has nothing left to reject: a replica only goes where there is none, so the skew
    is 1. Where there are more replicas than domains the two contradict each other: the constraint would let a domain
    take another one, the anti-affinity never does, and the other replicas wait.

    Example: six replicas, three zones, a hard constraint over zones, and a required podAntiAffinity over zones against
    the pods' own labels.

    Remedy: keep one of the two: the constraint where replicas should be even, the anti-affinity where there must never
    be two.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, satisfyPodAntiAffinity"""
        for position, term in enumerate(() if case.subject.is_daemon else _required(case.subject.pod)):
            over = next((declared for declared in case.own if declared.key == term.topology_key), None)
            if over is not None and (selector := _against_itself(case.subject, term)) is not None:
                yield from _overlapping(case, over, position, selector)


def _required(pod: Pod) -> list[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return []
    return affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution


def _against_itself(subject: Subject, term: PodAffinityTerm) -> Selector | None:
    """The term's selector where it keeps the replicas from one another."""
    if term.namespace_selector is not None or term.namespaces not in ([], [subject.name.namespace]):
        return None
    with suppress(SelectorError):
        selector = from_label_selector(term.label_selector)
        return selector if selector.matches(subject.labels) else None
    return None


def _overlapping(case: Case, over: Declared, position: int, selector: Selector) -> Iterator[RuleFinding]:
    trial = case.trial
    if trial is not None and not trial.placed.is_complete:
        free = trial.mended(lambda pod: _without_term(pod, position))
        if free.placed.count > trial.placed.count:
            message = f"it allows one replica a {over.name}, and the constraint would allow more: {trial.placed.text}"
            outcome = free.placed.outcome(over.key)
            remedy = Remedy(text="remove the anti-affinity, or make it preferred", outcome=outcome)
            field = case.subject.field(f"{_FIELD}[{position}]")
            yield RuleFinding(field, message, remedy, free, Severity.ERROR, proven=True)
            return
    # What the constraint counts, the anti-affinity keeps away as well.
    if set(selector.requirements) <= set(over.constraint.selector.requirements) and over.constraint.counts_pods:
        as_many = ""
        if trial is not None:
            others = [own.position for own in case.own if own is not over]
            without = trial.placed_with(lambda pod: _with_only(pod, others))
            as_many = f": {trial.placed.text} with it and {without.count} without"
        message = (
            f"the required podAntiAffinity allows one replica a {over.name} already: 0 + 1 − 0 = 1 never exceeds "
            f"maxSkew {over.constraint.max_skew}, so the constraint rejects no node{as_many}"
        )
        remedy = Remedy(text=f"remove one of the two over {over.name}")
        yield RuleFinding(over.path, message, remedy, proven=trial is not None)


def _without_term(pod: Pod, position: int) -> Pod:
    kept = [term for index, term in enumerate(_required(pod)) if index != position]
    affinity = pod.spec.affinity or Affinity()
    anti = replace(
        affinity.pod_anti_affinity or PodAntiAffinity(), required_during_scheduling_ignored_during_execution=kept
    )
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, pod_anti_affinity=anti)))


class DroppedDefaults(ClusterRule, code="KS501", name="dropped-defaults", severity=Severity.INFO):
    """A pod's own constraints switch the default constraints off, even those over other keys.

    A pod without constraints gets those of the scheduler's configuration, by default soft ones over hostnames (maxSkew
    3) and zones (maxSkew 5). With one constraint of its own, hard or soft, over any key, it gets none of them. A pod
    that asks for even zones alone has no constraint over nodes any more: all of a zone's share may run on one of them.

    There is a finding where it makes a difference on this cluster: a domain takes more replicas than the default's
    maxSkew, and with the default beside its own constraints it would take fewer.

    Example: a hard constraint over zones, and none over nodes.

    Remedy: declare the missing default too.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, getConstraints
        Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, systemDefaultConstraints
        """
        subject = case.subject
        if not case.own or subject.is_daemon or subject.replicas < 2 or not case.own_labels:
            return
        if default_selector(subject.pod, trial.cluster.objects).is_empty:
            return
        placed, declared = trial.placed, {own.key for own in case.own}
        for default in case.spread.defaults.constraints:
            key, name = default.topology_key, short_key(default.topology_key)
            landed = placed.by_domain(key)
            most = max(landed.values(), default=0)
            # Below its maxSkew, and where they stand as evenly as can be, the default has nothing to say.
            if key in declared or len(landed) < 2 or most <= max(default.max_skew, -(-placed.count // len(landed))):
                continue
            with_default = _with_another(default, case, trial).placed
            fewer = max(with_default.by_domain(key).values(), default=0)
            if with_default.count >= placed.count and fewer < most:
                yield RuleFinding(
                    subject.field("spec.topologySpreadConstraints"),
                    f"its own constraints replace the default one over {name}: a single {name} takes {most} of "
                    f"{count_of(placed.count, 'replica')}",
                    Remedy(
                        text=f"declare {name} maxSkew {default.max_skew} {default.when_unsatisfiable} too",
                        outcome=f"a single {name} takes {fewer}",
                    ),
                )


def _with_another(constraint: TopologySpreadConstraint, case: Case, trial: ReplicaTrial) -> Mended:
    """The pod with a further constraint, which selects its own labels."""
    selecting = replace(constraint, label_selector=LabelSelector(match_labels=case.own_labels))
    return trial.mended(lambda pod: with_constraints(pod, [*pod.spec.topology_spread_constraints, selecting]))


def _declaring(constraint: TopologySpreadConstraint, subject: Subject, outcome: str) -> Remedy:
    change = spreading(constraint, None if subject.is_written else subject.name)
    return remedy_of(change, change.what, outcome)


class NoDefaults(ClusterRule, code="KS502", name="no-defaults", severity=Severity.INFO):
    """The default constraints do not apply to a pod that nothing selects.

    A pod without constraints gets the scheduler's default ones with a selector derived from the Services that match it,
    and from the ReplicaSet, StatefulSet or ReplicationController that controls it. Pods of a Job or of a custom
    controller have no such owner. Without a Service they have no selector and so no default constraints, and nothing
    but free resources spreads them.

    Example: a Job with parallelism 6 and no Service.

    Remedy: give the pod constraints of its own.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, buildDefaultConstraints
        Source: pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector
        """
        subject, placed, objects = case.subject, trial.placed, trial.cluster.objects
        if case.own or subject.is_daemon or subject.replicas < 2 or not objects.knows(Service):
            return
        if not default_selector(subject.pod, objects).is_empty or not case.own_labels:
            return
        # The built-in ones go from nodes to zones: the widest that matters is said.
        for default in reversed(case.spread.defaults.constraints):
            key, landed = default.topology_key, placed.by_domain(default.topology_key)
            if skew_of(landed) <= 1:
                continue
            with_default = _with_another(default, case, trial).placed
            if with_default.count >= placed.count and skew_of(with_default.by_domain(key)) < skew_of(landed):
                yield RuleFinding(
                    subject.field("spec"),
                    f"no default constraint over {short_key(key)} applies: no Service selects the pods of a "
                    f"{subject.name.kind}, and nothing else does; {count_of(placed.count, 'replica')} "
                    f"land {by_domain(landed)}",
                    _declaring(default, subject, with_default.outcome(key)),
                )
                return


class Outweighed(ClusterRule, code="KS503", name="outweighed", severity=Severity.WARNING):
    """A soft constraint is outweighed by other scores.

    ScheduleAnyway is one score among others: PodTopologySpread counts twice, node affinity twice, taints three times,
    and free resources, inter-pod affinity and images count too. Where another preference is stronger, or always favors
    the same nodes, replicas gather in spite of the constraint, and no event mentions it.

    There is a finding where the replicas end beyond maxSkew though a hard constraint would place all of them evenly.
    The numbers are the scores of the first replica that goes too far. Where one replica makes the difference it is only
    an info.

    Example: a soft constraint over zones, and a preferred node affinity with weight 100 for one of them.

    Remedy: DoNotSchedule, or a weaker preference.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        # Replicas with claims of their own are not copies, and are not asked again one by one.
        """Source: pkg/scheduler/framework/runtime/framework.go, RunScorePlugins
        Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins
        """
        if case.subject.is_daemon or case.subject.told_apart is not None:
            return
        for declared, soft in zip(case.own, trial.counted, strict=False):
            if isinstance(soft, SoftConstraint) and declared.counts_itself:
                yield from _outweighed(declared, soft, trial)


def _outweighed(declared: Declared, counted: SoftConstraint, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    placed, most = trial.placed, declared.constraint.max_skew
    before, own = _matching(counted), own_counts([placed], counted)
    skew = skew_of({value: count + own[value] for value, count in before.items()})
    if skew <= most:
        return
    hard = declared.with_fields(whenUnsatisfiable=DO_NOT_SCHEDULE)
    even, index = trial.placed_with(hard), _too_far(placed, before, counted, most)
    if index is None or even.count < placed.count:
        return
    copies = [(trial.subject.pod, node) for node in placed.nodes[:index]]
    evaluation = evaluate(trial.plugins, trial.cluster.after(ClusterChange(come=copies)), trial.subject.pod)
    if scores := _scores(evaluation, placed.nodes[index]):
        yield RuleFinding(
            declared.path,
            f"{declared.name} ≤ {most} is outweighed: replica {index + 1} {scores}; {placed.outcome(declared.key)}",
            Remedy(
                text="whenUnsatisfiable: DoNotSchedule, or a weaker preference",
                settings=hard.settings,
                outcome=even.outcome(declared.key),
            ),
            severity=Severity.INFO if skew == most + 1 else None,
        )


def _matching(counted: SoftConstraint) -> Mapping[str, int]:
    """The pods that the constraint counts before the first replica comes, by domains as `own_counts` has them."""
    matching, column = counted.around(), counted.column
    nodes = np.flatnonzero(counted.eligible & column.present)
    counts = dict(zip(column.codes[nodes].tolist(), matching[nodes].tolist(), strict=True))
    return {value: counts[column.index[value]] for value in column.sorted_values if column.index[value] in counts}


def _too_far(placed: Placed, before: Mapping[str, int], counted: SoftConstraint, most: int) -> int | None:
    """The first replica that makes its domain exceed maxSkew."""
    counts, column = dict(before), counted.column
    for index, node in enumerate(placed.nodes):
        value = column.values[column.codes[node]] if column.present[node] else ""
        if value in counts:
            if counts[value] + 1 - min(counts.values()) > most:
                return index
            counts[value] += 1
    return None


def _scores(evaluation: Evaluation, node: int) -> str:
    """The score that spreading takes from the chosen node and others give it; empty where spreading prefers it too."""
    spread = evaluation.scores.get(PodTopologySpread.name)
    if spread is None:
        return ""
    best = spread.weighted[evaluation.feasible].max()
    among = np.where(evaluation.feasible & (spread.weighted == best), evaluation.total, -1)
    other, names = int(among.argmax()), evaluation.cluster.nodes.names
    by_plugin = {
        name: int(scores.weighted[node] - scores.weighted[other]) for name, scores in evaluation.scores.items()
    }
    lost = -by_plugin.pop(PodTopologySpread.name)
    gained = sorted(((by, name) for name, by in by_plugin.items() if by > 0), reverse=True)
    if lost <= 0 or not gained:
        return ""
    other_plugins = " and ".join(f"{name} {by} more" for by, name in gained[:2])
    return (
        f"goes to {names[node]}, where PodTopologySpread gives {lost} less than on {names[other]}, but {other_plugins}"
    )


class Gathered(ClusterRule, code="KS505", name="gathered", severity=Severity.WARNING):
    """One zone or node takes more than half of the replicas.

    Without a constraint over zones or nodes, free room and preferences decide where replicas go, and the default
    constraints are soft and lenient: a zone of larger nodes takes most of them, and so does a node that has the image.
    Losing that one zone or node takes more than half of the replicas at once, though they could run elsewhere.

    All replicas are placed, as they are and with the constraint. Keys that a constraint of the pod's own is over are
    left to other rules.

    Example: a Job with six pods, and one zone whose nodes are much larger.

    Remedy: a constraint over zones, or over nodes; a soft one where that is enough.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, Score"""
        subject, placed = case.subject, trial.placed
        if subject.is_daemon or subject.replicas < 2 or not placed.is_complete or not case.own_labels:
            return
        declared = {own.key for own in case.own}
        for constraint in lacking(placed.by_domain, ()):
            key, name = constraint.topology_key, short_key(constraint.topology_key)
            if key in declared:
                continue
            mended = _with_another(constraint, case, trial)
            if mended.placed.is_complete and not is_gathered(mended.placed.by_domain(key)):
                most, domain = max((count, domain) for domain, count in placed.by_domain(key).items())
                yield RuleFinding(
                    subject.field("spec"),
                    f"{name} {domain} takes {most} of {count_of(placed.count, 'replica')}, and no constraint over "
                    f"{name} keeps them apart",
                    _declaring(constraint, subject, mended.placed.outcome(key)),
                    mended=mended,
                )
                return


RULES = (NoNodeCap(), Deadlock(), AntiAffinity(), DroppedDefaults(), NoDefaults(), Outweighed(), Gathered())
