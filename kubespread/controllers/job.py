"""Jobs, and the CronJobs that create them: their pods, and one pass of the Job controller: the number of pods to
create, and the pods to delete.

A Job's completion indexes are ranges, as it may have a hundred thousand. Unlike a ReplicaSet's, the pods that it may
delete have a total order: neither cost nor crowding nor UID matters.

Source: pkg/controller/job/job_controller.go, syncJob, manageJob, activePodsForRemoval
Source: pkg/controller/job/indexed_job_utils.go, calculateSucceededIndexes, firstPendingIndexes,
    appendDuplicatedIndexPodsForRemoval, addCompletionIndexAnnotation, podGenerateNameWithIndex
Source: pkg/controller/cronjob/utils.go, getJobFromTemplate2
Source: pkg/controller/controller_utils.go, ActivePods
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template
from kubespread.controllers.replicaset import PHASE_ORDER, most_restarts, sidecar_statuses
from kubespread.errors import SnapshotError
from kubespread.kube import time
from kubespread.kube.admission.defaulting import relabel
from kubespread.kube.api.core import ContainerStatus, Pod
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import CronJob, Job, UncountedTerminatedPods, WorkloadSpec
from kubespread.kube.gotext import parse_int64
from kubespread.kube.owners import is_active, is_terminating, moment, ready_condition, ready_since
from kubespread.kube.well_known import ENDED_PHASES, JOB_COMPLETION_INDEX, READY

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
    """Number of pods of a Job that run at once."""
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


def for_index(pod: Pod, index: int) -> Pod:
    """``pod`` of an Indexed Job under another index."""
    mark = {JOB_COMPLETION_INDEX: str(index)}
    own = relabel(pod, {**pod.metadata.labels, **mark})
    own.metadata.annotations = {**pod.metadata.annotations, **mark}
    return own


def is_indexed(pod: Pod) -> bool:
    """True for a pod of an Indexed Job."""
    return JOB_COMPLETION_INDEX in pod.metadata.annotations


def index_of(pod: Pod) -> int | None:
    """Completion index of ``pod``; None without one."""
    return _completion_index(pod, _UNLIMITED)


def completed_indexes(job: Job) -> set[int]:
    spans = _completed_indexes(job.status.completed_indexes, job.spec.completions or 0)
    return {index for span in spans for index in span}


def _completion_index(pod: Pod, completions: int) -> int | None:
    """The index of ``pod``; None if it has no index of the Job."""
    index = parse_int64(pod.metadata.annotations.get(JOB_COMPLETION_INDEX, ""))
    return index if index is not None and 0 <= index < completions else None


def _completed_indexes(text: str, completions: int) -> list[range]:
    """Merged ranges of indexes in status.completedIndexes, ``0-3,7``; parts that are not numbers are skipped."""
    ranges = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        start, end = parse_int64(first), parse_int64(last or first)
        if start is not None and end is not None:
            ranges.append(range(start, min(end + 1, completions)))
    return _merge(ranges)


def _merge(ranges: Iterable[range], indexes: Iterable[int] = ()) -> list[range]:
    """Disjoint ranges of all ``ranges`` and ``indexes``, in order."""
    apart: list[range] = []
    for span in sorted((*ranges, *(range(index, index + 1) for index in indexes)), key=lambda stretch: stretch.start):
        if apart and span.start <= apart[-1].stop:
            apart[-1] = range(apart[-1].start, max(apart[-1].stop, span.stop))
        elif span:
            apart.append(span)
    return apart


def _first_pending(used: Sequence[range], count: int, completions: int) -> tuple[int, ...]:
    """The ``count`` smallest indexes outside the merged ranges, or all if there are fewer."""
    pending: list[int] = []
    start = 0
    for span in (*used, range(completions, completions)):
        pending += range(start, min(span.start, start + count - len(pending)))
        start = span.stop
    return tuple(pending)


_Key = tuple[Any, ...]
_SORTED_BY_INSERTION = 12
"""Go sorts up to as many elements by insertion: equal ones stay as they were, and indexes are in order before."""


class Surplus(Struct, frozen=True):
    """Pods to delete, by smallest name where Kubernetes does not say which of equal ones go."""

    chosen: tuple[Pod, ...] = ()
    always: tuple[Pod, ...] = ()
    """Pods that go in any listing order."""
    sometimes: tuple[Pod, ...] = ()
    """Equal pods; only some of them go."""


def surplus(pods: Sequence[Pod], at_least: int, completions: int | None) -> Surplus:
    """Choose active ``pods`` to delete, at least ``at_least``; ``completions`` is for Indexed Jobs only.

    In an Indexed Job pods without a valid index, and all but the last of each index, go even if there are not too many.
    Raises SnapshotError for a time that cannot be read.
    """
    keys = {id(pod): _key(pod) for pod in pods}

    def key(pod: Pod) -> _Key:
        return keys[id(pod)]

    ordered = sorted(pods, key=lambda pod: (key(pod), pod.metadata.name))
    always, slots = ([], [[pod] for pod in ordered]) if completions is None else _duplicates(ordered, key, completions)
    slots.sort(key=lambda slot: key(slot[-1]))
    chosen = [*always, *(pod for slot in slots for pod in slot[:-1])]
    more = max(0, at_least - len(chosen))
    chosen += [slot[-1] for slot in slots[:more]]
    tied = None if completions is not None and len(slots) <= _SORTED_BY_INSERTION else _tie(slots, key, more)
    sometimes: list[Pod] = []
    for position, slot in enumerate(slots):
        is_tied = key(slot[-1]) == tied
        if position < more and not is_tied:
            always += slot
        elif is_tied or len(slot) > 1:
            sometimes += slot
    return Surplus(tuple(chosen), tuple(always), tuple(sometimes))


def _tie(slots: Sequence[Sequence[Pod]], key: Callable[[Pod], _Key], more: int) -> _Key | None:
    """Key that the last pod to go and the first to stay share, where nothing decides between them."""
    if not 0 < more < len(slots):
        return None
    last_going, first_staying = key(slots[more - 1][-1]), key(slots[more][-1])
    return last_going if last_going == first_staying else None


def _duplicates(
    ordered: Sequence[Pod], key: Callable[[Pod], _Key], completions: int
) -> tuple[list[Pod], list[list[Pod]]]:
    """The pods that go because of their index, and per index the equal pods; one of these, here the last, stays."""
    by_index: dict[int | None, list[Pod]] = {}
    for pod in ordered:
        by_index.setdefault(_completion_index(pod, completions), []).append(pod)
    going = by_index.pop(None, [])
    slots = []
    for _, pods in sorted(by_index.items(), key=lambda item: item[0] or 0):
        slot = [pod for pod in pods if key(pod) == key(pods[-1])]
        going += pods[: -len(slot)]
        slots.append(slot)
    return going, slots


def _key(pod: Pod) -> _Key:
    """Sort key of a pod, smaller first."""
    since = ready_since(pod)
    created = moment(pod, "metadata.creationTimestamp", pod.metadata.creation_timestamp)
    return (
        bool(pod.spec.node_name),
        PHASE_ORDER.get(pod.status.phase, 0),
        ready_condition(pod) is not None,
        _later_first(since),
        most_restarts(pod),
        _later_first(created),
    )


def _later_first(time: datetime | None) -> tuple[bool, float]:
    """Sort key that puts an unknown time before everything, then the later first."""
    return time is not None, -time.timestamp() if time is not None else 0.0


MAX_PODS_PER_PASS = 500
_CONTROLLER = "kubernetes.io/job-controller"
_BACKOFF_LIMIT, _UNLIMITED = 6, 2**31 - 1
"""API defaulting, without and with backoffLimitPerIndex."""


class JobPass(Struct, frozen=True):
    create: int = 0
    indexes: tuple[int, ...] = ()
    """Indexes of created pods of an Indexed Job."""
    surplus: Surplus = Surplus()
    """Deleted pods."""


def not_modeled(spec: WorkloadSpec) -> tuple[str, ...]:
    """Fields of a Job that its controller reads and `reconcile` does not, by their API names."""
    fields = {
        "backoffLimitPerIndex": spec.backoff_limit_per_index,
        "podFailurePolicy.rules": spec.pod_failure_policy,
        "successPolicy": spec.success_policy,
    }
    return tuple(name for name, value in fields.items() if value is not None)


def reconcile(job: Job, pods: Sequence[Pod], now: datetime) -> JobPass:
    """Run one pass of the controller over ``pods``: all of the Job's own that its status does not count yet.

    A pod that has ended is counted once it has lost the finalizer batch.kubernetes.io/job-tracking; it must be left
    out, or it counts twice. Raises SnapshotError for a time that cannot be read.
    """
    true = {condition.type for condition in job.status.conditions if condition.status == "True"}
    if true & {"Complete", "Failed"} or job.spec.managed_by not in (None, _CONTROLLER):
        return JobPass()
    progress = _Progress.build(job, pods)
    if true & {"SuccessCriteriaMet", "FailureTarget"} or _has_run_out(job, pods, progress.failed, now):
        return JobPass(surplus=Surplus(progress.active, progress.active))
    return _manage(job.spec, progress, now) if job.metadata.deletion_timestamp is None else JobPass()


class _Progress(Struct, frozen=True):
    completions: int | None
    indexes: int | None
    """Number of indexes of an Indexed Job, its completions; None for any other."""
    active: tuple[Pod, ...]
    terminating: tuple[Pod, ...]
    newly_succeeded: Sequence[Pod]
    newly_failed: Sequence[Pod]
    """Failed pods that the status does not count yet."""
    succeeded: int
    failed: int
    succeeded_indexes: Sequence[range]

    @classmethod
    def build(cls, job: Job, pods: Sequence[Pod]) -> _Progress:
        spec, status = job.spec, job.status
        # API defaulting: without both of them the Job is a single pod.
        completions = 1 if spec.completions is None and spec.parallelism is None else spec.completions
        indexes = completions if spec.completion_mode == "Indexed" else None
        uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
        valid = [pod for pod in pods if indexes is None or _completion_index(pod, indexes) is not None]
        ended = [pod for pod in valid if pod.status.phase == "Succeeded"]
        succeeded = [pod for pod in ended if pod.metadata.uid not in uncounted.succeeded]
        failed = [pod for pod in valid if _has_failed(pod, spec) and pod.metadata.uid not in uncounted.failed]
        ranges = _succeeded_indexes(status.completed_indexes, ended, indexes) if indexes is not None else []
        counted = status.succeeded + len(uncounted.succeeded) + len(succeeded)
        return cls(
            completions,
            indexes,
            active=tuple(pod for pod in pods if is_active(pod)),
            terminating=tuple(pod for pod in pods if is_terminating(pod) and pod.status.phase not in ENDED_PHASES),
            newly_succeeded=succeeded,
            newly_failed=failed,
            succeeded=counted if indexes is None else sum(map(len, ranges)),
            failed=status.failed + len(uncounted.failed) + len(failed),
            succeeded_indexes=ranges,
        )


def _succeeded_indexes(completed: str, ended: Sequence[Pod], indexes: int) -> list[range]:
    return _merge(_completed_indexes(completed, indexes), _indexes_of(ended, indexes))


def _indexes_of(pods: Iterable[Pod], indexes: int) -> list[int]:
    return [index for pod in pods if (index := _completion_index(pod, indexes)) is not None]


def waits_for_the_end(spec: WorkloadSpec) -> bool:
    """True if a terminating pod is replaced, and counted as a failure, only once it has ended."""
    return spec.pod_replacement_policy == "Failed" or spec.pod_failure_policy is not None


def _has_failed(pod: Pod, spec: WorkloadSpec) -> bool:
    if pod.status.phase == "Failed":
        return True
    return is_terminating(pod) and pod.status.phase != "Succeeded" and not waits_for_the_end(spec)


def _has_run_out(job: Job, pods: Sequence[Pod], failed: int, now: datetime) -> bool:
    """True if the Job has failed, though pods may still run."""
    return failed > backoff_limit(job.spec) or _restarts_too_often(job.spec, pods) or _is_past_deadline(job, now)


def backoff_limit(spec: WorkloadSpec) -> int:
    """Number of failed pods a Job tolerates."""
    if spec.backoff_limit is not None:
        return spec.backoff_limit
    return _BACKOFF_LIMIT if spec.backoff_limit_per_index is None else _UNLIMITED


def _restarts_too_often(spec: WorkloadSpec, pods: Sequence[Pod]) -> bool:
    """Compare the sum of all restarts with the limit, where containers restart in place."""
    if spec.template is None or spec.template.spec.restart_policy != "OnFailure":
        return False
    restarts = sum(
        status.restart_count
        for pod in pods
        if pod.status.phase in ("Running", "Pending")
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts >= max(1, backoff_limit(spec))


def _is_past_deadline(job: Job, now: datetime) -> bool:
    deadline = job.spec.active_deadline_seconds
    if deadline is None or job.spec.suspend:
        return False
    try:
        start = time.parse(job.status.start_time)
    except time.TimestampError as error:
        name = f"{job.metadata.namespace}/{job.metadata.name}"
        raise SnapshotError(f'job "{name}": status.startTime: {error}') from error
    return start is not None and now - start >= timedelta(seconds=deadline)


def _manage(spec: WorkloadSpec, progress: _Progress, now: datetime) -> JobPass:
    """Delete surplus pods or create missing ones; never both in one pass."""
    active = len(progress.active)
    if spec.suspend:
        return JobPass(surplus=surplus(progress.active, active, progress.indexes))
    desired = _desired_pods(spec, progress)
    going = surplus(progress.active, max(0, active - desired), progress.indexes)
    if going.chosen:
        return JobPass(surplus=replace(going, chosen=going.chosen[:MAX_PODS_PER_PASS]))
    waiting = progress.terminating if waits_for_the_end(spec) else ()
    missing = min(MAX_PODS_PER_PASS, desired - active - len(waiting))
    if missing <= 0 or remaining_backoff(progress.newly_succeeded, progress.newly_failed, now):
        return JobPass()
    if progress.indexes is None:
        return JobPass(missing)
    used = _indexes_of((*progress.active, *waiting), progress.indexes)
    pending = _first_pending(_merge(progress.succeeded_indexes, used), missing, progress.indexes)
    return JobPass(len(pending), pending)


def _desired_pods(spec: WorkloadSpec, progress: _Progress) -> int:
    """Number of pods that should be active."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if progress.completions is not None:
        return max(0, min(parallelism, progress.completions - progress.succeeded))
    # One success ends such a Job: what runs runs on, and nothing new is begun.
    return len(progress.active) if progress.succeeded else parallelism


FIRST_BACKOFF = timedelta(seconds=10)
LONGEST_BACKOFF = timedelta(minutes=10)
_DOUBLINGS = 6
"""After as many the longest back-off is reached."""
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


def remaining_backoff(succeeded: Sequence[Pod], failed: Sequence[Pod], now: datetime) -> timedelta:
    """Back-off that remains at ``now``, or zero.

    Failures before the last success do not count. Raises SnapshotError for a time that cannot be read.
    """
    last_success = max(map(_finish_time, succeeded), default=None)
    failures = [time for time in map(_finish_time, failed) if last_success is None or time > last_success]
    if not failures:
        return timedelta(0)
    doubled = min(len(failures) - 1, _DOUBLINGS)
    return max(timedelta(0), min(LONGEST_BACKOFF, FIRST_BACKOFF * (1 << doubled)) - (now - max(failures)))


def _finish_time(pod: Pod) -> datetime:
    """Time when its last container ended; else when it stopped being ready, was due to be deleted, or was created."""
    meta = pod.metadata
    if (ended := _containers_finished(pod)) is not None:
        return ended
    unready = next((condition for condition in pod.status.conditions if condition.type == READY), None)
    if unready is not None and unready.status == "False":
        since = moment(pod, "lastTransitionTime of condition Ready", unready.last_transition_time)
        if since is not None:
            return since
    deleted = moment(pod, "metadata.deletionTimestamp", meta.deletion_timestamp or "")
    if deleted is not None:
        return deleted - timedelta(seconds=meta.deletion_grace_period_seconds or 0)
    return moment(pod, "metadata.creationTimestamp", meta.creation_timestamp) or _NEVER


def _containers_finished(pod: Pod) -> datetime | None:
    """Time all containers finished; None while one, or a sidecar, has not ended, or does not say when."""
    times = [_container_finished(pod, container) for container in pod.status.container_statuses]
    if None in times:
        # Sidecars end later: with them there is a time after all.
        times = []
    times += [_container_finished(pod, container) for container in sidecar_statuses(pod)]
    finished = [time for time in times if time is not None]
    return max(finished) if finished and len(finished) == len(times) else None


def _container_finished(pod: Pod, status: ContainerStatus) -> datetime | None:
    terminated = status.state.terminated if status.state is not None else None
    return moment(pod, "finishedAt of a container", terminated.finished_at) if terminated is not None else None
