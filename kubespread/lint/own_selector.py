"""The selector that a constraint of a workload was probably to have: that of the workload itself."""

from __future__ import annotations

from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import LabelSelectingWorkload
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.lint.case import Case, Declared
from kubespread.lint.phrases import by_domain, outcome, selector_text
from kubespread.planner.reports.check import Remedy

_MADE_BY_CONTROLLERS = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    }
)


def own_selector(case: Case) -> LabelSelector:
    """The workload's selector where it has one of labels alone that matches its pods, else the labels of the pods."""
    subject = case.subject
    if isinstance(subject.object, LabelSelectingWorkload) and (selector := subject.object.spec.selector) is not None:
        try:
            matches = from_label_selector(selector).matches(subject.labels)
        except SelectorError:
            matches = False
        labels = {key: value for key, value in selector.match_labels.items() if key not in _MADE_BY_CONTROLLERS}
        if matches and labels and not selector.match_expressions:
            return LabelSelector(match_labels=labels)
    labels = {key: value for key, value in subject.labels.items() if key not in _MADE_BY_CONTROLLERS}
    return LabelSelector(match_labels=labels)


def uncounted(case: Case, declared: Declared) -> str:
    """What follows where a constraint counts none of its own pods: where they land is left to everything else."""
    replicas = case.subject.replicas
    none = "the pod itself does not count" if replicas == 1 else f"none of its {replicas} replicas counts"
    if case.trial is None:
        return f"{none}, and nothing spreads them" if replicas > 1 else none
    placed = case.trial.placed
    landed = by_domain(placed.by_domain(declared.constraint.topology_key))
    return f"{none}; left to themselves they land {landed}" if landed and placed.count > 1 else none


def own_selector_remedy(case: Case, declared: Declared) -> Remedy:
    """Select what the workload selects, and what comes of that."""
    selector = own_selector(case)
    if not selector.match_labels:
        return Remedy(text="give the pods labels of their own, and select them")
    placed = None if case.trial is None else case.trial.placed_where(declared.position, label_selector=selector)
    return Remedy(
        text=f"select the pods' own labels: {selector_text(selector)}",
        outcome=None if placed is None else outcome(placed, declared.constraint.topology_key),
    )
