"""The RollingUpdate strategy: the new ReplicaSet grows, the old ones shrink, each as far as the limits allow.

Source of the rules: pkg/controller/deployment/rolling.go.
"""

from __future__ import annotations

from datetime import datetime

from kubespread.controllers.deployment_pass import DeploymentPass
from kubespread.controllers.replica_counts import replicas_of
from kubespread.kube.api.workloads import ReplicaSet


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
