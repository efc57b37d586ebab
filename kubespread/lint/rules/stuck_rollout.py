"""A Deployment runs, and can never be given another template.

A rolling update makes maxSurge pods more than there are to be, and deletes old ones only as far as maxUnavailable
allows. By default 25 percent of few replicas is no unavailable pod at all: the first new pod has to fit beside all old
ones. Where a constraint, an anti-affinity or full nodes leave no node for it the rollout waits until its deadline, and
so does the fix for the outage that it was to end.

The rollout is rehearsed: all replicas are placed, and the Deployment is restarted on a cluster where nothing else
happens. Where replicas times nodes exceed 100,000 it is not asked.

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

Remedy: `maxUnavailable: 1`, with which an old pod makes room; or let constraints and terms tell revisions apart
(`matchLabelKeys: [pod-template-hash]`).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.api.workloads import Deployment, RollingUpdate, UpdateStrategy
from kubespread.lint.case import Case
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Trial
from kubespread.planner.reports.check import Remedy, Severity
from kubespread.planner.reports.rollout import RolloutReport


def check(case: Case, trial: Trial) -> Iterator[Found]:
    deployment, rollout = case.subject.object, trial.rollout
    if rollout is None or rollout.complete or not isinstance(deployment, Deployment) or not trial.placed.is_complete:
        return
    yield Found(
        field="spec.strategy",
        message=f"no rollout ends: with maxSurge {rollout.max_surge} and maxUnavailable {rollout.max_unavailable} a "
        f"restart stops at {_new_pods(rollout)} of {rollout.replicas} new pods: {rollout.wedged_on}",
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
        ready = f"no fewer than {counted(again.fewest_ready, 'pod')} ready on the way"
        return Remedy(text=f"maxUnavailable: {above}", outcome=f"the restart ends, {ready}")
    return Remedy(text="make room for another pod, or strategy.type: Recreate")


RULE = ClusterRule("KS406", "stuck-rollout", Severity.ERROR, check)
