"""One pass of the Job controller: how many pods it creates, which it deletes, and what the Job says of itself then.

Source of the rules: syncJob and manageJob of k8s.io/kubernetes/pkg/controller/job, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from kubespread.controllers.job_indexes import completed_indexes, completion_index, first_pending, merged
from kubespread.controllers.job_surplus import Surplus, surplus
from kubespread.errors import SnapshotError
from kubespread.kube import timestamps
from kubespread.kube.api.core import ContainerStatus, Pod
from kubespread.kube.api.workloads import Job, UncountedTerminatedPods, WorkloadSpec
from kubespread.kube.pod_status import is_active, is_terminating, moment
from kubespread.kube.well_known import ENDED_PHASES, READY

MAX_PODS_PER_PASS = 500
_CONTROLLER = "kubernetes.io/job-controller"
_BACKOFF_LIMIT, _UNLIMITED = 6, 2**31 - 1
"""API defaulting, without and with backoffLimitPerIndex."""


@dataclass(frozen=True, slots=True)
class JobPass:
    create: int = 0
    indexes: tuple[int, ...] = ()
    """Of an Indexed Job: those of the created pods."""
    surplus: Surplus = Surplus()
    """The pods that are deleted."""
    conditions: tuple[str, ...] = ()
    """Those that are true after the pass, as ``type/reason``."""


def not_modeled(spec: WorkloadSpec) -> tuple[str, ...]:
    """The fields of a Job that `reconcile` passes over though its controller does not, by their API names."""
    fields = {
        "backoffLimitPerIndex": spec.backoff_limit_per_index,
        "podFailurePolicy.rules": spec.pod_failure_policy,
        "successPolicy": spec.success_policy,
    }
    return tuple(name for name, value in fields.items() if value is not None)


def reconcile(job: Job, pods: Sequence[Pod], now: datetime) -> JobPass:
    """What the controller does about ``pods``: all of the Job's own but those that its status counts already.

    A pod that has ended is counted once it has lost the finalizer batch.kubernetes.io/job-tracking; it must be left
    out, or it counts twice. Raises SnapshotError for a time that cannot be read.
    """
    true = {each.type: each.reason for each in job.status.conditions if each.status == "True"}
    if true.keys() & {"Complete", "Failed"} or job.spec.managed_by not in (None, _CONTROLLER):
        return JobPass(conditions=_shown(true))
    progress = _Progress.of(job, pods)
    ending = _ending(job, pods, progress, true, now)
    if ending is not None:
        done = JobPass(surplus=Surplus(progress.active, progress.active))
    elif job.metadata.deletion_timestamp is None:
        done = _manage(job.spec, progress, now)
    else:
        done = JobPass()
    left = len(progress.active) - len(done.surplus.chosen) + done.create
    if ending is None and not left and progress.is_enough:
        ending = "SuccessCriteriaMet", "CompletionsReached"
    if ending is not None:
        kind, reason = ending
        true[kind] = reason
        # The Job has ended once the last pod is gone.
        if not progress.terminating and not done.surplus.chosen:
            true["Complete" if kind == "SuccessCriteriaMet" else "Failed"] = reason
    elif job.metadata.deletion_timestamp is None:
        true.pop("Suspended", None)
        if job.spec.suspend:
            true["Suspended"] = "JobSuspended"
    return replace(done, conditions=_shown(true))


def _shown(conditions: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{kind}/{reason}" for kind, reason in conditions.items())


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far a Job has come."""

    completions: int | None
    indexes: int | None
    """How many an Indexed Job has, its completions; None for any other."""
    active: tuple[Pod, ...]
    terminating: tuple[Pod, ...]
    newly_succeeded: Sequence[Pod]
    newly_failed: Sequence[Pod]
    """Those that the status does not count yet."""
    succeeded: int
    failed: int
    succeeded_indexes: Sequence[range]

    @property
    def is_enough(self) -> bool:
        return self.succeeded > 0 if self.completions is None else self.succeeded >= self.completions

    @classmethod
    def of(cls, job: Job, pods: Sequence[Pod]) -> _Progress:
        spec, status = job.spec, job.status
        # API defaulting: without both of them the Job is a single pod.
        completions = 1 if spec.completions is None and spec.parallelism is None else spec.completions
        indexes = completions if spec.completion_mode == "Indexed" else None
        uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
        valid = [pod for pod in pods if indexes is None or completion_index(pod, indexes) is not None]
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
    return merged(completed_indexes(completed, indexes), _indexes_of(ended, indexes))


def _indexes_of(pods: Iterable[Pod], indexes: int) -> list[int]:
    return [index for pod in pods if (index := completion_index(pod, indexes)) is not None]


def _waits_for_the_end(spec: WorkloadSpec) -> bool:
    """Whether a terminating pod is replaced, and counted as a failure, only once it has ended."""
    return spec.pod_replacement_policy == "Failed" or spec.pod_failure_policy is not None


def _has_failed(pod: Pod, spec: WorkloadSpec) -> bool:
    if pod.status.phase == "Failed":
        return True
    return is_terminating(pod) and pod.status.phase != "Succeeded" and not _waits_for_the_end(spec)


def _ending(
    job: Job, pods: Sequence[Pod], progress: _Progress, true: Mapping[str, str], now: datetime
) -> tuple[str, str] | None:
    """The condition, and why, with which the Job ends whatever still runs; None where it goes on."""
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        if kind in true:
            return kind, true[kind]
    if progress.failed > backoff_limit(job.spec) or _restarts_too_often(job.spec, pods):
        return "FailureTarget", "BackoffLimitExceeded"
    if _is_past_deadline(job, now):
        return "FailureTarget", "DeadlineExceeded"
    return None


def backoff_limit(spec: WorkloadSpec) -> int:
    """How many failed pods a Job lives through."""
    if spec.backoff_limit is not None:
        return spec.backoff_limit
    return _BACKOFF_LIMIT if spec.backoff_limit_per_index is None else _UNLIMITED


def _restarts_too_often(spec: WorkloadSpec, pods: Sequence[Pod]) -> bool:
    """Where containers are restarted in place: all restarts together."""
    if spec.template is None or spec.template.spec.restart_policy != "OnFailure":
        return False
    restarts = sum(
        each.restart_count
        for pod in pods
        if pod.status.phase in ("Running", "Pending")
        for each in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts >= max(1, backoff_limit(spec))


def _is_past_deadline(job: Job, now: datetime) -> bool:
    deadline = job.spec.active_deadline_seconds
    if deadline is None or job.spec.suspend:
        return False
    try:
        start = timestamps.parse(job.status.start_time)
    except timestamps.TimestampError as error:
        name = f"{job.metadata.namespace}/{job.metadata.name}"
        raise SnapshotError(f'job "{name}": status.startTime: {error}') from error
    return start is not None and now - start >= timedelta(seconds=deadline)


def _manage(spec: WorkloadSpec, progress: _Progress, now: datetime) -> JobPass:
    """Either delete or create; never both in one pass."""
    active = len(progress.active)
    if spec.suspend:
        return JobPass(surplus=surplus(progress.active, active, progress.indexes))
    wanted = _wanted(spec, progress)
    going = surplus(progress.active, max(0, active - wanted), progress.indexes)
    if going.chosen:
        return JobPass(surplus=replace(going, chosen=going.chosen[:MAX_PODS_PER_PASS]))
    waiting = progress.terminating if _waits_for_the_end(spec) else ()
    missing = min(MAX_PODS_PER_PASS, wanted - active - len(waiting))
    if missing <= 0 or remaining_backoff(progress.newly_succeeded, progress.newly_failed, now):
        return JobPass()
    if progress.indexes is None:
        return JobPass(missing)
    held = _indexes_of((*progress.active, *waiting), progress.indexes)
    pending = first_pending(merged(progress.succeeded_indexes, held), missing, progress.indexes)
    return JobPass(len(pending), pending)


def _wanted(spec: WorkloadSpec, progress: _Progress) -> int:
    """How many pods are to be active."""
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
    """How long from ``now``; zero where nothing is held back. Failures before the last success do not count.

    Raises SnapshotError for a time that cannot be read.
    """
    last_success = max(map(_finished, succeeded), default=None)
    failures = [time for time in map(_finished, failed) if last_success is None or time > last_success]
    if not failures:
        return timedelta(0)
    doubled = min(len(failures) - 1, _DOUBLINGS)
    return max(timedelta(0), min(LONGEST_BACKOFF, FIRST_BACKOFF * (1 << doubled)) - (now - max(failures)))


def _finished(pod: Pod) -> datetime:
    """When its last container ended; else when it stopped being ready, was to be gone, or was created."""
    meta = pod.metadata
    if (ended := _containers_finished(pod)) is not None:
        return ended
    unready = next((each for each in pod.status.conditions if each.type == READY), None)
    if unready is not None and unready.status == "False":
        since = moment(pod, "lastTransitionTime of condition Ready", unready.last_transition_time)
        if since is not None:
            return since
    deleted = moment(pod, "metadata.deletionTimestamp", meta.deletion_timestamp or "")
    if deleted is not None:
        return deleted - timedelta(seconds=meta.deletion_grace_period_seconds or 0)
    return moment(pod, "metadata.creationTimestamp", meta.creation_timestamp) or _NEVER


def _containers_finished(pod: Pod) -> datetime | None:
    """None while a container, or a sidecar, has not ended, or does not say when."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    status = pod.status
    times = [_container_finished(pod, each) for each in status.container_statuses]
    if None in times:
        # Sidecars end later: with them there is a time after all.
        times = []
    times += [_container_finished(pod, each) for each in status.init_container_statuses if each.name in sidecars]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _container_finished(pod: Pod, status: ContainerStatus) -> datetime | None:
    terminated = status.state.terminated if status.state is not None else None
    return moment(pod, "finishedAt of a container", terminated.finished_at) if terminated is not None else None
