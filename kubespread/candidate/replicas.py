"""A workload's replicas: which exist, how many it grows to, and which further pods are created at all.

Notes name what else decides their number. Compares a manifest's workload with its namesake in the cluster: whether its
pods differ, and what may not change. A field that the manifest leaves out keeps its value, as kubectl apply leaves what
others have set. Whole templates and differences of two pods, which the API server prints, are left out.

Source: pkg/apis/apps/validation/validation.go, ValidateDeploymentUpdate, ValidateDaemonSetUpdate,
    ValidateStatefulSetUpdate
Source: pkg/apis/batch/validation/validation.go, ValidateJobUpdate
Source: pkg/apis/core/validation/validation.go, ValidatePodUpdate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.controllers.deployment import is_one_template, newest_replica_set, scheduled_alike, without_hash
from kubespread.controllers.job import completed_indexes, for_index, index_of, is_indexed
from kubespread.controllers.pod_creation import admitted_claims, ephemeral_claims
from kubespread.controllers.registry import another, has_own_claims
from kubespread.controllers.statefulset import claims_of, first_ordinal, for_ordinal, ordinal_of
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import default_claim
from kubespread.kube.admission.quota import allowance, charge_quotas
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    HorizontalPodAutoscaler,
    PersistentVolumeClaim,
    ScaledObject,
)
from kubespread.kube.api.core import Affinity, Pod, PodSpec, PodTemplateSpec, ResourceQuota
from kubespread.kube.api.kinds import KIND_OF, POD_CREATORS, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import (
    DaemonSet,
    Deployment,
    Job,
    LabelSelectingWorkload,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from kubespread.kube.gotext import aggregate, quote
from kubespread.kube.owners import WorkloadName, controller_of, is_active
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid
from kubespread.snapshot.snapshot import Snapshot

# The template of any other kind cannot change, or is changed by the API server itself.
_ROLLED_OUT = (LabelSelectingWorkload, ReplicationController)


class Replica(Struct, frozen=True):
    """A workload's pod under its own name."""

    pod: Pod
    claims: Sequence[PersistentVolumeClaim] = ()
    """Claims created for it."""


Replicas = Callable[[], Iterator[Replica]]
"""Function that yields a workload's further pods, always from the first one."""


def replicas_called(
    names: Callable[[], Iterable[str]], pod: Pod, workload: ApiObject | None, objects: ClusterObjects
) -> Replicas:
    """Replicas of a workload with the first pod ``pod``, each as its controller creates it under that name."""
    return lambda: (_replica(name, pod, workload, objects) for name in names())


def _replica(name: str, pod: Pod, workload: ApiObject | None, objects: ClusterObjects) -> Replica:
    owner, claims = controller_of(pod), list[PersistentVolumeClaim]()
    if isinstance(workload, StatefulSet):
        ordinal = int(name.removeprefix(f"{workload.metadata.name}-"))
        replica, claims = for_ordinal(pod, workload, ordinal), claims_of(workload, ordinal)
    elif owner is not None and pod_creator(owner.api_version, owner.kind) is None and has_own_claims(pod):
        replica, claims = another(pod, name, objects)
    else:
        own = for_index(pod, int(name.removeprefix(f"{owner.name}-"))) if owner is not None and is_indexed(pod) else pod
        replica = replace(own, metadata=replace(own.metadata, name=name))
    # No claims are created for a pod without a controller: it has the cluster's.
    if owner is not None:
        claims += ephemeral_claims(replica)
    return Replica(replica, admitted_claims(claims, objects))


def runs_another_template(candidate: Candidate, snapshot: Snapshot) -> bool:
    """True if the cluster has the workload with a template that schedules differently."""
    if candidate.template is None or candidate.workload is None:
        return False
    running = _running_template(candidate.workload, snapshot)
    return running is not None and not scheduled_alike(running, candidate.template)


def is_rolled_out(candidate: Candidate, snapshot: Snapshot) -> bool | None:
    """True if applying the candidate changes the template of its namesake in the cluster; None if unknown."""
    workload, obj = candidate.workload, candidate.object
    running = without_hash(_running_template(workload, snapshot)) if workload is not None else None
    template = obj.spec.template if isinstance(obj, _ROLLED_OUT) else None
    alike = running is None or template is None or is_one_template(running, template)
    return None if alike is None else not alike


def _running_template(workload: WorkloadName, snapshot: Snapshot) -> PodTemplateSpec | None:
    row = POD_CREATORS.get(workload.kind)
    if row is None or not issubclass(row.cls, _ROLLED_OUT):
        return None
    if (running := snapshot.objects.find(row.cls, workload.name, workload.namespace)) is not None:
        return row.pod_template(running)
    if workload.kind == "Deployment":
        newest = newest_replica_set(workload, snapshot.objects.get(ReplicaSet))
        return newest.spec.template if newest is not None else None
    return None


_IMMUTABLE = "field is immutable"
_OF_STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_OF_POD = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_OF_JOBS_CONTROLLER = frozenset(
    {"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"}
)
"""Labels that the API server adds to the templates of Jobs."""
_FIXED_OF_JOB = {
    "completion_mode": "completionMode",
    "backoff_limit_per_index": "backoffLimitPerIndex",
    "managed_by": "managedBy",
}


def refuse_update(candidate: Candidate, snapshot: Snapshot) -> None:
    """Raise UsageError, in the API server's words, for a change of immutable fields of the namesake."""
    workload = candidate.object or candidate.pod
    row = KIND_OF.get(type(workload))
    if row is None:
        return
    key = candidate.pod.metadata.namespace, workload.metadata.name
    stored = next((obj for obj in snapshot.of_kind(row) if (obj.metadata.namespace, obj.metadata.name) == key), None)
    if stored is not None and (faults := [str(fault) for fault in _update_faults(stored, workload)]):
        kind = f"{row.kind}.{row.group}" if row.group else row.kind
        raise UsageError(f"{kind} {quote(workload.metadata.name)} is invalid: {aggregate(faults)}")


def _update_faults(stored: ApiObject, updated: ApiObject) -> Iterator[FieldFault]:
    """Yield changes by ``updated``, from a manifest, of immutable fields of the ``stored`` object."""
    match stored, updated:
        case StatefulSet(), StatefulSet():
            if _is_other_stateful_set(stored, updated):
                yield forbidden("spec", _OF_STATEFUL_SET)
        case Deployment() | DaemonSet() | ReplicaSet(), Deployment() | DaemonSet() | ReplicaSet():
            if updated.spec.selector not in (None, stored.spec.selector):
                yield invalid("spec.selector", msgspec.to_builtins(updated.spec.selector), _IMMUTABLE)
        case Job(), Job():
            yield from _job_faults(stored, updated)
        case Pod(), Pod():
            if _is_other_pod(stored.spec, updated.spec):
                yield forbidden("spec", _OF_POD)


def _is_other_stateful_set(stored: StatefulSet, updated: StatefulSet) -> bool:
    was, spec = stored.spec, updated.spec
    policies = [side.pod_management_policy or "OrderedReady" for side in (was, spec)]
    claims = [_claims(side.volume_claim_templates) for side in (was, spec)]
    return policies[0] != policies[1] or claims[0] != claims[1] or spec.selector not in (None, was.selector)


def _claims(templates: Iterable[PersistentVolumeClaim]) -> list[Any]:
    claims = []
    for template in templates:
        claim = PersistentVolumeClaim(spec=replace(template.spec))
        default_claim(claim)
        claims.append((template.metadata.name, template.metadata.labels, claim.spec))
    return claims


def _job_faults(stored: Job, updated: Job) -> Iterator[FieldFault]:
    was, spec = stored.spec, updated.spec
    if spec.completions is not None and spec.completions != was.completions:
        if spec.completion_mode != "Indexed":
            yield invalid("spec.completions", spec.completions, _IMMUTABLE)
        elif spec.completions != spec.parallelism:
            yield invalid("spec.completions", spec.completions, "can only be modified in tandem with spec.parallelism")
    for field, name in _FIXED_OF_JOB.items():
        if (value := getattr(spec, field)) not in (None, getattr(was, field)):
            yield invalid(f"spec.{name}", value, _IMMUTABLE)
    may_move = bool(was.suspend) and not stored.status.start_time
    if was.template is not None and spec.template is not None:
        before, after = (_without_job_labels(template) for template in (was.template, spec.template))
        if not scheduled_alike(_move(before, after) if may_move else before, after):
            yield FieldFault("spec.template", f"Invalid value: {_IMMUTABLE}")


def _without_job_labels(template: PodTemplateSpec) -> PodTemplateSpec:
    labels = {key: value for key, value in template.metadata.labels.items() if key not in _OF_JOBS_CONTROLLER}
    return replace(template, metadata=replace(template.metadata, labels=labels))


def _move(before: PodTemplateSpec, after: PodTemplateSpec) -> PodTemplateSpec:
    """Template of a suspended Job that never started, with the changes allowed: metadata and scheduling directives."""
    spec = after.spec
    affinity = replace(before.spec.affinity or Affinity(), node_affinity=(spec.affinity or Affinity()).node_affinity)
    moved = replace(
        before.spec,
        affinity=None if affinity == Affinity() else affinity,
        node_selector=spec.node_selector,
        tolerations=spec.tolerations,
        scheduling_gates=spec.scheduling_gates,
    )
    return replace(before, metadata=after.metadata, spec=moved)


def _is_other_pod(stored: PodSpec, updated: PodSpec) -> bool:
    """True if fields that scheduling reads and the manifest sets differ; a gated pod may change its node selection."""
    fields = ["topology_spread_constraints", "overhead", "priority_class_name", "scheduler_name", "runtime_class_name"]
    if not stored.scheduling_gates:
        fields += ["node_selector", "affinity"]
    others = any(value != getattr(stored, field) for field in fields if (value := getattr(updated, field)))
    resources = [[container.resources for container in spec.containers] for spec in (stored, updated)]
    return others or resources[0] != resources[1] or updated.host_network != stored.host_network


_KEDA_MOST = 100
"""KEDA's default of maxReplicaCount."""


class WorkloadAutoscaler(Struct, frozen=True):
    workload: WorkloadName
    text: str
    """``HorizontalPodAutoscaler web``."""
    least_field: str
    """Field for the least number of replicas."""
    least: int
    most_field: str
    """Field for the most replicas."""
    most: int


def autoscalers(objects: ClusterObjects) -> Iterator[WorkloadAutoscaler]:
    """HorizontalPodAutoscalers, and KEDA's ScaledObjects, which make one each."""
    yield from _horizontal(objects)
    for scaled in objects.get(ScaledObject):
        spec, target = scaled.spec, scaled.spec.scale_target_ref
        workload = WorkloadName(target.kind or "Deployment", scaled.metadata.namespace, target.name)
        most = _KEDA_MOST if spec.max_replica_count is None else spec.max_replica_count
        name = f"ScaledObject {scaled.metadata.name}"
        yield WorkloadAutoscaler(
            workload, name, "minReplicaCount", spec.min_replica_count or 0, "maxReplicaCount", most
        )


def _horizontal(objects: ClusterObjects) -> Iterator[WorkloadAutoscaler]:
    for autoscaler in objects.get(HorizontalPodAutoscaler):
        spec, target = autoscaler.spec, autoscaler.spec.scale_target_ref
        workload = WorkloadName(target.kind, autoscaler.metadata.namespace, target.name)
        # API defaulting: minReplicas is 1.
        least = 1 if spec.min_replicas is None else spec.min_replicas
        name = f"HorizontalPodAutoscaler {autoscaler.metadata.name}"
        yield WorkloadAutoscaler(workload, name, "minReplicas", least, "maxReplicas", spec.max_replicas)


def autoscalers_of(workload: WorkloadName, objects: ClusterObjects) -> Iterator[WorkloadAutoscaler]:
    return (autoscaler for autoscaler in autoscalers(objects) if autoscaler.workload == workload)


def autoscaling_notes(workload: WorkloadName | None, objects: ClusterObjects) -> Iterator[str]:
    """Yield a note with the bounds of each HorizontalPodAutoscaler, which the workload's own number may exceed."""
    for autoscaler in _horizontal(objects):
        if autoscaler.workload == workload:
            bounds = f"keeps {workload.kind}/{workload.name} at {autoscaler.least} to {autoscaler.most} replicas"
            yield f"{autoscaler.text} {bounds}; it is not simulated"


def autoscaler_gaps(workload: WorkloadName, objects: ClusterObjects) -> Iterator[str]:
    """Yield a gap if HorizontalPodAutoscalers are unknown, for a workload that one could scale."""
    row = POD_CREATORS.get(workload.kind)
    if row is not None and row.has_replicas:
        yield from objects.gap(HorizontalPodAutoscaler, "workloads are taken to keep the replicas that they say")


def bound_replicas(replicas: int, autoscalers: Iterable[WorkloadAutoscaler]) -> tuple[int, str]:
    """Number of replicas within the bounds of autoscalers, and the bound that changed it, if any.

    The bound is ``minReplicas of HorizontalPodAutoscaler web``. Autoscalers leave 0 as it is.
    """
    why = ""
    for autoscaler in autoscalers if replicas else ():
        if replicas < autoscaler.least:
            replicas, why = autoscaler.least, f"{autoscaler.least_field} of {autoscaler.text}"
        elif replicas > autoscaler.most:
            replicas, why = autoscaler.most, f"{autoscaler.most_field} of {autoscaler.text}"
    return replicas, why


def others(pods: Sequence[Pod], candidate: Candidate) -> Sequence[Pod]:
    """The ``pods`` without the candidate itself."""
    if not candidate.is_stored:
        return pods
    own = candidate.pod.metadata
    return tuple(pod for pod in pods if (pod.metadata.namespace, pod.metadata.name) != (own.namespace, own.name))


def first_missing(candidate: Candidate, present: Iterable[Pod]) -> Pod:
    """The first of a workload's replicas that is not ``present``: the one with the lowest free ordinal or index."""
    if candidate.is_stored:
        return candidate.pod
    if isinstance(candidate.object, StatefulSet):
        return for_ordinal(candidate.pod, candidate.object, next(_numbers(candidate, present)))
    if is_indexed(candidate.pod):
        return for_index(candidate.pod, next(_numbers(candidate, present)))
    return candidate.pod


def replica_names(candidate: Candidate, present: Iterable[Pod] = (), waiting: Iterable[Pod] = ()) -> Iterator[str]:
    """Yield names of replicas that are not ``present``, numbered as by their controller, the ``waiting`` ones first."""
    return (f"{_base_name(candidate.pod)}-{number}" for number in _numbers(candidate, present, waiting))


def _base_name(pod: Pod) -> str:
    owner = controller_of(pod)
    return pod.metadata.name if owner is None else owner.name


def _numbers(candidate: Candidate, present: Iterable[Pod], waiting: Iterable[Pod] = ()) -> Iterator[int]:
    pod, obj, base = candidate.pod, candidate.object, _base_name(candidate.pod)
    owner, first, used = controller_of(pod), 0, set[int]()

    def number_of(replica: Pod) -> int | None:
        return index_of(replica) if is_indexed(pod) else ordinal_of(replica, base)

    if isinstance(obj, StatefulSet):
        first = first_ordinal(obj)
    elif isinstance(obj, Job):
        used = completed_indexes(obj)
    elif owner is not None and owner.kind == "StatefulSet":
        first = ordinal_of(pod, base) or 0
    there = sorted(number for replica in waiting if (number := number_of(replica)) is not None)
    used |= {*there, *(number for replica in present if (number := number_of(replica)) is not None)}
    return chain(there, (number for number in count(first) if number not in used))


class DesiredReplicas(Struct, frozen=True):
    """Requested replicas of all workloads."""

    replicas: int | None = None
    """None for each workload's own number."""
    until_full: bool = False
    from_scratch: bool = False
    counts_quotas: bool = True


class Growth(Struct, frozen=True):
    """Changes of one workload from its current replicas to the desired ones."""

    further: int | None
    """Number of replicas to add; None for as many as fit."""
    present: Sequence[Pod]
    """Running replicas that stay."""
    taken_away: Sequence[Pod]
    """Running replicas that are removed, to be placed anew."""
    created: Creation
    notes: tuple[str, ...]
    is_rollout: bool = False
    """True if ``present`` are of another template, and its controller replaces them."""
    surplus: int = 0
    """Number of ``present`` that its controller deletes."""
    waiting: Sequence[Pod] = ()
    """Existing replicas of its revision without a node."""
    outdated: int = 0
    """Number of ``present`` pods that a waiting rollout will replace."""

    @property
    def count(self) -> int | None:
        """Number of further pods to create; None for as many as fit."""
        counts = [count for count in (self.further, self.created.copies) if count is not None]
        return min(counts, default=None)


def growth_gaps(candidates: Iterable[Candidate], snapshot: Snapshot) -> Iterator[str]:
    """Yield gaps about which pods belong to workloads: a Deployment's are known only by its ReplicaSets."""
    deployments = [candidate.object for candidate in candidates if isinstance(candidate.object, Deployment)]
    if not deployments or snapshot.objects.knows(ReplicaSet):
        return
    labels = snapshot.cache.get_or_make("labels", lambda: _labels_of_replicas(snapshot))
    if any(_selects_any(deployment, labels.get(deployment.metadata.namespace, {})) for deployment in deployments):
        yield from snapshot.objects.gap(ReplicaSet, "replicas that run already are not recognized")


def _labels_of_replicas(snapshot: Snapshot) -> dict[str, dict[int, Mapping[str, str]]]:
    """Collect by namespace the labels of pods that ReplicaSets control, shared ones once."""
    labels: dict[str, dict[int, Mapping[str, str]]] = {}
    for pod in snapshot.pods:
        if (owner := controller_of(pod)) is not None and owner.kind == "ReplicaSet":
            labels.setdefault(pod.metadata.namespace, {})[id(pod.metadata.labels)] = pod.metadata.labels
    return labels


def _selects_any(deployment: Deployment, labels: Mapping[int, Mapping[str, str]]) -> bool:
    if deployment.spec.selector is None:
        return False
    try:
        matches = from_label_selector(deployment.spec.selector).matches
    except SelectorError:
        return False
    return any(map(matches, labels.values()))


def growths(
    candidates: Iterable[Candidate], desired: DesiredReplicas, snapshot: Snapshot, running: Sequence[Pod]
) -> list[Growth]:
    """Growth of each candidate's workload, charging quotas in order; ``running`` are the pods on nodes.

    Raises UsageError for desired replicas of a DaemonSet, and for fewer replicas of a workload that cannot be scaled.
    """
    # Of one snapshot these are the same pods each time.
    _, on_nodes = snapshot.cache.get_or_make(("running", id(running)), lambda: (running, PodsByController(running)))
    waiting = waiting_pods(snapshot)
    quotas: Quotas = snapshot.objects.get(ResourceQuota) if desired.counts_quotas else ()
    grown = []
    for candidate in candidates:
        # Pending pods are charged already, and are to be placed too.
        own_waiting = _replicas(candidate, waiting, snapshot)
        for pod in own_waiting:
            quotas = charge_quotas(quotas, pod, -1)
        on_nodes_too = _replicas(candidate, on_nodes, snapshot)
        growth = _growth(candidate, desired, snapshot, on_nodes_too, own_waiting, quotas)
        growth = replace(growth, waiting=[pod for pod in own_waiting if not _is_outdated(pod, candidate)])
        for pod in growth.present if growth.is_rollout else growth.taken_away:
            quotas = charge_quotas(quotas, pod, -1)
        if not candidate.is_stored and growth.count is not None:
            quotas = charge_quotas(quotas, candidate.pod, growth.count)
        grown.append(growth)
    return grown


def waiting_pods(snapshot: Snapshot) -> PodsByController:
    """Active pods without a node, by controller."""
    return snapshot.cache.get_or_make(
        "waiting", lambda: PodsByController(pod for pod in snapshot.pods if not pod.spec.node_name and is_active(pod))
    )


def _replicas(candidate: Candidate, pods: PodsByController, snapshot: Snapshot) -> list[Pod]:
    if candidate.workload is None:
        return []
    return pods_of(candidate.workload, candidate.companions, snapshot.objects.get(ReplicaSet), pods)


def _growth(
    candidate: Candidate,
    desired: DesiredReplicas,
    snapshot: Snapshot,
    running: Sequence[Pod],
    waiting: Sequence[Pod],
    quotas: Quotas,
) -> Growth:
    name = "" if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}"
    if candidate.is_daemon and desired.replicas is not None:
        raise UsageError(f"{name}: a DaemonSet has no replicas, it runs one pod on every node it may run on")
    asked_for = candidate.replicas if desired.replicas is None else desired.replicas
    is_other = bool(running) and not desired.from_scratch and runs_another_template(candidate, snapshot)
    is_rollout = is_other and isinstance(candidate.object, Deployment) and not desired.until_full
    if is_rollout:
        # Its controller meets the quotas on the way.
        return Growth(asked_for, running, (), Creation(None), (), is_rollout=True)
    awaited = sum(not _is_outdated(pod, candidate) for pod in waiting)
    outdated = sum(_is_outdated(pod, candidate) for pod in running)
    is_fewer = desired.replicas is not None and asked_for < len(running)
    if awaited and outdated and not (is_other or is_fewer or desired.until_full or desired.from_scratch):
        # A waiting rollout wants them now, beside the pods that it is to replace.
        awaited = max(awaited, asked_for - len(running))
        return Growth(awaited, running, (), creation(candidate, quotas, awaited, running), (), outdated=outdated)
    anew = desired.from_scratch or is_other
    present, taken_away = ((), running) if anew else (running, ())
    shrinks = not desired.until_full and not candidate.is_daemon and asked_for < len(present)
    # Nobody asked for fewer: a rollout, or the controller has not caught up.
    is_surplus = shrinks and desired.replicas is None and candidate.template is None and not candidate.sets_replicas
    if shrinks and not is_surplus and not _is_scalable(candidate):
        raise UsageError(
            f"{name} runs {len(present)} replicas and {asked_for} are asked for: which of them its controller deletes "
            f"is not modeled; --from-scratch places {asked_for} anew"
        )
    further = None if desired.until_full else max(0, asked_for - len(present))
    for pod in taken_away:
        quotas = charge_quotas(quotas, pod, -1)
    created = creation(candidate, quotas, further, present)
    notes: list[str] = []
    if is_other:
        notes.append(
            f"{name} runs with another template: its {len(running)} running replicas are taken away and {asked_for} "
            "are placed with this one, as if it were created anew; how a rollout gets there is not simulated"
        )
    if is_surplus:
        notes.append(f"{name} runs {len(present)} replicas and its spec says {asked_for}: none is placed")
    surplus = len(present) - asked_for if shrinks and not is_surplus else 0
    return Growth(further, present, taken_away, created, (*notes, *created.notes), surplus=surplus)


def _is_outdated(pod: Pod, candidate: Candidate) -> bool:
    own, owner = controller_of(candidate.pod), controller_of(pod)
    is_of_deployment = candidate.workload is not None and candidate.workload.kind == "Deployment"
    return is_of_deployment and owner is not None and own is not None and owner.name != own.name


def _is_scalable(candidate: Candidate) -> bool:
    row = POD_CREATORS.get(candidate.workload.kind) if candidate.workload is not None else None
    return row is not None and row.has_replicas


Quotas = Sequence[ResourceQuota]


class Creation(Struct, frozen=True):
    """API server's answer to a workload's further pods."""

    copies: int | None
    """Most further pods that quotas allow; None for no limit."""
    refusal: str = ""
    """Message for the first pod that is not created."""
    notes: tuple[str, ...] = ()


def creation(candidate: Candidate, quotas: Quotas, further: int | None, present: Iterable[Pod]) -> Creation:
    """Answer of the API server to ``further`` pods (None: as many as fit), with notes on ``present`` ones."""
    notes = list(_adoption_notes(present))
    allowed = allowance(candidate.pod, quotas) if not candidate.is_stored else None
    if allowed is None or allowed.copies is None:
        return Creation(None, notes=tuple(notes))
    refusal = f'pods "{candidate.pod.metadata.name}" is forbidden: {allowed.refusal}'
    if candidate.is_daemon:
        notes.append(
            f"quotas allow {allowed.copies} more pods of it; which nodes would go without is not evaluated "
            f"({allowed.refusal})"
        )
        return Creation(None, notes=tuple(notes))
    if further is not None and further > allowed.copies:
        notes.append(f"{allowed.copies} of {further} further pods are created: {allowed.refusal}")
    return Creation(allowed.copies, refusal, tuple(notes))


def _adoption_notes(present: Iterable[Pod]) -> Iterator[str]:
    if names := sorted(pod.metadata.name for pod in present if controller_of(pod) is None):
        yield f"its controller adopts pods that match its selector and have no controller: {', '.join(names)}"
