"""The pod that is in the cluster already (``pod/web-0``), or that a workload there would make next (``deploy/web``)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from kubespread.candidate.candidate import Candidate, Surroundings, candidate_from_creator, creator_of, scheduled_again
from kubespread.candidate.input.references import Reference
from kubespread.candidate.input.sources import missing_namespace
from kubespread.candidate.manifests.file import OBJECT_NAME, Place
from kubespread.candidate.settings import Settled, settled
from kubespread.controllers.deployment import current_replica_set
from kubespread.controllers.statefulset import from_free_ordinal
from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.admission.gated_fields import drop_fields
from kubespread.kube.api.core import Pod, PodStatus
from kubespread.kube.api.decoding import DecodingError, decode, normalized
from kubespread.kube.api.kinds import KEPT, POD_CREATORS, Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.api.workloads import Deployment, ReplicaSet, StatefulSet
from kubespread.kube.owners import WorkloadName, controls, is_active, static_notes
from kubespread.kube.validation.pods import pod_faults
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of

T = TypeVar("T", bound=ApiObject)

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a template by which ``kubectl rollout restart`` makes another one of it."""


class NotInClusterError(UsageError):
    """A workload or a pod that is named is not in the cluster."""


def from_cluster(reference: Reference, snapshot: Snapshot, surroundings: Surroundings) -> Candidate:
    """The candidate that ``reference`` names. Raises UsageError, SnapshotError and ManifestError.

    A pod that has no node yet is taken unchanged; a running one as if it were scheduled again.
    """
    kind, name = reference.kind, reference.name
    namespace = reference.namespace or surroundings.namespace or surroundings.context_namespace
    if kind.kind == "Pod":
        return from_stored_pod(_find(snapshot, snapshot.pods, kind, namespace, name), surroundings)
    if unread := snapshot.origin.unread.get(kind.kind):
        raise SnapshotError(f'{kind.resource} "{name}" cannot be looked up: {unread}')
    stored: Any = _find(snapshot, snapshot.objects.of(kind.cls), kind, namespace, name)
    changed = settled(msgspec.to_builtins(stored), kind, surroundings.settings)
    with changed.blamed():
        workload: Any = _decoded(changed, kind, stored)
    changes_template = kind.pod_template(workload) != kind.pod_template(stored)
    notes: tuple[str, ...] = ()
    workload_name, replicas = WorkloadName(kind.kind, namespace, name), getattr(workload.spec, "replicas", None)
    if isinstance(workload, Deployment):
        current = current_replica_set(workload, snapshot.objects.of(ReplicaSet))
        if current is not None:
            kind, workload = KEPT[ReplicaSet], current
            notes = (f"Deployment/{name}: evaluated as another pod of its ReplicaSet {current.metadata.name}",)
    with changed.blamed():
        made = _from_workload(workload, kind, snapshot, surroundings)
    return replace(
        made,
        notes=(*notes, *made.notes),
        waits_behind=_waits_behind(made, workload, snapshot),
        workload=workload_name,
        replicas=made.replicas if replicas is None else replicas,
        sets_replicas="spec.replicas" in changed.paths,
        template=made.template if changes_template else None,
    )


def _waits_behind(made: Candidate, workload: ApiObject, snapshot: Snapshot) -> str:
    """A controller that makes one pod after another makes no other while one has no node."""
    if not made.one_by_one:
        return ""
    waiting = [
        pod.metadata.name
        for pod in snapshot.pods
        if not pod.spec.node_name
        and is_active(pod)
        and pod.metadata.namespace == workload.metadata.namespace
        and controls(workload, pod)
    ]
    if not waiting:
        return ""
    return (
        f"{waiting[0]} has no node yet, and {made.pod.metadata.name} is made only once it runs: "
        f"ask about pod/{waiting[0]}"
    )


def revised(stored: ApiObject, kind: Kind, surroundings: Surroundings, restarted_at: str = "") -> Candidate:
    """The first pod that a workload of the cluster makes after its fields are set and it is restarted.

    ``restarted_at`` is when, RFC 3339, as ``kubectl rollout restart`` writes it into the template. Raises UsageError
    and ManifestError.
    """
    changed = settled(msgspec.to_builtins(stored), kind, surroundings.settings)
    with changed.blamed():
        workload: Any = deepcopy(_decoded(changed, kind, stored))
        template = kind.pod_template(workload)
        if restarted_at and template is not None:
            template.metadata.annotations = {**template.metadata.annotations, RESTARTED_AT: restarted_at}
        made = _admitted(deepcopy(workload), kind, surroundings)
    # Undefaulted, as it is in the cluster: templates are compared.
    is_other = template != kind.pod_template(stored)
    return replace(made, object=workload, template=made.template if is_other else None)


def _decoded(changed: Settled, kind: Kind, stored: T) -> T:
    """The object with its fields set. Raises ManifestError for a value of the wrong type."""
    if not changed.paths:
        return stored
    try:
        # Amounts are not looked at by decoding alone.
        return decode(normalized(changed.data, type(stored)), type(stored))
    except DecodingError as error:
        raise _place(kind).undecodable(error) from error


def _place(kind: Kind) -> Place:
    return Place(OBJECT_NAME, KubernetesObject({"apiVersion": kind.api_version, "kind": kind.kind}))


def _from_workload(workload: ApiObject, kind: Kind, snapshot: Snapshot, surroundings: Surroundings) -> Candidate:
    # Copied since its parts are shared with other objects and its template is about to be defaulted.
    creator = deepcopy(workload)
    if not isinstance(creator, StatefulSet):
        return _admitted(creator, kind, surroundings)
    made = _admitted(from_free_ordinal(creator, snapshot.pods), kind, surroundings)
    return replace(made, object=workload)


def _admitted(creator: ApiObject, kind: Kind, surroundings: Surroundings) -> Candidate:
    place = _place(kind)
    plain = msgspec.to_builtins(creator)
    try:
        # Amounts were not looked at when it was read.
        normalized(plain, kind.cls)
    except DecodingError as error:
        raise place.undecodable(error) from error
    return candidate_from_creator(place, creator_of(place, kind, creator, plain), kind.template_path, surroundings)


def _find(snapshot: Snapshot, among: Sequence[T], kind: Kind, namespace: str, name: str) -> T:
    for obj in among:
        if obj.metadata.name == name and obj.metadata.namespace == namespace:
            return obj
    hint = ""
    if elsewhere := sorted(obj.metadata.namespace for obj in among if obj.metadata.name == name):
        hint = f"; there is one in namespace {', '.join(elsewhere)}"
    elif not among:
        hint = f"; no {kind.kind} was read at all, {_instead(snapshot)}"
    else:
        hint = alternatives(name, (obj.metadata.name for obj in among if obj.metadata.namespace == namespace))
        missing = "" if hint else missing_namespace(snapshot, namespace)
        hint = f": {missing}" if missing else hint
    raise NotInClusterError(f'{kind.resource} "{name}" not found in namespace {namespace}{hint}')


def _instead(snapshot: Snapshot) -> str:
    """What else there is that pods can be asked about."""
    counts = {row.kind: len(snapshot.objects.of(row.cls)) for row in POD_CREATORS.values()}
    counts["Pod"] = len(snapshot.pods)
    return f"only {', '.join(count_of(count, kind) for kind, count in counts.items() if count) or 'nodes'}"


def from_stored_pod(stored: Pod, surroundings: Surroundings) -> Candidate:
    """A pod of the cluster with the requested fields set. Raises UsageError and ManifestError."""
    kind = KEPT[Pod]
    changed = settled(msgspec.to_builtins(stored), kind, surroundings.settings)
    with changed.blamed():
        pod = _decoded(changed, kind, stored)
        if changed.paths:
            default_pod(pod)
            _place(kind).refuse(pod_faults(pod, surroundings.version))
            # Amounts that its node granted are those of the pod as it was.
            pod.status = PodStatus(phase=pod.status.phase)
    pod, notes = scheduled_again(pod)
    # Its parts are shared with other pods.
    pod = deepcopy(pod)
    notes = (*static_notes(stored), *notes, *drop_fields(pod, surroundings.version))
    return Candidate(pod, notes=notes, is_stored=True)
