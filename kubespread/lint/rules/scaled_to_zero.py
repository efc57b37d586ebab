"""A domain has no node now, and so it is none: nothing waits for it, and no autoscaler is asked for it.

kube-scheduler knows the domains of a constraint by the nodes that are there. A zone whose node group is scaled to zero
is no domain: the minimum is taken over the others, every replica fits there, and none is left pending that would make
an autoscaler add a node. minDomains says how many there are to be: below that number the minimum is 0, replicas beyond
maxSkew wait, and the autoscaler acts.

Which domains there could be is told by Karpenter's NodePools and by MachineDeployments of the cluster.

Example: a NodePool for zones a, b and c, and nodes in a and b only.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `minDomains: 3`; or keep a node in every zone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import by_domain, listed, outcome, short_key
from kubespread.lint.possible_domains import without_nodes
from kubespread.lint.reach import domains
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Trial
from kubespread.planner.reports.check import Remedy, Severity


def check(case: Case, trial: Trial) -> Iterator[Found]:
    if case.subject.replicas < 2 or not (case.objects.node_pools or case.objects.machine_deployments):
        return
    for declared, hard in case.hard(trial):
        there = domains(hard)
        possible = without_nodes(
            declared.constraint.topology_key, case.subject.pod, frozenset(hard.column.values), case.objects
        )
        if there and possible and (declared.constraint.min_domains or 1) <= len(there):
            yield _found(declared, len(there) + len(possible), possible, trial)


def _found(declared: Declared, number: int, possible: Mapping[str, str], trial: Trial) -> Found:
    key = declared.constraint.topology_key
    groups = listed(list(dict.fromkeys(possible.values())))
    none = "is no domain while it has no node" if len(possible) == 1 else "are no domains while they have no nodes"
    waiting = trial.mended_where(declared.position, min_domains=number).placed
    return Found(
        field=declared.path,
        message=f"{short_key(key)} {listed(list(possible))} of {groups} {none}: {trial.placed.text}: "
        f"{by_domain(trial.placed.by_domain(key))}",
        remedy=Remedy(
            text=f"minDomains: {number}, with which replicas wait for the others",
            settings=(declared.setting("minDomains", number),),
            outcome=outcome(waiting, key),
        ),
        proven=True,
    )


RULE = ClusterRule("KS208", "scaled-to-zero", Severity.WARNING, check)
