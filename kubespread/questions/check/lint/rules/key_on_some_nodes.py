"""Some nodes that the pod could go to lack the topology label.

A hard constraint never lets the pod onto a node without its label. What is more, such a node drops out of all hard
constraints of the pod: pods that run there count nowhere. A soft constraint gives it the score 0, so it fills last.
Typical are new node pools and nodes added by hand.

Example: node c1 has no zone label.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: label these nodes, preferably where they are created; or keep the pod away from them on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, counted, listed
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.plugins.podtopologyspread.constraints import counted_kinds
from kubespread.wording import verb_of


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, nodeLabelsMatchSpreadConstraints
    Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, initPreScoreState
    """
    for declared in () if trial.evaluation is None else case.own:
        column = trial.cluster.nodes.label(declared.key)
        lacking = trial.reachable & column.absent
        if lacking.any() and column.present.any():
            yield _finding(case, declared, trial, lacking)


def _finding(case: Case, declared: Declared, trial: ReplicaTrial, lacking: Mask) -> RuleFinding:
    names = sorted(trial.cluster.nodes.names[node] for node in np.flatnonzero(lacking))
    of, one = int(np.count_nonzero(trial.reachable)), len(names) == 1
    happens = "it takes no replica" if one else "they take no replica"
    if not declared.constraint.is_hard:
        happens = "it scores 0 and fills last" if one else "they score 0 and fill last"
    uncounted = _matching(case, declared, trial, lacking)
    if uncounted:
        happens += f", and {counted(uncounted, 'matching pod')} there {verb_of(uncounted, 'count')} nowhere"
    message = (
        f"{len(names)} of {counted(of, 'node')} that the pod could go to {'lacks' if one else 'lack'} the label "
        f"{declared.key} ({listed(names)}): {happens}"
    )
    remedy = Remedy(text=f"label {'it' if one else 'them'}: kubectl label node {names[0]} {declared.key}=DOMAIN")
    return RuleFinding(f"{declared.path}.topologyKey", message, remedy)


def _matching(case: Case, declared: Declared, trial: ReplicaTrial, nodes: Mask) -> int:
    """How many pods that the constraint would count are on ``nodes``."""
    running = trial.cluster.running
    kinds = counted_kinds(trial.cluster, declared.constraint, case.subject.name.namespace)
    return int(np.count_nonzero(kinds.of(running.kind) & nodes[running.node]))


RULE = ClusterRule("KS202", "key-on-some-nodes", Severity.WARNING, check)
