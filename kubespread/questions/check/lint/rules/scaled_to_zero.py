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
from kubespread.kube.api.core import Taint
from kubespread.questions.check.lint.autoscalers import Possible, without_nodes
from kubespread.questions.check.lint.phrases import by_domain, listed, outcome
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Trial, domains, with_constraint
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.cluster.cluster import Change
from kubespread.wording import short_key

_GATE = "MinDomainsInPodTopologySpread"


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, calPreFilterState"""
    if case.subject.replicas < 2 or not any(case.objects.of(cls) for cls in (NodePool, MachineDeployment)):
        return
    for declared, hard in case.hard(trial):
        eligible, constraint = domains(hard), declared.constraint
        # Whoever says how many domains there have to be has thought of it.
        if not eligible or constraint.min_domains is not None or not constraint.self_match:
            continue
        possible = without_nodes(
            constraint.topology_key, case.subject.pod, frozenset(eligible), case.objects, trial.cluster.nodes
        )
        open_to = {value: domain for value, domain in possible.items() if domain.taint is None}
        remedy = (
            _waiting(declared, len(eligible), open_to, case, trial)
            if open_to
            else _tolerating(declared, len(eligible), possible, trial)
        )
        if remedy is not None:
            severity = None if open_to else Severity.INFO
            yield _finding(declared, open_to or possible, remedy, severity, trial)


def _waiting(
    declared: Declared, eligible: int, possible: Mapping[str, Possible], case: Case, trial: Trial
) -> Remedy | None:
    """minDomains, where replicas wait with it for the others, and all have a place once these are there.

    On a release without the field, a node in each of them.
    """
    key, number = declared.constraint.topology_key, eligible + len(possible)
    added = Change(added=[domain.node for domain in possible.values()])
    if not case.version.has(_GATE):
        spread = trial.placed_after(added)
        if not spread.is_complete or not all(spread.by_domain(key)[value] for value in possible):
            return None
        return Remedy(
            text=f"keep a node in {short_key(key)} {listed(list(possible))}", outcome=f"then {outcome(spread, key)}"
        )
    now = trial.mended_where(declared.position, min_domains=number).placed
    then = trial.placed_after(added, lambda pod: with_constraint(pod, declared.position, min_domains=number))
    if now.is_complete or not then.is_complete:
        return None
    return Remedy(
        text=f"minDomains: {number}, so that replicas wait for the others",
        settings=(declared.setting("minDomains", number),),
        outcome=f"{outcome(now, key)}; with a node in {listed(list(possible))} {outcome(then, key)}",
    )


def _tolerating(declared: Declared, eligible: int, possible: Mapping[str, Possible], trial: Trial) -> Remedy | None:
    """What comes before minDomains where taints keep the pod off all of them."""
    number = eligible + len(possible)
    if not possible or trial.mended_where(declared.position, min_domains=number).placed.is_complete:
        return None
    first = next(iter(possible.values()))
    assert first.taint is not None
    keeps = f"{first.group}'s taint {_text(first.taint)} keeps this pod off"
    return Remedy(text=f"{keeps}: tolerate it before raising minDomains")


def _text(taint: Taint) -> str:
    return f"{taint.key}={taint.value}" if taint.value else taint.key


def _finding(
    declared: Declared, possible: Mapping[str, Possible], remedy: Remedy, severity: Severity | None, trial: Trial
) -> RuleFinding:
    key = declared.constraint.topology_key
    groups = listed(list(dict.fromkeys(domain.group for domain in possible.values())))
    none = "is not a domain while it has no node" if len(possible) == 1 else "are not domains while they have no nodes"
    return RuleFinding(
        field=declared.path,
        message=f"{short_key(key)} {listed(list(possible))} of {groups} {none}: {trial.placed.text}: "
        f"{by_domain(trial.placed.by_domain(key))}",
        remedy=remedy,
        proven=True,
        severity=severity,
    )


RULE = ClusterRule("KS208", "scaled-to-zero", Severity.WARNING, check)
