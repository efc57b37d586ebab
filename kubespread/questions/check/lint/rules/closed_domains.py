"""A domain counts towards the minimum though the pod can go to none of its nodes.

nodeTaintsPolicy is Ignore unless it is set: nodes whose taints the pod does not tolerate still make domains, and so do
cordoned ones. With `nodeAffinityPolicy: Ignore` nodes outside the pod's affinity do, too. No pod ever lands there, so
such a domain stays at its count, mostly 0, and holds the global minimum down. Every other domain then takes at most
maxSkew pods more than that, and the other replicas wait. Typical are control planes, GPU pools and nodes being drained
for an upgrade.

Example: three zones, all nodes of zone c tainted, `maxSkew: 1`, six replicas. Zones a and b take one each, and four
replicas stay pending.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `nodeTaintsPolicy: Honor`, which leaves nodes with untolerated taints out; before Kubernetes 1.26, the first to
have it by default, node affinity that excludes the domain. A cordon counts as such a taint only where the node carries
`node.kubernetes.io/unschedulable`, which the controller manager adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from kubespread.kube.taint import uncordoned
from kubespread.questions.check.lint import trial as trials
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, FieldChange, RuleFinding
from kubespread.questions.check.lint.trial import Mended, Placed, PodChange, ReplicaTrial, counted, listed
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.judged_nodes import EXCLUDED, KEEPING_OFF, TAINTED
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint

_POLICIES = {TAINTED: "nodeTaintsPolicy", EXCLUDED: "nodeAffinityPolicy"}


class _Closed(Struct, frozen=True):
    """One constraint and the domains it counts that the pod cannot go to."""

    declared: Declared
    domains: Sequence[str]
    nodes: Sequence[int]
    """The nodes of these, by position."""
    least: int
    """The fewest matching pods in one of them."""
    reasons: Sequence[str]
    """The plugins that keep the pod from their nodes."""
    open: int
    """How many domains it counts that the pod can go to."""

    @property
    def honoring(self) -> dict[str, Any]:
        """The policies that would leave these nodes out."""
        return {_POLICIES[reason]: "Honor" for reason in self.reasons if reason in _POLICIES}

    @property
    def too_many(self) -> dict[str, Any]:
        """A minDomains that what is left reaches, where it asks for more than that."""
        return {"minDomains": self.open} if (self.declared.constraint.min_domains or 1) > self.open else {}


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies"""
    closed_constraints = [
        closed for declared, hard in case.hard(trial) if (closed := _closed(declared, hard, trial)) is not None
    ]
    for closed in closed_constraints:
        yield _finding(closed, closed_constraints, trial)


def _closed(declared: Declared, hard: HardConstraint, trial: ReplicaTrial) -> _Closed | None:
    is_open = set(trials.domains_of(hard, hard.eligible & trial.reachable))
    closed = [domain for domain in trials.domains(hard) if domain not in is_open]
    # Where all are closed the pod has other worries.
    if not closed or not is_open:
        return None
    codes = [hard.column.index[value] for value in closed]
    nodes = hard.eligible & np.isin(hard.column.codes, codes)
    reasons = [plugin for plugin, mask in trial.barred.items() if (mask & nodes).any()]
    least = min(int(hard.counts[code]) for code in codes)
    return _Closed(declared, closed, np.flatnonzero(nodes).tolist(), least, reasons, len(is_open))


def _finding(closed: _Closed, others: Sequence[_Closed], trial: ReplicaTrial) -> RuleFinding:
    mended, better, remedy = (_leaving_out if closed.honoring else _uncordoning)(closed, others, trial)
    are = "count as domains" if len(closed.domains) > 1 else "counts as a domain"
    nodes = len(closed.nodes)
    all_are = {1: "its node is", 2: "both nodes are"}.get(nodes, f"all {nodes} nodes are")
    kept_off = " or ".join(KEEPING_OFF[plugin] for plugin in closed.reasons)
    message = (
        f"{closed.declared.name} {listed(closed.domains)} {are} with {counted(closed.least, 'matching pod')}, though "
        f"{all_are} {kept_off}: {trial.placed.text}"
    )
    severity = Severity.ERROR if trial.placed.count < better.count else None
    return RuleFinding(closed.declared.path, message, remedy, mended, severity)


def _leaving_out(
    closed: _Closed, others: Sequence[_Closed], trial: ReplicaTrial
) -> tuple[Mended | None, Placed, Remedy]:
    """The least that leaves the nodes out and gets all replicas placed, else what gets most of them placed."""
    tried = []
    for text, change, settings in _ways(closed, others):
        mended = trial.mended(change)
        outcome = mended.placed.outcome(closed.declared.key)
        tried.append((mended, mended.placed, Remedy(text=text, settings=settings, outcome=outcome)))
        if mended.is_taken and mended.placed.is_complete:
            break
    return max(tried, key=lambda attempt: (attempt[0].is_taken, attempt[1].count))


def _ways(closed: _Closed, others: Sequence[_Closed]) -> Iterator[tuple[str, PodChange, tuple[str, ...]]]:
    """Several constraints may count the nodes, each of which holds the pod back, and with fewer domains minDomains may
    ask for too many. A release without the policies takes node affinity, which leaves nodes out in every release.
    """
    honorable = [other for other in others if other.honoring]
    for honored, lowers in (([closed], False), (honorable, False), (honorable, True)):
        changed = FieldChange(
            {shut.declared: {**shut.honoring, **(shut.too_many if lowers else {})} for shut in honored}
        )
        yield _text(changed), changed, changed.settings
    key = closed.declared.key
    affinity = f"node affinity that requires {key} NotIn [{listed(closed.domains)}]"
    lowered = FieldChange({other.declared: other.too_many for other in others if other.too_many})
    yield affinity, lambda pod: trials.with_node_requirement(pod, key, "NotIn", closed.domains), ()
    if lowered.values:
        yield (
            f"{affinity}, and {_text(lowered)}",
            lambda pod: trials.with_node_requirement(lowered(pod), key, "NotIn", closed.domains),
            lowered.settings,
        )


def _text(changed: FieldChange) -> str:
    where = "this constraint" if len(changed.values) == 1 else "the hard constraints that count these nodes"
    return f"{changed.text} on {where}"


def _uncordoning(closed: _Closed, _others: Sequence[_Closed], trial: ReplicaTrial) -> tuple[None, Placed, Remedy]:
    """What remains for nodes that are cordoned and carry no taint."""
    nodes = {position: trial.cluster.nodes.objects[position] for position in closed.nodes}
    change = ClusterChange(replaced={position: uncordoned(node) for position, node in nodes.items()})
    placed = trial.placed_with(cluster=trial.cluster.after(change))
    names = [node.metadata.name for node in nodes.values()]
    edits, outcome = tuple(f"uncordon {name}" for name in names), placed.outcome(closed.declared.key)
    return None, placed, Remedy(text=f"uncordon {listed(names)}", edits=edits, outcome=outcome)


RULE = ClusterRule("KS203", "closed-domains", Severity.WARNING, check)
