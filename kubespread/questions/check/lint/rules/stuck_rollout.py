"""A Deployment runs, but a new template can never be rolled out.

A rolling update makes up to maxSurge pods more than desired, and deletes old ones only as far as maxUnavailable allows.
By default 25 percent of few replicas is no unavailable pod at all: the first new pod has to fit beside all old ones.
Where a constraint, an anti-affinity or full nodes leave no node for it, or a quota refuses it, the rollout waits until
its deadline, and so does the fix for an outage that it may carry.

The rollout is rehearsed: all replicas are placed, and the Deployment is restarted on a cluster where nothing else
happens. Where replicas times nodes exceed 100,000 only its first new pod is placed. Without a cluster it is found where
quotas, or a claim that one pod may use, allow no pod more, which the manifests bring.

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

from kubespread.controllers.deployment import limits
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.quantity import IntOrStringError
from kubespread.questions.check.lint.rule import Case, Rule, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, counted
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.rollout import RolloutReport

_ROOM = Remedy(text="make room for another pod, or maxUnavailable: 1")


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/controller/deployment/rolling.go, reconcileNewReplicaSet, reconcileOldReplicaSets"""
    deployment = case.subject.object
    if isinstance(deployment, Deployment):
        yield from _by_files(deployment, case) if case.trial is None else _rehearsed(deployment, case.trial)


def _by_files(deployment: Deployment, case: Case) -> Iterator[RuleFinding]:
    """No pod beside all old ones, where quotas or a claim allow no more, whatever the nodes are."""
    try:
        surge, unavailable = limits(deployment)
    except IntOrStringError:
        return
    if surge and not unavailable and case.at_most.copies == case.subject.replicas > 0:
        message = _message(surge, 0, 0, case.subject.replicas, case.at_most.refusal)
        yield RuleFinding("spec.strategy", message, _ROOM)


def _rehearsed(deployment: Deployment, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    rollout, count = trial.rollout, trial.placed.count
    if not trial.placed.is_complete or not count:
        return
    if rollout is not None and not rollout.complete:
        new = rollout.passes[-1].running.new if rollout.passes else 0
        surge, unavailable = rollout.max_surge, rollout.max_unavailable
        message = _message(surge, unavailable, new, rollout.replicas, rollout.wedged_on)
        yield RuleFinding("spec.strategy", message, _remedy(deployment, rollout, trial), proven=True)
    # Of a rollout that takes too long to rehearse, the first pass alone.
    elif rollout is None and (stall := trial.stall_at_once(deployment)) is not None:
        yield RuleFinding("spec.strategy", _message(stall[0], 0, 0, count, stall[1]), _ROOM, proven=True)


def _message(surge: int, unavailable: int, new: int, replicas: int, why: str | None) -> str:
    return (
        f"no rollout completes: with maxSurge {surge} and maxUnavailable {unavailable} a restart stops at {new} of "
        f"{replicas} new pods: {why}"
    )


def _remedy(deployment: Deployment, rollout: RolloutReport, trial: ReplicaTrial) -> Remedy:
    """The least maxUnavailable that is more, where that is enough."""
    above = rollout.max_unavailable + 1
    again = trial.rollout_of(deployment, max_surge=rollout.max_surge, max_unavailable=above)
    if again.complete:
        fewest = again.fewest_ready
        ready = f"at least {counted(fewest, 'pod')} ready throughout" if fewest else "with no pod ready for a while"
        fields = {"spec.strategy.rollingUpdate.maxUnavailable": above}
        return Remedy(text=f"maxUnavailable: {above}", fields=fields, outcome=f"the restart completes, {ready}")
    return Remedy(text="make room for another pod, or strategy.type: Recreate")


RULE = Rule("KS406", "stuck-rollout", Severity.ERROR, check)
