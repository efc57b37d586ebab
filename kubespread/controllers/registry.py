"""Controllers by kind: the pod that each creates for an object, and the number of pods.

Further pods of an operator are copies of an existing one, without its bound claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from kubespread.controllers import daemonset, replicaset
from kubespread.controllers import deployment as of_deployment
from kubespread.controllers import job as of_job
from kubespread.controllers import statefulset as of_stateful_set
from kubespread.controllers.pod_creation import NewPod, PodCreator, pod_of_template
from kubespread.kube.api import workloads
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim
from kubespread.kube.api.core import Pod, Volume
from kubespread.kube.api.kinds import full_kind, templates_of
from kubespread.kube.api.meta import ApiObject, ObjectMeta, OwnerReference
from kubespread.kube.owners import WorkloadName


def new_pod(creator: PodCreator[ApiObject]) -> NewPod:
    """Pod that the controller would create next, before admission."""
    return _CONTROLLERS.get(type(creator.object), _pod_of_unknown_kind)(creator)


def replicas(creator: PodCreator[ApiObject]) -> int:
    """Number of pods at once; 1 if unset."""
    match creator.object:
        case workloads.Job():
            return of_job.parallelism(creator.object.spec)
        case workloads.CronJob():
            return of_job.parallelism(creator.object.spec.job_template.spec)
        case workloads.PodTemplate():
            return 1
    count: int | None = creator.object.spec.replicas  # type: ignore[attr-defined]  # every other one has the field
    return 1 if count is None else count


def _pod_of_pod_template(pod_template: PodCreator[workloads.PodTemplate]) -> NewPod:
    template = pod_template.template
    metadata = replace(template.metadata, namespace=pod_template.namespace, name=pod_template.name)
    return NewPod(Pod(metadata=metadata, spec=template.spec))


def _pod_of_unknown_kind(creator: PodCreator[ApiObject]) -> NewPod:
    owner = OwnerReference(api_version=creator.api_version, kind=creator.kind, name=creator.name, controller=True)
    kind = full_kind(creator.api_version, creator.kind)
    kind_note = kind if templates_of(creator.api_version, creator.kind) else f"{kind} is not a kind kubespread knows"
    note = f"{kind_note}: its pod template is taken as it stands, without the labels its controller adds"
    return NewPod(pod_of_template(creator, owner), notes=(note,))


_CONTROLLERS: Mapping[type[ApiObject], Callable[[PodCreator[Any]], NewPod]] = {
    workloads.Deployment: of_deployment.new_pod,
    workloads.ReplicaSet: replicaset.new_pod,
    workloads.ReplicationController: replicaset.new_pod_of_controller,
    workloads.StatefulSet: of_stateful_set.new_pod,
    workloads.DaemonSet: daemonset.new_pod,
    workloads.Job: of_job.new_pod,
    workloads.CronJob: of_job.new_pod_of_cron_job,
    workloads.PodTemplate: _pod_of_pod_template,
}


def next_name(owner: WorkloadName, pods: Iterable[Pod]) -> str:
    return f"{owner.name}-{last_number(owner, pods) + 1}"


def last_number(owner: WorkloadName, pods: Iterable[Pod]) -> int:
    """Highest number at the end of the names of ``pods``.

    New pods continue from there, so that no name is reused: budgets remember evicted pods by name for a while.
    """
    ends = (pod.metadata.name.removeprefix(f"{owner.name}-") for pod in pods)
    return max((int(end) for end in ends if end.isascii() and end.isdecimal()), default=0)


def another(pod: Pod, name: str, objects: ClusterObjects) -> tuple[Pod, list[PersistentVolumeClaim]]:
    """``pod`` under another name, without its node, with its own claims renamed and unbound."""
    before, namespace, labels = pod.metadata.name, pod.metadata.namespace, pod.metadata.labels
    if before in labels.values():
        labels = {key: name if value == before else value for key, value in labels.items()}
    claims, volumes = list[PersistentVolumeClaim](), list[Volume]()
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is not None and (own := _rename(source.claim_name, before, name)) != source.claim_name:
            stored = objects.find(PersistentVolumeClaim, source.claim_name, namespace)
            if stored is not None:
                meta = ObjectMeta(name=own, namespace=namespace, labels=stored.metadata.labels)
                claims.append(PersistentVolumeClaim(metadata=meta, spec=replace(stored.spec, volume_name="")))
            volume = replace(volume, persistent_volume_claim=replace(source, claim_name=own))
        volumes.append(volume)
    meta = ObjectMeta(name=name, namespace=namespace, labels=labels, owner_references=pod.metadata.owner_references)
    return Pod(metadata=meta, spec=replace(pod.spec, node_name="", volumes=volumes)), claims


def has_own_claims(pod: Pod) -> bool:
    """True if a claim's name contains the pod's."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return any(source is not None and f"-{pod.metadata.name}-" in f"-{source.claim_name}-" for source in sources)


def _rename(claim: str, before: str, name: str) -> str:
    """``data-kafka-3`` of ``data-kafka-0``, where the pod is called ``kafka-0``."""
    return f"-{claim}-".replace(f"-{before}-", f"-{name}-", 1)[1:-1]
