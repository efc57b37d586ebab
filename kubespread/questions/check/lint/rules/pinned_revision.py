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
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding, selector_text
from kubespread.questions.check.lint.trial import counted
from kubespread.questions.check.report import Remedy, Severity

_HASHES = ("pod-template-hash", "controller-revision-hash")


def check(case: Case) -> Iterator[RuleFinding]:
    # A pod by itself, or the template of one that a controller made, is of one revision.
    """Source: pkg/registry/core/pod/strategy.go, applyLabelKeysToLabelSelector"""
    for declared in () if case.subject.object is None else case.own:
        selector = declared.written.label_selector
        for requirement in () if declared.constraint.selector.nothing else from_label_selector(selector).requirements:
            if requirement.key in _HASHES and requirement.operator == "In":
                yield _finding(case, declared, requirement.key, " or ".join(requirement.values))


def _finding(case: Case, declared: Declared, key: str, value: str) -> RuleFinding:
    own, labels = case.subject.labels.get(key), case.own_labels
    now = f"the {counted(case.subject.replicas, 'replica')} of this template{'' if own is None else f', {own},'}"
    fate = "stop counting themselves with the next template" if declared.constraint.self_match else "count nowhere"
    message = f"the selector asks for {key} {value}, the hash of one revision: {now} {fate}"
    keys = [*declared.written.match_label_keys, key]
    fields = declared.with_fields(labelSelector={"matchLabels": labels}, matchLabelKeys=keys).fields
    remedy = Remedy(text=f"{selector_text(labels)}, matchLabelKeys: [{key}]", fields=fields)
    return RuleFinding(f"{declared.path}.labelSelector", message, remedy)


RULE = Rule("KS405", "pinned-revision", Severity.ERROR, check)
