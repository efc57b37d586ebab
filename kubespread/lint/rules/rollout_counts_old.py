"""A rolling update counts the old pods, and leaves the new ones uneven once they are gone.

While a Deployment is rolled out, pods of both revisions carry the labels that its constraint selects. Each new pod goes
where old and new together are fewest, which depends on the old ones that are still there; these are deleted
afterwards, and nothing moves the new ones. `matchLabelKeys: [pod-template-hash]` makes a constraint count the pods of
its own revision alone. Where every pod is deleted before the first new one is made (`strategy.type: Recreate`) there is
nothing to mend.

The numbers are those of a restart of all replicas (`kubectl rollout restart`), which is rehearsed from its first pass
to its last on a cluster where nothing else happens. Where it ends within maxSkew the finding is only worth knowing: the
next rollout may begin from other nodes. One that never ends is another finding. Where replicas times nodes exceed
100,000 nothing is rehearsed, and there are no numbers.

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `matchLabelKeys: [pod-template-hash]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.workloads import Deployment
from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import by_domain, counted, short_key
from kubespread.lint.rule import Rule
from kubespread.planner.reports.check import Remedy, Severity
from kubespread.planner.reports.rollout import RevisionSkew, RolloutReport

_HASH = "pod-template-hash"


def check(case: Case) -> Iterator[Found]:
    deployment = case.subject.object
    if not isinstance(deployment, Deployment) or case.subject.replicas < 2 or _is_recreated(deployment):
        return
    rollout = case.trial.rollout if case.trial is not None else None
    if rollout is not None and not rollout.complete:
        return
    for declared in case.own:
        constraint = declared.constraint
        if constraint.self_match and constraint.counts_pods and not _tells_revisions(case, declared):
            yield _found(declared, rollout)


def _is_recreated(deployment: Deployment) -> bool:
    return deployment.spec.strategy is not None and deployment.spec.strategy.type == "Recreate"


def _tells_revisions(case: Case, declared: Declared) -> bool:
    """Whether it counts by a label of which people may say that it tells revisions, or by the hash itself."""
    named = {requirement.key for requirement in declared.constraint.selector.requirements}
    return _HASH in named or any(key in case.subject.labels for key in declared.written.match_label_keys)


def _found(declared: Declared, rollout: RolloutReport | None) -> Found:
    name = short_key(declared.constraint.topology_key)
    remedy = "matchLabelKeys: [pod-template-hash] on this constraint"
    if rollout is None:
        return Found(
            field=declared.path,
            message=f"{name} counts the old pods in a rollout: which of them go last decides how the new ones stand",
            remedy=Remedy(text=remedy),
            severity=Severity.INFO,
        )
    final = rollout.final[declared.position]
    is_uneven = final.skew > final.max_skew
    return Found(
        field=declared.path,
        message=f"{name} counts the old pods in a rollout: after a restart {_landed(rollout, final)}, "
        f"{f'skew {final.skew} > {final.max_skew}' if is_uneven else f'which happens to be within {final.max_skew}'}",
        remedy=Remedy(text=remedy, outcome=_outcome(rollout, declared.position)),
        proven=True,
        severity=None if is_uneven else Severity.INFO,
    )


def _landed(rollout: RolloutReport, skews: RevisionSkew) -> str:
    counts = {domain.value: domain.new for domain in skews.domains}
    return f"{counted(rollout.replicas, 'replica')} stand {by_domain(counts)}"


def _outcome(rollout: RolloutReport, position: int) -> str | None:
    counting: Sequence[RevisionSkew] = rollout.with_match_label_keys or ()
    return f"after a restart {_landed(rollout, counting[position])}" if counting else None


RULE = Rule("KS401", "rollout-counts-old", Severity.WARNING, check)
