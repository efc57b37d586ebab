"""A rolling update counts the old pods, and leaves the new ones uneven once they are gone.

While a Deployment is rolled out, pods of both revisions carry the labels that its constraint selects. Each new pod goes
where old and new together are fewest, which depends on the old ones still running; these are deleted afterwards, and
nothing moves the new ones. `matchLabelKeys: [pod-template-hash]` makes a constraint count the pods of its own revision
alone. Where every pod is deleted before the first new one is made (`strategy.type: Recreate`) there is nothing to fix.

A restart of all replicas (`kubectl rollout restart`) is rehearsed from its first pass to its last on a cluster where
nothing else happens and old pods stop at once, as it is and with the remedy. There is a finding where the new pods end
beyond maxSkew, and within it once each revision is counted by itself. A rollout that never ends is a finding of its own
(KS406). Where replicas times nodes exceed 100,000 nothing is rehearsed and there is no finding.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `matchLabelKeys: [pod-template-hash]`; before Kubernetes 1.27, the first to have it by default, `maxSurge: 0`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.kube.api.workloads import Deployment
from kubespread.questions.check.lint.rule import (
    BY_REVISION,
    Case,
    ClusterRule,
    Declared,
    RuleFinding,
    by_revision,
    excess,
)
from kubespread.questions.check.lint.trial import ReplicaTrial, by_domain, counted
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.rollout import RolloutReport


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/controller/deployment/rolling.go, rolloutRolling
    Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector
    """
    deployment, rollout = case.rolled_out, trial.rollout
    if deployment is None or rollout is None or not rollout.complete:
        return
    counting = [declared for declared in case.own if _counts_old(case, declared)]
    for declared in counting:
        if not excess(rollout, declared):
            continue
        remedy = _by_revision(declared, counting, rollout, deployment, trial)
        # Counted by revision they are still uneven: something else makes them so.
        if remedy is None:
            continue
        if not case.counts_by_revision:
            remedy = _without_surge(declared, counting, rollout, deployment, trial)
        final = rollout.final[declared.position]
        message = (
            f"{declared.name} counts the old pods in a rollout: after a restart {_landed(rollout, declared)}, "
            f"skew {final.skew} > {final.max_skew}"
        )
        yield RuleFinding(declared.path, message, remedy)


def _counts_old(case: Case, declared: Declared) -> bool:
    """Whether it counts its own pods, and not by a label of which people may say that it tells revisions."""
    named = {requirement.key for requirement in declared.constraint.selector.requirements}
    keys = declared.written.match_label_keys
    return declared.counts_itself and TEMPLATE_HASH not in named and not case.subject.labels.keys() & set(keys)


def _by_revision(
    declared: Declared, counting: Sequence[Declared], before: RolloutReport, deployment: Deployment, trial: ReplicaTrial
) -> Remedy | None:
    """This constraint alone counting its own revision, or all of them, where that leaves none of them worse."""
    for changed, where in (([declared], "this constraint"), (counting, "each constraint")):
        change = by_revision(changed)
        outcome = _outcome(declared, counting, before, trial.rollout_of(deployment, change))
        if outcome is not None:
            return Remedy(text=f"{BY_REVISION} on {where}", fields=change.fields, outcome=outcome)
    return None


def _without_surge(
    declared: Declared, counting: Sequence[Declared], before: RolloutReport, deployment: Deployment, trial: ReplicaTrial
) -> Remedy:
    """For a release without matchLabelKeys: an old pod goes before each new one comes, where that is enough."""
    unavailable = max(1, before.max_unavailable)
    again = trial.rollout_of(deployment, max_surge=0, max_unavailable=unavailable)
    outcome = _outcome(declared, counting, before, again)
    if outcome is None:
        return Remedy(text=f"Kubernetes 1.27, which has {BY_REVISION}")
    rolling_update = "spec.strategy.rollingUpdate"
    fields = {f"{rolling_update}.maxSurge": 0, f"{rolling_update}.maxUnavailable": unavailable}
    return Remedy(text=f"maxSurge: 0 and maxUnavailable: {unavailable}", fields=fields, outcome=outcome)


def _outcome(
    declared: Declared, counting: Sequence[Declared], before: RolloutReport, after: RolloutReport
) -> str | None:
    """Where the new pods end ``after`` the remedy, if the constraint is met then, and no other one is worse."""
    is_mended = after.complete and not excess(after, declared)
    if not is_mended or any(excess(after, constraint) > excess(before, constraint) for constraint in counting):
        return None
    return f"after a restart {_landed(after, declared)}"


def _landed(rollout: RolloutReport, declared: Declared) -> str:
    counts = {domain.value: domain.new for domain in rollout.final[declared.position].domains}
    return f"{counted(rollout.replicas, 'replica')} are placed {by_domain(counts)}"


RULE = ClusterRule("KS401", "rollout-counts-old", Severity.WARNING, check)
