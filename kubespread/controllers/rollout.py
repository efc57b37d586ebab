"""What the Deployment controller does with a Deployment's ReplicaSets.

Source of the rules: syncDeployment of pkg/controller/deployment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from kubespread.controllers.deployment_pass import DeploymentPass, Write
from kubespread.controllers.proportional_scaling import is_scaling, scale
from kubespread.controllers.replica_counts import replicas_of, strategy_of
from kubespread.controllers.revisions import age_order, revision
from kubespread.errors import UsageError
from kubespread.kube.api.annotations import REVISION
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import Deployment, DeploymentStatus, ReplicaSet
from kubespread.kube.owners import controls
from kubespread.kube.selector import from_label_selector
from kubespread.kube.well_known import ENDED_PHASES

_DEFAULT_HISTORY = 10
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass of the controller leaves behind."""

    deployment: Deployment
    """With the status and the revision that the controller writes."""
    replica_sets: tuple[ReplicaSet, ...]
    """All that remain, a created one last. Their statuses are as they were: other controllers write those."""
    created: ReplicaSet | None
    writes: tuple[Write, ...]
    """In the order they were made; writes of nothing but annotations are left out."""


def reconcile(
    deployment: Deployment,
    replica_sets: Sequence[ReplicaSet],
    pods: Sequence[Pod] = (),
    *,
    new_hash: str,
    now: datetime,
) -> Pass:
    """One pass of the controller over ``deployment`` and those ``replica_sets`` that are its own.

    ``pods`` are read by the Recreate strategy only; terminating ones matter. A ReplicaSet for a template that has none
    is created at ``now``, named and labeled with ``new_hash``. A rollout is a loop of passes, the statuses of the
    ReplicaSets brought up to date between them; it has ended when a pass returns what it was given.

    Raises UsageError for an unknown strategy and IntOrStringError for a malformed limit, both of which the API server
    refuses.
    """
    rollout = DeploymentPass(deployment, replica_sets)
    if deployment.metadata.deletion_timestamp is None and deployment.spec.selector != LabelSelector():
        _sync(rollout, pods, new_hash, now)
    return Pass(
        deployment=_with_status(rollout),
        replica_sets=tuple(rollout.replica_sets),
        created=rollout.new if rollout.created is not None else None,
        writes=tuple(rollout.writes),
    )


def _sync(rollout: DeploymentPass, pods: Sequence[Pod], digest: str, now: datetime) -> None:
    deployment = rollout.deployment
    if deployment.spec.paused:
        scale(rollout)
        _clean_up_history(rollout)
        return
    if is_scaling(rollout):
        scale(rollout)
        return
    match strategy_of(deployment):
        case "RollingUpdate":
            settled = roll(rollout, digest, now)
        case "Recreate":
            settled = recreate(rollout, pods, digest, now)
        case other:
            name = f'deployments.apps "{deployment.metadata.name}"'
            raise UsageError(f"{name}: unexpected deployment strategy type: {other}")
    if settled and _is_complete(deployment):
        _clean_up_history(rollout)


def _is_complete(deployment: Deployment) -> bool:
    """By the status of the pass before. Source of the rule: DeploymentComplete."""
    status, replicas = deployment.status, replicas_of(deployment)
    return (
        status.updated_replicas == status.replicas == status.available_replicas == replicas
        and status.observed_generation >= deployment.metadata.generation
    )


def _clean_up_history(rollout: DeploymentPass) -> None:
    """Delete old ReplicaSets beyond the limit, the lowest revision first, as far as they had no pods before the pass.

    Source of the rule: cleanupDeployment.
    """
    limit = rollout.deployment.spec.revision_history_limit
    if limit == _NO_LIMIT:
        return
    old = {each.metadata.name for each in rollout.old}
    alive = [each for each in rollout.before if each.metadata.name in old and each.metadata.deletion_timestamp is None]
    surplus = max(0, len(alive) - (_DEFAULT_HISTORY if limit is None else limit))
    for replica_set in _by_revision(alive)[:surplus]:
        status = replica_set.status
        has_pods = status.replicas != 0 or replicas_of(replica_set) != 0
        if not has_pods and replica_set.metadata.generation <= status.observed_generation:
            rollout.delete(replica_set)


def _by_revision(replica_sets: Sequence[ReplicaSet]) -> list[ReplicaSet]:
    return sorted(replica_sets, key=lambda each: (revision(each) or 0, age_order(each)))


def _with_status(rollout: DeploymentPass) -> Deployment:
    deployment, new = rollout.deployment, rollout.new
    statuses = [each.status for each in rollout.replica_sets]
    status = DeploymentStatus(
        replicas=sum(each.replicas for each in statuses),
        ready_replicas=sum(each.ready_replicas for each in statuses),
        available_replicas=sum(each.available_replicas for each in statuses),
        updated_replicas=new.status.replicas if new is not None else 0,
        observed_generation=deployment.metadata.generation,
    )
    annotations = deployment.metadata.annotations
    if new is not None and REVISION in new.metadata.annotations:
        annotations = {**annotations, REVISION: new.metadata.annotations[REVISION]}
    return replace(deployment, metadata=replace(deployment.metadata, annotations=annotations), status=status)


def recreate(rollout: DeploymentPass, pods: Iterable[Pod], digest: str, now: datetime) -> bool:
    """One pass. Returns whether there was nothing to resize or wait for; what is created does not count as resized."""
    if active := rollout.active_old:
        for replica_set in active:
            rollout.scale(replica_set, 0)
        return False
    if _old_pods_are_running(rollout, pods):
        return False
    if rollout.new is None:
        rollout.create(rollout.replicas, digest, now)
    elif replicas_of(rollout.new) != rollout.replicas:
        rollout.scale(rollout.new, rollout.replicas)
        return False
    return True


def _old_pods_are_running(rollout: DeploymentPass, pods: Iterable[Pod]) -> bool:
    """Whether an old pod holds up the new ones: terminating ones do, those that ended do not."""
    old, meta = rollout.old, rollout.deployment.metadata
    if any(each.status.replicas > 0 for each in old):
        return True
    selector = from_label_selector(rollout.deployment.spec.selector)
    return any(
        pod.metadata.namespace == meta.namespace
        and pod.status.phase not in ENDED_PHASES
        and selector.matches(pod.metadata.labels)
        and any(controls(each, pod) for each in old)
        for pod in pods
    )


def roll(rollout: DeploymentPass, digest: str, now: datetime) -> bool:
    """One pass. Returns whether there was nothing to resize; what is created does not count as resized."""
    new = rollout.new
    if new is None:
        new = rollout.create(_grown(rollout, 0), digest, now)
    elif (replicas := _wanted(rollout, new)) != replicas_of(new):
        rollout.scale(new, replicas)
        return False
    return not _shrink_old(rollout, new)


def _wanted(rollout: DeploymentPass, new: ReplicaSet) -> int:
    present = replicas_of(new)
    return rollout.replicas if present >= rollout.replicas else _grown(rollout, present)


def _grown(rollout: DeploymentPass, present: int) -> int:
    """What the new ReplicaSet may grow to. Source of the rule: NewRSNewReplicas."""
    room = rollout.replicas + rollout.max_surge - rollout.total
    return present + min(room, rollout.replicas - present) if room > 0 else present


def _shrink_old(rollout: DeploymentPass, new: ReplicaSet) -> bool:
    """Returns whether there are fewer old pods now, as far as the controller itself notices."""
    if not rollout.active_old:
        return False
    min_available = rollout.replicas - rollout.max_unavailable
    # Pods of the new ReplicaSet that are still to become available must not cost old ones.
    new_unavailable = replicas_of(new) - new.status.available_replicas
    total = rollout.total
    room = total - min_available - new_unavailable
    # Both steps see the ReplicaSets that had pods when the pass began, and no others.
    considered = [each.metadata.name for each in rollout.active_old]
    if room <= 0 or not _clean_up_unhealthy(rollout, room):
        return False
    old = [each for each in rollout.old if each.metadata.name in considered]
    room = sum(each.status.available_replicas for each in (*old, new)) - min_available
    for replica_set in old:
        step = min(replicas_of(replica_set), room)
        if step > 0:
            rollout.scale(replica_set, replicas_of(replica_set) - step)
            room -= step
    return rollout.total < total


def _clean_up_unhealthy(rollout: DeploymentPass, room: int) -> bool:
    """Take away at most ``room`` pods that are not available. Returns whether the pass goes on.

    It does not where a status lags behind and counts more pods available than there should be.
    """
    for replica_set in rollout.active_old:
        if room <= 0:
            break
        step = min(room, replicas_of(replica_set) - replica_set.status.available_replicas)
        if step < 0:
            return False
        rollout.scale(replica_set, replicas_of(replica_set) - step)
        room -= step
    return True
