"""What ``kubectl drain`` does with the pods of a node before it evicts any.

Source: staging/src/k8s.io/kubectl/pkg/drain/filters.go, makeFilters, daemonSetFilter, mirrorPodFilter,
    localStorageFilter, unreplicatedFilter
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct, field

from kubespread.kube.api.annotations import MIRROR_POD
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KEPT
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.drain_flags import DrainFlags
from kubespread.kube.gotext import quote
from kubespread.kube.owners import controller_of
from kubespread.kube.time import instant
from kubespread.kube.well_known import ENDED_PHASES

DAEMON_SET_WARNING = "ignoring DaemonSet-managed Pods"
DAEMON_SET_ERROR = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE_ERROR = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED_WARNING = "deleting Pods that declare no controller"
UNMANAGED_ERROR = "Pods that declare no controller (use --force to override)"


class DrainPlan(Struct, frozen=True):
    """Which pods a drain would evict, in the order they were listed; kubectl evicts them all at once.

    Warnings and errors are sorted, while kubectl prints them in any order. With an error nothing is evicted at all, and
    ``evict`` holds the pods without one.
    """

    evict: tuple[Pod, ...] = ()
    warnings: tuple[str, ...] = ()
    refused: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By the error, the pods it is about: NAMESPACE/name."""

    @property
    def errors(self) -> tuple[str, ...]:
        """As kubectl prints them."""
        return _lines({f"cannot delete {error}": pods for error, pods in self.refused.items()})


class _Verdict(NamedTuple):
    """What the last filter that was asked said of a pod: the others' warnings are never printed."""

    evicts: bool
    warning: str = ""
    error: str = ""


_PASSES, _SKIPPED = _Verdict(evicts=True), _Verdict(evicts=False)


def plan_drain(
    node_name: str, pods: Sequence[Pod], daemon_sets: Sequence[DaemonSet], flags: DrainFlags, now: datetime
) -> DrainPlan:
    """Sort out, at ``now``, those of ``pods`` that are on the node; ``daemon_sets`` are all that exist."""
    existing = {(daemon_set.metadata.namespace, daemon_set.metadata.name) for daemon_set in daemon_sets}
    evict: list[Pod] = []
    warnings: dict[str, list[str]] = {}
    refused: dict[str, list[str]] = {}
    for pod in pods:
        meta = pod.metadata
        if pod.spec.node_name != node_name or not flags.pod_selector.matches(meta.labels):
            continue
        verdict = _judge(pod, existing, flags, now)
        if verdict.evicts:
            evict.append(pod)
        if verdict.warning:
            warnings.setdefault(verdict.warning, []).append(f"{meta.namespace}/{meta.name}")
        if verdict.error:
            refused.setdefault(verdict.error, []).append(f"{meta.namespace}/{meta.name}")
    return DrainPlan(tuple(evict), _lines(warnings), dict(sorted(refused.items())))


def _lines(named: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted(f"{message}: {', '.join(pods)}" for message, pods in named.items()))


def _judge(pod: Pod, daemon_sets: set[tuple[str, str]], flags: DrainFlags, now: datetime) -> _Verdict:
    if _is_overdue(pod, flags.skip_wait_for_delete_timeout, now):
        return _SKIPPED
    has_ended = pod.status.phase in ENDED_PHASES
    of_daemon_set = _PASSES if has_ended else _of_daemon_set(pod, daemon_sets, flags)
    if not of_daemon_set.evicts:
        return of_daemon_set
    if MIRROR_POD in pod.metadata.annotations:
        return _SKIPPED
    if has_ended:
        return _PASSES
    if not flags.delete_emptydir_data and any(volume.empty_dir is not None for volume in pod.spec.volumes):
        return _Verdict(evicts=False, error=LOCAL_STORAGE_ERROR)
    if controller_of(pod) is not None:
        return _PASSES
    if flags.force:
        return _Verdict(evicts=True, warning=UNMANAGED_WARNING)
    return _Verdict(evicts=False, error=UNMANAGED_ERROR)


def _is_overdue(pod: Pod, seconds: int, now: datetime) -> bool:
    deletion = instant(pod.metadata.deletion_timestamp)
    return seconds > 0 and deletion is not None and int((now - deletion).total_seconds()) > seconds


def _of_daemon_set(pod: Pod, daemon_sets: set[tuple[str, str]], flags: DrainFlags) -> _Verdict:
    """The DaemonSet is looked up by name: its uid is not compared."""
    owner, row = controller_of(pod), KEPT[DaemonSet]
    if owner is None or (owner.api_version, owner.kind) != (row.api_version, row.kind):
        return _PASSES
    if (pod.metadata.namespace, owner.name) not in daemon_sets:
        return _PASSES if flags.force else _Verdict(evicts=False, error=f"{row.resource} {quote(owner.name)} not found")
    if not flags.ignore_daemonsets:
        return _Verdict(evicts=False, error=DAEMON_SET_ERROR)
    return _Verdict(evicts=False, warning=DAEMON_SET_WARNING)
