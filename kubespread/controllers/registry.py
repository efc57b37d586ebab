"""Controllers by kind: the pod that each makes of an object, and how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from kubespread.controllers import daemonset, replicaset
from kubespread.controllers import deployment as of_deployment
from kubespread.controllers import job as of_job
from kubespread.controllers import statefulset as of_stateful_set
from kubespread.controllers.pod_creation import NewPod, PodCreator, pod_of_template
from kubespread.kube.api import workloads
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import full_kind, templates_of
from kubespread.kube.api.meta import ApiObject, OwnerReference


def new_pod(creator: PodCreator[ApiObject]) -> NewPod:
    """The pod that ``creator``'s controller would create next, before the API server has seen it."""
    return _CONTROLLERS.get(type(creator.object), _pod_of_unknown_kind)(creator)


def replicas(creator: PodCreator[ApiObject]) -> int:
    """Number of pods it runs at once; one where it does not say."""
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
