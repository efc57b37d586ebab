"""A constraint selects every pod, and counts none.

Elsewhere the selector `{}` matches everything. Since 1.27 kube-scheduler counts no pods at all for it, while the pod
still matches itself: the skew is 0 + 1 − 0 = 1 on every node whatever runs there, so a hard constraint never rejects a
node that has the topology label, and a soft one scores all nodes the same. Up to 1.26 all pods of the namespace
counted, so an upgrade switches the constraint off.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {}
```

Remedy: select the labels of the workload's own selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.check.lint.rule import Case, Rule, RuleFinding
from kubespread.questions.check.report import Severity


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
    for declared in case.own:
        constraint = declared.constraint
        if constraint.selector.is_empty and not constraint.counts_pods:
            never = f", so maxSkew {constraint.max_skew} never rejects a node" if constraint.is_hard else ""
            why = f"labelSelector {{}} counts no pods, the skew is 0 + 1 − 0 = 1 everywhere{never}"
            yield case.counting_nothing(declared, f"{declared.path}.labelSelector", why)


RULE = Rule("KS103", "empty-selector", Severity.ERROR, check)
