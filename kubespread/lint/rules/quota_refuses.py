"""Quotas of the namespace leave replicas out, or its limits ask for more than any node has.

A ResourceQuota refuses pods when they are created: they are not pending but not there at all, and no scheduler event
tells of them. A constraint then spreads fewer replicas than the workload asks for. And a LimitRange gives containers
that say nothing the requests it has by default; where these exceed every node, no replica of a workload that asks for
next to nothing ever runs.

Example: twelve replicas of 500m in a namespace with `requests.cpu: "2"`.

```yaml
kind: ResourceQuota
spec: {hard: {requests.cpu: "2"}}
```

Remedy: a quota for all replicas, those of a rollout's surge included; requests of the containers' own.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.kube.admission.quota import allowance
from kubespread.kube.api.core import Container, Pod
from kubespread.lint.case import Case
from kubespread.lint.finding import Found
from kubespread.lint.phrases import counted, listed
from kubespread.lint.rule import Rule
from kubespread.lint.trial import Trial
from kubespread.planner.reports.check import Remedy, Severity


def check(case: Case) -> Iterator[Found]:
    yield from _by_quota(case)
    if case.trial is not None:
        yield from _by_limit_range(case, case.trial)


def _by_quota(case: Case) -> Iterator[Found]:
    subject = case.subject
    allowed = allowance(subject.pod, case.objects.resource_quotas)
    # What runs is in the quotas' usage already.
    if allowed.copies is None or subject.is_daemon or allowed.copies + len(subject.running) >= subject.replicas:
        return
    created = allowed.copies + len(subject.running)
    yield Found(
        field="spec.replicas",
        message=f"the namespace's quotas let {created} of {counted(subject.replicas, 'replica')} be created: "
        f"{allowed.refusal}",
        remedy=Remedy(text="raise the quota, or ask for less", settings=(f"replicas={created}",) if created else ()),
        proven=case.trial is not None,
    )


def _by_limit_range(case: Case, trial: Trial) -> Iterator[Found]:
    subject, template = case.subject, case.subject.template
    namespace = subject.name.namespace
    ranges = [each.metadata.name for each in case.objects.limit_ranges if each.metadata.namespace == namespace]
    if not ranges or template is None or trial.placed.count:
        return
    asked = trial.placed_with(lambda pod: _as_written(pod, template))
    if asked.count:
        yield Found(
            field=subject.field("spec.containers"),
            message=f"LimitRange {listed(ranges)} gives its containers requests that no node can satisfy: "
            f"{trial.placed.text}: {trial.placed.message}",
            remedy=Remedy(
                text="give the containers requests of their own, or the LimitRange a lower default",
                outcome=f"with what the template asks for {asked.text}",
            ),
            proven=True,
        )


def _as_written(pod: Pod, template: Pod) -> Pod:
    """The pod with what its template asks for: limits stand for requests that are left out, as everywhere."""
    containers = list(map(_asking, template.spec.containers))
    init_containers = list(map(_asking, template.spec.init_containers))
    return replace(pod, spec=replace(pod.spec, containers=containers, init_containers=init_containers))


def _asking(container: Container) -> Container:
    resources = container.resources
    return replace(container, resources=replace(resources, requests={**resources.limits, **resources.requests}))


RULE = Rule("KS305", "quota-refuses", Severity.ERROR, check)
