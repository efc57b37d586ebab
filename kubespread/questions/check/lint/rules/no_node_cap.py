"""maxSkew over nodes is taken for a limit per node.

`maxSkew: 1` over `kubernetes.io/hostname` reads like one pod per node. It only bounds the difference from the emptiest
node: once every node has one, each may take a second. With more replicas than nodes that the pod can go to, a node
holds more than maxSkew of them, and its loss takes more than one replica.

Example: six nodes, eight replicas. Two nodes get two.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: none where an even spread is meant. For a limit, minDomains above the number of nodes keeps the minimum at 0,
and replicas beyond maxSkew per node wait; for one per node, a required podAntiAffinity does the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.well_known import HOSTNAME
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, counted, domains
from kubespread.questions.check.report import Remedy, Severity


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter, minMatchNum"""
    for declared, hard in case.hard(trial):
        max_skew, landed = declared.constraint.max_skew, trial.placed.by_domain(HOSTNAME)
        most = max(landed.values(), default=0)
        if declared.key != HOSTNAME or not declared.constraint.self_match or most <= max_skew:
            continue
        nodes = sum(count == most for count in landed.values())
        message = (
            f"maxSkew {max_skew} is no limit per node: of {trial.placed.count} replicas "
            f"{f'a node gets {most}' if nodes == 1 else f'{nodes} nodes get {most} each'}"
        )
        capped = declared.with_fields(minDomains=len(domains(hard)) + 1)
        remedy = Remedy(
            text=f"for at most {counted(max_skew, 'replica')} per node, minDomains above the number of nodes; the "
            "others wait",
            settings=capped.settings,
            outcome=trial.placed_with(capped).text,
        )
        yield RuleFinding(f"{declared.path}.maxSkew", message, remedy)


RULE = ClusterRule("KS106", "no-node-cap", Severity.INFO, check)
