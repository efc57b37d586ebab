"""Hard constraints that can each be met cannot be met together.

kube-scheduler places one pod after another and never moves one. With a hard constraint over zones and another one over
nodes the first replicas may leave every node of the emptiest zone full by the second constraint, and every other zone
full by the first: the next replica fits nowhere, though each constraint alone would place them all. Zones with
different numbers of nodes do this sooner or later.

Example: zones a and b with two nodes each, zone c with one.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: relax one of them, usually the one over nodes: a higher maxSkew, or ScheduleAnyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.well_known import SCHEDULE_ANYWAY
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Mended, Placed, ReplicaTrial, with_only
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.queue.look_ahead import look_ahead


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter"""
    hard = [declared for declared, _ in case.hard(trial)]
    if len(hard) < 2 or trial.placed.is_complete:
        return
    if all(_alone(declared, case, trial).is_complete for declared in hard):
        names = [f"{declared.name} ≤ {declared.constraint.max_skew}" for declared in hard]
        message = (
            f"{' and '.join(names)} deadlock: {trial.placed.text}, and each constraint alone places all "
            f"{trial.placed.desired}{_other_order(trial)}"
        )
        mended, remedy = _remedy(hard, trial)
        yield RuleFinding(case.subject.field("spec.topologySpreadConstraints"), message, remedy, mended)


def _alone(declared: Declared, case: Case, trial: ReplicaTrial) -> Placed:
    """The replicas with this hard constraint and no other one."""
    soft = [declared.position for declared in case.own if not declared.constraint.is_hard]
    return trial.placed_with(lambda pod: with_only(pod, sorted([*soft, declared.position])))


def _other_order(trial: ReplicaTrial) -> str:
    """Whether replicas would all fit in another order, which kube-scheduler does not look for."""
    if trial.subject.told_apart is not None:
        return ""
    ahead = look_ahead(trial.plugins, trial.cluster, trial.subject.pod, trial.placed.desired)
    if ahead is None or (ahead.nodes is None and not ahead.exhausted):
        return ""
    return "; in another order all would fit" if ahead.nodes is not None else "; no order places all"


def _remedy(hard: Sequence[Declared], trial: ReplicaTrial) -> tuple[Mended | None, Remedy]:
    """The least that gives way and places all, the last constraints first."""
    wider = [declared.with_fields(maxSkew=declared.constraint.max_skew + 1) for declared in reversed(hard)]
    # minDomains is for hard constraints alone.
    softer = [
        declared.with_fields(whenUnsatisfiable=SCHEDULE_ANYWAY)
        for declared in reversed(hard)
        if declared.constraint.min_domains is None
    ]
    for change in (*wider, *softer):
        mended = trial.mended(change)
        if mended.placed.is_complete:
            (declared,) = change.values
            text = f"{change.text} on the constraint over {declared.key}"
            return mended, Remedy(text=text, settings=change.settings, outcome=mended.placed.text)
    return None, Remedy(text="relax one of the constraints")


RULE = ClusterRule("KS207", "deadlock", Severity.ERROR, check)
