"""Which disruption budgets protect a workload's pods, and how many pods they count beside them."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.controllers.disruption.budgets import selector_of
from kubespread.kube.api.policy import PodDisruptionBudget
from kubespread.kube.selector import Selector
from kubespread.questions.check.lint.case import Case
from kubespread.questions.check.lint.trial import Trial
from kubespread.scheduler.cluster.kinds import KindJudgment
from kubespread.scheduler.preemption import budget_gaps


def protecting(case: Case, trial: Trial) -> Iterator[tuple[PodDisruptionBudget, Selector]]:
    """Those of its namespace that select its pods, each with its selector."""
    trial.cluster.assume(budget_gaps(case.objects))
    namespace, labels = case.subject.name.namespace, case.subject.labels
    for budget in case.objects.of(PodDisruptionBudget):
        given = budget.spec.selector
        # Of many budgets most are told apart by their labels, before a selector is made of them.
        if budget.metadata.namespace != namespace or given is None or not given.match_labels.items() <= labels.items():
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
