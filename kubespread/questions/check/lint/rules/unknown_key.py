"""A topology key is not a label that nodes commonly carry.

Any label may be a topology key, and nothing checks that nodes have it. A mistyped key is a label that no node has: no
replica of a hard constraint is ever scheduled, and a soft one does nothing. Keys that Kubernetes has replaced are
disappearing from nodes' labels. A label of your own is fine as long as every node carries it. With a cluster given,
this rule is silent and the nodes are checked instead (KS201, KS202).

Example:

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zones
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: `topology.kubernetes.io/zone`, `kubernetes.io/hostname` or another label that all nodes have.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.providers import PROVIDERS
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from kubespread.questions.causes.bars import meant_key
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.report import Remedy, Severity

_REPLACED = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
_EVERYWHERE = frozenset({HOSTNAME, ZONE, REGION, *_REPLACED.values()})
# What Kubernetes, and the big providers, put on every node by themselves.
_COMMON = _EVERYWHERE.union(*(provider.everywhere for provider in PROVIDERS.values()))


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: staging/src/k8s.io/api/core/v1/well_known_labels.go, LabelHostname, LabelTopologyZone"""
    if case.trial is not None:
        return
    for declared in case.own:
        key = declared.key
        if key in _REPLACED:
            yield _finding(declared, f"{key} was replaced by {_REPLACED[key]} in 1.17", _REPLACED[key])
        elif key not in _COMMON:
            # What nodes of every cluster have, and what a provider puts there that the key names.
            prefix = key.rpartition("/")[0]
            near = [common for common in _COMMON if common in _EVERYWHERE or common.rpartition("/")[0] == prefix]
            yield _finding(declared, f"{key} is not a label that nodes commonly have", meant_key(key, near))


def _finding(declared: Declared, problem: str, meant: str) -> RuleFinding:
    happens = "no replica fits on nodes without it" if declared.constraint.is_hard else "nodes without it score 0"
    remedy = Remedy(text="make sure that every node has this label, or check with a cluster")
    if meant:
        change = declared.with_fields(topologyKey=meant)
        remedy = Remedy(text=change.text, fields=change.fields)
    severity = None if meant else Severity.INFO
    return RuleFinding(f"{declared.path}.topologyKey", f"{problem}: {happens}", remedy, severity=severity)


RULE = Rule("KS105", "unknown-key", Severity.WARNING, check)
