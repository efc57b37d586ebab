"""A constraint counts the pods of another workload too.

Two Deployments whose pods carry the labels that a constraint selects, such as a stable one and its canary, are one
group to it. Their pods are even together, but those of one may all be on one side. When the canary goes, the rest of
the group is as uneven as it always was, and losing a zone takes more of the stable replicas than maxSkew suggests.

With a cluster given, the others are placed first and the replicas after them. There is a finding where these end beyond
maxSkew, and within it once the constraint counts them alone. With more than three others there are no numbers.

Example: a canary that is pinned to one zone, and its stable workload.

```yaml
# canary: labels {app: web, track: canary}, nodeSelector {topology.kubernetes.io/zone: a}
labels: {app: web, track: stable}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: select a label that only this workload has, or `matchLabelKeys: [pod-template-hash]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.lint.trial import (
    PodChange,
    Subject,
    by_domain,
    counted,
    listed,
    own_counts,
    skew_of,
    unchanged,
)
from kubespread.questions.check.report import Remedy, Severity

_HASH = "pod-template-hash"
_OWN = "kubespread.dev/own"
_MOST = 3


def check(case: Case) -> Iterator[RuleFinding]:
    # A single replica is never uneven.
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector"""
    for declared, selected in case.counted_together() if case.subject.replicas > 1 else ():
        others = [other for other in selected if declared.is_on(other)]
        if others:
            yield from _finding(case, declared, others)


def _finding(case: Case, declared: Declared, others: Sequence[Subject]) -> Iterator[RuleFinding]:
    trial, most, field = case.trial, declared.constraint.max_skew, f"{declared.path}.labelSelector"
    names = listed([f"{other.name.kind}/{other.name.name}" for other in others])
    replicas = counted(sum(other.replicas for other in others), "replica")
    message = f"{declared.name} counts the pods of {names} too ({replicas})"
    if trial is None or not trial.counted or len(others) > _MOST:
        yield RuleFinding(field, message, _remedy(case), severity=Severity.INFO)
        return
    before, constraint = [trial.of(other) for other in others], trial.counted[declared.position]

    def counting_itself(pod: Pod) -> Pod:
        """The pod with a label that no other has, and the constraint counting by it."""
        labeled = replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, _OWN: "true"}))
        return declared.with_fields(labelSelector=LabelSelector(match_labels={_OWN: "true"}))(labeled)

    def placed(change: PodChange) -> Mapping[str, int]:
        """Where its own replicas are once those of the others are placed, in each domain."""
        return own_counts(trial.placed_behind(before, change)[-1:], constraint)

    together, apart = placed(unchanged), placed(counting_itself)
    # Where they are even all the same, or uneven by themselves as well, it is not what they count.
    if skew_of(together) > most >= skew_of(apart):
        placed_after = f"placed after them its own {case.subject.replicas} are {by_domain(together)}"
        message += f": {placed_after}, skew {skew_of(together)} > {most}"
        yield RuleFinding(field, message, _remedy(case, f"its own are {by_domain(apart)}"), proven=True)


def _remedy(case: Case, outcome: str | None = None) -> Remedy:
    if _HASH in case.subject.labels:
        return Remedy(text=f"matchLabelKeys: [{_HASH}], or a label that only this workload has", outcome=outcome)
    return Remedy(text="select a label that only this workload has")


RULE = Rule("KS402", "shared-selector", Severity.WARNING, check)
