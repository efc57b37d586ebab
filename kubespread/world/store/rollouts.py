"""What is being rolled out in a world."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from kubespread.controllers.statefulset import Revisions
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Deployment, ReplicaSet, StatefulSet


class Rollout(Struct):
    """A Deployment that was changed, with its ReplicaSets."""

    deployment: Deployment
    replica_sets: Sequence[ReplicaSet]
    template: Pod | None = None
    """What the ReplicaSet of its template makes copies of, where that is new."""
    new_hash: str = ""

    def fork(self) -> Rollout:
        return Rollout(self.deployment, self.replica_sets, self.template, self.new_hash)


class StatefulSetRollout(Struct):
    """A StatefulSet with the revisions and templates of its pods."""

    stateful_set: StatefulSet
    revisions: Revisions
    templates: dict[str, Pod] = field(default_factory=dict)
    """A pod of each revision."""
    by_ordinal: dict[int, Pod] = field(default_factory=dict)
    """The last pod of each ordinal."""

    def fork(self) -> StatefulSetRollout:
        return StatefulSetRollout(self.stateful_set, self.revisions, dict(self.templates), dict(self.by_ordinal))
