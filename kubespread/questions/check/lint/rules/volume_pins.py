"""Volumes hold the pods to domains that the constraint wants them to leave.

An existing volume cannot move: a zonal disk has its zone in the node affinity of its PersistentVolume, and the pod can
go nowhere else. The constraint still counts the other zones. A hard one stops as soon as the zone of the volume has
maxSkew more than the emptiest; a soft one changes nothing. Typical are replicas that share a claim, and StatefulSets
whose disks are older than the constraint.

The replicas are placed with their volumes and without them, and the difference is the finding.

Example: three replicas share a disk in zone a.

```yaml
volumes: [{name: data, persistentVolumeClaim: {claimName: shared}}]
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: storage that every zone reaches, or a claim for each replica with `volumeBindingMode: WaitForFirstConsumer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, by_domain, listed, own_counts, skew_of
from kubespread.questions.check.report import Remedy, Severity

_PLUGINS = ("VolumeBinding", "VolumeZone")
_REMEDY = Remedy(
    text="storage that every domain reaches, or a claim for each replica that is bound where its pod lands"
)


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, checkBoundClaims"""
    subject, held = case.subject, trial.placed
    if subject.is_daemon or not case.own or not subject.pod.spec.has_scheduled_volumes:
        return
    mended = trial.mended(_without_volumes)
    free = mended.placed
    for declared, constraint in zip(case.own, trial.counted, strict=False):
        if not declared.counts_itself:
            continue
        counts, freely = (own_counts([placed], constraint) for placed in (held, free))
        is_short = declared.constraint.is_hard and held.count < free.count
        if is_short or skew_of(counts) > declared.constraint.max_skew >= skew_of(freely):
            message = (
                f"its volumes hold {_where(declared, trial)}: {held.text}, {by_domain(counts)}; without them "
                f"{free.text}, {by_domain(freely)}"
            )
            severity = None if is_short else Severity.WARNING
            yield RuleFinding(declared.path, message, _REMEDY, mended if is_short else None, severity)


def _without_volumes(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, volumes=[]))


def _where(declared: Declared, trial: ReplicaTrial) -> str:
    """The domains that the volumes of the first replica leave it; those of others may stand elsewhere."""
    evaluation = trial.evaluation
    if trial.subject.told_apart is not None or evaluation is None:
        return "each replica where its claims are"
    allowed = evaluation.included.copy()
    for plugin in _PLUGINS:
        if plugin in evaluation.verdicts:
            allowed &= evaluation.verdicts[plugin].passes
    column = trial.cluster.nodes.label(declared.key)
    codes = np.unique(column.codes[allowed & column.present]).tolist()
    values: Sequence[str] = sorted(column.values[code] for code in codes)
    return f"the replicas to {declared.name} {listed(values)}" if values else "the replicas to no node"


RULE = ClusterRule("KS301", "volume-pins", Severity.ERROR, check)
