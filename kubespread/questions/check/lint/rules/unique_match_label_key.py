"""A key of matchLabelKeys is a label with a different value on every replica.

Pods of a StatefulSet and of an indexed Job carry their own name or number as labels. With such a key the selector of
each replica matches that replica alone: nothing is counted before it exists, and every node of every domain is as good
as any other. The constraint never rejects a node, and its score is the same everywhere.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: db}}
  matchLabelKeys: [apps.kubernetes.io/pod-index]
```

Remedy: leave the key out. To keep revisions apart, `controller-revision-hash` in a StatefulSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.workloads import StatefulSet
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.report import Remedy, Severity

_REVISION = "controller-revision-hash"
_UNIQUE = frozenset(
    {"apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index", "statefulset.kubernetes.io/pod-name"}
)


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/controller/statefulset/stateful_set_utils.go, updateIdentity
    Source: pkg/controller/job/indexed_job_utils.go, addCompletionIndexLabel
    """
    replicas = case.subject.replicas
    for declared in case.own if replicas > 1 else ():
        for position, key in enumerate(declared.written.match_label_keys):
            if key in _UNIQUE and key in case.subject.labels:
                message = (
                    f"each of the {replicas} replicas has its own {key} and counts itself alone: 0 + 1 − 0 = 1 on "
                    "every node, which never exceeds maxSkew"
                )
                yield RuleFinding(f"{declared.path}.matchLabelKeys[{position}]", message, _remedy(case, declared, key))


def _remedy(case: Case, declared: Declared, key: str) -> Remedy:
    is_stateful = isinstance(case.subject.object, StatefulSet)
    keys = [other for other in declared.written.match_label_keys if other not in (key, _REVISION)]
    keys += [_REVISION] if is_stateful else []
    text = f"matchLabelKeys: [{_REVISION}]" if is_stateful else f"remove {key}"
    return Remedy(text=text, fields=declared.with_fields(matchLabelKeys=keys or None).fields)


RULE = Rule("KS404", "unique-match-label-key", Severity.ERROR, check)
