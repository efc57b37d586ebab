"""An autoscaler may ask for more replicas than the cluster has nodes for.

A HorizontalPodAutoscaler, or a ScaledObject of KEDA, raises the number of replicas up to its maximum under load. Those
beyond what quotas, constraints and free room allow are not created or stay pending, at the worst moment. The maximum is
placed on the cluster as it is. With `--autoscaler` it is only an info where all find a node once it has added some.

Without a cluster it is counted what quotas, and a claim that one pod may use, allow that the manifests bring.

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
from kubespread.questions.check.lint.rule import Case, Rule, RuleFinding
from kubespread.questions.check.lint.trial import Placed, counted
from kubespread.questions.check.report import Remedy, Severity
from kubespread.wording import count_of


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/controller/podautoscaler/horizontal.go, normalizeDesiredReplicas"""
    subject, trial = case.subject, case.trial
    for autoscaler in () if subject.is_daemon else autoscalers_of(subject.name, case.objects):
        if autoscaler.most <= subject.replicas:
            continue
        asks, outcome = f"{autoscaler.text} may ask for {count_of(autoscaler.most, 'replica')}", None
        if trial is None:
            count, why = _by_files(case, autoscaler.most)
        elif trial.placed.is_complete and not (most := trial.placed_with(replicas=autoscaler.most)).is_complete:
            count, why, outcome = most.count, _why(most), trial.placed_with(replicas=most.count).text
        else:
            continue
        if why:
            remedy = Remedy(text=f"{autoscaler.most_field}: {count}", outcome=outcome)
            yield RuleFinding("spec.replicas", f"{asks}: {why}", remedy, proven=trial is not None)


def _by_files(case: Case, most: int) -> tuple[int, str]:
    """How many of ``most`` replicas may run by what the manifests say alone, and why not all."""
    count = case.at_most.copies
    is_beyond = count is not None and case.subject.replicas <= count < most
    return (count or 0, f"{count} can run: {case.at_most.refusal}") if is_beyond else (most, "")


def _why(most: Placed) -> str:
    """Quotas refuse a pod before any node is looked for."""
    created = most.desired - most.refused
    quota = f"the namespace's quotas allow only {created} of them: {most.refusal}" if most.refused else ""
    fitting = f"{most.count} of {counted(created, 'replica')} fit: {most.message}" if most.pending else ""
    return "; ".join(filter(None, (quota, fitting)))


RULE = Rule("KS304", "autoscaled-beyond", Severity.WARNING, check)
