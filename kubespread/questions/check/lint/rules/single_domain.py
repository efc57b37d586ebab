"""A hard constraint has a single domain, which is always as full as the emptiest one.

With one eligible domain its own count is the global minimum, so the skew is 1 however many pods there are: the
constraint never rejects a node. Everything looks spread, and one outage takes all replicas. Clusters in one zone do
this, and so do nodeSelector and node affinity, which take domains away by default (`nodeAffinityPolicy: Honor`).

Example: the nodeSelector leaves zone a.

```yaml
nodeSelector: {topology.kubernetes.io/zone: a}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: let the pod onto nodes of more domains; or drop the constraint, which does nothing; or set minDomains, so that
replicas wait instead of gathering.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, domains, domains_of, listed
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.judged_nodes import EXCLUDED, TAINTED
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, minMatchNum"""
    for declared, hard in case.hard(trial) if case.subject.replicas > 1 else ():
        eligible, constraint = domains(hard), declared.constraint
        if len(eligible) != 1 or (constraint.min_domains or 1) != 1 or not constraint.self_match:
            continue
        others = [other for other in domains_of(hard, hard.column.present) if other != eligible[0]]
        message = (
            f"{declared.name} {eligible[0]} is the only domain{_why(declared, hard, others, trial)}, so the skew is "
            f"always 1 and no node is ever rejected: {trial.placed.by_domain(declared.key)[eligible[0]]} of "
            f"{trial.placed.desired} replicas land there"
        )
        onto = f"let the pod onto nodes of {listed(others)}"
        remedy = Remedy(text=onto if others else f"add nodes in another {declared.name}, or drop the constraint")
        yield RuleFinding(declared.path, message, remedy)


def _why(declared: Declared, hard: HardConstraint, others: Sequence[str], trial: ReplicaTrial) -> str:
    """What leaves the other domains out."""
    if not others:
        return " of the cluster"
    barred, outside = trial.barred, hard.column.present & ~hard.eligible
    if declared.constraint.honors_affinity and EXCLUDED in barred and (barred[EXCLUDED] & outside).any():
        return f" that its node affinity leaves (not {listed(others)})"
    if declared.constraint.honors_taints and TAINTED in barred and (barred[TAINTED] & outside).any():
        return f" without taints (not {listed(others)})"
    return f" whose nodes have all topology labels (not {listed(others)})"


RULE = ClusterRule("KS205", "single-domain", Severity.WARNING, check)
