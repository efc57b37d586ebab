"""One zone or node takes more than half of the replicas.

Without a constraint over zones or nodes, free room and preferences decide where replicas go, and the default
constraints are soft and lenient: a zone of larger nodes takes most of them, and so does a node that has the image.
Losing that one zone or node takes more than half of the replicas at once, though they could run elsewhere.

All replicas are placed, as they are and with the constraint. Keys that a constraint of the pod's own is over are left
to other rules.

Example: six replicas, and one zone whose nodes are much larger.

```yaml
kind: Job
spec:
  parallelism: 6
  template: {metadata: {labels: {app: crunch}}, spec: {}}
```

Remedy: a constraint over zones, or over nodes; a soft one where that is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding, remedy_of
from kubespread.questions.check.lint.trial import ReplicaTrial, counted, with_another
from kubespread.questions.check.report import Severity
from kubespread.questions.remedies.spreading import is_gathered, lacking, spreading
from kubespread.wording import short_key


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, Score"""
    subject, placed = case.subject, trial.placed
    if subject.is_daemon or subject.replicas < 2 or not placed.is_complete or not case.own_labels:
        return
    declared = {own.key for own in case.own}
    for constraint in lacking(placed.by_domain, ()):
        if constraint.topology_key not in declared and (finding := _finding(case, trial, constraint)) is not None:
            yield finding
            return


def _finding(case: Case, trial: ReplicaTrial, constraint: TopologySpreadConstraint) -> RuleFinding | None:
    key, subject, placed = constraint.topology_key, case.subject, trial.placed
    added = replace(constraint, label_selector=LabelSelector(match_labels=case.own_labels))
    mended = trial.mended(lambda pod: with_another(pod, added))
    if not mended.placed.is_complete or is_gathered(mended.placed.by_domain(key)):
        return None
    most, domain = max((count, domain) for domain, count in placed.by_domain(key).items())
    name = short_key(key)
    change = spreading(constraint, None if subject.is_written else subject.name)
    return RuleFinding(
        subject.field("spec"),
        f"{name} {domain} takes {most} of {counted(placed.count, 'replica')}, and no constraint over {name} keeps them "
        "apart",
        remedy_of(change, change.what, mended.placed.outcome(key)),
        mended=mended,
        revives=True,
    )


RULE = ClusterRule("KS505", "gathered", Severity.WARNING, check)
