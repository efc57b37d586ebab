"""A domain counts towards the minimum though the pod can go to none of its nodes.

nodeTaintsPolicy is Ignore unless it is set: nodes whose taints the pod does not tolerate make domains all the same, and
so do cordoned ones. With `nodeAffinityPolicy: Ignore` nodes outside the pod's affinity do, too. No pod ever lands
there, so such a domain stays at its number, mostly 0, and holds the global minimum down. Every other domain then takes
maxSkew pods and no more, and the rest of the replicas wait. Control planes, GPU pools and nodes that are drained for an
upgrade are the usual ones.

Example: three zones, all nodes of zone c tainted, `maxSkew: 1`, six replicas. Zones a and b take one each, and four
replicas stay pending.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `nodeTaintsPolicy: Honor`, which leaves nodes with untolerated taints out. A cordon counts as such a taint only
where the node carries `node.kubernetes.io/unschedulable`, which the controller manager adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted, listed, outcome, short_key
from kubespread.lint.reach import EXCLUDED, TAINTED, barred, domains, domains_of, reachable, words
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Placed, Trial
from kubespread.planner.reports.check import Remedy, Severity
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint

_POLICIES = {TAINTED: "nodeTaintsPolicy", EXCLUDED: "nodeAffinityPolicy"}
_FIELDS = {"nodeTaintsPolicy": "node_taints_policy", "nodeAffinityPolicy": "node_affinity_policy"}


def check(case: Case, trial: Trial) -> Iterator[Found]:
    for declared, hard in case.hard(trial):
        is_open = set(domains_of(hard, hard.eligible & reachable(trial)))
        closed = [domain for domain in domains(hard) if domain not in is_open]
        # Where all are closed the pod has other worries.
        if closed and is_open:
            yield _found(declared, hard, closed, trial)


def _found(declared: Declared, hard: HardConstraint, closed: Sequence[str], trial: Trial) -> Found:
    key, placed = declared.constraint.topology_key, trial.placed
    codes = [hard.column.index[value] for value in closed]
    nodes = hard.eligible & np.isin(hard.column.codes, codes)
    reasons = _reasons(barred(trial), nodes)
    least = min(int(hard.counts[code]) for code in codes)
    are = "count as domains" if len(closed) > 1 else "counts as a domain"
    size = int(np.count_nonzero(nodes))
    policies = [_POLICIES[reason] for reason in reasons if reason in _POLICIES]
    honoring = trial.placed_where(declared.position, **{_FIELDS[policy]: "Honor" for policy in policies})
    return Found(
        field=declared.path,
        message=f"{short_key(key)} {listed(closed)} {are} with {counted(least, 'matching pod')}, though "
        f"{'its node is' if size == 1 else f'all {size} nodes are'} {words(reasons)}: {placed.text}",
        remedy=_remedy(declared, placed, honoring, policies, listed(closed)),
        proven=True,
        severity=Severity.ERROR if placed.count < honoring.count else None,
    )


def _reasons(barring: Mapping[str, Mask], nodes: Mask) -> list[str]:
    """The plugins that keep the pod from some of ``nodes``."""
    return [plugin for plugin, mask in barring.items() if (mask & nodes).any()]


def _remedy(declared: Declared, placed: Placed, honoring: Placed, policies: Sequence[str], closed: str) -> Remedy:
    if not policies or (honoring.count <= placed.count and not placed.is_complete):
        return Remedy(text=f"let the pod onto a node of {closed}: uncordon it, or tolerate its taints")
    return Remedy(
        text=f"{' and '.join(f'{policy}: Honor' for policy in policies)} on this constraint",
        settings=tuple(declared.setting(policy, "Honor") for policy in policies),
        outcome=outcome(honoring, declared.constraint.topology_key),
    )


RULE = ClusterRule("KS203", "closed-domains", Severity.WARNING, check)
