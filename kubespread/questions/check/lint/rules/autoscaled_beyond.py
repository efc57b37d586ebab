"""An autoscaler may ask for more replicas than the cluster has nodes for.

A HorizontalPodAutoscaler, or a ScaledObject of KEDA, raises the number of replicas up to its maximum under load. Those
beyond what quotas, constraints and free room allow are not created or stay pending, at the worst moment. The maximum is
placed on the cluster as it is: an autoscaler of nodes may add some, where the constraint lets them be used.

The workload itself is checked with the replicas that the autoscaler would set: at least its minimum, even where the
manifest sets none, and at most its maximum.

Example: maxReplicas 60 on six nodes that hold seven replicas each.

```yaml
kind: HorizontalPodAutoscaler
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 6, maxReplicas: 60}
```

Remedy: a lower maximum; or a larger quota, smaller requests, a looser constraint, more nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.candidate.replicas import autoscalers_of
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import Placed, Trial, counted
from kubespread.questions.check.report import Remedy, Severity
from kubespread.wording import count_of


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/controller/podautoscaler/horizontal.go, normalizeDesiredReplicas"""
    subject = case.subject
    for autoscaler in () if subject.is_daemon else autoscalers_of(subject.name, case.objects):
        if autoscaler.most <= subject.replicas or not trial.placed.is_complete:
            continue
        most = trial.placed_with(replicas=autoscaler.most)
        if not most.is_complete:
            message = f"{autoscaler.text} may ask for {count_of(autoscaler.most, 'replica')}: {_why(most)}"
            outcome = trial.placed_with(replicas=most.count).text
            remedy = Remedy(text=f"{autoscaler.most_field}: {most.count}", outcome=outcome)
            yield RuleFinding("spec.replicas", message, remedy)


def _why(most: Placed) -> str:
    """Quotas refuse a pod before any node is looked for."""
    created = most.desired - most.refused
    quota = f"the namespace's quotas allow only {created} of them: {most.refusal}" if most.refused else ""
    fitting = f"{most.count} of {counted(created, 'replica')} fit: {most.message}" if most.pending else ""
    return "; ".join(filter(None, (quota, fitting)))


RULE = ClusterRule("KS304", "autoscaled-beyond", Severity.WARNING, check)
