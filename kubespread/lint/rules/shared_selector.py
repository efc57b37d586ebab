"""A constraint counts the pods of another workload too.

Two Deployments whose pods carry the labels that a constraint selects, such as a stable one and its canary, are one
group to it. Their pods are even together; each for itself may stand on one side. When the canary goes, what is left of
the group is as uneven as it always was, and the loss of a zone takes more of the stable replicas than maxSkew suggests.

Where a cluster is at hand the others are placed first and the replicas after them; a finding within maxSkew is only
worth knowing. With more than three others there are no numbers.

Example: a canary that is pinned to one zone, and its stable workload.

```yaml
# canary: labels {app: web, track: canary}, nodeSelector {topology.kubernetes.io/zone: a}
labels: {app: web, track: stable}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: select a label that only this workload has, or `matchLabelKeys: [pod-template-hash]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubespread.lint.case import Case, Declared
from kubespread.lint.evenness import own_counts, skew_of
from kubespread.lint.finding import Found
from kubespread.lint.groups import counted_together, declares_alike
from kubespread.lint.phrases import by_domain, counted, listed, short_key
from kubespread.lint.rule import Rule
from kubespread.lint.subject import Subject
from kubespread.lint.trial import Trial, with_constraint
from kubespread.planner.reports.check import Remedy, Severity

_HASH = "pod-template-hash"
_MOST = 3


def check(case: Case) -> Iterator[Found]:
    for declared, selected in counted_together(case):
        others = [other for other in selected if declares_alike(other, declared)]
        if others:
            yield _found(case, declared, others)


def _found(case: Case, declared: Declared, others: Sequence[Subject]) -> Found:
    constraint = declared.constraint
    names = listed([f"{other.name.kind}/{other.name.name}" for other in others])
    replicas = counted(sum(other.replicas for other in others), "replica")
    said = f"{short_key(constraint.topology_key)} counts the pods of {names} too ({replicas})"
    field = f"{declared.path}.labelSelector"
    if case.trial is None or not case.trial.counted or len(others) > _MOST:
        return Found(field=field, message=said, remedy=_remedy(case), severity=Severity.INFO)
    trial = case.trial
    before = [trial.of(other) for other in others]
    counts = own_counts(trial.placed_behind(before)[-1:], trial.counted[declared.position])
    skew = skew_of(counts)
    is_uneven = skew > constraint.max_skew
    return Found(
        field=field,
        message=f"{said}: placed after them its own {case.subject.replicas} stand {by_domain(counts)}, "
        f"{f'skew {skew} > {constraint.max_skew}' if is_uneven else f'within {constraint.max_skew}'}",
        remedy=_remedy(case, _apart(trial, before, declared)),
        proven=True,
        severity=None if is_uneven else Severity.INFO,
    )


def _apart(trial: Trial, before: Sequence[Trial], declared: Declared) -> str:
    """Where the replicas stand if the constraint counts them alone."""
    change = partial(with_constraint, position=declared.position, match_label_keys=[_HASH])
    counts = own_counts(trial.placed_behind(before, change)[-1:], trial.counted[declared.position])
    return f"its own stand {by_domain(counts)}"


def _remedy(case: Case, outcome: str | None = None) -> Remedy:
    if _HASH in case.subject.labels:
        return Remedy(text=f"matchLabelKeys: [{_HASH}], or a label that only this workload has", outcome=outcome)
    return Remedy(text="select a label that only this workload has")


RULE = Rule("KS402", "shared-selector", Severity.WARNING, check)
