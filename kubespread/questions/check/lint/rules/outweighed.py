"""A soft constraint is outweighed by other scores.

ScheduleAnyway is one score among others: PodTopologySpread counts twice, node affinity twice, taints three times, and
free resources, inter-pod affinity and images count too. Where another preference is stronger, or always favors the same
nodes, replicas gather in spite of the constraint, and no event mentions it.

There is a finding where the replicas end beyond maxSkew though a hard constraint would place all of them evenly. The
numbers are the scores of the first replica that goes too far. Where one replica makes the difference it is only an
info.

Example: a preference for one zone.

```yaml
affinity:
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app: web}}
```

Remedy: DoNotSchedule, or a weaker preference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.questions.check.lint.rule import Case, ClusterRule, Declared, RuleFinding
from kubespread.questions.check.lint.trial import Placed, ReplicaTrial, own_counts, skew_of
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SoftConstraint


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    # Replicas with claims of their own are not copies, and are not asked again one by one.
    """Source: pkg/scheduler/framework/runtime/framework.go, RunScorePlugins
    Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins
    """
    if case.subject.is_daemon or case.subject.told_apart is not None:
        return
    for declared, counted in zip(case.own, trial.counted, strict=False):
        if isinstance(counted, SoftConstraint) and declared.counts_itself:
            yield from _outweighed(declared, counted, trial)


def _outweighed(declared: Declared, counted: SoftConstraint, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    placed, most = trial.placed, declared.constraint.max_skew
    before, own = _matching(counted), own_counts([placed], counted)
    skew = skew_of({value: count + own[value] for value, count in before.items()})
    if skew <= most:
        return
    hard = declared.with_fields(whenUnsatisfiable=DO_NOT_SCHEDULE)
    even, index = trial.placed_with(hard), _too_far(placed, before, counted, most)
    if index is None or even.count < placed.count:
        return
    copies = [(trial.subject.pod, node) for node in placed.nodes[:index]]
    evaluation = evaluate(trial.plugins, trial.cluster.after(ClusterChange(come=copies)), trial.subject.pod)
    if scores := _scores(evaluation, placed.nodes[index]):
        yield RuleFinding(
            declared.path,
            f"{declared.name} ≤ {most} is outweighed: replica {index + 1} {scores}; {placed.outcome(declared.key)}",
            Remedy(
                text="whenUnsatisfiable: DoNotSchedule, or a weaker preference",
                settings=hard.settings,
                outcome=even.outcome(declared.key),
            ),
            severity=Severity.INFO if skew == most + 1 else None,
        )


def _matching(counted: SoftConstraint) -> Mapping[str, int]:
    """The pods that the constraint counts before the first replica comes, by domains as `own_counts` has them."""
    matching, column = counted.around(), counted.column
    nodes = np.flatnonzero(counted.eligible & column.present)
    counts = dict(zip(column.codes[nodes].tolist(), matching[nodes].tolist(), strict=True))
    return {value: counts[column.index[value]] for value in column.sorted_values if column.index[value] in counts}


def _too_far(placed: Placed, before: Mapping[str, int], counted: SoftConstraint, most: int) -> int | None:
    """The first replica that makes its domain exceed maxSkew."""
    counts, column = dict(before), counted.column
    for index, node in enumerate(placed.nodes):
        value = column.values[column.codes[node]] if column.present[node] else ""
        if value in counts:
            if counts[value] + 1 - min(counts.values()) > most:
                return index
            counts[value] += 1
    return None


def _scores(evaluation: Evaluation, node: int) -> str:
    """What spreading takes from the chosen node, and what others give it; empty where spreading prefers it as well."""
    spread = evaluation.scores.get(PodTopologySpread.name)
    if spread is None:
        return ""
    best = spread.weighted[evaluation.feasible].max()
    among = np.where(evaluation.feasible & (spread.weighted == best), evaluation.total, -1)
    other, names = int(among.argmax()), evaluation.cluster.nodes.names
    by_plugin = {
        name: int(scores.weighted[node] - scores.weighted[other]) for name, scores in evaluation.scores.items()
    }
    lost = -by_plugin.pop(PodTopologySpread.name)
    gained = sorted(((by, name) for name, by in by_plugin.items() if by > 0), reverse=True)
    if lost <= 0 or not gained:
        return ""
    other_plugins = " and ".join(f"{name} {by} more" for by, name in gained[:2])
    return (
        f"goes to {names[node]}, where PodTopologySpread gives {lost} less than on {names[other]}, but {other_plugins}"
    )


RULE = ClusterRule("KS503", "outweighed", Severity.WARNING, check)
