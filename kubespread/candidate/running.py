"""The workload of a manifest beside the one of that name that runs already: is it the same template?"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import msgspec

from kubespread.candidate.candidate import Candidate
from kubespread.controllers.deployment.pods import TEMPLATE_HASH
from kubespread.controllers.deployment.revisions import newest_replica_set
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.api.core import Pod, PodTemplateSpec
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.workloads import LabelSelectingWorkload, ReplicaSet, ReplicationController
from kubespread.kube.owners import WorkloadName
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
    for running in snapshot.objects.of(row.cls):
        if (running.metadata.namespace, running.metadata.name) == (workload.namespace, workload.name):
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
