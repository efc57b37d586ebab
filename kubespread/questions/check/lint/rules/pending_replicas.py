"""Replicas find no node.

All replicas are created, as far as quotas let them, and placed one after another on the cluster without those that run
already. One that is left has no node that passes every filter of kube-scheduler: it asks for more than any node has
free, for labels that no node has, or its constraints keep it from the nodes with room. It waits until the workload or
the cluster changes.

Without a cluster only what no cluster could help is found: replicas that share a claim of mode ReadWriteOncePod, which
the checked manifests bring.

Where the remedies of other findings get every replica placed, those findings are enough, and this one is left out. It
is only an info where minDomains makes replicas wait for a domain that a node group can make (KS208).

Example: a node type that the cluster does not have.

```yaml
nodeSelector: {disktype: nvme}
containers:
- {name: main, image: "example.com/main:1", resources: {requests: {cpu: "64"}}}
```

Remedy: the smallest change that gets every replica a node, of those that `kubespread explain --fix` tries; where no
single one is enough, two or three together. No pod is evicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.questions.check.lint.possible_domains import Possible, without_nodes
from kubespread.questions.check.lint.rule import Case, LastRule, RuleFinding
from kubespread.questions.check.lint.together import explains_pending
from kubespread.questions.check.lint.trial import ReplicaTrial, counted, domains, listed
from kubespread.questions.check.lint.ways_out import UNSEARCHED
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.wording import verb_of


def check(case: Case, others: Sequence[RuleFinding]) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/schedule_one.go, findNodesThatPassFilters"""
    trial, field, replicas = case.trial, case.subject.field("spec"), case.subject.replicas
    if trial is None and case.exclusive_claim and replicas > 1:
        message = f"{_waiting(replicas, replicas - 1)}: {case.exclusive_claim}"
        yield RuleFinding(field, message, Remedy(text="a claim of mode ReadWriteMany, or one for each replica"))
    if trial is None or not trial.placed.pending or explains_pending(others, trial):
        return
    waits = _waiting(trial.placed.desired, trial.placed.pending)
    if groups := _meant_for(case, trial):
        intended = Remedy(text="nothing, if that is intended; otherwise lower minDomains, or add nodes there")
        message = f"{waits} until {listed(groups)} adds one, because of minDomains"
        yield RuleFinding(field, message, intended, severity=Severity.INFO, proven=True)
    else:
        yield RuleFinding(field, f"{waits}: {trial.placed.message}", UNSEARCHED, proven=True)


def _meant_for(case: Case, trial: ReplicaTrial) -> Sequence[str]:
    """The groups that make the domains minDomains waits for, where every replica finds a node once they are there."""
    made: dict[str, Possible] = {}
    for declared, hard in case.hard(trial):
        if hard.lacks_domains:
            made |= without_nodes(declared.key, domains(hard), case, trial)
    open_to = [domain for domain in made.values() if domain.taint is None]
    grown = ClusterChange(added=[domain.node for domain in open_to])
    if not open_to or trial.placed_with(cluster=trial.cluster.after(grown)).pending:
        return ()
    return list(dict.fromkeys(domain.group for domain in open_to))


def _waiting(replicas: int, pending: int) -> str:
    if replicas == 1:
        return "it finds no node"
    if pending == replicas:
        return f"none of its {counted(replicas, 'replica')} finds a node"
    return f"{pending} of {counted(replicas, 'replica')} {verb_of(pending, 'find')} no node"


RULE = LastRule("KS209", "pending-replicas", Severity.ERROR, check)
