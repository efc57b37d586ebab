"""How long a Job holds back new pods after failures.

Source of the rules: backoff_utils of k8s.io/kubernetes/pkg/controller/job. The controller remembers failures that it
counted earlier until it restarts; no object says so, and this is what one that has just started does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from kubespread.kube.api.core import ContainerStatus, Pod
from kubespread.kube.pod_status import moment
from kubespread.kube.well_known import READY

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
