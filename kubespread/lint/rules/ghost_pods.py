"""The selector of a constraint misses the pod's own labels.

A constraint counts the pods that its labelSelector matches. Where the selector does not match the pod that carries it,
none of the replicas is ever counted: however many of them stand in one zone, the next one finds the same numbers as the
first. The constraint looks right, is accepted, and spreads nothing. It usually comes of a renamed label, or of a block
copied from another workload.

A selector that deliberately counts the pods of another workload is legitimate, and rare: annotate it.

Example:

```yaml
labels: {app: api}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: select labels that the pod has, as a rule those of the workload's own selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.selector import Selector, from_label_selector
from kubespread.lint.case import Case
from kubespread.lint.finding import Found
from kubespread.lint.own_selector import counting_nothing
from kubespread.lint.rule import Rule
from kubespread.planner.reports.check import Severity


def check(case: Case) -> Iterator[Found]:
    for declared in case.own:
        constraint = declared.constraint
        if constraint.self_match or constraint.selector.nothing:
            continue
        selector = from_label_selector(declared.written.label_selector)
        why = f"the selector {selector} misses the pod's own labels ({_missed(case, selector)})"
        yield counting_nothing(case, declared, f"{declared.path}.labelSelector", why)


def _missed(case: Case, selector: Selector) -> str:
    """``app is api``, ``no label tier``: what the pod has of the first requirement that it does not meet."""
    labels = case.subject.labels
    key = next(requirement.key for requirement in selector.requirements if not requirement.matches(labels))
    return f"{key} is {labels[key]}" if key in labels else f"no label {key}"


RULE = Rule("KS101", "ghost-pods", Severity.ERROR, check)
