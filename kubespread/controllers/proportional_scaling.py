"""A Deployment that is scaled while a rollout is under way, or while it is paused.

Source of the rules: scale of pkg/controller/deployment/sync.go, GetReplicaSetProportion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubespread.controllers.deployment_pass import DeploymentPass
from kubespread.controllers.replica_counts import ROLLING_UPDATE, replicas_of, strategy_of
from kubespread.controllers.revisions import age_order
from kubespread.kube.api.annotations import DESIRED_REPLICAS, MAX_REPLICAS
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.selector import parse_int64

_UNSIGNED = re.compile(r"[0-9]+", re.ASCII)
_MAX_INT32 = 2**31 - 1


def is_scaling(rollout: DeploymentPass) -> bool:
    """Whether an active ReplicaSet was sized for another number of replicas. Source of the rule: isScalingEvent."""
    desired = (_number(each, DESIRED_REPLICAS) for each in rollout.active)
    return any(number is not None and number != rollout.replicas for number in desired)


def scale(rollout: DeploymentPass) -> None:
    """One pass. The only active ReplicaSet, or where none is the newest, takes it all."""
    if (only := _only_active_or_newest(rollout)) is not None:
        rollout.scale(only, rollout.replicas)
    elif _is_saturated(rollout):
        for old in reversed(rollout.active_old):
            rollout.scale(old, 0)
    elif strategy_of(rollout.deployment) == ROLLING_UPDATE:
        _scale_in_proportion(rollout)


def _only_active_or_newest(rollout: DeploymentPass) -> ReplicaSet | None:
    match rollout.active:
        case []:
            return rollout.new or (rollout.old[-1] if rollout.old else None)
        case [only]:
            return only
    return None


def _is_saturated(rollout: DeploymentPass) -> bool:
    """Whether the new ReplicaSet has all the pods there should be, and was sized for that many."""
    new = rollout.new
    return (
        new is not None
        and (
            replicas_of(new),
            parse_int64(new.metadata.annotations.get(DESIRED_REPLICAS, "")),
            new.status.available_replicas,
        )
        == (rollout.replicas,) * 3
    )


def _scale_in_proportion(rollout: DeploymentPass) -> None:
    allowed = rollout.replicas + rollout.max_surge if rollout.replicas > 0 else 0
    add = allowed - sum(map(replicas_of, rollout.active))
    ordered = _largest_first(rollout.active, add)
    added, sizes = 0, []
    for replica_set in ordered:
        share = _share(rollout, replica_set, add, added)
        sizes.append(replicas_of(replica_set) + share)
        added += share
    if add and sizes:
        # What rounding left over, the largest takes.
        sizes[0] = max(0, sizes[0] + add - added)
    for replica_set, size in zip(ordered, sizes, strict=True):
        rollout.scale_and_annotate(replica_set, size)


def _largest_first(active: Sequence[ReplicaSet], add: int) -> list[ReplicaSet]:
    """Of one size, the younger grow first and the older shrink first."""
    if add == 0:
        return list(active)
    by_age = sorted(active, key=age_order, reverse=add > 0)
    return sorted(by_age, key=replicas_of, reverse=True)


def _share(rollout: DeploymentPass, replica_set: ReplicaSet, add: int, added: int) -> int:
    """How many of the pods to add, or to take away where ``add`` is negative, are this ReplicaSet's."""
    if add == added:
        return 0
    fraction = _fraction(rollout, replica_set)
    return min(fraction, add - added) if add > 0 else max(fraction, add - added)


def _fraction(rollout: DeploymentPass, replica_set: ReplicaSet) -> int:
    """By how many it changes so that its part of the whole stays what it was. Source: getReplicaSetFraction."""
    present = replicas_of(replica_set)
    if rollout.replicas == 0:
        return -present
    before = _number(replica_set, MAX_REPLICAS) or rollout.deployment.status.replicas
    if before == 0:
        return 0
    size = float(present * (rollout.replicas + rollout.max_surge)) / float(before)
    # Half is rounded up, unlike Python's round.
    return int(size + 0.5) - present


def _number(replica_set: ReplicaSet, annotation: str) -> int | None:
    """None without the annotation, and where it is no number from 0 to the largest of 32 bits."""
    text = replica_set.metadata.annotations.get(annotation, "")
    number = parse_int64(text) if _UNSIGNED.fullmatch(text) else None
    return number if number is not None and number <= _MAX_INT32 else None
