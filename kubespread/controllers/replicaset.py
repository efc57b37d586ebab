"""ReplicaSets, and the ReplicationControllers before them: pods with the template's labels and no others."""

from __future__ import annotations

from msgspec.structs import replace

from kubespread.controllers.pod_creator import NewPod, PodCreator, controlled_by, pod_of_template
from kubespread.kube.api.workloads import MapSelectingWorkloadSpec, ReplicaSet, ReplicationController


def new_pod(replica_set: PodCreator[ReplicaSet]) -> NewPod:
    owner = controlled_by(ReplicaSet, replica_set.name)
    return NewPod(pod_of_template(replica_set, owner), (replica_set.object,))


def new_pod_of_controller(controller: PodCreator[ReplicationController]) -> NewPod:
    owner = controlled_by(ReplicationController, controller.name)
    # API defaulting: an absent selector is the template's labels.
    selector = controller.object.spec.selector or controller.template.metadata.labels
    companion = replace(controller.object, spec=MapSelectingWorkloadSpec(selector=selector))
    return NewPod(pod_of_template(controller, owner), (companion,))
