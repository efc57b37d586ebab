"""A node cannot be drained: a budget allows no eviction, or waits for a replica that a constraint bars.

A PodDisruptionBudget with `maxUnavailable: 0`, or whose minAvailable is `100%` or at least the number of replicas,
refuses each eviction as long as it exists, and every drain of a node with one of the pods hangs. So does a drain of
pods that two budgets protect: the API server evicts none of them.

A budget that allows evictions may still wait for a constraint. The drained node is cordoned, and keeps counting as a
domain unless the constraint honors taints. A replica that was evicted from it cannot come back, and every other domain
is full by maxSkew as long as this one has fewer. The successor stays pending, the budget counts it as missing, and
refuses the next eviction: the drain hangs until somebody deletes pods by hand.

All replicas are placed. Then nodes are drained one at a time as far as the budget allows, one of each group of equal
nodes. Each remedy is tried the same way. Pods without a controller, those of Jobs and those of DaemonSets are left out.

Example: six replicas on three nodes, one a zone.

```yaml
kind: PodDisruptionBudget
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
---
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `nodeTaintsPolicy: Honor`, so that a cordoned node is not a domain; or a higher maxSkew. For a budget that
allows no eviction, `maxUnavailable: 1`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.disruption import desired_and_expected, disruptions_allowed, selector_of
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import controller_of
from kubespread.kube.quantity import IntOrStringError
from kubespread.kube.selector import Selector
from kubespread.kube.taint import cordoned
from kubespread.kube.well_known import HOSTNAME
from kubespread.questions.check.lint.phrases import counted, listed
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Placed, PodChange, Subject, Trial, with_constraint
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.queue.queue import Entry, place
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.kinds import KindJudgment
from kubespread.scheduler.evaluation import budget_gaps
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap
from kubespread.wording import short_key

_MOST = 12
"""How many nodes that are unlike one another are drained."""
_NOT_EVICTED = frozenset({"DaemonSet", "Job", "CronJob"})
"""Kinds whose pods a drain leaves alone, or that are done some day."""
_POLICIES = "NodeInclusionPolicyInPodTopologySpread"


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/registry/core/pod/storage/eviction.go, checkAndDecrement, canIgnorePDB
    Source: staging/src/k8s.io/kubectl/pkg/drain/drain.go, evictPods
    """
    if not _is_held_by_budgets(case.subject) or not trial.placed.count:
        return
    budgets = list(protecting(case, trial))
    if len(budgets) > 1:
        yield _protected_twice([budget for budget, _ in budgets], case)
        return
    for budget, selector in budgets:
        try:
            yield from _with_one(budget, selector, case, trial)
        except IntOrStringError:
            continue


def _is_held_by_budgets(subject: Subject) -> bool:
    """Whether its pods are evicted and made again: no other workload's controller does that for it."""
    workload = subject.object
    return workload is not None and controller_of(workload) is None and subject.name.kind not in _NOT_EVICTED


def _with_one(budget: PodDisruptionBudget, selector: Selector, case: Case, trial: Trial) -> Iterator[RuleFinding]:
    replicas, others = case.subject.replicas, others_protected(selector, case, trial)
    allowed = evictions_allowed(budget, replicas + others)
    # The health of others would count as well, and a claim may hold a replica to its node.
    is_rehearsed = not others and case.subject.claimants is None
    hard = [declared for declared, _ in case.hard(trial)] if is_rehearsed else []
    drains = _Drains(trial, replicas, max(1, allowed), hard)
    if not allowed:
        yield _refusing(budget, replicas + others, drains, case)
    elif (stalled := drains.stalled(_unchanged)) is not None:
        yield _waiting(budget, drains, stalled, case)


def _unchanged(pod: Pod) -> Pod:
    return pod


class _Stalled(Struct, frozen=True):
    """A drain that hangs."""

    node: str
    before: int
    """How many replicas were on the node."""
    drained: Drained


class _Drains(Struct, frozen=True):
    """Drains of the nodes with replicas under a budget that allows this many evictions at once."""

    trial: Trial
    replicas: int
    allowed: int
    hard: Sequence[Declared]
    """The hard constraints; without any, nothing is drained."""

    def stalled(self, change: PodChange) -> _Stalled | None:
        """The first drain that hangs once ``change`` is made to the pods; None where there is none."""
        placed = self._placed(change)
        if not self.hard or not placed.is_complete:
            return None
        pod, trial = change(self.trial.subject.pod), self.trial
        for node in _unlike(placed, self.hard):
            end = drained(trial.cluster, trial.plugins, pod, placed.nodes, node, self.allowed)
            if end.remaining:
                before = sum(placed_on == node for placed_on in placed.nodes)
                return _Stalled(trial.cluster.nodes.names[node], before, end)
        return None

    def end(self, change: PodChange) -> bool:
        """Whether all replicas are placed, and every drain ends, once ``change`` is made."""
        return self._placed(change).is_complete and self.stalled(change) is None

    def _placed(self, change: PodChange) -> Placed:
        is_as_declared = change is _unchanged and self.replicas == self.trial.subject.replicas
        return self.trial.placed if is_as_declared else self.trial.placed_with(change, self.replicas)


def _unlike(placed: Placed, hard: Sequence[Declared]) -> list[int]:
    """One node each of those with as many replicas in the same domains, the fullest first."""
    columns = [placed.cluster.nodes.label(counted.constraint.topology_key) for counted in hard]
    wider = [
        column for counted, column in zip(hard, columns, strict=True) if counted.constraint.topology_key != HOSTNAME
    ]
    alike: dict[tuple[int, ...], int] = {}
    for node, count in Counter(placed.nodes).most_common():
        alike.setdefault((count, *(int(column.codes[node]) for column in wider)), node)
    return list(alike.values())[:_MOST]


def _protected_twice(budgets: Sequence[PodDisruptionBudget], case: Case) -> RuleFinding:
    names = [budget.metadata.name for budget in budgets]
    return RuleFinding(
        field="metadata.name",
        message=f"{_cannot_be_drained(case.subject.replicas)}: PodDisruptionBudgets {listed(names)} all select its "
        "pods, and the API server evicts no pod that has more than one",
        remedy=Remedy(text=f"let only one PodDisruptionBudget select them, {names[0]} for example"),
        proven=True,
    )


def _refusing(budget: PodDisruptionBudget, protected: int, drains: _Drains, case: Case) -> RuleFinding:
    return RuleFinding(
        field="metadata.name",
        message=f"{_cannot_be_drained(case.subject.replicas)}: PodDisruptionBudget {budget.metadata.name} "
        f"({_terms(budget)}) allows no eviction",
        remedy=_letting_one_go(budget, protected, drains, case),
        proven=True,
    )


def _terms(budget: PodDisruptionBudget) -> str:
    if budget.spec.max_unavailable is not None:
        return f"maxUnavailable: {budget.spec.max_unavailable}"
    least = budget.spec.min_available
    return "neither minAvailable nor maxUnavailable" if least is None else f"minAvailable: {least}"


def _cannot_be_drained(replicas: int) -> str:
    if replicas == 1:
        return "the node of its only replica cannot be drained"
    return f"no node with one of its {replicas} replicas can be drained"


def _letting_one_go(budget: PodDisruptionBudget, protected: int, drains: _Drains, case: Case) -> Remedy:
    """maxUnavailable 1, and what the constraints need for drains to end then."""
    instead = "" if budget.spec.min_available is None else f" in place of {_terms(budget)}"
    text = f"maxUnavailable: 1{instead} in PodDisruptionBudget {budget.metadata.name}"
    stalled = drains.stalled(_unchanged)
    if stalled is not None:
        constraints = _constraint_remedy(drains, stalled, case)
        return replace(constraints, text=f"{text}; {constraints.text}")
    alone = "it can be evicted, and is missing until its replacement runs"
    return Remedy(text=text, outcome="1 can be evicted at a time" if protected > 1 else alone)


def _waiting(budget: PodDisruptionBudget, drains: _Drains, stalled: _Stalled, case: Case) -> RuleFinding:
    end = stalled.drained
    return RuleFinding(
        field=drains.hard[0].path,
        message=f"a drain of {stalled.node} hangs with {end.remaining} of {counted(stalled.before, 'replica')} there: "
        f"PodDisruptionBudget {budget.metadata.name} allows {drains.allowed}, whose replacement fits nowhere: "
        f"{end.message}",
        remedy=_constraint_remedy(drains, stalled, case),
        proven=True,
    )


def _constraint_remedy(drains: _Drains, stalled: _Stalled, case: Case) -> Remedy:
    """The first change of the hard constraints with which all replicas are placed and every drain ends."""
    tried = list(_changes(drains.hard, case))
    for text, changed in tried:
        if drains.end(_changing(changed)):
            outcome = f"the drain of {stalled.node} completes"
            return Remedy(text=text, settings=tuple(_settings(changed)), outcome=outcome)
    return Remedy(
        text=f"room for another replica on other nodes: {counted(len(tried), 'change')} of the constraints that were "
        "tried do not let the drain complete"
    )


_Changed = Sequence[tuple[Declared, str, str, object]]
"""Constraints, each with a field of it, its attribute and its new value."""


def _changes(hard: Sequence[Declared], case: Case) -> Iterator[tuple[str, _Changed]]:
    where = "" if len(hard) == 1 else " on each hard constraint"
    counting = [declared for declared in hard if not declared.constraint.honors_taints]
    if counting and case.version.has(_POLICIES):
        yield (
            f"nodeTaintsPolicy: Honor{where}, so that a cordoned node is not a domain",
            [(declared, "nodeTaintsPolicy", "node_taints_policy", "Honor") for declared in counting],
        )
    for declared in hard:
        wider = declared.constraint.max_skew + 1
        on = "" if len(hard) == 1 else f" over {short_key(declared.constraint.topology_key)}"
        yield f"maxSkew: {wider}{on}", [(declared, "maxSkew", "max_skew", wider)]
    if all(declared.constraint.min_domains is None for declared in hard):
        yield (
            f"whenUnsatisfiable: ScheduleAnyway{where}",
            [(declared, "whenUnsatisfiable", "when_unsatisfiable", "ScheduleAnyway") for declared in hard],
        )


def _changing(changed: _Changed) -> PodChange:
    def change(pod: Pod) -> Pod:
        for declared, _, attribute, value in changed:
            pod = with_constraint(pod, declared.position, **{attribute: value})
        return pod

    return change


def _settings(changed: _Changed) -> Iterator[str]:
    return (declared.setting(field, value) for declared, field, _, value in changed)


RULE = ClusterRule("KS302", "stalled-drain", Severity.WARNING, check)


def protecting(case: Case, trial: Trial) -> Iterator[tuple[PodDisruptionBudget, Selector]]:
    """Those of its namespace that select its pods, each with its selector."""
    trial.cluster.assume(budget_gaps(case.objects))
    namespace, labels = case.subject.name.namespace, case.subject.labels
    for budget in case.objects.of(PodDisruptionBudget):
        written = budget.spec.selector
        # Of many budgets most are told apart by their labels, before a selector is made of them.
        if (
            budget.metadata.namespace != namespace
            or written is None
            or not written.match_labels.items() <= labels.items()
        ):
            continue
        selector = selector_of(budget)
        if selector.matches(labels):
            yield budget, selector


def others_protected(selector: Selector, case: Case, trial: Trial) -> int:
    """How many pods of others a budget with this selector counts: all that are to be, and those that run beside."""
    kinds, namespace = trial.cluster.kinds, case.subject.name.namespace
    protected = KindJudgment(
        kinds,
        lambda kind: kind.namespace == namespace and selector.matches(kind.labels),
        among=lambda: kinds.selectable(namespace, selector),
    )
    others = list(case.company.counted_beside(case.subject, selector))
    running = sum(selector.matches(pod.metadata.labels) for other in others for pod in other.running)
    return max(0, len(trial.cluster.arrivals(protected).node) - running) + sum(other.replicas for other in others)


class Drained(Struct, frozen=True):
    """Where the drain of a node stands when nothing moves any more."""

    remaining: int
    """Replicas that are still on the node, since the budget lets none of them go."""
    waiting: int
    """Evicted ones whose successors have no node."""
    message: str | None
    """kube-scheduler's, for the first of these."""


def evictions_allowed(budget: PodDisruptionBudget, replicas: int) -> int:
    """How many of ``replicas``, all of them healthy and all that the budget protects, may be evicted at once.

    Raises IntOrStringError for a budget that the API server would refuse.
    """
    return disruptions_allowed(desired_and_expected(budget.spec, replicas, replicas), replicas)


def drained(cluster: Cluster, plugins: Framework, pod: Pod, on: Sequence[int], node: int, allowed: int) -> Drained:
    """The node at position ``node`` is cordoned and its replicas are evicted as long as ``allowed`` are not missing.

    ``on`` are the positions of the nodes of all replicas, copies of ``pod`` that ``cluster`` does not hold. A successor
    that finds a node is ready at once, and the next replica may go.
    """
    bare = cluster.after(Change(replaced={node: cordoned(cluster.nodes.objects[node])}))
    staying, remaining, waiting = (
        [position for position in on if position != node],
        sum(position == node for position in on),
        0,
    )
    message: str | None = None
    while remaining and waiting < allowed:
        evicted = min(remaining, allowed - waiting)
        remaining -= evicted
        now = bare.after(Change(come=[(pod, position) for position in (*staying, *[node] * remaining)]))
        (outcome,) = place(now, [Entry(pod, plugins, waiting + evicted)], first_in_heap)
        staying += [choice.node for choice in outcome.choices]
        waiting += evicted - len(outcome.choices)
        message = outcome.stopped
    return Drained(remaining, waiting, message)
