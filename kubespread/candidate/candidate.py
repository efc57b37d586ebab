"""A pod ready to be scheduled, and what decides which pod a manifest yields.

From a workload, or a pod to be created, to the pod that kube-scheduler would see.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.candidate.manifests.file import Place, field_at
from kubespread.candidate.settings import Setting
from kubespread.controllers.pod_creation import NewPod, PodCreator, ephemeral_claims
from kubespread.controllers.registry import new_pod, replicas
from kubespread.controllers.statefulset import creates_one_by_one
from kubespread.errors import Fault, ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE, default_pod
from kubespread.kube.admission.plugins import AdmissionPlugins, admit
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import Kind
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.validation.objects import workload_faults
from kubespread.kube.versions import LATEST, KubeVersion
from kubespread.kube.well_known import ENDED_PHASES


def scheduled_again(pod: Pod) -> tuple[Pod, tuple[str, ...]]:
    """The stored ``pod`` taken off its node, with notes on that. Raises UsageError for one that has ended."""
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


def creator_of(place: Place, row: Kind, creator: ApiObject, plain: Any) -> PodCreator[ApiObject]:
    """``creator``, which is the same as ``plain``, with its pod template. Raises ManifestError where it has none."""
    template = row.pod_template(creator)
    if template is None:
        message = f"{place.item.field(row.template_path)}: expected a pod template, found null"
        raise ManifestError(place.file, [Fault(message)])
    return PodCreator(
        place.item.api_version,
        place.item.kind,
        creator,
        Pod(metadata=template.metadata, spec=template.spec),
        json.dumps(field_at(plain, row.template_path), sort_keys=True),
    )


def candidate_from_creator(
    place: Place, creator: PodCreator[ApiObject], template_path: str, surroundings: Surroundings
) -> Candidate:
    """The next pod that ``creator``'s controller creates. Raises ManifestError; the template is defaulted."""
    # What pods of it ask for as a whole is for when they are admitted.
    default_pod(creator.template, pod_level=False)
    place.refuse(workload_faults(creator.object, creator.template, template_path, surroundings.version))
    candidate = candidate_from_pod(place, new_pod(creator), surroundings, template_path)
    return replace(
        candidate,
        companions=(*candidate.companions, *(ephemeral_claims(candidate.pod) if controller_of(candidate.pod) else ())),
        workload=WorkloadName(creator.kind, creator.namespace, creator.name),
        object=creator.object,
        replicas=replicas(creator),
        template=creator.template,
        one_by_one=creates_one_by_one(creator),
    )


def candidate_from_pod(place: Place, new: NewPod, surroundings: Surroundings, template_path: str = "") -> Candidate:
    """The pod once the API server has admitted it. Raises ManifestError, and UsageError for a pod that has ended."""
    pod = new.pod
    notes: tuple[str, ...] = ()
    is_stored = bool(pod.metadata.uid)
    if is_stored:
        pod, notes = scheduled_again(pod)
    elif pod.spec.node_name:
        notes = (
            f"spec.nodeName is {pod.spec.node_name}: kube-scheduler never sees such a pod; its filters are asked "
            "all the same",
        )
    admitted = admit(pod, surroundings.version, surroundings.objects, surroundings.admission)
    if admitted.forbidden:
        raise ManifestError(place.file, [Fault(admitted.forbidden)])
    inside = f"{template_path}." if template_path else ""
    place.refuse(FieldFault(f"{inside}{path}", message) for path, message in admitted.faults)
    return Candidate(
        pod=admitted.pod,
        companions=new.companions,
        notes=(*new.notes, *admitted.dropped, *notes),
        admission=tuple(admitted.changes),
        is_stored=is_stored,
        admission_gaps=tuple(admitted.gaps),
    )


class Candidate(Struct, frozen=True):
    """A pod ready to be scheduled, and what its controller would have created beside it."""

    pod: Pod
    companions: tuple[ApiObject, ...] = ()
    notes: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    """What the cluster's admission plugins changed."""
    workload: WorkloadName | None = None
    """What creates the pod; None for a bare pod."""
    replicas: int = 1
    """How many of it the workload asks for."""
    object: ApiObject | None = None
    """The workload, where its controller makes the pod from its own template; None for a bare pod."""
    sets_replicas: bool = False
    """Whether that number was asked for, and is not just what the cluster has."""
    template: Pod | None = None
    """The workload's pod template as the manifest has it; None for what is in the cluster already."""
    one_by_one: bool = False
    """Whether the next pod is only created once the last one runs: a StatefulSet that is not Parallel."""
    waits_behind: str = ""
    """That it is made only once another pod of its workload runs, which has no node yet; empty where none is."""
    is_stored: bool = False
    """Whether the pod is in the cluster already: it is asked about in a cluster without it."""
    gaps: tuple[str, ...] = ()
    """What else the manifest holds that matters but is not read."""
    admission_gaps: tuple[str, ...] = ()
    """What the cluster's source lacks to admit the pod."""

    @property
    def is_daemon(self) -> bool:
        """Whether one pod is created for every node it may run on, instead of a fixed number."""
        return self.workload is not None and self.workload.kind == "DaemonSet"


class Surroundings(Struct, frozen=True):
    """What, besides the manifest, decides which pod it yields."""

    objects: ClusterObjects = field(default_factory=ClusterObjects)
    version: KubeVersion = LATEST
    name: str | None = None
    """Which workload, where there are several."""
    namespace: str | None = None
    """The one asked for; a manifest that names another is refused."""
    context_namespace: str = DEFAULT_NAMESPACE
    """Where nothing else says which."""
    admission: AdmissionPlugins = AdmissionPlugins()
    settings: tuple[Setting, ...] = ()
    """Fields that are changed in the pod or its workload before anything else is done with it."""
