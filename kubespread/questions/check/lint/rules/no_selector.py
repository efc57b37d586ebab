"""A constraint has no labelSelector.

An absent labelSelector matches no pod at all. Nothing is counted, neither what runs nor the pod itself, so the skew is
always 0: a hard constraint only demands that nodes have the topology label, and a soft one prefers nothing. The API
server accepts it silently.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
```

Remedy: add a labelSelector with the labels of the workload's own selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.check.lint.rule import Case, Rule, RuleFinding
from kubespread.questions.check.report import Severity


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector"""
    for declared in case.own:
        if declared.written.label_selector is None:
            why = "without a labelSelector the constraint counts no pods"
            yield case.counting_nothing(declared, declared.path, why)


RULE = Rule("KS102", "no-selector", Severity.ERROR, check)
