"""Compares a manifest's workload with its namesake in the cluster: whether its pods differ, and what may not change.

A field that the manifest leaves out keeps its value, as kubectl apply leaves what others have set.

Whole templates and differences of two pods, which the API server prints, are left out.

Source: pkg/apis/apps/validation/validation.go, ValidateDeploymentUpdate, ValidateDaemonSetUpdate,
    ValidateStatefulSetUpdate
Source: pkg/apis/batch/validation/validation.go, ValidateJobUpdate
Source: pkg/apis/core/validation/validation.go, ValidatePodUpdate
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import msgspec
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate
from kubespread.controllers.deployment.pods import TEMPLATE_HASH
from kubespread.controllers.deployment.revisions import newest_replica_set
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import default_claim, default_pod
from kubespread.kube.api.core import Affinity, Pod, PodSpec, PodTemplateSpec
from kubespread.kube.api.kinds import KEPT, POD_CREATORS
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.storage import PersistentVolumeClaim
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
from kubespread.kube.owners import WorkloadName
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid
from kubespread.snapshot.snapshot import Snapshot

# The template of any other kind cannot change, or is changed by the API server itself.
_ROLLED_OUT = (LabelSelectingWorkload, ReplicationController)


def runs_another_template(candidate: Candidate, snapshot: Snapshot) -> bool:
    """Whether the cluster has the candidate's workload with a template that is scheduled otherwise."""
    if candidate.template is None or candidate.workload is None:
        return False
    running = _running_template(candidate.workload, snapshot)
    return running is not None and not scheduled_alike(running, candidate.template)


def scheduled_alike(one: PodTemplateSpec | Pod, other: PodTemplateSpec | Pod) -> bool:
    """Whether scheduling cannot tell pods of two templates apart."""
    return bool(_scheduled_as(one) == _scheduled_as(other))


def _running_template(workload: WorkloadName, snapshot: Snapshot) -> PodTemplateSpec | None:
    row = POD_CREATORS.get(workload.kind)
    if row is None or not issubclass(row.cls, _ROLLED_OUT):
        return None
    if (running := snapshot.objects.named(row.cls, workload.name, workload.namespace)) is not None:
        return row.pod_template(running)
    if workload.kind == "Deployment":
        newest = newest_replica_set(workload, snapshot.objects.of(ReplicaSet))
        return newest.spec.template if newest is not None else None
    return None


def _scheduled_as(template: PodTemplateSpec | Pod) -> Any:
    """All that scheduling reads of a template, as the API server would store it."""
    pod = deepcopy(Pod(metadata=template.metadata, spec=template.spec))
    default_pod(pod)
    # A drain reads emptyDirs, scheduling does not.
    pod.spec.volumes = [volume for volume in pod.spec.volumes if volume.affects_scheduling]
    pod.spec.forget_unread_volumes()
    labels = {key: value for key, value in pod.metadata.labels.items() if key != TEMPLATE_HASH}
    return labels, msgspec.to_builtins(pod.spec)


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
    """Raise UsageError, in the API server's words, where ``candidate`` changes what cannot be changed of a namesake."""
    workload = candidate.object or candidate.pod
    row = KEPT.get(type(workload))
    if row is None:
        return
    key = candidate.pod.metadata.namespace, workload.metadata.name
    stored = next((obj for obj in snapshot.of_kind(row) if (obj.metadata.namespace, obj.metadata.name) == key), None)
    if stored is not None and (faults := [str(fault) for fault in _update_faults(stored, workload)]):
        kind = f"{row.kind}.{row.group}" if row.group else row.kind
        raise UsageError(f"{kind} {quote(workload.metadata.name)} is invalid: {aggregate(faults)}")


def _update_faults(stored: ApiObject, updated: ApiObject) -> Iterator[FieldFault]:
    """What ``updated``, from a manifest, changes in the ``stored`` object that may not change."""
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
        if not scheduled_alike(_moved(before, after) if may_move else before, after):
            yield FieldFault("spec.template", f"Invalid value: {_IMMUTABLE}")


def _without_job_labels(template: PodTemplateSpec) -> PodTemplateSpec:
    labels = {key: value for key, value in template.metadata.labels.items() if key not in _OF_JOBS_CONTROLLER}
    return replace(template, metadata=replace(template.metadata, labels=labels))


def _moved(before: PodTemplateSpec, after: PodTemplateSpec) -> PodTemplateSpec:
    """With what may change of the template of a suspended Job that never started: where its pods may go."""
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
    """Compares what scheduling reads and the manifest sets; a gated pod may still get other node selection."""
    fields = ["topology_spread_constraints", "overhead", "priority_class_name", "scheduler_name", "runtime_class_name"]
    if not stored.scheduling_gates:
        fields += ["node_selector", "affinity"]
    others = any(value != getattr(stored, field) for field in fields if (value := getattr(updated, field)))
    resources = [[container.resources for container in spec.containers] for spec in (stored, updated)]
    return others or resources[0] != resources[1] or updated.host_network != stored.host_network
