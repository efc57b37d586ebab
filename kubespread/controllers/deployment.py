"""Deployments: the pods that they create, their ReplicaSets, and the passes of their controller.

A Deployment has a ReplicaSet for each template it has had, all but the newest scaled down. Its number of pods, and the
surge and unavailability that a rollout may reach.

Source: pkg/controller/controller_utils.go, GetPodFromTemplate
Source: pkg/apis/apps/v1/defaults.go, SetDefaults_Deployment
Source: pkg/controller/deployment/deployment_controller.go, syncDeployment
Source: pkg/controller/deployment/sync.go, sync, scale, isScalingEvent, cleanupDeployment, getNewReplicaSet
Source: pkg/controller/deployment/rolling.go, rolloutRolling, reconcileNewReplicaSet, reconcileOldReplicaSets,
    cleanupUnhealthyReplicas
Source: pkg/controller/deployment/recreate.go, rolloutRecreate
Source: pkg/controller/deployment/util/deployment_util.go, FindNewReplicaSet, EqualIgnoreHash, Revision,
    FindActiveOrLatest, ResolveFenceposts, MaxSurge, MaxUnavailable, GetReplicaSetProportion, NewRSNewReplicas,
    DeploymentComplete
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template, template_hash
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import default_pod
from kubespread.kube.api.core import Pod, PodSpec, PodTemplateSpec
from kubespread.kube.api.meta import ApiObject, LabelSelector, ObjectMeta
from kubespread.kube.api.workloads import (
    Deployment,
    DeploymentStatus,
    LabelSelectingWorkloadSpec,
    ReplicaSet,
    ReplicationController,
    RollingUpdate,
    StatefulSet,
)
from kubespread.kube.gotext import parse_int64
from kubespread.kube.owners import WorkloadName, controls
from kubespread.kube.quantity import IntOrString, scaled_value
from kubespread.kube.selector import from_label_selector
from kubespread.kube.templates import are_one_template, tree_of
from kubespread.kube.time import format_utc
from kubespread.kube.well_known import DESIRED_REPLICAS, ENDED_PHASES, MAX_REPLICAS, REVISION
from kubespread.regex import regex

TEMPLATE_HASH = "pod-template-hash"
_MAX_NAME = 253


def new_pod(deployment: PodCreator[Deployment]) -> NewPod:
    """Pod of the ReplicaSet that the Deployment would create for its template."""
    digest = deployment.revision_hash or template_hash(deployment.template_text)
    name = replica_set_name(deployment.name, digest)
    replica_set = ReplicaSet(
        metadata=ObjectMeta(name=name, namespace=deployment.namespace),
        spec=LabelSelectingWorkloadSpec(selector=selector_with_hash(deployment.object.spec.selector, digest)),
    )
    pod = pod_of_template(deployment, controlled_by(ReplicaSet, name), labels={TEMPLATE_HASH: digest})
    if deployment.revision_hash:
        return NewPod(pod)
    note = f"{TEMPLATE_HASH} {digest} is computed by kubespread; the cluster's own hash for this template will differ"
    return NewPod(pod, (replica_set,), (note,) if _counts_by_hash(pod.spec) else ())


def revision_hash(workload: ApiObject, replica_sets: Iterable[ReplicaSet]) -> str:
    """Hash of the existing ReplicaSet with a Deployment's template; empty without one."""
    if not isinstance(workload, Deployment):
        return ""
    name = WorkloadName("Deployment", workload.metadata.namespace, workload.metadata.name)
    alike = (
        replica_set
        for replica_set in sorted(replica_sets_of(name, replica_sets), key=age_order)
        if (template := without_hash(replica_set.spec.template)) is not None
        and workload.spec.template is not None
        and is_one_template(template, workload.spec.template) is not False
    )
    return next((replica_set.metadata.labels.get(TEMPLATE_HASH, "") for replica_set in alike), "")


def replica_set_name(deployment: str, digest: str) -> str:
    """Name of the ReplicaSet for a template with the hash ``digest``."""
    return f"{deployment[: _MAX_NAME - 1 - len(digest)]}-{digest}"


def selector_with_hash(selector: LabelSelector | None, digest: str) -> LabelSelector | None:
    """Selector of a Deployment, narrowed to the pods of one template."""
    if selector is None:
        return None
    return replace(selector, match_labels={**selector.match_labels, TEMPLATE_HASH: digest})


def _counts_by_hash(spec: PodSpec) -> bool:
    """True if the hash decides which pods are counted. Default constraints take it from the ReplicaSet's selector."""
    return not spec.topology_spread_constraints or TEMPLATE_HASH in spec.counted_keys


ROLLING_UPDATE = "RollingUpdate"
_DEFAULT: IntOrString = "25%"


class RolloutLimits(NamedTuple):
    """Pods above and below ``spec.replicas``."""

    max_surge: int
    max_unavailable: int


def replicas_of(workload: Deployment | ReplicaSet | StatefulSet | ReplicationController) -> int:
    """``spec.replicas``, by default 1."""
    return 1 if workload.spec.replicas is None else workload.spec.replicas


def strategy_of(deployment: Deployment) -> str:
    """``spec.strategy.type``, by default RollingUpdate."""
    strategy = deployment.spec.strategy
    return strategy.type if strategy is not None and strategy.type else ROLLING_UPDATE


def limits(deployment: Deployment) -> RolloutLimits:
    """Limits of a rolling update, both 0 for Recreate. Raises IntOrStringError for neither number nor percentage."""
    if strategy_of(deployment) != ROLLING_UPDATE:
        return RolloutLimits(0, 0)
    strategy, replicas = deployment.spec.strategy, replicas_of(deployment)
    rolling = (strategy.rolling_update if strategy is not None else None) or RollingUpdate()
    surge = scaled_value(_DEFAULT if rolling.max_surge is None else rolling.max_surge, replicas, round_up=True)
    limit = _DEFAULT if rolling.max_unavailable is None else rolling.max_unavailable
    unavailable = scaled_value(limit, replicas, round_up=False)
    if surge == 0 and unavailable == 0:
        # Small percentages of few replicas; the rollout could not begin.
        unavailable = 1
    return RolloutLimits(surge, min(unavailable, replicas))


def replica_sets_of(deployment: WorkloadName, replica_sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
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
    """ReplicaSet of the newest revision."""
    return max(
        replica_sets_of(deployment, replica_sets), key=lambda replica_set: revision(replica_set) or 0, default=None
    )


def new_replica_set(deployment: Deployment, replica_sets: Iterable[ReplicaSet]) -> ReplicaSet | None:
    """The oldest of the Deployment's ReplicaSets with its template.

    Not all is known of every template, so different ones may look equal; then the one with the Deployment's own
    revision counts. Source: pkg/controller/deployment/util/deployment_util.go, FindNewReplicaSet
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
    """True if all that is known of both templates is equal, except for the hash, which only the ReplicaSet's has."""
    one, other = without_hash(replica_set.spec.template), without_hash(deployment.spec.template)
    if one is not None and other is not None and None in (one.unread, other.unread):
        one, other = replace(one, unread=None), replace(other, unread=None)
    return one == other


def is_one_template(one: PodTemplateSpec, other: PodTemplateSpec) -> bool | None:
    """True if changing one template to the other causes no rollout; None if scheduling cannot distinguish them, and the
    rest is unknown.
    """
    if one.unread is None or other.unread is None:
        return None if scheduled_alike(one, other) else False
    return are_one_template(one, other)


def scheduled_alike(one: PodTemplateSpec | Pod, other: PodTemplateSpec | Pod) -> bool:
    """True if scheduling cannot distinguish pods of the two templates."""
    return bool(_scheduled_as(one) == _scheduled_as(other))


def _scheduled_as(template: PodTemplateSpec | Pod) -> Any:
    """All that scheduling reads of a template, as the API server would store it."""
    pod = deepcopy(Pod(metadata=template.metadata, spec=template.spec))
    default_pod(pod)
    # A drain reads emptyDirs, scheduling does not.
    pod.spec.volumes = [volume for volume in pod.spec.volumes if volume.affects_scheduling]
    pod.spec.forget_unread_volumes()
    # Admission reads security contexts, scheduling does not.
    pod.spec.security_context = None
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        container.security_context = None
    labels = {key: value for key, value in pod.metadata.labels.items() if key != TEMPLATE_HASH}
    # However amounts are written.
    return labels, tree_of(msgspec.to_builtins(pod.spec))


def age_order(replica_set: ReplicaSet) -> tuple[str, str]:
    """Sort key: the oldest first, then by name. The API server writes all times alike, in UTC."""
    return replica_set.metadata.creation_timestamp, replica_set.metadata.name


def revision(replica_set: ReplicaSet) -> int | None:
    """Revision number; 0 without one, None if it is no number."""
    return parse_int64(replica_set.metadata.annotations.get(REVISION, "0"))


def without_hash(template: PodTemplateSpec | None) -> PodTemplateSpec | None:
    """Template of a ReplicaSet without the hash, as in its Deployment."""
    if template is None or TEMPLATE_HASH not in template.metadata.labels:
        return template
    labels = {key: value for key, value in template.metadata.labels.items() if key != TEMPLATE_HASH}
    return replace(template, metadata=replace(template.metadata, labels=labels))


class Write(NamedTuple):
    """A ReplicaSet that was created, resized or deleted."""

    replica_set: str
    replicas: int | None
    """New number of replicas; None if it is deleted."""


class _Rollout:
    """State of one pass. Its objects are never edited, only replaced."""

    def __init__(self, deployment: Deployment, replica_sets: Iterable[ReplicaSet]) -> None:
        """Raises IntOrStringError for a malformed limit."""
        self.deployment = deployment
        self.replicas = replicas_of(deployment)
        self.max_surge, self.max_unavailable = limits(deployment)
        self.before = sorted(replica_sets, key=age_order)
        self.writes: list[Write] = []
        self.created: str | None = None
        self._replica_sets = {replica_set.metadata.name: replica_set for replica_set in self.before}
        new = new_replica_set(deployment, self.before)
        self._new = None if new is None else new.metadata.name
        if new is not None:
            self._put(self._with_revision(new))

    @property
    def replica_sets(self) -> list[ReplicaSet]:
        """All ReplicaSets: the existing ones by age, then a created one."""
        return list(self._replica_sets.values())

    @property
    def new(self) -> ReplicaSet | None:
        return None if self._new is None else self._replica_sets[self._new]

    @property
    def old(self) -> list[ReplicaSet]:
        """All ReplicaSets but the new one, the oldest first."""
        return [replica_set for replica_set in self.replica_sets if replica_set.metadata.name != self._new]

    @property
    def active_old(self) -> list[ReplicaSet]:
        return [replica_set for replica_set in self.old if replicas_of(replica_set) > 0]

    @property
    def active(self) -> list[ReplicaSet]:
        """ReplicaSets with pods, the youngest of the old ones first and the new one last."""
        return [*reversed(self.active_old), *([self.new] if self.new is not None and replicas_of(self.new) > 0 else [])]

    @property
    def total(self) -> int:
        return sum(map(replicas_of, self.replica_sets))

    def create(self, replicas: int, digest: str, now: datetime) -> ReplicaSet:
        """The ReplicaSet for the Deployment's template; ``digest`` is its pod-template-hash."""
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
        created = self._annotate(self._with_revision(created))
        self._put(created)
        return created

    def scale(self, replica_set: ReplicaSet, replicas: int) -> None:
        """Resize a ReplicaSet; write nothing, not even annotations, if the size stays the same."""
        if replicas_of(replica_set) != replicas:
            self.scale_and_annotate(replica_set, replicas)

    def scale_and_annotate(self, replica_set: ReplicaSet, replicas: int) -> None:
        if replicas_of(replica_set) != replicas:
            self.writes.append(Write(replica_set.metadata.name, replicas))
        self._put(self._annotate(replace(replica_set, spec=replace(replica_set.spec, replicas=replicas))))

    def delete(self, replica_set: ReplicaSet) -> None:
        self.writes.append(Write(replica_set.metadata.name, None))
        del self._replica_sets[replica_set.metadata.name]

    def _put(self, replica_set: ReplicaSet) -> None:
        self._replica_sets[replica_set.metadata.name] = replica_set

    def _annotate(self, replica_set: ReplicaSet) -> ReplicaSet:
        return _with_annotations(
            replica_set, {DESIRED_REPLICAS: str(self.replicas), MAX_REPLICAS: str(self.replicas + self.max_surge)}
        )

    def _with_revision(self, new: ReplicaSet) -> ReplicaSet:
        """The new ReplicaSet has the highest revision, also when it is one that was there before."""
        new = replace(new, spec=replace(new.spec, min_ready_seconds=self.deployment.spec.min_ready_seconds))
        latest = max([0, *(revision(replica_set) or 0 for replica_set in self.old)]) + 1
        own = new.metadata.annotations.get(REVISION, "")
        number = revision(new) if own else 0
        if number is None or number >= latest:
            return new
        return _with_annotations(new, {REVISION: str(latest)})


def _with_annotations(replica_set: ReplicaSet, annotations: dict[str, str]) -> ReplicaSet:
    meta = replica_set.metadata
    return replace(replica_set, metadata=replace(meta, annotations={**meta.annotations, **annotations}))


_UNSIGNED = regex(r"[0-9]+", re.ASCII)
_MAX_INT32 = 2**31 - 1


def _is_scaling(rollout: _Rollout) -> bool:
    """True if an active ReplicaSet was sized for another number of replicas.

    Source: pkg/controller/deployment/sync.go, isScalingEvent
    """
    desired = (_number(replica_set, DESIRED_REPLICAS) for replica_set in rollout.active)
    return any(number is not None and number != rollout.replicas for number in desired)


def _scale(rollout: _Rollout) -> None:
    """One pass. The only active ReplicaSet, or where none is the newest, takes it all."""
    if (only := _only_active_or_newest(rollout)) is not None:
        rollout.scale(only, rollout.replicas)
    elif _is_saturated(rollout):
        for old in reversed(rollout.active_old):
            rollout.scale(old, 0)
    elif strategy_of(rollout.deployment) == ROLLING_UPDATE:
        _scale_in_proportion(rollout)


def _only_active_or_newest(rollout: _Rollout) -> ReplicaSet | None:
    match rollout.active:
        case []:
            return rollout.new or (rollout.old[-1] if rollout.old else None)
        case [only]:
            return only
    return None


def _is_saturated(rollout: _Rollout) -> bool:
    """True if the new ReplicaSet has all desired pods and was sized for that number."""
    new = rollout.new
    if new is None:
        return False
    desired = parse_int64(new.metadata.annotations.get(DESIRED_REPLICAS, ""))
    return replicas_of(new) == desired == new.status.available_replicas == rollout.replicas


def _scale_in_proportion(rollout: _Rollout) -> None:
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
    """Sort by size, the largest first; of equals the younger grow first and the older shrink first."""
    if add == 0:
        return list(active)
    by_age = sorted(active, key=age_order, reverse=add > 0)
    return sorted(by_age, key=replicas_of, reverse=True)


def _share(rollout: _Rollout, replica_set: ReplicaSet, add: int, added: int) -> int:
    """Number of the pods to add, or to take away where ``add`` is negative, that fall to this ReplicaSet."""
    if add == added:
        return 0
    fraction = _fraction(rollout, replica_set)
    return min(fraction, add - added) if add > 0 else max(fraction, add - added)


def _fraction(rollout: _Rollout, replica_set: ReplicaSet) -> int:
    """Number of pods it gains to keep its share of the Deployment. Source: getReplicaSetFraction."""
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
    """Number in an annotation; None without it, and where it is no number from 0 to the largest of 32 bits."""
    text = replica_set.metadata.annotations.get(annotation, "")
    number = parse_int64(text) if _UNSIGNED.fullmatch(text) else None
    return number if number is not None and number <= _MAX_INT32 else None


_DEFAULT_HISTORY = 10
_NO_LIMIT = 2**31 - 1


class DeploymentPass(Struct, frozen=True):
    """State after one pass of the controller."""

    deployment: Deployment
    """The Deployment with the status and the revision that the controller writes."""
    replica_sets: tuple[ReplicaSet, ...]
    """All that remain, a created one last, with unchanged statuses, which other controllers write."""
    created: ReplicaSet | None
    writes: tuple[Write, ...]
    """Writes in order, except changes to annotations alone."""


def reconcile(
    deployment: Deployment,
    replica_sets: Sequence[ReplicaSet],
    pods: Sequence[Pod] = (),
    *,
    new_hash: str,
    now: datetime,
) -> DeploymentPass:
    """Run one pass of the controller over ``deployment`` and its own ``replica_sets``.

    ``pods`` are read by the Recreate strategy only; terminating ones matter. A ReplicaSet for a template that has none
    is created at ``now``, named and labeled with ``new_hash``. A rollout is a loop of passes, with the statuses of the
    ReplicaSets updated in between; it has ended when a pass returns its input unchanged. Raises UsageError for an
    unknown strategy and IntOrStringError for a malformed limit, both of which the API server refuses.
    """
    rollout = _Rollout(deployment, replica_sets)
    if deployment.metadata.deletion_timestamp is None and deployment.spec.selector != LabelSelector():
        _sync(rollout, pods, new_hash, now)
    return DeploymentPass(
        deployment=_with_status(rollout),
        replica_sets=tuple(rollout.replica_sets),
        created=rollout.new if rollout.created is not None else None,
        writes=tuple(rollout.writes),
    )


def _sync(rollout: _Rollout, pods: Sequence[Pod], digest: str, now: datetime) -> None:
    deployment = rollout.deployment
    if deployment.spec.paused:
        _scale(rollout)
        _clean_up_history(rollout)
        return
    if _is_scaling(rollout):
        _scale(rollout)
        return
    match strategy_of(deployment):
        case "RollingUpdate":
            settled = _roll(rollout, digest, now)
        case "Recreate":
            settled = _recreate(rollout, pods, digest, now)
        case other:
            name = f'deployments.apps "{deployment.metadata.name}"'
            raise UsageError(f"{name}: unexpected deployment strategy type: {other}")
    if settled and _is_complete(deployment):
        _clean_up_history(rollout)


def _is_complete(deployment: Deployment) -> bool:
    """True if it was complete by the status of the pass before.

    Source: pkg/controller/deployment/util/deployment_util.go, DeploymentComplete
    """
    status, replicas = deployment.status, replicas_of(deployment)
    return (
        status.updated_replicas == status.replicas == status.available_replicas == replicas
        and status.observed_generation >= deployment.metadata.generation
    )


def _clean_up_history(rollout: _Rollout) -> None:
    """Delete old ReplicaSets beyond the limit, lowest revision first, unless they had pods before the pass.

    Source: pkg/controller/deployment/sync.go, cleanupDeployment
    """
    limit = rollout.deployment.spec.revision_history_limit
    if limit == _NO_LIMIT:
        return
    old = {replica_set.metadata.name for replica_set in rollout.old}
    alive = [
        replica_set
        for replica_set in rollout.before
        if replica_set.metadata.name in old and replica_set.metadata.deletion_timestamp is None
    ]
    surplus = max(0, len(alive) - (_DEFAULT_HISTORY if limit is None else limit))
    by_revision = sorted(alive, key=lambda replica_set: (revision(replica_set) or 0, age_order(replica_set)))
    for replica_set in by_revision[:surplus]:
        status = replica_set.status
        has_pods = status.replicas != 0 or replicas_of(replica_set) != 0
        if not has_pods and replica_set.metadata.generation <= status.observed_generation:
            rollout.delete(replica_set)


def _with_status(rollout: _Rollout) -> Deployment:
    deployment, new = rollout.deployment, rollout.new
    statuses = [replica_set.status for replica_set in rollout.replica_sets]
    status = DeploymentStatus(
        replicas=sum(status.replicas for status in statuses),
        ready_replicas=sum(status.ready_replicas for status in statuses),
        available_replicas=sum(status.available_replicas for status in statuses),
        updated_replicas=new.status.replicas if new is not None else 0,
        observed_generation=deployment.metadata.generation,
    )
    annotations = deployment.metadata.annotations
    if new is not None and REVISION in new.metadata.annotations:
        annotations = {**annotations, REVISION: new.metadata.annotations[REVISION]}
    return replace(deployment, metadata=replace(deployment.metadata, annotations=annotations), status=status)


def _recreate(rollout: _Rollout, pods: Iterable[Pod], digest: str, now: datetime) -> bool:
    """Make one pass; True if there was nothing to resize or wait for. Creating does not count as resizing."""
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


def _old_pods_are_running(rollout: _Rollout, pods: Iterable[Pod]) -> bool:
    """True if an old pod holds up the new ones: terminating pods do, ended pods do not."""
    old, meta = rollout.old, rollout.deployment.metadata
    if any(replica_set.status.replicas > 0 for replica_set in old):
        return True
    selector = from_label_selector(rollout.deployment.spec.selector)
    return any(
        pod.metadata.namespace == meta.namespace
        and pod.status.phase not in ENDED_PHASES
        and selector.matches(pod.metadata.labels)
        and any(controls(replica_set, pod) for replica_set in old)
        for pod in pods
    )


def _roll(rollout: _Rollout, digest: str, now: datetime) -> bool:
    """Make one pass; True if there was nothing to resize. Creating does not count as resizing."""
    new = rollout.new
    if new is None:
        new = rollout.create(_new_size(rollout, 0), digest, now)
    elif (replicas := _desired_replicas(rollout, new)) != replicas_of(new):
        rollout.scale(new, replicas)
        return False
    return not _shrink_old(rollout, new)


def _desired_replicas(rollout: _Rollout, new: ReplicaSet) -> int:
    present = replicas_of(new)
    return rollout.replicas if present >= rollout.replicas else _new_size(rollout, present)


def _new_size(rollout: _Rollout, present: int) -> int:
    """Size the new ReplicaSet may grow to.

    Source: pkg/controller/deployment/util/deployment_util.go, NewRSNewReplicas
    """
    room = rollout.replicas + rollout.max_surge - rollout.total
    return present + min(room, rollout.replicas - present) if room > 0 else present


def _shrink_old(rollout: _Rollout, new: ReplicaSet) -> bool:
    """Shrink old ReplicaSets; True if the controller itself sees fewer old pods now."""
    if not rollout.active_old:
        return False
    min_available = rollout.replicas - rollout.max_unavailable
    # Pods of the new ReplicaSet that are still to become available must not cost old ones.
    new_unavailable = replicas_of(new) - new.status.available_replicas
    total = rollout.total
    room = total - min_available - new_unavailable
    # Both steps see the ReplicaSets that had pods when the pass began, and no others.
    considered = [replica_set.metadata.name for replica_set in rollout.active_old]
    if room <= 0 or not _clean_up_unhealthy(rollout, room):
        return False
    old = [replica_set for replica_set in rollout.old if replica_set.metadata.name in considered]
    room = sum(replica_set.status.available_replicas for replica_set in (*old, new)) - min_available
    for replica_set in old:
        step = min(replicas_of(replica_set), room)
        if step > 0:
            rollout.scale(replica_set, replicas_of(replica_set) - step)
            room -= step
    return rollout.total < total


def _clean_up_unhealthy(rollout: _Rollout, room: int) -> bool:
    """Take away at most ``room`` pods that are not available; True if the pass goes on.

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
