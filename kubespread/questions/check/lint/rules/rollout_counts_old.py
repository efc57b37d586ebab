"""A rolling update counts the old pods, and leaves the new ones uneven once they are gone.

While a Deployment is rolled out, pods of both revisions carry the labels that its constraint selects. Each new pod goes
where old and new together are fewest, which depends on the old ones still running; these are deleted afterwards, and
nothing moves the new ones. `matchLabelKeys: [pod-template-hash]` makes a constraint count the pods of its own revision
alone. Where every pod is deleted before the first new one is made (`strategy.type: Recreate`) there is nothing to fix.

A restart of all replicas (`kubectl rollout restart`) is rehearsed from its first pass to its last on a cluster where
nothing else happens, as it is and with the remedy. There is a finding where the new pods end beyond maxSkew, and within
it once each revision is counted by itself. A rollout that never ends is a finding of its own (KS406). Where replicas
times nodes exceed 100,000 nothing is rehearsed and there is no finding.

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

from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.kube.api.workloads import Deployment, RollingUpdate, UpdateStrategy
from kubespread.questions.check.lint.own_selector import (
    BY_REVISION,
    by_revision,
    counts_by_revision,
    excess,
    rolled_out,
    told_apart,
)
from kubespread.questions.check.lint.phrases import by_domain, counted
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Trial
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.rollout import RevisionSkew, RolloutReport
from kubespread.wording import short_key


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/controller/deployment/rolling.go, rolloutRolling
    Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector
    """
    deployment, rollout = rolled_out(case), trial.rollout
    if deployment is None or rollout is None or not rollout.complete:
        return
    counting = [declared for declared in case.own if _counts_old(case, declared)]
    for declared in counting:
        if excess(rollout, declared.position):
            yield from _finding(declared, counting, rollout, deployment, case, trial)


def _counts_old(case: Case, declared: Declared) -> bool:
    """Whether it counts its own pods, and not by a label of which people may say that it tells revisions."""
    constraint = declared.constraint
    if not constraint.self_match or not constraint.counts_pods:
        return False
    named = {requirement.key for requirement in constraint.selector.requirements}
    return TEMPLATE_HASH not in named and all(
        key not in case.subject.labels for key in declared.written.match_label_keys
    )


def _finding(
    declared: Declared,
    counting: Sequence[Declared],
    rollout: RolloutReport,
    deployment: Deployment,
    case: Case,
    trial: Trial,
) -> Iterator[RuleFinding]:
    remedy = _by_revision(declared, counting, rollout, deployment, trial)
    # Counted by revision they are still uneven: something else makes them so.
    if remedy is None:
        return
    if not counts_by_revision(case.version):
        remedy = _without_surge(declared, counting, rollout, deployment, trial)
    final = rollout.final[declared.position]
    yield RuleFinding(
        field=declared.path,
        message=f"{short_key(declared.constraint.topology_key)} counts the old pods in a rollout: after a restart "
        f"{_landed(rollout, final)}, skew {final.skew} > {final.max_skew}",
        remedy=remedy,
        proven=True,
    )


def _by_revision(
    declared: Declared, counting: Sequence[Declared], rollout: RolloutReport, deployment: Deployment, trial: Trial
) -> Remedy | None:
    """This constraint alone counting its own revision, or all of them, where that leaves none of them worse."""
    for changed, where in (([declared], "this constraint"), (counting, "each constraint")):
        again = trial.rollout_of(deployment, told_apart([constraint.position for constraint in changed]))
        if _is_mended(declared, counting, rollout, again):
            return Remedy(
                text=f"{BY_REVISION} on {where}", fields=by_revision(changed), outcome=_outcome(again, declared)
            )
    return None


def _without_surge(
    declared: Declared, counting: Sequence[Declared], rollout: RolloutReport, deployment: Deployment, trial: Trial
) -> Remedy:
    """For a release without matchLabelKeys: an old pod goes before each new one comes, where that is enough."""
    unavailable = max(1, rollout.max_unavailable)
    rolling = RollingUpdate(max_surge=0, max_unavailable=unavailable)
    strategy = UpdateStrategy(type="RollingUpdate", rolling_update=rolling)
    again = trial.rollout_of(replace(deployment, spec=replace(deployment.spec, strategy=strategy)))
    if _is_mended(declared, counting, rollout, again):
        rolling_update = "spec.strategy.rollingUpdate"
        fields = {f"{rolling_update}.maxSurge": 0, f"{rolling_update}.maxUnavailable": unavailable}
        text = f"maxSurge: 0 and maxUnavailable: {unavailable}"
        return Remedy(text=text, fields=fields, outcome=_outcome(again, declared))
    return Remedy(text=f"Kubernetes 1.27, which has {BY_REVISION}")


def _is_mended(declared: Declared, counting: Sequence[Declared], before: RolloutReport, after: RolloutReport) -> bool:
    return (
        after.complete
        and not excess(after, declared.position)
        and all(excess(after, constraint.position) <= excess(before, constraint.position) for constraint in counting)
    )


def _outcome(rollout: RolloutReport, declared: Declared) -> str:
    return f"after a restart {_landed(rollout, rollout.final[declared.position])}"


def _landed(rollout: RolloutReport, skews: RevisionSkew) -> str:
    counts = {domain.value: domain.new for domain in skews.domains}
    return f"{counted(rollout.replicas, 'replica')} are placed {by_domain(counts)}"


RULE = ClusterRule("KS401", "rollout-counts-old", Severity.WARNING, check)
