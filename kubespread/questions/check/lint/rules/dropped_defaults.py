"""A pod's own constraints switch the default constraints off, even those over other keys.

A pod without constraints gets those of the scheduler's configuration, by default soft ones over hostnames (maxSkew 3)
and zones (maxSkew 5). With one constraint of its own, hard or soft, over any key, it gets none of them. A pod that asks
for even zones alone has no constraint over nodes any more: all of a zone's share may run on one of them.

There is a finding where it makes a difference on this cluster: a domain takes more replicas than the default's maxSkew,
and with the default beside its own constraints it would take fewer.

Example: zones only.

```yaml
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: declare the missing default too.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import Placed, ReplicaTrial, counted, with_another
from kubespread.questions.check.report import Remedy, Severity
from kubespread.scheduler.plugins.podtopologyspread.constraints import default_selector
from kubespread.wording import short_key


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, getConstraints, systemDefaultConstraints"""
    subject = case.subject
    if not case.own or subject.is_daemon or subject.replicas < 2 or not case.own_labels:
        return
    if default_selector(subject.pod, trial.cluster.objects).is_empty:
        return
    declared, selector = {own.key for own in case.own}, LabelSelector(match_labels=case.own_labels)
    for default in case.spread.defaults.constraints:
        if default.topology_key not in declared:
            yield from _missed(case, trial, replace(default, label_selector=selector))


def _missed(case: Case, trial: ReplicaTrial, default: TopologySpreadConstraint) -> Iterator[RuleFinding]:
    key, placed = default.topology_key, trial.placed
    most, domains = _most(placed, key), len(placed.by_domain(key))
    # Below its maxSkew, and where they stand as evenly as can be, the default has nothing to say.
    if domains < 2 or most <= max(default.max_skew, -(-placed.count // domains)):
        return
    mended = trial.placed_with(lambda pod: with_another(pod, default))
    if mended.count < placed.count or _most(mended, key) >= most:
        return
    name = short_key(key)
    text = f"declare {name} maxSkew {default.max_skew} {default.when_unsatisfiable} too"
    yield RuleFinding(
        case.subject.field("spec.topologySpreadConstraints"),
        f"its own constraints replace the default one over {name}: a single {name} takes {most} of "
        f"{counted(placed.count, 'replica')}",
        Remedy(text=text, outcome=f"a single {name} takes {_most(mended, key)}"),
    )


def _most(placed: Placed, key: str) -> int:
    return max(placed.by_domain(key).values(), default=0)


RULE = ClusterRule("KS501", "dropped-defaults", Severity.INFO, check)
