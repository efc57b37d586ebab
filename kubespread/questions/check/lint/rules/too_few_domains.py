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

from collections.abc import Iterator, Sequence

from kubespread.questions.check.lint.autoscalers import without_nodes
from kubespread.questions.check.lint.phrases import counted, listed, outcome
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Trial, domains, domains_of, reachable
from kubespread.questions.check.report import Remedy, Severity


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, minMatchNum"""
    for declared, hard in case.hard(trial):
        eligible = domains(hard)
        if eligible and hard.lacks_domains and not _is_meant(case, declared, eligible, trial):
            # Those that no pod can go to are no help once taints are honored.
            within_reach = len(domains_of(hard, hard.eligible & reachable(trial)))
            yield _finding(declared, eligible, within_reach or len(eligible), trial)


def _is_meant(case: Case, declared: Declared, eligible: Sequence[str], trial: Trial) -> bool:
    """Whether autoscalers can make what is missing: replicas that wait for it are what adds the nodes."""
    constraint, nodes = declared.constraint, trial.cluster.nodes
    possible = without_nodes(constraint.topology_key, case.subject.pod, frozenset(eligible), case.objects, nodes)
    return len(eligible) + sum(domain.taint is None for domain in possible.values()) >= (constraint.min_domains or 1)


def _finding(declared: Declared, eligible: Sequence[str], least: int, trial: Trial) -> RuleFinding:
    constraint, placed = declared.constraint, trial.placed
    enough = trial.mended_where(declared.position, min_domains=least)
    return RuleFinding(
        field=f"{declared.path}.minDomains",
        message=f"minDomains is {constraint.min_domains}, but there {'is' if len(eligible) == 1 else 'are'} only "
        f"{counted(len(eligible), 'eligible domain')} ({listed(eligible)}): the minimum counts as 0, so each takes "
        f"at most {constraint.max_skew}, and {placed.text}",
        remedy=Remedy(
            text=f"minDomains: {least}",
            settings=(declared.setting("minDomains", least),),
            outcome=outcome(enough.placed, constraint.topology_key),
        ),
        mended=enough,
        proven=True,
        severity=Severity.ERROR if placed.count < enough.placed.count else None,
    )


RULE = ClusterRule("KS204", "too-few-domains", Severity.WARNING, check)
