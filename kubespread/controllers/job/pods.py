"""Jobs, and the CronJobs that create them.

Source: pkg/controller/job/job_controller.go, manageJob
Source: pkg/controller/job/indexed_job_utils.go, addCompletionIndexAnnotation, podGenerateNameWithIndex
Source: pkg/controller/cronjob/utils.go, getJobFromTemplate2
"""

from __future__ import annotations

import uuid

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template
from kubespread.kube.api.annotations import JOB_COMPLETION_INDEX
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import CronJob, Job, WorkloadSpec

_PREFIXES = ("batch.kubernetes.io/", "")
# A generated name's prefix is cut to 58 characters; the index stands before the cut.
_MAX_INDEXED_NAME = 58 - 3


def new_pod(job: PodCreator[Job]) -> NewPod:
    return _new_pod(job, job.name, job.object.metadata.uid, job.object.spec, is_suspended=bool(job.object.spec.suspend))


def new_pod_of_cron_job(cron_job: PodCreator[CronJob]) -> NewPod:
    template = cron_job.object.spec.job_template
    # The controller appends the scheduled minute; any fixed one keeps the answer the same from run to run.
    is_suspended = bool(cron_job.object.spec.suspend or template.spec.suspend)
    return _new_pod(cron_job, f"{cron_job.name}-0", template.metadata.uid, template.spec, is_suspended=is_suspended)


def parallelism(spec: WorkloadSpec) -> int:
    """How many pods of a Job run at once."""
    at_once = 1 if spec.parallelism is None else spec.parallelism
    return at_once if spec.completions is None else min(at_once, spec.completions)


def _new_pod(creator: PodCreator[ApiObject], name: str, uid: str, spec: WorkloadSpec, *, is_suspended: bool) -> NewPod:
    notes = [] if uid else ["the Job's UID is made up by kubespread"]
    if is_suspended:
        note = "is suspended and makes no pods: its pods are those once it is resumed"
        notes.append(f"{creator.kind}/{creator.name} {note}")
    uid = uid or str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{creator.namespace}/{name}"))
    labels: dict[str, str] = {}
    if not spec.manual_selector:
        for prefix in _PREFIXES:
            labels |= {f"{prefix}job-name": name, f"{prefix}controller-uid": uid}
    base = name
    if spec.completion_mode == "Indexed":
        labels[JOB_COMPLETION_INDEX] = "0"
        base = f"{name[:_MAX_INDEXED_NAME]}-0"
    pod = pod_of_template(creator, controlled_by(Job, name), labels=labels, generate_name=f"{base}-")
    if JOB_COMPLETION_INDEX in labels:
        # The label came later; the controller reads the annotation.
        pod.metadata.annotations = {**pod.metadata.annotations, JOB_COMPLETION_INDEX: "0"}
    return NewPod(pod, notes=tuple(notes))
