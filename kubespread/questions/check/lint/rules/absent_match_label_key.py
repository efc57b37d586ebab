"""A key of matchLabelKeys is not a label of the pod.

matchLabelKeys adds the pod's own value of each key to the selector. A key that the pod does not have is silently
dropped, so the constraint counts as if it were not there: usually pods of all revisions, which matchLabelKeys was meant
to keep apart. Only Deployments give their pods `pod-template-hash`; those of a StatefulSet or DaemonSet have
`controller-revision-hash`, and pods of Jobs neither.

Example: a StatefulSet.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: db}}
  matchLabelKeys: [pod-template-hash]
```

Remedy: name a label that the pods have, or leave the key out.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.unknown_fields import near_miss
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.report import Remedy, Severity

_REVISIONS = ("pod-template-hash", "controller-revision-hash")


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, filterTopologySpreadConstraints
    Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeys
    """
    for declared in case.own:
        selector = declared.constraint.selector
        counted = "no pod" if selector.nothing or selector.is_empty else f"every pod with {selector}"
        for position, key in enumerate(declared.written.match_label_keys):
            if key not in case.subject.labels:
                message = (
                    f"pods of {case.subject.name.kind}/{case.subject.name.name} have no label {key}: the key is "
                    f"dropped, and the constraint counts {counted}"
                )
                yield RuleFinding(f"{declared.path}.matchLabelKeys[{position}]", message, _remedy(key, declared, case))


def _remedy(key: str, declared: Declared, case: Case) -> Remedy:
    labels = case.subject.labels
    revision = next((name for name in _REVISIONS if key in _REVISIONS and name in labels), "")
    meant = revision or near_miss(key, labels)
    if not meant:
        return Remedy(text=f"remove {key}, or give the pods that label")
    keys = dict.fromkeys(meant if other == key else other for other in declared.written.match_label_keys)
    return Remedy(text=f"matchLabelKeys: [{meant}]", fields=declared.with_fields(matchLabelKeys=[*keys]).fields)


RULE = Rule("KS403", "absent-match-label-key", Severity.WARNING, check)
