"""The pod that kube-scheduler would see, admitted, or every fault named: of a manifest, of the cluster (``pod/web-0``),
or the next one that a workload there would make (``deploy/web``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.manifest import Manifest, Place, are_related, choose, decodable_object, kind_of, value_at
from kubespread.candidate.settings import SettledObject, apply_settings
from kubespread.candidate.sources import Reference, Source, Surroundings, missing_namespace, reference_kinds
from kubespread.controllers.deployment import age_order, new_replica_set, replica_sets_of, revision_hash
from kubespread.controllers.pod_creation import NewPod, PodCreator, ephemeral_claims, generated_name
from kubespread.controllers.registry import another, new_pod, next_name, replicas
from kubespread.controllers.statefulset import from_free_ordinal, is_ordered_ready
from kubespread.deadline import check
from kubespread.errors import Fault, KubespreadError, ManifestError, SnapshotError, UsageError
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.admission.gated_fields import DROPPED, drop_fields
from kubespread.kube.admission.plugins import admit
from kubespread.kube.api.core import Pod, PodStatus, ScheduledVolumes
from kubespread.kube.api.decoding import decode, normalize
from kubespread.kube.api.kinds import KIND_OF, POD_CREATORS, Kind, group_of, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.unknown_fields import UnknownField, alternatives, fields_of, near_miss, unknown_fields
from kubespread.kube.api.workloads import CronJob, Deployment, Job, LabelSelectingWorkload, ReplicaSet, StatefulSet
from kubespread.kube.name_rules import dns_label_faults
from kubespread.kube.owners import WorkloadName, controller_of, controls, custom_owner, is_active, static_notes
from kubespread.kube.templates import unread_of
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.fields import field_faults
from kubespread.kube.validation.pods import pod_faults, workload_faults
from kubespread.kube.versions import Release
from kubespread.kube.well_known import ENDED_PHASES, RESTARTED_AT
from kubespread.manifest.objects import KubernetesObject
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of

T = TypeVar("T", bound=ApiObject)


class Candidate(Struct, frozen=True):
    """A pod ready to be scheduled, with the objects that its controller creates for it."""

    pod: Pod
    surroundings: Surroundings
    """The cluster and settings that it was made with."""
    source: Source | None = None
    """Manifest or reference that it was made from; None for a pod that is evaluated again."""
    companions: tuple[ApiObject, ...] = ()
    notes: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    """Changes made by the cluster's admission plugins."""
    workload: WorkloadName | None = None
    """Workload that creates the pod; None for a bare pod."""
    replicas: int = 1
    """Desired number of the workload's pods."""
    object: ApiObject | None = None
    """Workload with the template of the pod; None for a bare pod."""
    sets_replicas: bool = False
    """True if the settings set ``replicas``, False if the number is the workload's own."""
    template: Pod | None = None
    """Pod template as in the manifest; None for a workload of the cluster."""
    one_by_one: bool = False
    """True if the next pod is only created once the last one runs: a StatefulSet that is not Parallel."""
    waits_behind: str = ""
    """Clause on the pending pod that must run before this one is created; else empty."""
    is_stored: bool = False
    """True if the pod is in the cluster already: questions take it out of the cluster first."""
    gaps: tuple[str, ...] = ()
    """Gaps for any question: of the cluster's source, and relevant content of the manifest that is not read."""
    admission_gaps: tuple[str, ...] = ()
    """Missing data of the cluster that matters to the pod's admission."""

    @property
    def is_daemon(self) -> bool:
        return self.workload is not None and self.workload.kind == "DaemonSet"


class NotInClusterError(UsageError):
    """A named workload or pod is not in the cluster."""


def candidate_of(source: Source, surroundings: Surroundings) -> Candidate:
    """Candidate of a manifest or reference. Raises ManifestError, SnapshotError and UsageError."""
    if isinstance(source, Manifest):
        candidate = from_manifest(source, surroundings)
    else:
        candidate = from_cluster(source, surroundings)
    return replace(candidate, source=source)


def from_manifest(manifest: Manifest, surroundings: Surroundings) -> Candidate:
    """Candidate for the manifest's workload, the named one of several. Raises ManifestError and UsageError."""
    item = manifest.chosen or choose(manifest, surroundings.name, surroundings.default_namespace)
    edits = () if kind_of(item).kind == "DaemonSet" else surroundings.edits
    changed = apply_settings(item.data, kind_of(item), (*edits, *surroundings.settings))
    with changed.blame_settings(item.written_path):
        candidate = _candidate(manifest.place(replace(item, content=changed.data)), surroundings)
    return replace(candidate, gaps=manifest.gaps)


def _candidate(place: Place, surroundings: Surroundings) -> Candidate:
    """Candidate of an object. Raises ManifestError with all faults: undecodable, unknown and invalid fields."""
    item = place.item
    place.refuse(unserved_faults(item, is_written=place.text is not None))
    row = kind_of(item)
    # The API server does not store, and so does not check, a status that a client sends.
    sent = {name: value for name, value in item.data.items() if name != "status"}
    with place.decoding():
        plain, undecodable = decodable_object(sent, row)
    unknown = _unknown_fields(item, sent, row.template_path)
    if not undecodable and not unknown:
        candidate = _decoded_candidate(place, row, plain, surroundings)
        absent = _unknown_fields(item, sent, row.template_path, surroundings.version.release)
        notes = (
            f"{field.path} is dropped: Kubernetes {surroundings.version} does not have it"
            for field in absent
            if field.path.rpartition(".")[2] not in DROPPED
        )
        return replace(candidate, notes=(*candidate.notes, *notes))
    faults = [fault for error in undecodable for fault in place.undecodable(error).faults]
    faults += place.place_faults(FieldFault(field.path, str(field)) for field in unknown)
    # Faults that only follow from a value removed here are not reported again.
    blamed = [*(error.path for error in undecodable), *(field.suggestion for field in unknown)]
    paths = [full_path for path in blamed if (full_path := item.field(path))]
    for fault in _further_faults(place, row, plain, surroundings):
        if fault.field and not any(are_related(fault.field, path) for path in paths):
            faults.append(fault)
    raise ManifestError(place.file, sorted(faults, key=lambda fault: fault.line or 0))


def _further_faults(place: Place, row: Kind, plain: Any, surroundings: Surroundings) -> Sequence[Fault]:
    try:
        _decoded_candidate(place, row, plain, surroundings)
    except ManifestError as error:
        return error.faults
    except (KubespreadError, msgspec.ValidationError):
        pass
    return ()


def _decoded_candidate(place: Place, row: Kind, plain: Any, surroundings: Surroundings) -> Candidate:
    item = place.item
    typed: ApiObject = msgspec.convert(plain, row.cls)
    meta = typed.metadata
    if not meta.name:
        meta.name = generated_name(meta.generate_name, json.dumps([item.document, item.path, plain], sort_keys=True))
    meta.namespace = _namespace(item, surroundings)
    if isinstance(typed, Pod):
        if typed.metadata.uid:
            # Stored before: the status that it had.
            with place.decoding():
                typed.status = decode(item.data.get("status") or {}, PodStatus, "status")
        return _from_pod(place, NewPod(typed, notes=tuple(static_notes(typed))), plain, surroundings)
    if isinstance(typed, LabelSelectingWorkload) and typed.spec.template is not None:
        template = typed.spec.template
        template.unread = unread_of(value_at(plain, f"{row.template_path}.spec") or {}, template.metadata.annotations)
    return _from_creator(
        place, row, typed, plain, surroundings, revision_hash(typed, surroundings.objects.get(ReplicaSet))
    )


def _namespace(item: KubernetesObject, surroundings: Surroundings) -> str:
    """The manifest's namespace, else the requested one. Raises UsageError, as kubectl does, if they differ."""
    namespace = surroundings.namespace
    if namespace is not None and (faults := dns_label_faults(namespace)):
        raise UsageError(f"invalid namespace {namespace!r}: {faults[0]}")
    own = item.namespace
    if own and namespace and own != namespace:
        raise UsageError(
            f'the namespace from the provided object "{own}" does not match the namespace "{namespace}". '
            f"You must pass '--namespace={own}' to perform this operation."
        )
    return own or surroundings.default_namespace


def _unknown_fields(
    item: KubernetesObject, sent: Mapping[str, Any], template_path: str, release: Release | None = None
) -> list[UnknownField]:
    """Fields that a release, or any, does not have; for a kind with unknown fields, in its pod template only."""
    row = POD_CREATORS.get(item.kind)
    is_known = row is not None and item.api_version in ("", row.api_version)
    cls, path = (item.kind, "") if is_known else ("Pod", template_path)
    return list(unknown_fields(value_at(sent, path), cls, item.written_path(path), partial(fields_of, release=release)))


# Served beside batch/v1 until Kubernetes 1.24; other old versions ended before the oldest release that is modeled.
_OLD = frozenset({("batch/v1beta1", "CronJob")})


def unserved_faults(item: KubernetesObject, *, is_written: bool) -> Iterator[FieldFault]:
    """Yield, in kubectl's words, why the API server does not serve a workload's ``apiVersion`` and ``kind``.

    A group without a dot is Kubernetes' own, as custom resources cannot have one. Items of lists, and objects passed as
    values (``is_written`` is False), need no apiVersion.
    """
    api_version, kind = item.api_version, item.kind
    if not kind:
        yield FieldFault("kind", "not set")
    if not api_version:
        if is_written and not item.path:
            yield FieldFault("apiVersion", f"not set{_kind_text(POD_CREATORS.get(kind))}")
        return
    creator = pod_creator(api_version, kind)
    if not kind or (creator and creator.api_version == api_version) or (api_version, kind) in _OLD:
        return
    if creator or "." not in group_of(api_version):
        suggestion = POD_CREATORS.get(near_miss(kind, POD_CREATORS))
        wrong = "kind" if suggestion is not None and suggestion.api_version == api_version else "apiVersion"
        yield FieldFault(wrong, f'no matches for kind "{kind}" in version "{api_version}"{_kind_text(suggestion)}')


def _kind_text(row: Kind | None) -> str:
    return f', did you mean "{row.kind}" in "{row.api_version}"?' if row is not None else ""


def from_cluster(reference: Reference, surroundings: Surroundings) -> Candidate:
    """Candidate for a workload or pod of the cluster. Raises UsageError, SnapshotError and ManifestError.

    A pod that has no node yet is taken unchanged; a running one as if it were scheduled again.
    """
    kind, name, snapshot = reference.kind, reference.name, surroundings.snapshot
    namespace = reference.namespace or surroundings.default_namespace
    if kind.kind == "Pod":
        return from_stored_pod(_find(snapshot, snapshot.pods, kind, namespace, name), surroundings)
    workload_name = WorkloadName(kind.kind, namespace, name)
    if kind.foreign or snapshot.objects.find(kind.cls, name, namespace) is None:
        owner = custom_owner(workload_name, (*snapshot.pods, *snapshot.objects.get(ReplicaSet)))
        if owner is not None:
            return _of_owner(owner, surroundings)
    if kind.foreign:
        kinds = f"and KIND is else one of {reference_kinds()}"
        raise NotInClusterError(f'{kind.kind} "{name}" controls no pod in namespace {namespace}, {kinds}')
    if unread := snapshot.origin.unread.get(kind.kind):
        raise SnapshotError(f'{kind.resource} "{name}" cannot be looked up: {unread}')
    stored: Any = _find(snapshot, snapshot.objects.get(kind.cls), kind, namespace, name)
    changed = apply_settings(msgspec.to_builtins(stored), kind, surroundings.settings)
    with changed.blame_settings():
        workload: Any = _decode(changed, kind, stored)
    changes_template = kind.pod_template(workload) != kind.pod_template(stored)
    notes: tuple[str, ...] = ()
    replicas = getattr(workload.spec, "replicas", None)
    if isinstance(workload, Deployment):
        owner = WorkloadName("Deployment", namespace, name)
        current = new_replica_set(workload, replica_sets_of(owner, snapshot.objects.get(ReplicaSet)))
        if current is not None:
            kind, workload = KIND_OF[ReplicaSet], current
            notes = (f"Deployment/{name}: evaluated as another pod of its ReplicaSet {current.metadata.name}",)
    is_stateful = isinstance(workload, StatefulSet)
    with changed.blame_settings():
        next_one = from_free_ordinal(workload, snapshot.pods) if is_stateful else workload
        candidate = _admit(next_one, kind, surroundings, _title(reference.kind, stored))
    return replace(
        candidate,
        object=workload if is_stateful else candidate.object,
        notes=(*notes, *candidate.notes),
        waits_behind=_waits_behind(candidate, workload, snapshot),
        workload=workload_name,
        replicas=candidate.replicas if replicas is None else replicas,
        sets_replicas="spec.replicas" in changed.paths,
        template=candidate.template if changes_template else None,
    )


def _of_owner(owner: WorkloadName, surroundings: Surroundings) -> Candidate:
    """Candidate for the next pod of a workload known only by its ReplicaSets, else by its pods."""
    snapshot = surroundings.snapshot
    pods = [pod for pod in snapshot.pods if pod.metadata.namespace == owner.namespace and is_active(pod)]
    replica_sets = sorted(replica_sets_of(owner, snapshot.objects.get(ReplicaSet)), key=age_order)
    if replica_sets:
        # An Argo Rollout goes from one to the next, and has replicas of both meanwhile.
        scaled_up = [replica_set for replica_set in replica_sets if replica_set.spec.replicas]
        current = (scaled_up or replica_sets)[-1]
        candidate = from_cluster(Reference(KIND_OF[ReplicaSet], current.metadata.name, owner.namespace), surroundings)
        others = sum(replica_set.spec.replicas or 0 for replica_set in replica_sets if replica_set is not current)
        note = f"{owner.kind}/{owner.name}: evaluated as another pod of its ReplicaSet {current.metadata.name}"
        return replace(candidate, workload=owner, replicas=candidate.replicas + others, notes=(note, *candidate.notes))
    own = [pod for pod in pods if (ref := controller_of(pod)) and (ref.kind, ref.name) == (owner.kind, owner.name)]
    if not own:
        raise NotInClusterError(
            f"{owner.kind}/{owner.name} has no pods that run or wait in namespace {owner.namespace}"
        )
    like = max(own, key=lambda pod: (bool(pod.spec.node_name), pod.metadata.creation_timestamp))
    changed = apply_settings(msgspec.to_builtins(like), KIND_OF[Pod], surroundings.settings)
    with changed.blame_settings():
        pod, claims = another(_decode(changed, KIND_OF[Pod], like), next_name(owner, own), snapshot.objects)
        candidate = _from_pod(
            _place(KIND_OF[Pod], f"{owner.kind}/{owner.name}"),
            NewPod(deepcopy(pod), tuple(claims)),
            changed.data,
            surroundings,
        )
    note = f"{owner.kind}/{owner.name}: evaluated as another pod like {like.metadata.name}"
    if claims:
        note += f", with new claims ({', '.join(claim.metadata.name for claim in claims)})"
    return replace(candidate, workload=owner, replicas=len(own), notes=(note, *candidate.notes))


def _waits_behind(candidate: Candidate, workload: ApiObject, snapshot: Snapshot) -> str:
    """Clause on the pending pod that the controller waits for, if it creates one pod at a time; empty if none."""
    if not candidate.one_by_one:
        return ""
    namespace = workload.metadata.namespace
    pods = (pod for pod in snapshot.pods if not pod.spec.node_name and pod.metadata.namespace == namespace)
    waiting = next((pod.metadata.name for pod in pods if is_active(pod) and controls(workload, pod)), None)
    if waiting is None:
        return ""
    name = candidate.pod.metadata.name
    return f"{waiting} has no node yet, and {name} is made only once it runs: ask about pod/{waiting}"


def revise(stored: ApiObject, kind: Kind, surroundings: Surroundings, restarted_at: str = "") -> Candidate:
    """First pod of a workload of the cluster, with settings and after a restart. Raises UsageError and ManifestError.

    ``restarted_at`` is the time of the restart, RFC 3339, as ``kubectl rollout restart`` writes it into the template;
    empty for no restart.
    """
    changed = apply_settings(msgspec.to_builtins(stored), kind, surroundings.settings)
    with changed.blame_settings():
        workload: Any = deepcopy(_decode(changed, kind, stored))
        template = kind.pod_template(workload)
        if restarted_at and template is not None:
            template.metadata.annotations = {**template.metadata.annotations, RESTARTED_AT: restarted_at}
        candidate = _admit(workload, kind, surroundings, _title(kind, stored))
    # Undefaulted, as it is in the cluster: templates are compared.
    is_other = template != kind.pod_template(stored)
    return replace(candidate, object=workload, template=candidate.template if is_other else None)


def _decode(changed: SettledObject, kind: Kind, stored: T) -> T:
    """The object with its fields set. Raises ManifestError for a value of the wrong type."""
    if not changed.paths:
        return stored
    with _place(kind, _title(kind, stored)).decoding():
        # Amounts are not looked at by decoding alone.
        return decode(normalize(changed.data, type(stored)), type(stored))


_READ_VOLUMES = {"name", "emptyDir", "hostPath", *ScheduledVolumes.__struct_encode_fields__}


def _as_stored(changed: SettledObject, pod: Pod) -> Mapping[str, Any]:
    """Data of a stored pod to be validated, without its owners and unread volumes."""
    spec = changed.data.get("spec", {})
    volumes = [volume for volume in spec.get("volumes", ()) if volume.keys() <= _READ_VOLUMES]
    return {"metadata": {"annotations": pod.metadata.annotations}, "spec": {**spec, "volumes": volumes}}


def _place(kind: Kind, name: str) -> Place:
    return Place(name, KubernetesObject({"apiVersion": kind.api_version, "kind": kind.kind}))


def _title(kind: Kind, stored: ApiObject) -> str:
    return f"{kind.kind}/{stored.metadata.name}"


def _admit(creator: ApiObject, kind: Kind, surroundings: Surroundings, title: str) -> Candidate:
    """Candidate for the next pod of ``creator``, which faults call ``title``."""
    # Its parts are shared with other objects, and its template is about to be defaulted.
    creator, place = deepcopy(creator), _place(kind, title)
    template = kind.pod_template(creator)
    if template is not None:
        template.spec.forget_unread_volumes()
    if kind.cls in (Job, CronJob) and template is not None:
        # No API server stores one without, but clusters are written by hand, too.
        template.spec.restart_policy = template.spec.restart_policy or "Never"
    plain = msgspec.to_builtins(creator)
    with place.decoding():
        # Amounts were not looked at when it was read.
        normalize(plain, kind.cls)
    # Made-up names depend only on fields that are read.
    (value_at(plain, kind.template_path) or {}).pop("unread", None)
    return _from_creator(place, kind, creator, plain, surroundings)


def _find(snapshot: Snapshot, among: Sequence[T], kind: Kind, namespace: str, name: str) -> T:
    for obj in among:
        if obj.metadata.name == name and obj.metadata.namespace == namespace:
            return obj
    hint = ""
    if elsewhere := sorted(obj.metadata.namespace for obj in among if obj.metadata.name == name):
        hint = f"; there is one in namespace {', '.join(elsewhere)}"
    elif not among:
        hint = f"; no {kind.kind} was read at all, {_alternative(snapshot)}"
    else:
        hint = alternatives(name, (obj.metadata.name for obj in among if obj.metadata.namespace == namespace))
        missing = "" if hint else missing_namespace(snapshot, namespace)
        hint = f": {missing}" if missing else hint
    raise NotInClusterError(f'{kind.resource} "{name}" not found in namespace {namespace}{hint}')


def _alternative(snapshot: Snapshot) -> str:
    counts = {row.kind: len(snapshot.objects.get(row.cls)) for row in POD_CREATORS.values()}
    counts["Pod"] = len(snapshot.pods)
    return f"only {', '.join(count_of(count, kind) for kind, count in counts.items() if count) or 'nodes'}"


def from_stored_pod(stored: Pod, surroundings: Surroundings) -> Candidate:
    """Candidate for a pod of the cluster, with settings. Raises UsageError and ManifestError."""
    kind = KIND_OF[Pod]
    changed = apply_settings(msgspec.to_builtins(stored), kind, surroundings.settings)
    with changed.blame_settings():
        pod = _decode(changed, kind, stored)
        if changed.paths:
            default_pod(pod)
            faults = field_faults(_as_stored(changed, pod), pod, "", surroundings.version, is_pod=True)
            _place(kind, _title(kind, stored)).refuse(pod_faults(pod, surroundings.version) + faults)
            # Its node granted amounts to the pod before the change.
            pod.status = PodStatus(phase=pod.status.phase)
    pod, notes = _scheduled_again(pod)
    # Its parts are shared with other pods.
    pod = deepcopy(pod)
    notes = (*static_notes(stored), *notes, *drop_fields(pod, surroundings.version))
    return Candidate(pod, surroundings, notes=notes, is_stored=True)


def _from_creator(
    place: Place, row: Kind, creator: ApiObject, plain: Any, surroundings: Surroundings, known_hash: str = ""
) -> Candidate:
    """The next pod that the controller of ``creator``, which is ``plain`` as data, creates; its template is defaulted.

    Raises ManifestError, also where it has none.
    """
    check()
    template, path = row.pod_template(creator), row.template_path
    if template is None:
        message = f"{place.item.field(path)}: expected a pod template, found null"
        raise ManifestError(place.file, [Fault(message)])
    plain_template = value_at(plain, path)
    owner = PodCreator(
        place.item.api_version,
        place.item.kind,
        creator,
        # What is stored of the template is not defaulted as a pod is.
        msgspec.convert(plain_template, Pod),
        json.dumps(plain_template, sort_keys=True),
        known_hash,
    )
    # What pods of it ask for as a whole is for when they are admitted.
    default_pod(owner.template, pod_level=False)
    place.refuse(workload_faults(creator, owner.template, plain_template, path, surroundings.version))
    candidate = _from_pod(place, new_pod(owner), plain_template, surroundings, path)
    return replace(
        candidate,
        companions=(*candidate.companions, *(ephemeral_claims(candidate.pod) if controller_of(candidate.pod) else ())),
        workload=WorkloadName(owner.kind, owner.namespace, owner.name),
        object=creator,
        replicas=replicas(owner),
        template=owner.template,
        one_by_one=is_ordered_ready(owner),
    )


def _from_pod(place: Place, new: NewPod, plain: Any, surroundings: Surroundings, template_path: str = "") -> Candidate:
    """The pod, its own or its template's ``plain`` data beside it, once the API server has admitted it.

    Raises ManifestError, and UsageError for a pod that has ended.
    """
    pod = new.pod
    notes: tuple[str, ...] = ()
    is_stored = bool(pod.metadata.uid)
    if is_stored:
        pod, notes = _scheduled_again(pod)
    elif pod.spec.node_name:
        notes = (
            f"spec.nodeName is {pod.spec.node_name}: kube-scheduler never sees such a pod; its filters are asked "
            "all the same",
        )
    admitted = admit(pod, surroundings.version, surroundings.objects, surroundings.admission)
    if admitted.forbidden:
        raise ManifestError(place.file, [Fault(admitted.forbidden)])
    inside = f"{template_path}." if template_path else ""
    faults = [FieldFault(f"{inside}{path}", message) for path, message in admitted.faults]
    place.refuse(faults + field_faults(plain, admitted.pod, template_path, surroundings.version, is_pod=True))
    return Candidate(
        pod=admitted.pod,
        surroundings=surroundings,
        companions=new.companions,
        notes=(*new.notes, *admitted.dropped, *notes),
        admission=tuple(admitted.changes),
        is_stored=is_stored,
        admission_gaps=tuple(admitted.gaps),
    )


def _scheduled_again(pod: Pod) -> tuple[Pod, tuple[str, ...]]:
    """The stored ``pod`` without its node, and notes on that. Raises UsageError for one that has ended."""
    name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
    if pod.status.phase in ENDED_PHASES:
        raise UsageError(f"{name} has ended ({pod.status.phase}): it is not scheduled again")
    notes = []
    if pod.metadata.deletion_timestamp is not None:
        notes.append(f"{name} is being deleted; kube-scheduler would not place it")
    if pod.spec.node_name:
        notes.append(
            f"{name} runs on {pod.spec.node_name}; it is asked about as if it were scheduled again, without itself"
        )
        pod = replace(pod, spec=replace(pod.spec, node_name=""))
    return pod, tuple(notes)
