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

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.taint import uncordoned
from kubespread.questions.check.lint.phrases import counted, listed, outcome
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import (
    EXCLUDED,
    TAINTED,
    Mended,
    Placed,
    PodChange,
    Trial,
    barred,
    domains,
    domains_of,
    reachable,
    with_constraint,
    with_node_requirement,
    words,
)
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.cluster.cluster import Change
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint
from kubespread.wording import short_key

_POLICIES = {TAINTED: "nodeTaintsPolicy", EXCLUDED: "nodeAffinityPolicy"}
_ATTRIBUTES = {
    "nodeTaintsPolicy": "node_taints_policy",
    "nodeAffinityPolicy": "node_affinity_policy",
    "minDomains": "min_domains",
}


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
    def policies(self) -> list[str]:
        """Those that would leave these nodes out."""
        return [_POLICIES[reason] for reason in self.reasons if reason in _POLICIES]

    @property
    def too_many(self) -> dict[str, object]:
        """A minDomains that what is left reaches, where it asks for more than that."""
        return {"minDomains": self.open} if (self.declared.constraint.min_domains or 1) > self.open else {}


def check(case: Case, trial: Trial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies"""
    closed_constraints = [
        closed for declared, hard in case.hard(trial) if (closed := _closed(declared, hard, trial)) is not None
    ]
    for closed in closed_constraints:
        yield _finding(closed, closed_constraints, trial)


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
    return _Closed(declared, closed, np.flatnonzero(nodes).tolist(), least, reasons, len(is_open))


def _finding(closed: _Closed, others: Sequence[_Closed], trial: Trial) -> RuleFinding:
    key, placed = closed.declared.constraint.topology_key, trial.placed
    mended, remedy = _leaving_out(closed, others, trial) if closed.policies else _uncordoning(closed, trial)
    better = mended.placed if isinstance(mended, Mended) else mended
    are = "count as domains" if len(closed.domains) > 1 else "counts as a domain"
    return RuleFinding(
        field=closed.declared.path,
        message=f"{short_key(key)} {listed(closed.domains)} {are} with {counted(closed.least, 'matching pod')}, though "
        f"{_all_of(len(closed.nodes))} {words(closed.reasons)}: {placed.text}",
        remedy=remedy,
        mended=mended if isinstance(mended, Mended) else None,
        proven=True,
        severity=Severity.ERROR if placed.count < better.count else None,
    )


def _all_of(nodes: int) -> str:
    return {1: "its node is", 2: "both nodes are"}.get(nodes, f"all {nodes} nodes are")


def _leaving_out(closed: _Closed, others: Sequence[_Closed], trial: Trial) -> tuple[Mended, Remedy]:
    """The least that leaves the nodes out and gets all replicas placed, else what gets most of them placed."""
    tried = []
    for text, change, settings in _ways(closed, others):
        mended = trial.mended(change)
        result = outcome(mended.placed, closed.declared.constraint.topology_key)
        tried.append((mended, Remedy(text=text, settings=settings, outcome=result)))
        if mended.is_taken and mended.placed.is_complete:
            break
    return max(tried, key=lambda attempt: (attempt[0].is_taken, attempt[0].placed.count))


def _ways(closed: _Closed, others: Sequence[_Closed]) -> Iterator[tuple[str, PodChange, tuple[str, ...]]]:
    """Several constraints may count the nodes, each of which holds the pod back, and with fewer domains minDomains may
    ask for too many. A release without the policies takes node affinity, which leaves nodes out in every release.
    """
    honorable = [other for other in others if other.policies]
    for honored, lowers in (([closed], False), (honorable, False), (honorable, True)):
        changed = {
            shut.declared: {**dict.fromkeys(shut.policies, "Honor"), **(shut.too_many if lowers else {})}
            for shut in honored
        }
        yield _fields_text(changed), _changing(changed), _settings(changed)
    key = closed.declared.constraint.topology_key
    affinity = f"node affinity that requires {key} NotIn [{listed(closed.domains)}]"
    lowered = {other.declared: other.too_many for other in others if other.too_many}
    yield affinity, _staying_away(key, closed.domains, {}), ()
    if lowered:
        yield (
            f"{affinity}, and {_fields_text(lowered)}",
            _staying_away(key, closed.domains, lowered),
            _settings(lowered),
        )


def _staying_away(key: str, domains: Sequence[str], changed: Mapping[Declared, Mapping[str, object]]) -> PodChange:
    change = _changing(changed)
    return lambda pod: with_node_requirement(change(pod), key, "NotIn", domains)


def _settings(changed: Mapping[Declared, Mapping[str, object]]) -> tuple[str, ...]:
    return tuple(
        constraint.setting(name, value) for constraint, fields in changed.items() for name, value in fields.items()
    )


def _changing(changed: Mapping[Declared, Mapping[str, object]]) -> PodChange:
    def change(pod: Pod) -> Pod:
        for declared, fields in changed.items():
            attributes = {_ATTRIBUTES[name]: value for name, value in fields.items()}
            pod = with_constraint(pod, declared.position, **attributes)
        return pod

    return change


def _fields_text(changed: Mapping[Declared, Mapping[str, object]]) -> str:
    fields = dict.fromkeys(f"{name}: {value}" for values in changed.values() for name, value in values.items())
    where = "this constraint" if len(changed) == 1 else "the hard constraints that count these nodes"
    return f"{' and '.join(fields)} on {where}"


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
