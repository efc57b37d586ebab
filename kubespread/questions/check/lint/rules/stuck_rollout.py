"""A Deployment runs, but a new template can never be rolled out.

A rolling update makes up to maxSurge pods more than desired, and deletes old ones only as far as maxUnavailable allows.
By default 25 percent of few replicas is no unavailable pod at all: the first new pod has to fit beside all old ones.
Where a constraint, an anti-affinity or full nodes leave no node for it, or a quota refuses it, the rollout waits until
its deadline, and so does the fix for an outage that it may carry.

The rollout is rehearsed: all replicas are placed, and the Deployment is restarted on a cluster where nothing else
happens. Where replicas times nodes exceed 100,000 only its first new pod is placed.

Example: three nodes, three replicas, one per node.

```yaml
strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
template:
  spec:
    affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector: {matchLabels: {app: web}}
```

Remedy: `maxUnavailable: 1`, so that an old pod makes room; or let constraints and terms tell revisions apart
(`matchLabelKeys: [pod-template-hash]`).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.api.workloads import Deployment, RollingUpdate, UpdateStrategy
from kubespread.questions.check.lint.phrases import counted
from kubespread.questions.check.lint.rehearsal import stall_at_once
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import Trial
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.rollout import RolloutReport
from kubespread.scheduler.plugin import SchedulingError


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/controller/deployment/rolling.go, reconcileNewReplicaSet, reconcileOldReplicaSets"""
    deployment, rollout = case.subject.object, trial.rollout
    if not isinstance(deployment, Deployment) or not trial.placed.is_complete or not trial.placed.count:
        return
    if rollout is None:
        yield from _at_once(deployment, trial)
    elif not rollout.complete:
        yield _finding(deployment, rollout, trial)


def _at_once(deployment: Deployment, trial: Trial) -> Iterator[RuleFinding]:
    """The first pass alone, of a rollout that takes too long to rehearse."""
    try:
        stall = stall_at_once(trial.cluster, deployment, trial.subject.pod, trial.placed.nodes, trial.plugins)
    except SchedulingError:
        return
    if stall is not None:
        yield RuleFinding(
            field="spec.strategy",
            message=_message(stall.max_surge, 0, 0, trial.placed.count, stall.message),
            remedy=Remedy(text="make room for another pod, or maxUnavailable: 1"),
            proven=True,
        )


def _message(surge: int, unavailable: int, new: int, replicas: int, why: str | None) -> str:
    return (
        f"no rollout completes: with maxSurge {surge} and maxUnavailable {unavailable} a restart stops at {new} of "
        f"{replicas} new pods: {why}"
    )


def _finding(deployment: Deployment, rollout: RolloutReport, trial: Trial) -> RuleFinding:
    surge, unavailable = rollout.max_surge, rollout.max_unavailable
    return RuleFinding(
        field="spec.strategy",
        message=_message(surge, unavailable, _new_pods(rollout), rollout.replicas, rollout.wedged_on),
        remedy=_remedy(deployment, rollout, trial),
        proven=True,
    )


def _new_pods(rollout: RolloutReport) -> int:
    return rollout.passes[-1].running.new if rollout.passes else 0


def _remedy(deployment: Deployment, rollout: RolloutReport, trial: Trial) -> Remedy:
    """The least maxUnavailable that is more, where that is enough."""
    above = rollout.max_unavailable + 1
    rolling = RollingUpdate(max_surge=rollout.max_surge, max_unavailable=above)
    strategy = UpdateStrategy(type="RollingUpdate", rolling_update=rolling)
    again = trial.rollout_of(replace(deployment, spec=replace(deployment.spec, strategy=strategy)))
    if again.complete:
        fewest = again.fewest_ready
        ready = f"at least {counted(fewest, 'pod')} ready throughout" if fewest else "with no pod ready for a while"
        fields = {"spec.strategy.rollingUpdate.maxUnavailable": above}
        return Remedy(text=f"maxUnavailable: {above}", fields=fields, outcome=f"the restart completes, {ready}")
    return Remedy(text="make room for another pod, or strategy.type: Recreate")


RULE = ClusterRule("KS406", "stuck-rollout", Severity.ERROR, check)
