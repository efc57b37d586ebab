"""A required anti-affinity over the same domains makes the constraint redundant, or contradicts it.

A required podAntiAffinity against the pods' own labels allows one replica in a domain. A constraint over the same key
that counts the same pods then has nothing left to reject: a replica only goes where there is none, so the skew is 1.
Where there are more replicas than domains the two contradict each other: the constraint would let a domain take another
one, the anti-affinity never does, and the other replicas wait.

Example: six replicas, three zones.

```yaml
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: topology.kubernetes.io/zone
      labelSelector: {matchLabels: {app: web}}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: keep one of the two: the constraint where replicas should be even, the anti-affinity where there must never be
two.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.api.core import Affinity, Pod, PodAffinityTerm, PodAntiAffinity
from kubespread.kube.selector import Selector, SelectorError, from_label_selector
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.lint.trial import with_only
from kubespread.questions.check.report import Remedy, Severity

_FIELD = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, satisfyPodAntiAffinity"""
    for position, term in enumerate(() if case.subject.is_daemon else _required(case.subject.pod)):
        selector = _against_itself(case, term)
        over = next((declared for declared in case.own if declared.key == term.topology_key), None)
        if selector is not None and over is not None:
            yield from _finding(case, over, position, selector)


def _required(pod: Pod) -> list[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return []
    return affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution


def _against_itself(case: Case, term: PodAffinityTerm) -> Selector | None:
    """The term's selector where it keeps the replicas from one another."""
    if term.namespace_selector is not None or term.namespaces not in ([], [case.subject.name.namespace]):
        return None
    try:
        selector = from_label_selector(term.label_selector)
    except SelectorError:
        return None
    return selector if selector.matches(case.subject.labels) else None


def _finding(case: Case, over: Declared, position: int, selector: Selector) -> Iterator[RuleFinding]:
    trial = case.trial
    if trial is not None and not trial.placed.is_complete:
        free = trial.mended(lambda pod: _without(pod, position))
        if free.placed.count > trial.placed.count:
            text, outcome = "remove the anti-affinity, or make it preferred", free.placed.outcome(over.key)
            yield RuleFinding(
                case.subject.field(f"{_FIELD}[{position}]"),
                f"it allows one replica a {over.name}, and the constraint would allow more: {trial.placed.text}",
                Remedy(text=text, outcome=outcome),
                mended=free,
                severity=Severity.ERROR,
                proven=True,
            )
            return
    # What the constraint counts, the anti-affinity keeps away as well.
    if set(selector.requirements) <= set(over.constraint.selector.requirements) and over.constraint.counts_pods:
        as_many = ""
        if trial is not None:
            others = [own.position for own in case.own if own is not over]
            without = trial.placed_with(lambda pod: with_only(pod, others))
            as_many = f": {trial.placed.text} with it and {without.count} without"
        message = (
            f"the required podAntiAffinity allows one replica a {over.name} already: 0 + 1 − 0 = 1 never exceeds "
            f"maxSkew {over.constraint.max_skew}, so the constraint rejects no node{as_many}"
        )
        remedy = Remedy(text=f"remove one of the two over {over.name}")
        yield RuleFinding(over.path, message, remedy, proven=trial is not None)


def _without(pod: Pod, position: int) -> Pod:
    """The pod without one of its required anti-affinity terms."""
    kept = [term for index, term in enumerate(_required(pod)) if index != position]
    affinity = pod.spec.affinity or Affinity()
    anti = replace(
        affinity.pod_anti_affinity or PodAntiAffinity(), required_during_scheduling_ignored_during_execution=kept
    )
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, pod_anti_affinity=anti)))


RULE = Rule("KS303", "anti-affinity", Severity.INFO, check)
