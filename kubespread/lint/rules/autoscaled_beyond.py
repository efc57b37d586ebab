"""An autoscaler may ask for more replicas than the cluster has nodes for.

A HorizontalPodAutoscaler, or a ScaledObject of KEDA, raises the number of replicas up to its maximum when load comes.
Those beyond what constraints and free room allow stay pending, at the worst moment. The maximum is placed on the
cluster as it is: an autoscaler of nodes may add some, where the constraint lets them be used.

Example: maxReplicas 60 on six nodes that hold seven replicas each.

```yaml
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 6, maxReplicas: 60}
```

Remedy: a lower maximum, smaller requests, a looser constraint, or more nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.lint.autoscalers import autoscalers_of
from kubespread.lint.case import Case
from kubespread.lint.finding import Found
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Trial
from kubespread.planner.reports.check import Remedy, Severity


def check(case: Case, trial: Trial) -> Iterator[Found]:
    subject = case.subject
    for autoscaler in () if subject.is_daemon else autoscalers_of(subject, case.objects):
        if autoscaler.most <= subject.replicas or not trial.placed.is_complete:
            continue
        most = trial.placed_with(lambda pod: pod, autoscaler.most)
        if not most.is_complete:
            yield Found(
                field="spec.replicas",
                message=f"{autoscaler.text} may ask for {autoscaler.most} replicas: {most.text}: {most.message}",
                remedy=Remedy(text=f"{autoscaler.field}: {most.count}, smaller requests, or more nodes"),
                proven=True,
            )


RULE = ClusterRule("KS304", "autoscaled-beyond", Severity.WARNING, check)
