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
from kubespread.questions.check.lint.trial import Mended, Placed, Trial, with_only
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.queue.look_ahead import look_ahead
from kubespread.wording import short_key


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter"""
    hard = [declared for declared, _ in case.hard(trial)]
    if len(hard) < 2 or trial.placed.is_complete:
        return
    if all(_alone(declared, case, trial).is_complete for declared in hard):
        names = [f"{short_key(declared.constraint.topology_key)} ≤ {declared.constraint.max_skew}" for declared in hard]
        mended, remedy = _remedy(hard, trial)
        yield RuleFinding(
            field=case.subject.field("spec.topologySpreadConstraints"),
            message=f"{' and '.join(names)} deadlock: {trial.placed.text}, and each constraint alone places all "
            f"{trial.placed.desired}{_other_order(trial)}",
            remedy=remedy,
            mended=mended,
            proven=True,
        )


def _alone(declared: Declared, case: Case, trial: Trial) -> Placed:
    """The replicas with this hard constraint and no other one."""
    soft = [declared.position for declared in case.own if not declared.constraint.is_hard]
    return trial.placed_with(lambda pod: with_only(pod, sorted([*soft, declared.position])))


def _other_order(trial: Trial) -> str:
    """Whether replicas would all fit in another order, which kube-scheduler does not look for."""
    if trial.subject.claimants is not None:
        return ""
    ahead = look_ahead(trial.plugins, trial.cluster, trial.subject.pod, trial.placed.desired)
    if ahead is None or (ahead.nodes is None and not ahead.exhausted):
        return ""
    return "; in another order all would fit" if ahead.nodes is not None else "; no order places all"


def _remedy(hard: Sequence[Declared], trial: Trial) -> tuple[Mended | None, Remedy]:
    """The least that gives way and places all, the last constraints first."""
    for declared in reversed(hard):
        above = declared.constraint.max_skew + 1
        mended = trial.mended_where(declared.position, max_skew=above)
        if mended.placed.is_complete:
            return mended, _giving_way(declared, "maxSkew", above, mended.placed)
    for declared in reversed(hard):
        mended = trial.mended_where(declared.position, when_unsatisfiable=SCHEDULE_ANYWAY, min_domains=None)
        if mended.placed.is_complete and declared.constraint.min_domains is None:
            return mended, _giving_way(declared, "whenUnsatisfiable", SCHEDULE_ANYWAY, mended.placed)
    return None, Remedy(text="relax one of the constraints")


def _giving_way(declared: Declared, field: str, value: object, placed: Placed) -> Remedy:
    key = declared.constraint.topology_key
    return Remedy(
        text=f"{field}: {value} on the constraint over {key}",
        settings=(declared.setting(field, value),),
        outcome=placed.text,
    )


RULE = ClusterRule("KS207", "deadlock", Severity.ERROR, check)
