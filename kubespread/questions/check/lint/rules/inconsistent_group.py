"""Workloads that one constraint counts together do not keep it together.

Kubernetes asks for the same constraints on all pods of a group. Where another workload's pods carry the selected labels
and have no such constraint, or a different one over the same key, they are placed freely and still count here. They
fill domains that this constraint then avoids, or leave it no node at all.

With a cluster given, this workload is placed first and the other one after it, and the numbers are what the constraint
then sees. Where they are within maxSkew there is no finding.

Example: `api` shares the label `app: web` and has no constraint.

```yaml
labels: {app: web}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: give all of them the same constraints, or select a label that only this workload has.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.check.lint.phrases import by_domain, counted
from kubespread.questions.check.lint.rule import (
    Case,
    Declared,
    Rule,
    RuleFinding,
    counted_together,
    declares_alike,
    over_the_same,
)
from kubespread.questions.check.lint.trial import Subject, Trial, own_counts, skew_of
from kubespread.questions.check.report import Remedy, Severity
from kubespread.wording import short_key

_MOST = 3
"""Of how many others a constraint says how they differ."""


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
    for declared, selected in counted_together(case):
        others = [other for other in selected if not declares_alike(other, declared)]
        for other in others[:_MOST]:
            yield from _finding(case, declared, other)


def _finding(case: Case, declared: Declared, other: Subject) -> Iterator[RuleFinding]:
    name, theirs = short_key(declared.constraint.topology_key), over_the_same(other, declared)
    has = "has no such constraint" if theirs is None else f"has {_terms(theirs.max_skew, theirs.when_unsatisfiable)}"
    message = (
        f"{name} counts the pods of {other.name.kind}/{other.name.name} too ({counted(other.replicas, 'replica')}), "
        f"which {has}"
    )
    remedy = Remedy(
        text=f"give {other.name.name} the same constraint over {name}, "
        f"or select a label that only {case.subject.name.name} has"
    )
    if case.trial is None or not case.trial.counted or other.is_daemon:
        yield RuleFinding(field=declared.path, message=message, remedy=remedy, severity=Severity.INFO)
    else:
        yield from _proven(case.trial, declared, other, message, remedy)


def _proven(trial: Trial, declared: Declared, other: Subject, message: str, remedy: Remedy) -> Iterator[RuleFinding]:
    """Nothing where both stand evenly together."""
    both = trial.of(other).placed_behind([trial])
    counts, most = own_counts(both, trial.counted[declared.position]), declared.constraint.max_skew
    skew = skew_of(counts)
    if skew > most:
        yield RuleFinding(
            field=declared.path,
            message=f"{message}: once both are placed, their pods are {by_domain(counts)}, skew {skew} > {most}",
            remedy=remedy,
            proven=True,
        )


def _terms(max_skew: int, when_unsatisfiable: str) -> str:
    return f"maxSkew {max_skew} {when_unsatisfiable}"


RULE = Rule("KS504", "inconsistent-group", Severity.WARNING, check)
