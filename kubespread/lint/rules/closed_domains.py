"""A domain counts towards the minimum though the pod can go to none of its nodes.

nodeTaintsPolicy is Ignore unless it is set: nodes whose taints the pod does not tolerate make domains all the same, and
so do cordoned ones. No pod ever lands there, so such a domain stays at its number, mostly 0, and holds the global
minimum down. Every other domain then takes maxSkew pods and no more, and the rest of the replicas wait. Control planes,
GPU pools and nodes that are drained for an upgrade are the usual ones.

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

import numpy as np

from kubespread.lint.case import Case, Declared
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted, listed, outcome, short_key
from kubespread.lint.rule import ClusterRule
from kubespread.lint.trial import Placed, Trial
from kubespread.planner.reports.check import Remedy, Severity
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint

_BARRING_PLUGINS = ("TaintToleration", "NodeUnschedulable")


def check(case: Case, trial: Trial) -> Iterator[Found]:
    barred = _barred(trial)
    if barred is None:
        return
    for declared, hard in case.hard(trial):
        closed = _closed(hard, barred)
        if closed:
            yield _found(declared, hard, closed, trial)


def _barred(trial: Trial) -> Mask | None:
    """Nodes whose taints, or that they are cordoned, keep the pod away; None where nodes are not judged."""
    if trial.evaluation is None:
        return None
    barred = np.zeros(len(trial.cluster), dtype=np.bool_)
    for name in _BARRING_PLUGINS:
        if name in trial.evaluation.verdicts:
            barred |= ~trial.evaluation.verdicts[name].passes
    return barred


def _closed(hard: HardConstraint, barred: Mask) -> Sequence[str]:
    """The domains that count and have no node where the pod could go, by name."""
    is_open = np.zeros(len(hard.is_domain), dtype=np.bool_)
    is_open[hard.column.codes[hard.eligible & ~barred]] = True
    if not is_open.any():
        return ()
    return sorted(hard.column.values[code] for code in np.flatnonzero(hard.is_domain & ~is_open))


def _found(declared: Declared, hard: HardConstraint, closed: Sequence[str], trial: Trial) -> Found:
    key = declared.constraint.topology_key
    placed = trial.placed
    honoring = trial.placed_where(declared.position, node_taints_policy="Honor")
    column = hard.column
    codes = [column.index[value] for value in closed]
    nodes = hard.eligible & np.isin(column.codes, codes)
    least = min(int(hard.counts[code]) for code in codes)
    are = "count as domains" if len(closed) > 1 else "counts as a domain"
    message = (
        f"{short_key(key)} {listed(closed)} {are} with {counted(least, 'matching pod')}, though "
        f"{_all(int(np.count_nonzero(nodes)))} {_why(trial, nodes)}: {placed.text}"
    )
    return Found(
        field=declared.path,
        message=message,
        remedy=_remedy(declared, placed, honoring, closed),
        proven=True,
        severity=Severity.ERROR if placed.count < honoring.count else None,
    )


def _all(nodes: int) -> str:
    return "its node is" if nodes == 1 else f"all {nodes} nodes are"


def _why(trial: Trial, nodes: Mask) -> str:
    """``tainted``, ``cordoned`` or both, of nodes that are barred."""
    assert trial.evaluation is not None
    verdicts = trial.evaluation.verdicts
    names = {"TaintToleration": "tainted", "NodeUnschedulable": "cordoned"}
    said = [text for name, text in names.items() if name in verdicts and (nodes & ~verdicts[name].passes).any()]
    return " or ".join(said)


def _remedy(declared: Declared, placed: Placed, honoring: Placed, closed: Sequence[str]) -> Remedy:
    key = declared.constraint.topology_key
    if honoring.count == placed.count and not placed.is_complete:
        return Remedy(text=f"let the pod onto a node of {listed(closed)}: uncordon it, or tolerate its taints")
    return Remedy(
        text="nodeTaintsPolicy: Honor on this constraint",
        settings=(declared.setting("nodeTaintsPolicy", "Honor"),),
        outcome=outcome(honoring, key),
    )


RULE = ClusterRule("KS203", "closed-domains", Severity.WARNING, check)
