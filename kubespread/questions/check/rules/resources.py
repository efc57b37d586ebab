"""Rules for volumes, quotas and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from kubespread.controllers.deployment import limits
from kubespread.kube.admission.quota import allowance, needed
from kubespread.kube.api.core import Container, LimitRange, Pod, ResourceQuota
from kubespread.kube.api.workloads import Deployment
from kubespread.kube.quantity import IntOrStringError
from kubespread.questions.check.report import Remedy, Severity
from kubespread.questions.check.rule import Case, ClusterRule, Declared, Rule, RuleFinding
from kubespread.questions.check.trial import ReplicaTrial, by_domain, listed, own_counts, skew_of
from kubespread.wording import count_of

_PLUGINS = ("VolumeBinding", "VolumeZone")
_MOVABLE = Remedy(
    text="storage that every domain reaches, or a claim for each replica that is bound where its pod lands"
)


class VolumePins(ClusterRule, code="KS301", name="volume-pins", severity=Severity.ERROR):
    """Volumes hold the pods to domains that the constraint wants them to leave.

    An existing volume cannot move: a zonal disk has its zone in the node affinity of its PersistentVolume, and the pod
    can go nowhere else. The constraint still counts the other zones. A hard one stops as soon as the zone of the volume
    has maxSkew more than the emptiest; a soft one changes nothing. Typical are replicas that share a claim, and
    StatefulSets whose disks are older than the constraint.

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

    def check(self, case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
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
                yield RuleFinding(declared.path, message, _MOVABLE, mended if is_short else None, severity)


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
        replicas, refused, refusal = _refused(case)
        if refused:
            message = f"the namespace's quotas allow {replicas - refused} of {count_of(replicas, 'replica')}: {refusal}"
            yield RuleFinding("spec.replicas", message, _raising(case, replicas), proven=case.trial is not None)
        if case.trial is not None:
            yield from _by_limit_range(case, case.trial)


def _refused(case: Case) -> tuple[int, int, str]:
    """How many replicas there are to be, how many of them quotas refuse, and in which words."""
    if case.trial is not None:
        placed = case.trial.placed
        return placed.desired, placed.refused, placed.refusal
    replicas = case.subject.replicas
    allowed = allowance(case.subject.pod, case.objects.of(ResourceQuota))
    # On how many nodes a DaemonSet runs only a cluster tells.
    if allowed.copies is None or case.subject.is_daemon:
        return replicas, 0, ""
    return replicas, max(0, replicas - allowed.copies), allowed.refusal


def _raising(case: Case, replicas: int) -> Remedy:
    """Quotas for all replicas, and for those that a rollout makes beside them."""
    trial, surge = case.trial, _surge(case)
    objects = case.objects if trial is None else trial.cluster.objects
    more = needed(objects.of(ResourceQuota), case.subject.pod, replicas + surge)
    if not more:
        return Remedy(text="set the requests or limits that the quota requires of containers")
    amounts = "; ".join(
        f"{', '.join(f'{name}: {amount}' for name, amount in hard.items())} in ResourceQuota {quota}"
        for quota, hard in more.items()
    )
    beside = f" and {count_of(surge, 'pod')} more in a rollout" if surge else ""
    text, outcome = f"{amounts}: enough for {count_of(replicas, 'replica')}{beside}", None
    if trial is not None:
        namespace = case.subject.name.namespace
        quotas = tuple(
            _with_hard(quota, more.get(quota.metadata.name, {})) if quota.metadata.namespace == namespace else quota
            for quota in objects.of(ResourceQuota)
        )
        raised = trial.cluster.with_objects(objects.with_all(ResourceQuota, quotas))
        outcome = trial.placed_with(cluster=raised).text
    return Remedy(text=text, outcome=outcome)


def _with_hard(quota: ResourceQuota, hard: Mapping[str, str]) -> ResourceQuota:
    return replace(quota, status=replace(quota.status, hard={**quota.status.hard, **hard}))


def _surge(case: Case) -> int:
    """How many pods more than there are to be a rollout makes."""
    deployment = case.subject.object
    try:
        return limits(deployment).max_surge if isinstance(deployment, Deployment) else 0
    except IntOrStringError:
        return 0


def _by_limit_range(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    subject, template = case.subject, case.subject.template
    all_ranges = (limit_range.metadata for limit_range in case.objects.of(LimitRange))
    ranges = [meta.name for meta in all_ranges if meta.namespace == subject.name.namespace]
    if not ranges or template is None or trial.placed.count:
        return
    mended = trial.mended(lambda pod: _as_written(pod, template))
    if mended.placed.count:
        yield RuleFinding(
            subject.field("spec.containers"),
            f"LimitRange {listed(ranges)} gives its containers requests that no node can satisfy: "
            f"{trial.placed.text}: {trial.placed.message}",
            Remedy(
                text="give the containers requests of their own, or the LimitRange a lower default",
                outcome=f"with what the template asks for {mended.placed.text}",
            ),
            mended=mended,
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


RULES = (VolumePins(), QuotaRefuses())
