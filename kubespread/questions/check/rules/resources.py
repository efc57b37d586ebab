"""Rules for volumes, quotas and limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from msgspec.structs import replace

from kubespread.controllers.deployment import limits
from kubespread.kube.admission.quota import allowance, needed
from kubespread.kube.api.core import Container, LimitRange, ResourceQuota
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.quantity import IntOrStringError
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.check.rule import Case, ClusterRule, Declared, Rule, RuleFinding
from kubespread.questions.check.trial import ReplicaTrial, by_domain, listed, own_counts, skew_of
from kubespread.wording import count_of


class VolumePins(ClusterRule, code="KS301", name="volume-pins", severity=Severity.ERROR):
    """Volumes hold the pods to domains that the constraint wants them to leave.

    An existing volume cannot move: a zonal disk has its zone in the node affinity of its PersistentVolume, and the pod
    can go nowhere else. The constraint still counts the other zones. A hard one stops as soon as the zone of the volume
    has maxSkew more than the emptiest; a soft one changes nothing. Typical are replicas that share a claim, and
    StatefulSets whose disks are older than the constraint.

    The replicas are placed with their volumes and without them, and the difference is the finding.

    Example: three replicas with a hard constraint over zones share a disk in zone a.

    ```yaml
    volumes: [{name: data, persistentVolumeClaim: {claimName: shared}}]
    ```

    Remedy: storage that every zone reaches, or a claim for each replica with `volumeBindingMode: WaitForFirstConsumer`.
    """

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
        """Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, checkBoundClaims"""
        subject, held = case.subject, trial.placed
        if subject.is_daemon or not case.own or not subject.pod.spec.has_scheduled_volumes:
            return
        mended = trial.mended(lambda pod: replace(pod, spec=replace(pod.spec, volumes=[])))
        free = mended.placed
        text = "storage that every domain reaches, or a claim for each replica that is bound where its pod lands"
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
                yield RuleFinding(declared.path, message, Remedy(text=text), mended if is_short else None, severity)


def _where(declared: Declared, trial: ReplicaTrial) -> str:
    """The domains that the volumes of the first replica leave it; those of others may stand elsewhere."""
    evaluation = trial.evaluation
    if trial.subject.told_apart is not None or evaluation is None:
        return "each replica where its claims are"
    allowed = evaluation.included.copy()
    for plugin in ("VolumeBinding", "VolumeZone"):
        if plugin in evaluation.verdicts:
            allowed &= evaluation.verdicts[plugin].passes
    column = trial.cluster.nodes.label(declared.key)
    values = sorted(column.values[code] for code in np.unique(column.codes[allowed & column.present]))
    return f"the replicas to {declared.name} {listed(values)}" if values else "the replicas to no node"


class QuotaRefuses(Rule, code="KS305", name="quota-refuses", severity=Severity.ERROR):
    """Quotas of the namespace leave replicas out, or its limits ask for more than any node has.

    A ResourceQuota refuses pods when they are created: they are not pending but do not exist, and no scheduler event
    mentions them. A constraint then spreads fewer replicas than the workload asks for. A LimitRange gives containers
    without requests its default ones; where these exceed every node, no replica of a workload that asks for next to
    nothing ever runs.

    Example: twelve replicas of 500m in a namespace with `requests.cpu: "2"`.

    ```yaml
    kind: ResourceQuota
    spec: {hard: {requests.cpu: "2"}}
    ```

    Remedy: a quota for all replicas, those of a rollout's surge included; requests in the containers themselves.
    """

    def check(self, case: Case) -> Iterator[RuleFinding]:
        """Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest
        Source: plugin/pkg/admission/limitranger/admission.go, defaultContainerResourceRequirements
        """
        trial, replicas, refused, refusal = case.trial, case.subject.replicas, 0, ""
        if trial is not None:
            replicas, refused, refusal = trial.placed.desired, trial.placed.refused, trial.placed.refusal
        # On how many nodes a DaemonSet runs only a cluster tells.
        elif not case.subject.is_daemon:
            allowed = allowance(case.subject.pod, case.objects.of(ResourceQuota))
            refused = 0 if allowed.copies is None else max(0, replicas - allowed.copies)
            refusal = allowed.refusal
        if refused:
            message = f"the namespace's quotas allow {replicas - refused} of {count_of(replicas, 'replica')}: {refusal}"
            yield RuleFinding("spec.replicas", message, _raising(case, replicas), proven=trial is not None)
        if trial is not None:
            yield from _by_limit_range(case, trial)


def _raising(case: Case, replicas: int) -> Remedy:
    """Quotas for all replicas, and for those that a rollout makes beside them."""
    trial, deployment, surge = case.trial, case.subject.object, 0
    if isinstance(deployment, Deployment):
        with suppress(IntOrStringError):
            surge = limits(deployment).max_surge
    objects = case.objects if trial is None else trial.cluster.objects
    quotas = objects.of(ResourceQuota)
    more = needed(quotas, case.subject.pod, replicas + surge)
    if not more:
        return Remedy(text="set the requests or limits that the quota requires of containers")
    amounts = "; ".join(
        f"{', '.join(f'{name}: {amount}' for name, amount in hard.items())} in ResourceQuota {quota}"
        for quota, hard in more.items()
    )
    beside = f" and {count_of(surge, 'pod')} more in a rollout" if surge else ""
    text, outcome = f"{amounts}: enough for {count_of(replicas, 'replica')}{beside}", None
    if trial is not None:
        raised = [
            replace(quota, status=replace(quota.status, hard={**quota.status.hard, **more[quota.metadata.name]}))
            if quota.metadata.name in more and quota.metadata.namespace == case.subject.name.namespace
            else quota
            for quota in quotas
        ]
        cluster = trial.cluster.with_objects(objects.with_all(ResourceQuota, tuple(raised)))
        outcome = trial.placed_with(cluster=cluster).text
    return Remedy(text=text, outcome=outcome)


def _by_limit_range(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    subject, template = case.subject, case.subject.template
    all_ranges = (limit_range.metadata for limit_range in case.objects.of(LimitRange))
    ranges = [meta.name for meta in all_ranges if meta.namespace == subject.name.namespace]
    if not ranges or template is None or trial.placed.count:
        return
    containers, init_containers = (
        list(map(_as_written, written)) for written in (template.spec.containers, template.spec.init_containers)
    )
    mended = trial.mended(
        lambda pod: replace(pod, spec=replace(pod.spec, containers=containers, init_containers=init_containers))
    )
    if mended.placed.count:
        message = (
            f"LimitRange {listed(ranges)} gives its containers requests that no node can satisfy: "
            f"{trial.placed.text}: {trial.placed.message}"
        )
        remedy = Remedy(
            text="give the containers requests of their own, or the LimitRange a lower default",
            outcome=f"with what the template asks for {mended.placed.text}",
        )
        yield RuleFinding(subject.field("spec.containers"), message, remedy, mended, proven=True)


def _as_written(container: Container) -> Container:
    """Limits stand for requests that are left out, as everywhere."""
    resources = container.resources
    return replace(container, resources=replace(resources, requests={**resources.limits, **resources.requests}))


RULES = (VolumePins(), QuotaRefuses())
