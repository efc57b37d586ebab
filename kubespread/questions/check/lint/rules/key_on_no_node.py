"""No node of the cluster has the topology label.

A hard constraint rejects every node without its label, so no replica is scheduled ("missing required label"). A soft
one leaves such nodes out of its score: with the label on no node it does nothing.

Example, on a cluster without zone labels:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: use a key that nodes have, or label every node.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.causes.bars import near_key
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Mended, ReplicaTrial
from kubespread.questions.check.report import Remedy, Severity


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, nodeLabelsMatchSpreadConstraints"""
    nodes = trial.cluster.nodes
    for declared in case.own if len(nodes) else ():
        if not nodes.label(declared.key).present.any():
            is_hard = declared.constraint.is_hard
            happens = trial.placed.text if is_hard else "the constraint prefers no node"
            message = f"no node has the label {declared.key}: {happens}"
            mended, remedy = _remedy(declared, trial)
            severity = None if is_hard else Severity.WARNING
            yield RuleFinding(f"{declared.path}.topologyKey", message, remedy, mended, severity)


def _remedy(declared: Declared, trial: ReplicaTrial) -> tuple[Mended | None, Remedy]:
    near = near_key(declared.key, trial.cluster.nodes)
    if not near:
        return None, Remedy(text=f"label every node: kubectl label node NAME {declared.key}=DOMAIN")
    change = declared.with_fields(topologyKey=near)
    mended, text = trial.mended(change), f"topologyKey: {near}, which nodes have"
    return mended, Remedy(text=text, fields=change.fields, outcome=mended.placed.outcome(near))


RULE = ClusterRule("KS201", "key-on-no-node", Severity.ERROR, check)
