"""The workload of a manifest beside the one of that name that runs already: is it the same template?"""

from __future__ import annotations

from typing import Any

import msgspec

from kubespread.candidate.candidate import Candidate, WorkloadName
from kubespread.candidate.stored import newest_replica_set
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.api.core import Pod, PodTemplateSpec
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.snapshot.snapshot import Snapshot

_TEMPLATE_HASH = "pod-template-hash"
# The template of any other kind cannot change, or is changed by the API server itself.
_ROLLED_OUT = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController")


def runs_another_template(candidate: Candidate, snapshot: Snapshot) -> bool:
    """Whether the cluster has the candidate's workload with a template that is scheduled otherwise."""
    if candidate.template is None or candidate.workload is None:
        return False
    running = _running_template(candidate.workload, snapshot)
    return running is not None and _scheduled_as(running) != _scheduled_as(candidate.template)


def _running_template(workload: WorkloadName, snapshot: Snapshot) -> PodTemplateSpec | None:
    if workload.kind not in _ROLLED_OUT:
        return None
    for found in getattr(snapshot.objects, POD_CREATORS[workload.kind].field):
        if (found.metadata.namespace, found.metadata.name) == (workload.namespace, workload.name):
            template: PodTemplateSpec | None = found.spec.template
            return template
    if workload.kind == "Deployment":
        newest = newest_replica_set(workload, snapshot.objects.replica_sets)
        return newest.spec.template if newest is not None else None
    return None


def _scheduled_as(template: Pod | PodTemplateSpec) -> Any:
    """All that scheduling reads of a template, as the API server would store it."""
    pod = msgspec.json.decode(msgspec.json.encode(template), type=Pod)
    default_pod(pod)
    pod.spec.forget_unread_volumes()
    labels = {key: value for key, value in pod.metadata.labels.items() if key != _TEMPLATE_HASH}
    return labels, msgspec.to_builtins(pod.spec)
