"""minDomains asks for more domains than there are.

With fewer eligible domains than minDomains the global minimum counts as 0. Every domain then takes at most maxSkew
pods, and the other replicas wait until a domain is added. Domains are counted after node affinity and, with
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

Where an autoscaler of nodes can make the missing domains for the pod, waiting replicas are what makes it act, so there
is no finding.

Remedy: minDomains no higher than the number of domains that always exist, or nodes in another one.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.check.lint.possible_domains import without_nodes
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, counted, domains, domains_of, listed
from kubespread.questions.check.report import Remedy, Severity
from kubespread.wording import verb_of


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, minMatchNum"""
    for declared, hard in case.hard(trial):
        eligible, constraint, placed = domains(hard), declared.constraint, trial.placed
        if not eligible or not hard.lacks_domains:
            continue
        possible = without_nodes(declared.key, eligible, case, trial).values()
        # Replicas that wait for domains that autoscalers can make are what adds the nodes.
        if len(eligible) + sum(domain.taint is None for domain in possible) >= (constraint.min_domains or 1):
            continue
        # Those that no pod can go to are no help once taints are honored.
        change = declared.with_fields(
            minDomains=len(domains_of(hard, hard.eligible & trial.reachable)) or len(eligible)
        )
        enough = trial.mended(change)
        message = (
            f"minDomains is {constraint.min_domains}, but there {verb_of(len(eligible), 'are')} only "
            f"{counted(len(eligible), 'eligible domain')} ({listed(eligible)}): the minimum counts as 0, so each takes "
            f"at most {constraint.max_skew}, and {placed.text}"
        )
        remedy = Remedy(text=change.text, settings=change.settings, outcome=enough.placed.outcome(declared.key))
        severity = Severity.ERROR if placed.count < enough.placed.count else None
        yield RuleFinding(f"{declared.path}.minDomains", message, remedy, enough, severity)


RULE = ClusterRule("KS204", "too-few-domains", Severity.WARNING, check)
