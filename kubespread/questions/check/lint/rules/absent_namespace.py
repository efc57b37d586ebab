"""The namespace of the workload is not in the cluster.

The API server refuses every object of a namespace that is not there. It may be made before the manifests are applied;
a name that is mistyped is noticed only then. A Namespace among the manifests counts as being there.

Example: a cluster with a namespace `shop`.

```yaml
kind: Deployment
metadata: {name: web, namespace: shopp}
```

Remedy: the namespace that was meant, or a manifest of the Namespace beside the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial
from kubespread.questions.check.report import Remedy, Severity


def check(case: Case, _trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go, Admit"""
    if missing := case.subject.missing_namespace:
        remedy = Remedy(text="name the namespace that was meant, or apply a manifest of the Namespace too")
        yield RuleFinding("metadata.namespace", missing, remedy)


RULE = ClusterRule("KS306", "absent-namespace", Severity.WARNING, check)
