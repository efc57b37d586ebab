"""A domain without nodes does not count: no replica waits for it, so no autoscaler adds a node to it.

kube-scheduler knows the domains of a constraint from the nodes that exist. A zone whose node group is scaled to zero is
not a domain: the minimum is taken over the others, every replica fits there, and none stays pending to make an
autoscaler add a node. minDomains says how many domains there should be: below that number the minimum is 0, replicas
beyond maxSkew wait, and the autoscaler acts.

Karpenter's NodePools and autoscaled MachineDeployments tell which domains there could be, as far as their limits and
sizes leave room. The remedy is tried on the cluster as it is, where replicas must wait for the domain, and with a node
in each domain, where all must find a place. A group whose taint keeps the pod off makes no domain for it.

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

from kubespread.kube.api.cluster_objects import MachineDeployment, NodePool
from kubespread.questions.check.lint.possible_domains import Possible, without_nodes
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, by_domain, domains, listed
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.cluster.cluster import ClusterChange

_GATE = "MinDomainsInPodTopologySpread"


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, calPreFilterState"""
    if case.subject.replicas < 2 or not any(case.objects.of(cls) for cls in (NodePool, MachineDeployment)):
        return
    for declared, hard in case.hard(trial):
        eligible, constraint = domains(hard), declared.constraint
        # Whoever says how many domains there have to be has thought of it.
        if not eligible or constraint.min_domains is not None or not constraint.self_match:
            continue
        possible = without_nodes(declared.key, eligible, case, trial)
        open_to = {value: domain for value, domain in possible.items() if domain.taint is None}
        if open_to:
            remedy = _waiting(declared, len(eligible), open_to, case, trial)
        else:
            remedy = _tolerating(declared, len(eligible), possible, trial)
        if remedy is not None:
            message = f"{_no_domains(declared, open_to or possible)}: {trial.placed.text}: "
            message += by_domain(trial.placed.by_domain(declared.key))
            yield RuleFinding(declared.path, message, remedy, severity=None if open_to else Severity.INFO)


def _no_domains(declared: Declared, possible: Mapping[str, Possible]) -> str:
    groups = listed(list(dict.fromkeys(domain.group for domain in possible.values())))
    none = "is not a domain while it has no node" if len(possible) == 1 else "are not domains while they have no nodes"
    return f"{declared.name} {listed(list(possible))} of {groups} {none}"


def _waiting(
    declared: Declared, eligible: int, possible: Mapping[str, Possible], case: Case, trial: ReplicaTrial
) -> Remedy | None:
    """minDomains, where replicas wait with it for the others, and all have a place once these are there.

    On a release without the field, a node in each of them.
    """
    key, number, names = declared.key, eligible + len(possible), listed(list(possible))
    grown = trial.cluster.after(ClusterChange(added=[domain.node for domain in possible.values()]))
    if not case.version.has(_GATE):
        spread = trial.placed_with(cluster=grown)
        if not spread.is_complete or not all(spread.by_domain(key)[value] for value in possible):
            return None
        return Remedy(text=f"keep a node in {declared.name} {names}", outcome=f"then {spread.outcome(key)}")
    change = declared.with_fields(minDomains=number)
    now, then = trial.placed_with(change), trial.placed_with(change, cluster=grown)
    if now.is_complete or not then.is_complete:
        return None
    return Remedy(
        text=f"minDomains: {number}, so that replicas wait for the others",
        settings=change.settings,
        outcome=f"{now.outcome(key)}; with a node in {names} {then.outcome(key)}",
    )


def _tolerating(
    declared: Declared, eligible: int, possible: Mapping[str, Possible], trial: ReplicaTrial
) -> Remedy | None:
    """What comes before minDomains where taints keep the pod off all of them."""
    change = declared.with_fields(minDomains=eligible + len(possible))
    if not possible or trial.placed_with(change).is_complete:
        return None
    first = next(iter(possible.values()))
    assert first.taint is not None
    taint = f"{first.taint.key}={first.taint.value}" if first.taint.value else first.taint.key
    return Remedy(text=f"{first.group}'s taint {taint} keeps this pod off: tolerate it before raising minDomains")


RULE = ClusterRule("KS208", "scaled-to-zero", Severity.WARNING, check)
