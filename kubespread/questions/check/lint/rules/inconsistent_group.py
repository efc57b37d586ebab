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

from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.lint.trial import Subject, by_domain, counted, own_counts, skew_of
from kubespread.questions.check.report import Remedy, Severity

_MOST = 3
"""Of how many others a constraint says how they differ."""


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
    for declared, selected in case.counted_together():
        others = [other for other in selected if not declared.is_on(other)]
        for other in others[:_MOST]:
            yield from _finding(case, declared, other)


def _finding(case: Case, declared: Declared, other: Subject) -> Iterator[RuleFinding]:
    constraints = other.pod.spec.topology_spread_constraints
    theirs = next((constraint for constraint in constraints if constraint.topology_key == declared.key), None)
    has = "no such constraint" if theirs is None else f"maxSkew {theirs.max_skew} {theirs.when_unsatisfiable}"
    message = (
        f"{declared.name} counts the pods of {other.name.kind}/{other.name.name} too "
        f"({counted(other.replicas, 'replica')}), which has {has}"
    )
    remedy = Remedy(
        text=f"give {other.name.name} the same constraint over {declared.name}, "
        f"or select a label that only {case.subject.name.name} has"
    )
    trial, most = case.trial, declared.constraint.max_skew
    if trial is None or not trial.counted or other.is_daemon:
        yield RuleFinding(declared.path, message, remedy, severity=Severity.INFO)
        return
    both = trial.of(other).placed_behind([trial])
    counts = own_counts(both, trial.counted[declared.position])
    if (skew := skew_of(counts)) > most:
        together = f"once both are placed, their pods are {by_domain(counts)}, skew {skew} > {most}"
        yield RuleFinding(declared.path, f"{message}: {together}", remedy, proven=True)


RULE = Rule("KS504", "inconsistent-group", Severity.WARNING, check)
