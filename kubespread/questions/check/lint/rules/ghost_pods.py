"""The selector of a constraint misses the pod's own labels.

A constraint counts the pods that its labelSelector matches. Where the selector does not match the pod that carries it,
none of the replicas is ever counted: however many of them run in one zone, the next one finds the same numbers as the
first. The constraint looks right, is accepted, and spreads nothing. The usual cause is a renamed label, or a block
copied from another workload.

A selector that counts the pods of another workload on purpose is left alone: those pods exist, and the constraint is
not a copy of theirs or accompanies one that counts the workload's own pods. Pods of a DaemonSet have one node each and
nothing to spread. A single replica has nothing to spread yet.

Example:

```yaml
labels: {app: api}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: select labels that the pod has, usually those of the workload's own selector.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.candidate.replicas import autoscalers_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Workload
from kubespread.kube.selector import Selector, from_label_selector
from kubespread.questions.causes.own_pods import is_meant, missing_them
from kubespread.questions.check.lint.rule import Case, Declared, Rule, RuleFinding
from kubespread.questions.check.report import Severity


def check(case: Case) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, Filter, updateWithPod"""
    for declared in () if case.subject.is_daemon else case.own:
        constraint = declared.constraint
        if constraint.self_match or constraint.selector.nothing:
            continue
        selector = from_label_selector(declared.written.label_selector)
        if _is_meant(case, declared, selector) or _may_be_added(case, selector):
            continue
        why = missing_them(selector, case.subject.labels)
        severity = Severity.ERROR if _can_be_several(case) else Severity.WARNING
        yield case.counting_nothing(declared, f"{declared.path}.labelSelector", why, severity)


def _is_meant(case: Case, declared: Declared, selector: Selector) -> bool:
    """Whether it counts pods of others, and was not just copied from them."""
    counts_own = any(declared.counts_itself for declared in case.own)
    return is_meant(declared.written, list(_counted(case, selector)), counts_own=counts_own)


def _may_be_added(case: Case, selector: Selector) -> bool:
    """Whether it asks for labels that the controller of a foreign kind may give the pods beside their own."""
    labels = case.subject.labels
    missed = [requirement for requirement in selector.requirements if not requirement.matches(labels)]
    return type(case.subject.object) is Workload and all(requirement.key not in labels for requirement in missed)


def _counted(case: Case, selector: Selector) -> Iterator[Pod]:
    """The pods of other workloads that are checked too, and those that run in the cluster."""
    yield from (other.template or other.pod for other in case.company.counted_beside(case.subject, selector))
    namespace = case.subject.name.namespace
    for pod in case.trial.cluster.running.pods if case.trial is not None else ():
        if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels):
            yield pod


def _can_be_several(case: Case) -> bool:
    subject = case.subject
    return subject.replicas > 1 or any(autoscaler.most > 1 for autoscaler in autoscalers_of(subject.name, case.objects))


RULE = Rule("KS101", "ghost-pods", Severity.ERROR, check)
