"""Rules for drains and rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, limits
from kubespread.controllers.disruption import desired_and_expected, disruptions_allowed, selector_of
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.owners import controller_of
from kubespread.kube.quantity import IntOrStringError
from kubespread.kube.selector import Selector
from kubespread.kube.taint import cordon_node
from kubespread.kube.well_known import HOSTNAME, SCHEDULE_ANYWAY
from kubespread.questions.check import Remedy, Severity
from kubespread.questions.check.rule import Case, ClusterRule, Declaration, FieldChange, Rule, RuleFinding
from kubespread.questions.check.trial import ReplicaTrial, Subject, TrialResult, breakdown, listing
from kubespread.questions.queue import Entry, place
from kubespread.reports.findings import CAUSES
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.cluster.kinds import KindJudgment
from kubespread.scheduler.evaluation import budget_gaps
from kubespread.scheduler.placing import first_in_heap
from kubespread.wording import count_of, says

_MOST_DRAINED = 12
"""Most nodes, each unlike the others, that are drained."""
_NOT_EVICTED = frozenset({"DaemonSet", "Job", "CronJob"})
"""Kinds with pods that a drain leaves in place, or that end by themselves."""
_POLICIES = "NodeInclusionPolicyInPodTopologySpread"


class StalledDrain(Rule, code="KS302", name="stalled-drain", severity=Severity.WARNING):
    """A node cannot be drained: a budget allows no eviction, or waits for a replica that a constraint bars.

    A PodDisruptionBudget with `maxUnavailable: 0`, or whose minAvailable is `100%` or at least the number of replicas,
    refuses each eviction as long as it exists, and every drain of a node with one of the pods hangs. So does a drain of
    pods that two budgets protect: the API server evicts none of them.

    A budget that allows evictions may still wait for a constraint. The drained node is cordoned, and keeps counting as
    a domain unless the constraint honors taints. A replica that was evicted from it cannot come back, and every other
    domain is full by maxSkew as long as this one has fewer. The successor stays pending, the budget counts it as
    missing, and refuses the next eviction: the drain hangs until somebody deletes pods by hand.

    All replicas are placed. Then nodes are drained one at a time as far as the budget allows, one of each group of
    equal nodes. Each remedy is tried the same way. Without a cluster nothing is drained: a budget of the manifests that
    allows no eviction, by the pods that they make, is found all the same. Pods without a controller, those of Jobs and
    those of DaemonSets are left out.

    Example: six replicas on three nodes, one a zone, a hard constraint over zones with `maxSkew: 1`, and a
    PodDisruptionBudget with `maxUnavailable: 1`.

    Remedy: `nodeTaintsPolicy: Honor`, so that a cordoned node is not a domain; or a higher maxSkew. For a budget that
    allows no eviction, `maxUnavailable: 1`.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Yield the findings of the budgets that protect the workload's pods.

        Source: pkg/registry/core/pod/storage/eviction.go, checkAndDecrement, canIgnorePDB
        Source: staging/src/k8s.io/kubectl/pkg/drain/drain.go, evictPods
        """
        workload = case.subject.object
        # Only top-level controllers that recreate evicted pods.
        if workload is None or controller_of(workload) is not None or case.subject.name.kind in _NOT_EVICTED:
            return
        if not (case.subject.replicas if case.trial is None else case.trial.placement.count):
            return
        if case.trial is not None:
            case.trial.cluster.assume(budget_gaps(case.objects))
        budgets = list(_protecting(case))
        if len(budgets) > 1:
            names = [budget.metadata.name for budget, _ in budgets]
            message = (
                f"{_cannot_be_drained(case)}: PodDisruptionBudgets {listing(names)} all select its pods, and the API "
                "server evicts no pod that has more than one"
            )
            remedy = Remedy(text=f"let only one PodDisruptionBudget select them, {names[0]} for example")
            yield RuleFinding("metadata.name", message, remedy, proven=case.trial is not None)
        elif budgets:
            with suppress(IntOrStringError):
                yield from _budget_findings(*budgets[0], case)


def _protecting(case: Case) -> Iterator[tuple[PodDisruptionBudget, Selector]]:
    labels = case.subject.labels
    for budget in case.objects.get(PodDisruptionBudget):
        written = budget.spec.selector
        if budget.metadata.namespace != case.subject.name.namespace or written is None:
            continue
        # Comparing labels rules out most of many budgets without parsing their selectors.
        if written.match_labels.items() <= labels.items() and (selector := selector_of(budget)).matches(labels):
            yield budget, selector


def _cannot_be_drained(case: Case) -> str:
    replicas = case.subject.replicas
    if replicas == 1:
        return "the node of its only replica cannot be drained"
    return f"no node with one of its {replicas} replicas can be drained"


def _budget_findings(budget: PodDisruptionBudget, selector: Selector, case: Case) -> Iterator[RuleFinding]:
    trial, name, others = case.trial, budget.metadata.name, _others_protected(selector, case)
    protected = case.subject.replicas + others
    # All that it protects are healthy.
    allowed = disruptions_allowed(desired_and_expected(budget.spec, protected, protected), protected)
    stalled, constraints, hard = None, None, list[Declaration]()
    # The health of others would count as well, and a claim may hold a replica to its node.
    if trial is not None and not others and case.subject.distinct_replicas is None:
        hard = [own for own, _ in case.hard(trial)]
        drains = _Drains(trial, max(1, allowed), hard)
        if (stalled := drains.stalled_drain(trial.subject.pod, trial.placement)) is not None:
            constraints = _draining(drains, stalled, case)
    if not allowed:
        least, most = budget.spec.min_available, budget.spec.max_unavailable
        terms = "neither minAvailable nor maxUnavailable" if least is None else f"minAvailable: {least}"
        terms = terms if most is None else f"maxUnavailable: {most}"
        message = f"{_cannot_be_drained(case)}: PodDisruptionBudget {name} ({terms}) allows no eviction"
        text = f"maxUnavailable: 1{'' if least is None else f' in place of {terms}'} in PodDisruptionBudget {name}"
        alone = "it can be evicted, and is missing until its replacement runs"
        remedy = Remedy(text=text, outcome="1 can be evicted at a time" if protected > 1 else alone)
        if constraints is not None:
            remedy = replace(constraints, text=f"{text}; {constraints.text}")
        yield RuleFinding("metadata.name", message, remedy, proven=trial is not None)
    elif stalled is not None and constraints is not None:
        message = (
            f"a drain of {stalled.node} hangs with {stalled.remaining} of {count_of(stalled.before, 'replica')} there: "
            f"PodDisruptionBudget {name} allows {allowed}, whose replacement fits nowhere: {stalled.message}"
        )
        yield RuleFinding(hard[0].path, message, constraints, proven=True)


def _others_protected(selector: Selector, case: Case) -> int:
    """Number of other pods that the budget counts: desired replicas of checked workloads, running pods of the rest."""
    others = list(case.company.counted_beside(case.subject, selector))
    to_be = sum(other.replicas for other in others)
    if case.trial is None:
        return to_be
    cluster, namespace = case.trial.cluster, case.subject.name.namespace
    kinds = cluster.kinds
    protected = KindJudgment(
        kinds,
        lambda kind: kind.namespace == namespace and selector.matches(kind.labels),
        among=lambda: kinds.selectable(namespace, selector),
    )
    running = sum(selector.matches(pod.metadata.labels) for other in others for pod in other.running)
    return max(0, len(cluster.arrivals(protected).node) - running) + to_be


class _StalledDrain(Struct, frozen=True):
    """A drain that hangs: the budget lets none of the remaining replicas go."""

    node: str
    before: int
    """Replicas on the node before the drain."""
    remaining: int
    message: str | None
    """kube-scheduler's message for the replacement of an evicted replica that fits on no node."""


class _Drains(Struct, frozen=True):
    """Drains of the nodes with replicas under a budget that allows this many evictions at once."""

    trial: ReplicaTrial
    allowed: int
    hard: Sequence[Declaration]
    """The hard constraints; without any, nothing is drained."""

    def stalled_drain(self, pod: Pod, placed: TrialResult) -> _StalledDrain | None:
        """The first drain that hangs where the copies of ``pod`` are placed."""
        for node in self._unlike_nodes(placed) if self.hard and placed.is_complete else ():
            if (stalled := self._drain(pod, placed, node)).remaining:
                return stalled
        return None

    def _unlike_nodes(self, placed: TrialResult) -> list[int]:
        """One node of each group with equal numbers of replicas in the same domains, the fullest first."""
        wider = [placed.cluster.nodes.label(own.key) for own in self.hard if own.key != HOSTNAME]
        alike: dict[tuple[int, ...], int] = {}
        for node, count in Counter(placed.nodes).most_common():
            alike.setdefault((count, *(int(column.codes[node]) for column in wider)), node)
        return list(alike.values())[:_MOST_DRAINED]

    def _drain(self, pod: Pod, placed: TrialResult, node: int) -> _StalledDrain:
        """Cordon the node and evict its replicas, copies of ``pod``, one by one while the budget allows it.

        A successor that finds a node is ready at once, and the next replica may go.
        """
        cluster = self.trial.cluster
        bare = cluster.apply(ClusterChange(replaced_nodes={node: cordon_node(cluster.nodes.objects[node])}))
        staying = [position for position in placed.nodes if position != node]
        before = remaining = placed.count - len(staying)
        waiting, message = 0, None
        while remaining and waiting < self.allowed:
            remaining -= 1
            now = bare.apply(
                ClusterChange(added_pods=[(pod, position) for position in (*staying, *[node] * remaining)])
            )
            (outcome,) = place(now, [Entry(pod, self.trial.plugins, waiting + 1)], first_in_heap)
            staying += [choice.node for choice in outcome.choices]
            waiting += 1 - len(outcome.choices)
            message = outcome.stopped
        return _StalledDrain(cluster.nodes.names[node], before, remaining, message)


def _draining(drains: _Drains, stalled: _StalledDrain, case: Case) -> Remedy:
    """The first change of the hard constraints with which all replicas are placed and every drain ends."""
    changes = list(_changes(drains.hard, case))
    for text, change in changes:
        placed = drains.trial.placed_with(change)
        if placed.is_complete and drains.stalled_drain(change(case.subject.pod), placed) is None:
            return Remedy(text=text, settings=change.settings, outcome=f"the drain of {stalled.node} completes")
    return Remedy(
        text=f"room for another replica on other nodes: {count_of(len(changes), 'change')} of the constraints that "
        "were tried do not let the drain complete"
    )


def _changes(hard: Sequence[Declaration], case: Case) -> Iterator[tuple[str, FieldChange]]:
    where = "" if len(hard) == 1 else " on each hard constraint"
    counting = [own for own in hard if not own.constraint.honors_taints]
    if counting and case.subject.profile.version.has(_POLICIES):
        honoring = FieldChange({own: {"nodeTaintsPolicy": "Honor"} for own in counting})
        yield f"{honoring.text}{where}, so that a cordoned node is not a domain", honoring
    for own in hard:
        wider = own.with_fields(maxSkew=own.constraint.max_skew + 1)
        yield f"{wider.text}{'' if len(hard) == 1 else f' over {own.name}'}", wider
    if all(own.constraint.min_domains is None for own in hard):
        softer = FieldChange({own: {"whenUnsatisfiable": SCHEDULE_ANYWAY} for own in hard})
        yield f"{softer.text}{where}", softer


BY_REVISION = f"matchLabelKeys: [{TEMPLATE_HASH}]"


def by_revision(constraints: Iterable[Declaration]) -> FieldChange:
    """Change that makes the constraints count only pods of their own revision."""
    return FieldChange({own: {"matchLabelKeys": [*own.written.match_label_keys, TEMPLATE_HASH]} for own in constraints})


def excess(rollout: RolloutReport, declared: Declaration) -> int:
    """Skew of the new pods beyond maxSkew."""
    final = rollout.final[declared.position]
    return max(0, final.skew - final.max_skew)


def rolled_out(subject: Subject) -> Deployment | None:
    """The Deployment, if it creates new pods while old ones run; else None."""
    workload = subject.object
    if not isinstance(workload, Deployment):
        return None
    strategy = workload.spec.strategy
    return None if strategy is not None and strategy.type == "Recreate" else workload


class RolloutCountsOld(ClusterRule, code="KS401", name="rollout-counts-old", severity=Severity.WARNING):
    """A rolling update counts the old pods, and leaves the new ones uneven once they are gone.

    While a Deployment is rolled out, pods of both revisions carry the labels that its constraint selects. Each new pod
    goes where old and new together are fewest, which depends on the old ones still running; these are deleted
    afterwards, and nothing moves the new ones. `matchLabelKeys: [pod-template-hash]` makes a constraint count the pods
    of its own revision alone. Where every pod is deleted before the first new one is made (`strategy.type: Recreate`)
    there is nothing to fix.

    A restart of all replicas (`kubectl rollout restart`) is rehearsed from its first pass to its last on a cluster
    where nothing else happens and old pods stop at once, as it is and with the remedy. There is a finding where the new
    pods end beyond maxSkew, and within it once each revision is counted by itself. A rollout that never ends is a
    finding of its own (KS406). Where replicas times nodes exceed 100,000 nothing is rehearsed and there is no finding.

    Example: a Deployment with a hard constraint over zones that selects `app: web`, a label of old and new pods.

    Remedy: `matchLabelKeys: [pod-template-hash]`, from Kubernetes 1.27 on; before, `maxSurge: 0`.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Yield a finding for each constraint that a restart leaves uneven, unless it does so by revision too.

        Source: pkg/controller/deployment/rolling.go, rolloutRolling
        Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector
        """
        deployment, rollout = rolled_out(case.subject), trial.rollout
        if deployment is None or rollout is None or not rollout.complete:
            return
        counting = [declared for declared in case.own if _counts_old(case, declared)]
        for declared in counting:
            if not excess(rollout, declared):
                continue
            remedy = _counting_apart(declared, counting, rollout, deployment, trial)
            # Counted by revision they are still uneven: something else makes them so.
            if remedy is None:
                continue
            if not case.counts_by_revision:
                remedy = _without_surge(declared, counting, rollout, deployment, trial)
            final = rollout.final[declared.position]
            message = (
                f"{declared.name} counts the old pods in a rollout: after a restart {_landing(rollout, declared)}, "
                f"skew {final.skew} > {final.max_skew}"
            )
            yield RuleFinding(declared.path, message, remedy)


def _counts_old(case: Case, declared: Declaration) -> bool:
    """True if it counts its own pods, and by no label that may differ between revisions."""
    named = {requirement.key for requirement in declared.constraint.selector.requirements}
    keys = declared.written.match_label_keys
    return declared.counts_itself and TEMPLATE_HASH not in named and not case.subject.labels.keys() & set(keys)


def _counting_apart(
    declared: Declaration,
    counting: Sequence[Declaration],
    before: RolloutReport,
    deployment: Deployment,
    trial: ReplicaTrial,
) -> Remedy | None:
    """This constraint alone counting its own revision, or all of them, where that leaves none of them worse."""
    for changed, where in (([declared], "this constraint"), (counting, "each constraint")):
        change = by_revision(changed)
        outcome = _outcome_if_even(declared, counting, before, trial.rollout_of(deployment, change))
        if outcome is not None:
            return Remedy(text=f"{BY_REVISION} on {where}", outcome=outcome)
    return None


def _without_surge(
    declared: Declaration,
    counting: Sequence[Declaration],
    before: RolloutReport,
    deployment: Deployment,
    trial: ReplicaTrial,
) -> Remedy:
    """Remedy for a release without matchLabelKeys: an old pod goes before each new one comes, where that is enough."""
    unavailable = max(1, before.max_unavailable)
    again = trial.rollout_of(deployment, max_surge=0, max_unavailable=unavailable)
    outcome = _outcome_if_even(declared, counting, before, again)
    if outcome is None:
        return Remedy(text=f"Kubernetes 1.27, which has {BY_REVISION}")
    return Remedy(text=f"maxSurge: 0 and maxUnavailable: {unavailable}", outcome=outcome)


def _outcome_if_even(
    declared: Declaration, counting: Sequence[Declaration], before: RolloutReport, after: RolloutReport
) -> str | None:
    """The place of the new pods ``after`` the remedy, if the constraint is met then, and no other one is worse."""
    is_mended = after.complete and not excess(after, declared)
    if not is_mended or any(excess(after, constraint) > excess(before, constraint) for constraint in counting):
        return None
    return f"after a restart {_landing(after, declared)}"


def _landing(rollout: RolloutReport, declared: Declaration) -> str:
    counts = {domain.value: domain.new for domain in rollout.final[declared.position].domains}
    return f"{says(rollout.replicas, 'replica', 'are placed')} {breakdown(counts)}"


_ROOM = Remedy(text="make room for another pod, or maxUnavailable: 1")


class StuckRollout(Rule, code="KS406", name="stuck-rollout", severity=Severity.ERROR):
    """A Deployment runs, but a new template can never be rolled out.

    A rolling update makes up to maxSurge pods more than desired, and deletes old ones only as far as maxUnavailable
    allows. By default 25 percent of few replicas is no unavailable pod at all: the first new pod has to fit beside all
    old ones. Where a constraint, an anti-affinity or full nodes leave no node for it, or a quota refuses it, the
    rollout waits until its deadline, and so does the fix for an outage that it may carry.

    The rollout is rehearsed: all replicas are placed, and the Deployment is restarted on a cluster where nothing else
    happens. Where replicas times nodes exceed 100,000 only its first new pod is placed. Without a cluster it is found
    where quotas, or a claim that one pod may use, allow no pod more, which the manifests bring.

    Example: three nodes, three replicas, `maxSurge: 1`, `maxUnavailable: 0`, and a required podAntiAffinity over nodes
    against the pods' own labels.

    Remedy: `maxUnavailable: 1`, so that an old pod makes room; or let constraints and terms tell revisions apart
    (`matchLabelKeys: [pod-template-hash]`).
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: pkg/controller/deployment/rolling.go, reconcileNewReplicaSet, reconcileOldReplicaSets"""
        deployment = case.subject.object
        if isinstance(deployment, Deployment):
            yield from (_by_files(deployment, case) if case.trial is None else _rehearse(deployment, case.trial))


def _by_files(deployment: Deployment, case: Case) -> Iterator[RuleFinding]:
    """No pod beside all old ones, where quotas or a claim allow no more, whatever the nodes are."""
    try:
        surge, unavailable = limits(deployment)
    except IntOrStringError:
        return
    if surge and not unavailable and case.at_most.copies == case.subject.replicas > 0:
        message = _stops(surge, 0, 0, case.subject.replicas, case.at_most.refusal)
        yield RuleFinding("spec.strategy", message, _ROOM)


def _rehearse(deployment: Deployment, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    rollout, count = trial.rollout, trial.placement.count
    if not trial.placement.is_complete or not count:
        return
    if rollout is not None and not rollout.complete:
        new = rollout.passes[-1].running.new if rollout.passes else 0
        surge, unavailable = rollout.max_surge, rollout.max_unavailable
        message = _stops(surge, unavailable, new, rollout.replicas, rollout.wedged_on)
        yield RuleFinding("spec.strategy", message, _more_unavailable(deployment, rollout, trial), proven=True)
    # Of a rollout that takes too long to rehearse, the first pass alone.
    elif rollout is None and (stall := trial.stall_at_once(deployment)) is not None:
        yield RuleFinding("spec.strategy", _stops(stall[0], 0, 0, count, stall[1]), _ROOM, proven=True)


def _stops(surge: int, unavailable: int, new: int, replicas: int, why: str | None) -> str:
    numbers = {"surge": surge, "unavailable": unavailable, "new": new, "pods": replicas, "detail": why}
    return CAUSES["noRollout"].sentence(numbers)


def _more_unavailable(deployment: Deployment, rollout: RolloutReport, trial: ReplicaTrial) -> Remedy:
    """The least maxUnavailable that is more, where that is enough."""
    template = deployment.spec.template
    if template is not None and template.spec.scheduling_gates:
        return Remedy(text="remove spec.template.spec.schedulingGates")
    above = rollout.max_unavailable + 1
    again = trial.rollout_of(deployment, max_surge=rollout.max_surge, max_unavailable=above)
    if again.complete:
        fewest = again.fewest_ready
        ready = f"at least {count_of(fewest, 'pod')} ready throughout" if fewest else "with no pod ready for a while"
        return Remedy(text=f"maxUnavailable: {above}", outcome=f"the restart completes, {ready}")
    return Remedy(text="make room for another pod, or strategy.type: Recreate")


RULES = (StalledDrain(), RolloutCountsOld(), StuckRollout())
