"""A node cannot be drained: the budget waits for a replica that the constraint lets nowhere.

The node that is drained is cordoned, and keeps counting as a domain unless the constraint honors taints. A replica that
was evicted from it cannot come back, and every other domain is full by maxSkew as long as this one has fewer. The
successor stays pending, the PodDisruptionBudget counts it as missing, and refuses the next eviction: the drain hangs
until somebody deletes pods by hand.

All replicas are placed. Then nodes are drained one at a time as far as the budget allows, one of those that are alike.

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

Remedy: `nodeTaintsPolicy: Honor`, with which a cordoned node is none of the domains; or a higher maxSkew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.int_or_string import IntOrStringError
from kubespread.kube.selector import Selector, SelectorError, from_label_selector
from kubespread.kube.well_known import HOSTNAME
from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Placed, Trial
from kubespread.planner.drained_node import Drained, drained, evictions_allowed
from kubespread.planner.reports.check import Remedy, Severity
from kubespread.scheduler.cluster.kinds import KindJudgment

_MOST = 12
"""How many nodes that are unlike one another are drained."""


def check(case: Case, trial: Trial) -> Iterator[Found]:
    subject = case.subject
    hard = [declared for declared, _ in case.hard(trial)]
    if not hard or subject.claimants is not None or not case.objects.pod_disruption_budgets:
        return
    if not trial.placed.is_complete:
        return
    for budget in case.objects.pod_disruption_budgets:
        selector = _protecting(budget, case)
        if selector is None or not _is_alone(selector, case, trial):
            continue
        try:
            allowed = evictions_allowed(budget, subject.replicas)
        except IntOrStringError:
            continue
        # A budget that allows nothing stops every drain, whatever the constraint.
        if allowed > 0:
            yield from _first_stalled(budget, allowed, hard, trial)


def _protecting(budget: PodDisruptionBudget, case: Case) -> Selector | None:
    """The budget's selector where it protects the pods."""
    given, labels = budget.spec.selector, case.subject.labels
    if budget.metadata.namespace != case.subject.name.namespace or given is None:
        return None
    # Of many budgets most are told apart by that, before a selector is made of them.
    if not given.match_labels.items() <= labels.items():
        return None
    try:
        selector = from_label_selector(given)
    except SelectorError:
        return None
    return selector if selector.matches(labels) else None


def _is_alone(selector: Selector, case: Case, trial: Trial) -> bool:
    """Whether the budget protects nobody else, whose health would count as well."""
    if any(case.company.counted_beside(case.subject, selector)):
        return False
    kinds, namespace = trial.cluster.kinds, case.subject.name.namespace
    protected = KindJudgment(
        kinds,
        lambda kind: kind.namespace == namespace and selector.matches(kind.labels),
        among=lambda: kinds.selectable(namespace, selector),
    )
    return not len(trial.cluster.arrivals(protected).node)


def _first_stalled(
    budget: PodDisruptionBudget, allowed: int, hard: Sequence[Declared], trial: Trial
) -> Iterator[Found]:
    for node in _unlike(trial.placed, hard):
        stalled = _drained(trial, trial.subject.pod, trial.placed, node, allowed)
        if stalled.left:
            yield _found(budget, allowed, hard, trial, node, stalled)
            return


def _unlike(placed: Placed, hard: Sequence[Declared]) -> list[int]:
    """One node each of those with as many replicas in the same domains, the fullest first."""
    columns = [placed.cluster.nodes.label(each.constraint.topology_key) for each in hard]
    wider = [column for each, column in zip(hard, columns, strict=True) if each.constraint.topology_key != HOSTNAME]
    alike: dict[tuple[int, ...], int] = {}
    for node, count in Counter(placed.nodes).most_common():
        alike.setdefault((count, *(int(column.codes[node]) for column in wider)), node)
    return list(alike.values())[:_MOST]


def _drained(trial: Trial, pod: Pod, placed: Placed, node: int, allowed: int) -> Drained:
    return drained(trial.cluster, trial.plugins, pod, placed.nodes, node, allowed)


def _found(
    budget: PodDisruptionBudget, allowed: int, hard: Sequence[Declared], trial: Trial, node: int, stalled: Drained
) -> Found:
    name = trial.cluster.nodes.names[node]
    before = sum(each == node for each in trial.placed.nodes)
    return Found(
        field=hard[0].path,
        message=f"a drain of {name} hangs with {stalled.left} of {counted(before, 'replica')} there: "
        f"PodDisruptionBudget {budget.metadata.name} lets {allowed} go, whose successor fits nowhere: "
        f"{stalled.message}",
        remedy=_remedy(hard, trial, name, node, allowed),
        proven=True,
    )


def _remedy(hard: Sequence[Declared], trial: Trial, name: str, node: int, allowed: int) -> Remedy:
    """Honoring taints, where the node can be drained then."""
    pod = trial.subject.pod
    honoring = [replace(each, node_taints_policy="Honor") for each in pod.spec.topology_spread_constraints]
    changed = replace(pod, spec=replace(pod.spec, topology_spread_constraints=honoring))
    again = _drained(trial, changed, trial.placed, node, allowed)
    if again.left:
        return Remedy(text="a higher maxSkew, or ScheduleAnyway")
    return Remedy(
        text="nodeTaintsPolicy: Honor, with which a cordoned node is none of the domains",
        settings=tuple(each.setting("nodeTaintsPolicy", "Honor") for each in hard),
        outcome=f"the drain of {name} ends",
    )


RULE = ClusterRule("KS302", "stalled-drain", Severity.WARNING, check)
