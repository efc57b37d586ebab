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

from kubespread.questions.check.lint.phrases import listed
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import EXCLUDED, TAINTED, Trial, barred, domains, domains_of
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint
from kubespread.wording import short_key


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, minMatchNum"""
    if case.subject.replicas < 2:
        return
    for declared, hard in case.hard(trial):
        eligible, constraint = domains(hard), declared.constraint
        if len(eligible) == 1 and (constraint.min_domains or 1) == 1 and constraint.self_match:
            yield _finding(declared, hard, eligible[0], trial)


def _finding(declared: Declared, hard: HardConstraint, domain: str, trial: Trial) -> RuleFinding:
    constraint, placed = declared.constraint, trial.placed
    name = short_key(constraint.topology_key)
    others = [other for other in domains_of(hard, hard.column.present) if other != domain]
    why = _why(declared, hard, others, trial)
    return RuleFinding(
        field=declared.path,
        message=f"{name} {domain} is the only domain{why}, so the skew is always 1 and no node is ever rejected: "
        f"{placed.by_domain(constraint.topology_key)[domain]} of {placed.desired} replicas land there",
        remedy=Remedy(
            text=f"let the pod onto nodes of {listed(others)}"
            if others
            else f"add nodes in another {name}, or drop the constraint"
        ),
        proven=True,
    )


def _why(declared: Declared, hard: HardConstraint, others: Sequence[str], trial: Trial) -> str:
    """What leaves the other domains out."""
    if not others:
        return " of the cluster"
    barring = barred(trial)
    outside = hard.column.present & ~hard.eligible
    if declared.constraint.honors_affinity and EXCLUDED in barring and (barring[EXCLUDED] & outside).any():
        return f" that its node affinity leaves (not {listed(others)})"
    if declared.constraint.honors_taints and TAINTED in barring and (barring[TAINTED] & outside).any():
        return f" without taints (not {listed(others)})"
    return f" whose nodes have all topology labels (not {listed(others)})"


RULE = ClusterRule("KS205", "single-domain", Severity.WARNING, check)
