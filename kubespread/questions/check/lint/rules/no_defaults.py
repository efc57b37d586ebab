"""The default constraints do not apply to a pod that nothing selects.

A pod without constraints gets the scheduler's default ones with a selector derived from the Services that match it, and
from the ReplicaSet, StatefulSet or ReplicationController that controls it. Pods of a Job or of a custom controller have
no such owner. Without a Service they have no selector and so no default constraints, and nothing but free resources
spreads them.

Example: a Job with parallelism 6 and no Service.

```yaml
kind: Job
spec:
  parallelism: 6
  template: {metadata: {labels: {app: crunch}}, spec: {}}
```

Remedy: give the pod constraints of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.api.core import Service, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding, remedy_of
from kubespread.questions.check.lint.trial import ReplicaTrial, by_domain, counted, skew_of, with_another
from kubespread.questions.check.report import Severity
from kubespread.questions.remedies.spreading import spreading
from kubespread.scheduler.plugins.podtopologyspread.constraints import default_selector
from kubespread.wording import short_key


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, buildDefaultConstraints
    Source: pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector
    """
    subject, objects = case.subject, trial.cluster.objects
    if case.own or subject.is_daemon or subject.replicas < 2 or not objects.knows(Service):
        return
    if not default_selector(subject.pod, objects).is_empty or not case.own_labels:
        return
    selector = LabelSelector(match_labels=case.own_labels)
    # The built-in ones go from nodes to zones: the widest that matters is said.
    for default in reversed(case.spread.defaults.constraints):
        finding = _left_alone(case, trial, replace(default, label_selector=selector))
        if finding is not None:
            yield finding
            return


def _left_alone(case: Case, trial: ReplicaTrial, constraint: TopologySpreadConstraint) -> RuleFinding | None:
    key, placed, subject = constraint.topology_key, trial.placed, case.subject
    landed = placed.by_domain(key)
    if skew_of(landed) <= 1:
        return None
    mended = trial.placed_with(lambda pod: with_another(pod, constraint))
    better = mended.by_domain(key)
    if mended.count < placed.count or skew_of(better) >= skew_of(landed):
        return None
    name = short_key(key)
    change = spreading(constraint, None if subject.is_written else subject.name)
    return RuleFinding(
        subject.field("spec"),
        f"no default constraint over {name} applies: no Service selects the pods of a {subject.name.kind}, and "
        f"nothing else does; {counted(placed.count, 'replica')} land {by_domain(landed)}",
        remedy_of(change, change.what, mended.outcome(key)),
    )


RULE = ClusterRule("KS502", "no-defaults", Severity.INFO, check)
