"""Constraints that count none of their own pods, and the selector they were probably meant to have: the workload's.

Constraints in a rollout: whether they count pods of both revisions, and how unevenly these end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import Deployment, LabelSelectingWorkload
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.versions import KubeVersion
from kubespread.questions.check.lint.phrases import by_domain, outcome, selector_text
from kubespread.questions.check.lint.rule import Case, Declared, RuleFinding
from kubespread.questions.check.lint.trial import PodChange, Trial, with_constraint
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.rollout import RolloutReport

BY_REVISION = f"matchLabelKeys: [{TEMPLATE_HASH}]"
_GATE = "MatchLabelKeysInPodTopologySpread"


def counts_by_revision(version: KubeVersion) -> bool:
    """Whether the release has matchLabelKeys."""
    return version.has(_GATE)


def rolled_out(case: Case) -> Deployment | None:
    """The Deployment, where it makes new pods while old ones are there."""
    workload = case.subject.object
    if not isinstance(workload, Deployment):
        return None
    strategy = workload.spec.strategy
    return None if strategy is not None and strategy.type == "Recreate" else workload


def told_apart(positions: Iterable[int]) -> PodChange:
    """The constraints at these positions counting their own revision alone."""

    def change(pod: Pod) -> Pod:
        for position in positions:
            keys = pod.spec.topology_spread_constraints[position].match_label_keys
            pod = with_constraint(pod, position, match_label_keys=[*keys, TEMPLATE_HASH])
        return pod

    return change


def by_revision(constraints: Iterable[Declared]) -> dict[str, Any]:
    """The same as fields of the object."""
    return {
        f"{declared.path}.matchLabelKeys": [*declared.written.match_label_keys, TEMPLATE_HASH]
        for declared in constraints
    }


def excess(rollout: RolloutReport, position: int) -> int:
    """By how much the new pods end beyond maxSkew."""
    final = rollout.final[position]
    return max(0, final.skew - final.max_skew)


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


def _uncounted(case: Case, declared: Declared) -> str:
    """The consequence if a constraint counts none of its own pods: it does not affect where they land."""
    replicas = case.subject.replicas
    none = "the pod itself does not count" if replicas == 1 else f"none of its {replicas} replicas counts"
    if case.trial is None:
        return f"{none}, and nothing spreads them" if replicas > 1 else none
    placed = case.trial.placed
    landed = by_domain(placed.by_domain(declared.constraint.topology_key))
    return f"{none}; left to themselves they land {landed}" if landed and placed.count > 1 else none


def counting_nothing(
    case: Case, declared: Declared, field: str, why: str, severity: Severity | None = None
) -> RuleFinding:
    """One that counts none of its own pods for this reason, with the consequence and the effect of selecting them."""
    selector, trial = own_selector(case), case.trial
    remedy, mended = Remedy(text="give the pods labels of their own, and select them"), None
    if selector.match_labels:
        fields = {f"{declared.path}.labelSelector": {"matchLabels": selector.match_labels}}
        text = f"select the pods' own labels: {selector_text(selector)}"
        if trial is not None:
            select = partial(with_constraint, position=declared.position, label_selector=selector)
            change = _by_revision(declared, select, case, trial)
            mended = trial.mended(change or select)
            if change is not None:
                text += f"; {BY_REVISION} on this constraint"
                fields |= by_revision([declared])
        remedy = Remedy(
            text=text,
            fields=fields,
            outcome=None if mended is None else outcome(mended.placed, declared.constraint.topology_key),
        )
    return RuleFinding(
        field=field,
        message=f"{why}: {_uncounted(case, declared)}",
        remedy=remedy,
        mended=mended,
        revives=True,
        proven=trial is not None,
        severity=severity,
    )


def _by_revision(declared: Declared, select: PodChange, case: Case, trial: Trial) -> PodChange | None:
    """The same with each revision counted separately, where only that makes a rollout end even."""
    deployment, position = rolled_out(case), declared.position
    if deployment is None or trial.rollout is None or not counts_by_revision(case.version):
        return None

    def change(pod: Pod) -> Pod:
        return told_apart([position])(select(pod))

    counting_both, apart = trial.rollout_of(deployment, select), trial.rollout_of(deployment, change)
    is_uneven = counting_both.complete and excess(counting_both, position)
    return change if is_uneven and apart.complete and not excess(apart, position) else None
