"""minDomains asks for more domains than there are.

With fewer eligible domains than minDomains the global minimum counts as 0. Every domain then takes maxSkew pods and no
more, and the rest of the replicas wait until somebody adds a domain. Domains are counted after node affinity and, with
`nodeTaintsPolicy: Honor`, after taints, so pinning a workload to two zones is enough; so is a zone scaled to zero.

Example, on three zones: three of six replicas are scheduled.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  minDomains: 5
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: minDomains no higher than the domains that are always there, or nodes in another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted, listed, outcome
from kubespread.lint.possible_domains import without_nodes
from kubespread.lint.reach import domains
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Trial
from kubespread.planner.reports.check import Remedy, Severity


def check(case: Case, trial: Trial) -> Iterator[Found]:
    for declared, hard in case.hard(trial):
        there = domains(hard)
        if there and hard.lacks_domains:
            key, known = declared.constraint.topology_key, frozenset(hard.column.values)
            possible = len(without_nodes(key, case.subject.pod, known, case.objects))
            # Where autoscalers can make them replicas wait on purpose: that is what adds their nodes.
            is_meant = len(there) + possible >= (declared.constraint.min_domains or 1)
            yield _found(declared, there, trial, is_meant=is_meant)


def _found(declared: Declared, there: Sequence[str], trial: Trial, *, is_meant: bool) -> Found:
    constraint, placed = declared.constraint, trial.placed
    enough = trial.placed_where(declared.position, min_domains=len(there))
    return Found(
        field=f"{declared.path}.minDomains",
        message=f"minDomains {constraint.min_domains}, and there {'is' if len(there) == 1 else 'are'} "
        f"{counted(len(there), 'eligible domain')} ({listed(there)}): the minimum counts as 0, so each takes at most "
        f"{constraint.max_skew}, and {placed.text}",
        remedy=Remedy(
            text=f"minDomains: {len(there)}",
            settings=(declared.setting("minDomains", len(there)),),
            outcome=outcome(enough, constraint.topology_key),
        ),
        proven=True,
        severity=Severity.INFO if is_meant else Severity.ERROR if placed.count < enough.count else None,
    )


RULE = ClusterRule("KS204", "too-few-domains", Severity.WARNING, check)
