"""The ReplicaSets of a Deployment: one for each template it has had, all but the newest being scaled down.

How many pods a Deployment asks for, and how far a rollout may go above and below.

Source: pkg/controller/deployment/util/deployment_util.go, FindNewReplicaSet, EqualIgnoreHash, Revision,
    FindActiveOrLatest
Source: pkg/apis/apps/v1/defaults.go, SetDefaults_Deployment
Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts, MaxSurge, MaxUnavailable
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from kubespread.controllers.deployment.pods import TEMPLATE_HASH
from kubespread.kube.api.annotations import REVISION
from kubespread.kube.api.core import PodTemplateSpec
from kubespread.kube.api.meta import IntOrString
from kubespread.kube.api.workloads import Deployment, ReplicaSet, RollingUpdate
from kubespread.kube.int_or_string import scaled
from kubespread.kube.owners import WorkloadName
from kubespread.kube.selector import parse_int64

ROLLING_UPDATE = "RollingUpdate"
_DEFAULT: IntOrString = "25%"


class Limits(NamedTuple):
    """Pods above and below ``spec.replicas``."""

    max_surge: int
    max_unavailable: int


def replicas_of(workload: Deployment | ReplicaSet) -> int:
    """``spec.replicas``, by default 1."""
    return 1 if workload.spec.replicas is None else workload.spec.replicas


def strategy_of(deployment: Deployment) -> str:
    """``spec.strategy.type``, by default RollingUpdate."""
    strategy = deployment.spec.strategy
    return strategy.type if strategy is not None and strategy.type else ROLLING_UPDATE


def limits(deployment: Deployment) -> Limits:
    """Both 0 unless it is updated rolling. Raises IntOrStringError for what is neither number nor percentage."""
    if strategy_of(deployment) != ROLLING_UPDATE:
        return Limits(0, 0)
    strategy, replicas = deployment.spec.strategy, replicas_of(deployment)
    rolling = (strategy.rolling_update if strategy is not None else None) or RollingUpdate()
    surge = scaled(_or_default(rolling.max_surge), replicas, round_up=True)
    unavailable = scaled(_or_default(rolling.max_unavailable), replicas, round_up=False)
    if surge == 0 and unavailable == 0:
        # Small percentages of few replicas; the rollout could not begin.
        unavailable = 1
    return Limits(surge, min(unavailable, replicas))


def _or_default(value: IntOrString | None) -> IntOrString:
    return _DEFAULT if value is None else value


def replica_sets_of(deployment: WorkloadName, replica_sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """The ReplicaSets of all revisions of ``deployment``."""
    return [
        replica_set
        for replica_set in replica_sets
        if replica_set.metadata.namespace == deployment.namespace
        and any(
            (owner.kind, owner.name) == (deployment.kind, deployment.name)
            for owner in replica_set.metadata.owner_references
        )
    ]


def newest_replica_set(deployment: WorkloadName, replica_sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The ReplicaSet of the newest revision."""
    return max(
        replica_sets_of(deployment, replica_sets), key=lambda replica_set: revision(replica_set) or 0, default=None
    )


def current_replica_set(deployment: Deployment, replica_sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The newest ReplicaSet, if it has the Deployment's template: its hash is the real one."""
    meta = deployment.metadata
    newest = newest_replica_set(WorkloadName("Deployment", meta.namespace, meta.name), replica_sets)
    return newest if newest is not None and _has_template_of(newest, deployment) else None


def new_replica_set(deployment: Deployment, replica_sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """Of the Deployment's ReplicaSets the oldest that has its template.

    Only what scheduling reads of a template is kept, so different templates may look equal; then the one with the
    revision that the Deployment itself names counts.

    Source: pkg/controller/deployment/util/deployment_util.go, FindNewReplicaSet
    """
    alike = [
        replica_set for replica_set in sorted(replica_sets, key=age_order) if _has_template_of(replica_set, deployment)
    ]
    named = deployment.metadata.annotations.get(REVISION)
    current = (
        replica_set
        for replica_set in alike
        if named is not None and replica_set.metadata.annotations.get(REVISION) == named
    )
    return next(current, alike[0] if alike else None)


def _has_template_of(replica_set: ReplicaSet, deployment: Deployment) -> bool:
    """Whether the templates are equal apart from the hash, which only the ReplicaSet's has."""
    return without_hash(replica_set.spec.template) == without_hash(deployment.spec.template)


def age_order(replica_set: ReplicaSet) -> tuple[str, str]:
    """Sorts the oldest first, namesakes in time by name. The API server writes all times alike, in UTC."""
    return replica_set.metadata.creation_timestamp, replica_set.metadata.name


def revision(replica_set: ReplicaSet) -> int | None:
    """Its number; 0 without one, None where it is no number."""
    return parse_int64(replica_set.metadata.annotations.get(REVISION, "0"))


def without_hash(template: PodTemplateSpec | None) -> PodTemplateSpec | None:
    """The template of a ReplicaSet without the hash, as its Deployment has it."""
    if template is None or TEMPLATE_HASH not in template.metadata.labels:
        return template
    labels = {key: value for key, value in template.metadata.labels.items() if key != TEMPLATE_HASH}
    return replace(template, metadata=replace(template.metadata, labels=labels))
