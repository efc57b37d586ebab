"""A selector names the hash of one revision.

`pod-template-hash` and `controller-revision-hash` are written by controllers, and change with every template. A
selector that contains one of them with its value is usually from a pod copied from a cluster: since Kubernetes 1.34 the
API server writes there what matchLabelKeys adds. It counts only pods of that revision, while there are any; the pods of
the next template do not even count themselves.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web, pod-template-hash: 5d59d67564}}
```

Remedy: leave the hash out of the selector, and name its key in `matchLabelKeys`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.selector import from_label_selector
from kubespread.questions.check.lint.own_selector import own_selector
from kubespread.questions.check.lint.phrases import counted, selector_text
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.report import Remedy, Severity

_HASHES = ("pod-template-hash", "controller-revision-hash")


def check(case: Case) -> Iterator[RuleFinding]:
    # A pod by itself, or the template of one that a controller made, is of one revision.
    """Source: pkg/registry/core/pod/strategy.go, applyLabelKeysToLabelSelector"""
    if case.subject.object is None:
        return
    for declared in case.own:
        selector = declared.written.label_selector
        for requirement in () if declared.constraint.selector.nothing else from_label_selector(selector).requirements:
            if requirement.key in _HASHES and requirement.operator == "In":
                yield _finding(case, declared, requirement.key, " or ".join(requirement.values))


def _finding(case: Case, declared: Declared, key: str, value: str) -> RuleFinding:
    own = case.subject.labels.get(key)
    replicas = counted(case.subject.replicas, "replica")
    now = f"the {replicas} of this template" if own is None else f"the {replicas} of this template, {own},"
    fate = "stop counting themselves with the next template" if declared.constraint.self_match else "count nowhere"
    selector = own_selector(case)
    fields = {
        f"{declared.path}.labelSelector": {"matchLabels": selector.match_labels},
        f"{declared.path}.matchLabelKeys": [*declared.written.match_label_keys, key],
    }
    return RuleFinding(
        field=f"{declared.path}.labelSelector",
        message=f"the selector asks for {key} {value}, the hash of one revision: {now} {fate}",
        remedy=Remedy(text=f"{selector_text(selector)}, matchLabelKeys: [{key}]", fields=fields),
    )


RULE = Rule("KS405", "pinned-revision", Severity.ERROR, check)
