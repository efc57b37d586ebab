"""One pass of the Deployment controller while it is under way: its ReplicaSets as written so far.

Source of the rules: pkg/controller/deployment/sync.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH, replica_set_name, selector_with_hash
from kubespread.controllers.pod_creator import controlled_by
from kubespread.controllers.replica_counts import limits, replicas_of
from kubespread.controllers.revisions import age_order, new_replica_set, revision
from kubespread.kube.api.annotations import DESIRED_REPLICAS, MAX_REPLICAS, REVISION
from kubespread.kube.api.core import PodTemplateSpec
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import Deployment, LabelSelectingWorkloadSpec, ReplicaSet
from kubespread.kube.timestamps import format_utc


class Write(NamedTuple):
    """A ReplicaSet that was created, resized or deleted."""

    replica_set: str
    replicas: int | None
    """None: it is deleted."""


class DeploymentPass:
    """The state of one pass. The objects it is made of are never edited, only replaced."""

    def __init__(self, deployment: Deployment, replica_sets: Iterable[ReplicaSet]) -> None:
        """Raises IntOrStringError for a malformed limit."""
        self.deployment = deployment
        self.replicas = replicas_of(deployment)
        self.max_surge, self.max_unavailable = limits(deployment)
        self.before = sorted(replica_sets, key=age_order)
        self.writes: list[Write] = []
        self.created: str | None = None
        self._replica_sets = {each.metadata.name: each for each in self.before}
        new = new_replica_set(deployment, self.before)
        self._new = None if new is None else new.metadata.name
        if new is not None:
            self._put(self._with_revision(new))

    @property
    def replica_sets(self) -> list[ReplicaSet]:
        """All of them, those there were before by age, then a created one."""
        return list(self._replica_sets.values())

    @property
    def new(self) -> ReplicaSet | None:
        return None if self._new is None else self._replica_sets[self._new]

    @property
    def old(self) -> list[ReplicaSet]:
        """All but the new one, the oldest first."""
        return [each for each in self.replica_sets if each.metadata.name != self._new]

    @property
    def active_old(self) -> list[ReplicaSet]:
        return [each for each in self.old if replicas_of(each) > 0]

    @property
    def active(self) -> list[ReplicaSet]:
        """Those with pods, the youngest of the old ones first and the new one last."""
        return [*reversed(self.active_old), *([self.new] if self.new is not None and replicas_of(self.new) > 0 else [])]

    @property
    def total(self) -> int:
        return sum(map(replicas_of, self.replica_sets))

    def create(self, replicas: int, digest: str, now: datetime) -> ReplicaSet:
        """The ReplicaSet of the Deployment's template, ``digest`` being the hash that tells its pods from others."""
        meta, spec = self.deployment.metadata, self.deployment.spec
        template = spec.template or PodTemplateSpec()
        labels = {**template.metadata.labels, TEMPLATE_HASH: digest}
        created = ReplicaSet(
            metadata=ObjectMeta(
                name=replica_set_name(meta.name, digest),
                namespace=meta.namespace,
                labels=labels,
                creation_timestamp=format_utc(now),
                owner_references=[replace(controlled_by(Deployment, meta.name), uid=meta.uid)],
            ),
            spec=LabelSelectingWorkloadSpec(
                replicas=replicas,
                selector=selector_with_hash(spec.selector, digest),
                template=replace(template, metadata=replace(template.metadata, labels=labels)),
            ),
        )
        self._new = self.created = created.metadata.name
        self.writes.append(Write(self.created, replicas))
        created = self._annotated(self._with_revision(created))
        self._put(created)
        return created

    def scale(self, replica_set: ReplicaSet, replicas: int) -> None:
        """Nothing is written where the size stays, not even annotations."""
        if replicas_of(replica_set) != replicas:
            self.scale_and_annotate(replica_set, replicas)

    def scale_and_annotate(self, replica_set: ReplicaSet, replicas: int) -> None:
        if replicas_of(replica_set) != replicas:
            self.writes.append(Write(replica_set.metadata.name, replicas))
        self._put(self._annotated(replace(replica_set, spec=replace(replica_set.spec, replicas=replicas))))

    def delete(self, replica_set: ReplicaSet) -> None:
        self.writes.append(Write(replica_set.metadata.name, None))
        del self._replica_sets[replica_set.metadata.name]

    def _put(self, replica_set: ReplicaSet) -> None:
        self._replica_sets[replica_set.metadata.name] = replica_set

    def _annotated(self, replica_set: ReplicaSet) -> ReplicaSet:
        return _with_annotations(
            replica_set,
            {DESIRED_REPLICAS: str(self.replicas), MAX_REPLICAS: str(self.replicas + self.max_surge)},
        )

    def _with_revision(self, new: ReplicaSet) -> ReplicaSet:
        """The new ReplicaSet has the highest revision, also when it is one that was there before."""
        new = replace(new, spec=replace(new.spec, min_ready_seconds=self.deployment.spec.min_ready_seconds))
        latest = max([0, *(revision(each) or 0 for each in self.old)]) + 1
        own = new.metadata.annotations.get(REVISION, "")
        number = revision(new) if own else 0
        if number is None or number >= latest:
            return new
        return _with_annotations(new, {REVISION: str(latest)})


def _with_annotations(replica_set: ReplicaSet, annotations: dict[str, str]) -> ReplicaSet:
    meta = replica_set.metadata
    return replace(replica_set, metadata=replace(meta, annotations={**meta.annotations, **annotations}))
