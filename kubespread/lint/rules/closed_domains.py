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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted, listed, outcome, short_key
from kubespread.lint.reach import EXCLUDED, TAINTED, barred, domains, domains_of, reachable, words
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Placed, Trial, with_constraint
from kubespread.planner.reports.check import Remedy, Severity
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.snapshot.edits.cordoning import uncordoned

_POLICIES = {TAINTED: "nodeTaintsPolicy", EXCLUDED: "nodeAffinityPolicy"}
_FIELDS = {"nodeTaintsPolicy": "node_taints_policy", "nodeAffinityPolicy": "node_affinity_policy"}


@dataclass(frozen=True, slots=True)
class _Closed:
    """One constraint and the domains it counts that the pod cannot go to."""

    declared: Declared
    domains: Sequence[str]
    nodes: Sequence[int]
    """The nodes of these, by position."""
    least: int
    """The fewest matching pods in one of them."""
    reasons: Sequence[str]
    """The plugins that keep the pod from their nodes."""

    @property
    def policies(self) -> list[str]:
        """Those that would leave these nodes out."""
        return [_POLICIES[reason] for reason in self.reasons if reason in _POLICIES]

    @property
    def settings(self) -> tuple[str, ...]:
        return tuple(self.declared.setting(policy, "Honor") for policy in self.policies)


def check(case: Case, trial: Trial) -> Iterator[Found]:
    found = [closed for declared, hard in case.hard(trial) if (closed := _closed(declared, hard, trial)) is not None]
    for closed in found:
        yield _found(closed, found, trial)


def _closed(declared: Declared, hard: HardConstraint, trial: Trial) -> _Closed | None:
    is_open = set(domains_of(hard, hard.eligible & reachable(trial)))
    closed = [domain for domain in domains(hard) if domain not in is_open]
    # Where all are closed the pod has other worries.
    if not closed or not is_open:
        return None
    codes = [hard.column.index[value] for value in closed]
    nodes = hard.eligible & np.isin(hard.column.codes, codes)
    reasons = [plugin for plugin, mask in barred(trial).items() if (mask & nodes).any()]
    least = min(int(hard.counts[code]) for code in codes)
    return _Closed(declared, closed, np.flatnonzero(nodes).tolist(), least, reasons)


def _found(closed: _Closed, others: Sequence[_Closed], trial: Trial) -> Found:
    key, placed = closed.declared.constraint.topology_key, trial.placed
    mended, remedy = _honoring(closed, others, trial) if closed.policies else _uncordoning(closed, trial)
    are = "count as domains" if len(closed.domains) > 1 else "counts as a domain"
    return Found(
        field=closed.declared.path,
        message=f"{short_key(key)} {listed(closed.domains)} {are} with {counted(closed.least, 'matching pod')}, though "
        f"{_all_of(len(closed.nodes))} {words(closed.reasons)}: {placed.text}",
        remedy=remedy,
        proven=True,
        severity=Severity.ERROR if placed.count < mended.count else None,
    )


def _all_of(nodes: int) -> str:
    return {1: "its node is", 2: "both nodes are"}.get(nodes, f"all {nodes} nodes are")


def _placed_honoring(honored: Sequence[_Closed], trial: Trial) -> Placed:
    def change(pod: Pod) -> Pod:
        for each in honored:
            policies = {_FIELDS[policy]: "Honor" for policy in each.policies}
            pod = with_constraint(pod, each.declared.position, **policies)
        return pod

    return trial.placed_with(change)


def _honoring(closed: _Closed, others: Sequence[_Closed], trial: Trial) -> tuple[Placed, Remedy]:
    """The policies that leave the nodes out. Several constraints may count them, each of which holds the pod back."""
    honored = [closed]
    placed = _placed_honoring(honored, trial)
    if not placed.is_complete and len(others) > 1:
        honored = [each for each in others if each.policies]
        placed = _placed_honoring(honored, trial)
    policies = dict.fromkeys(policy for each in honored for policy in each.policies)
    honor = " and ".join(f"{policy}: Honor" for policy in policies)
    return placed, Remedy(
        text=f"{honor} on {'this constraint' if len(honored) == 1 else 'all hard constraints that count these nodes'}",
        settings=tuple(setting for each in honored for setting in each.settings),
        outcome=outcome(placed, closed.declared.constraint.topology_key),
    )


def _uncordoning(closed: _Closed, trial: Trial) -> tuple[Placed, Remedy]:
    """What remains for nodes that are cordoned and carry no taint."""
    nodes = [trial.cluster.nodes.objects[node] for node in closed.nodes]
    placed = trial.placed_after(
        Change(replaced={position: uncordoned(node) for position, node in zip(closed.nodes, nodes, strict=True)})
    )
    return placed, Remedy(
        text=f"uncordon {listed([node.metadata.name for node in nodes])}",
        edits=tuple(f"uncordon {node.metadata.name}" for node in nodes),
        outcome=outcome(placed, closed.declared.constraint.topology_key),
    )


RULE = ClusterRule("KS203", "closed-domains", Severity.WARNING, check)
