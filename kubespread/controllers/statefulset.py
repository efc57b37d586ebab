"""StatefulSets: pods by ordinal, each with its own claims, and one pass of the controller, which is the pods that it
creates and deletes, and the status it leaves.

As of 1.37; differences in earlier releases are in `UpdateRules`.

Source: pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet, processReplica, processCondemned,
    computeReplicaStatus
Source: pkg/controller/statefulset/stateful_set_utils.go, getStatefulSetMaxUnavailable, completeRollingUpdate,
    newStatefulSetPod, newVersionedStatefulSetPod, initIdentity, updateStorage
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.deployment import replicas_of
from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template, template_hash
from kubespread.kube.admission.defaulting import relabel
from kubespread.kube.api.cluster_objects import PersistentVolumeClaim
from kubespread.kube.api.core import PersistentVolumeClaimVolumeSource, Pod, Volume
from kubespread.kube.api.workloads import (
    RollingUpdate,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetStatus,
    UpdateStrategy,
)
from kubespread.kube.owners import is_available, is_terminating, ready_condition
from kubespread.kube.quantity import scaled_value
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import ENDED_PHASES

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"


def new_pod(stateful_set: PodCreator[StatefulSet]) -> NewPod:
    """Pod of the first ordinal."""
    spec = stateful_set.object.spec
    ordinal = first_ordinal(stateful_set.object)
    name = f"{stateful_set.name}-{ordinal}"
    labels = {
        POD_NAME_LABEL: name,
        POD_INDEX_LABEL: str(ordinal),
        "controller-revision-hash": f"{stateful_set.name}-{template_hash(stateful_set.template_text)}",
    }
    owner = controlled_by(StatefulSet, stateful_set.name)
    pod = pod_of_template(stateful_set, owner, labels=labels, name=name)
    templates = [claim.metadata.name for claim in spec.volume_claim_templates]
    if templates:
        claimed = [
            Volume(
                name=template,
                persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{template}-{name}"),
            )
            for template in templates
        ]
        others = [volume for volume in pod.spec.volumes if volume.name not in templates]
        pod.spec = replace(pod.spec, volumes=[*claimed, *others])
    claims = claims_of(stateful_set.object, ordinal)
    return NewPod(pod, (stateful_set.object, *claims), ("controller-revision-hash is computed by kubespread",))


def ordinal_of(pod: Pod, stateful_set: str) -> int | None:
    """Ordinal in a pod's name; None if it is not named like one of ``stateful_set``."""
    parent, _, ordinal = pod.metadata.name.rpartition("-")
    return int(ordinal) if parent == stateful_set and ordinal.isdecimal() else None


def is_ordered_ready(creator: PodCreator[Any]) -> bool:
    """True if each pod is created only once all earlier ones are ready; also for StatefulSets of other API groups."""
    return creator.kind == "StatefulSet" and creator.object.spec.pod_management_policy != "Parallel"


def from_free_ordinal(stateful_set: StatefulSet, pods: Iterable[Pod]) -> StatefulSet:
    """``stateful_set`` starting at the lowest ordinal that none of ``pods`` has."""
    meta = stateful_set.metadata
    names = {pod.metadata.name for pod in pods if pod.metadata.namespace == meta.namespace}
    ordinal = first_ordinal(stateful_set)
    while f"{meta.name}-{ordinal}" in names:
        ordinal += 1
    return replace(stateful_set, spec=replace(stateful_set.spec, ordinals=StatefulSetOrdinals(start=ordinal)))


def for_ordinal(pod: Pod, stateful_set: StatefulSet, ordinal: int) -> Pod:
    """``pod`` of the StatefulSet under another ordinal: name, labels and claims."""
    before, name = pod.metadata.name, f"{stateful_set.metadata.name}-{ordinal}"
    own = relabel(pod, {**pod.metadata.labels, POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal)})
    own.metadata.name = name
    volumes = [_with_claim_of(volume, before, name) for volume in pod.spec.volumes]
    return replace(own, spec=replace(own.spec, volumes=volumes))


def claims_of(stateful_set: StatefulSet, ordinal: int) -> list[PersistentVolumeClaim]:
    meta = stateful_set.metadata
    return [
        _claim(template, f"{meta.name}-{ordinal}", meta.namespace)
        for template in stateful_set.spec.volume_claim_templates
    ]


def _with_claim_of(volume: Volume, before: str, name: str) -> Volume:
    source = volume.persistent_volume_claim
    if source is None or not source.claim_name.endswith(f"-{before}"):
        return volume
    claim = f"{source.claim_name.removesuffix(before)}{name}"
    return replace(volume, persistent_volume_claim=replace(source, claim_name=claim))


def first_ordinal(stateful_set: StatefulSet) -> int:
    """Ordinal that a StatefulSet's pods start at."""
    ordinals = stateful_set.spec.ordinals
    return ordinals.start if ordinals is not None else 0


def _claim(template: PersistentVolumeClaim, pod: str, namespace: str) -> PersistentVolumeClaim:
    metadata = replace(template.metadata, name=f"{template.metadata.name}-{pod}", namespace=namespace)
    return PersistentVolumeClaim(metadata=metadata, spec=replace(template.spec))


REVISION_LABEL = "controller-revision-hash"
_ROLLING_UPDATE = "RollingUpdate"


class Revisions(Struct, frozen=True):
    """Names of ControllerRevisions: ``update`` has the newest template, ``current`` the one before.

    Without an update, or if status.currentRevision names one that does not exist, both are the same.
    """

    current: str
    update: str


class UpdateRules(Struct, frozen=True):
    """Rules by which a release replaces the pods of an old revision."""

    max_unavailable: bool = False
    """Feature gate MaxUnavailableStatefulSet, without which the field has no effect."""
    clears_unavailable_first: bool = False
    """Since 1.37, with that gate, outdated pods of a Parallel StatefulSet that are not available go at once, ignoring
    the limit.
    """
    completes_on_delete: bool = False
    """Since 1.37 status.currentRevision follows a finished update with the strategy OnDelete too."""
    scales_down_first: bool = False
    """Since 1.38 a Parallel StatefulSet deletes pods beyond its ordinals before it creates missing ones."""

    @classmethod
    def from_version(cls, version: KubeVersion) -> UpdateRules:
        return cls(
            version.has("MaxUnavailableStatefulSet"),
            clears_unavailable_first=version.reaches(37),
            completes_on_delete=version.reaches(37),
            scales_down_first=version.reaches(38),
        )


class Create(Struct, frozen=True):
    pod: str
    ordinal: int
    revision: str


class Delete(Struct, frozen=True):
    pod: str


Action = Create | Delete


class StatefulSetPass(Struct, frozen=True):
    actions: tuple[Action, ...]
    """Actions in call order; a Parallel StatefulSet's are issued at once, in no order."""
    status: StatefulSetStatus
    """Status that the controller writes: it counts the pods before the pass."""


def reconcile(
    stateful_set: StatefulSet, pods: Sequence[Pod], revisions: Revisions, now: datetime, rules: UpdateRules
) -> StatefulSetPass:
    """Run one pass of the controller over ``pods``, all that the StatefulSet owns, including terminating and ended
    ones.

    Raises IntOrStringError for a maxUnavailable that is no percentage, SnapshotError for a pod's time that cannot be
    read.
    """
    members = _Members.build(stateful_set, pods, revisions, now)
    strategy = _default(stateful_set.spec.update_strategy)
    status = _status(members, revisions)
    actions: list[Action] = []
    if stateful_set.metadata.deletion_timestamp is None:
        first, then = _replace_missing, _scale_down
        if rules.scales_down_first and not members.monotonic:
            first, then = then, first
        actions, waits = first(members)
        if not waits:
            more, waits = then(members)
            actions += more
        if not waits and strategy.type == _ROLLING_UPDATE:
            outdated = _outdated_pods(members, strategy.rolling_update or RollingUpdate(), revisions.update, rules)
            actions += outdated
            status.current_replicas -= len(outdated)
    replicas = replicas_of(stateful_set)
    counts = (status.updated_replicas, status.ready_replicas, status.replicas)
    completes = strategy.type == _ROLLING_UPDATE or rules.completes_on_delete
    if completes and counts == (replicas, replicas, replicas):
        status.current_revision, status.current_replicas = revisions.update, status.updated_replicas
    # A Parallel pass may ask for the same pod twice: it has ended, and it is outdated.
    return StatefulSetPass(tuple(dict.fromkeys(actions)), status)


class _Member(Struct, frozen=True):
    """A pod of the StatefulSet, or the place of a missing one, then with the revision it should get."""

    ordinal: int
    name: str
    revision: str
    pod: Pod | None
    is_running_and_ready: bool = False
    is_available: bool = False
    """Running, ready for minReadySeconds, and not terminating."""

    @property
    def is_terminating(self) -> bool:
        return self.pod is not None and is_terminating(self.pod)

    @property
    def has_ended(self) -> bool:
        return self.pod is not None and self.pod.status.phase in ENDED_PHASES


class _Members(Struct, frozen=True):
    replicas: Sequence[_Member]
    """One member per ordinal, ascending; if created one by one, only up to the first one after the last pod."""
    condemned: Sequence[_Member]
    """Pods beyond the ordinals, descending."""
    monotonic: bool
    """True if each pod waits for the one before: everywhere but in a Parallel StatefulSet."""

    @classmethod
    def build(cls, stateful_set: StatefulSet, pods: Sequence[Pod], revisions: Revisions, now: datetime) -> _Members:
        spec, name = stateful_set.spec, stateful_set.metadata.name
        start = first_ordinal(stateful_set)
        ordinals = range(start, start + replicas_of(stateful_set))
        # Pods without an ordinal in their names are ignored.
        by_ordinal = {ordinal: pod for pod in pods if (ordinal := ordinal_of(pod, name)) is not None}
        first_updated = start + _not_updated(stateful_set)

        def member(ordinal: int) -> _Member:
            pod = by_ordinal.get(ordinal)
            if pod is None:
                revision = revisions.current if ordinal < first_updated else revisions.update
                return _Member(ordinal, f"{name}-{ordinal}", revision, None)
            ready = pod.status.phase == "Running" and ready_condition(pod) is not None
            available = ready and is_available(pod, spec.min_ready_seconds, now) and not is_terminating(pod)
            revision = pod.metadata.labels.get(REVISION_LABEL, "")
            return _Member(ordinal, pod.metadata.name, revision, pod, ready, available)

        monotonic = spec.pod_management_policy != "Parallel"
        # One by one, nothing is done about any pod after the first that is missing.
        reached = max((ordinal - start + 1 for ordinal in by_ordinal if ordinal in ordinals), default=0) + 1
        beyond = sorted((ordinal for ordinal in by_ordinal if ordinal not in ordinals), reverse=True)
        return cls(
            [member(ordinal) for ordinal in (ordinals[:reached] if monotonic else ordinals)],
            [member(ordinal) for ordinal in beyond],
            monotonic=monotonic,
        )


def _default(strategy: UpdateStrategy | None) -> UpdateStrategy:
    """API defaulting: a rolling update without partition, unless the type is there and nothing below it."""
    if strategy is not None and strategy.type:
        return strategy
    rolling_update = strategy.rolling_update if strategy is not None else None
    return UpdateStrategy(type=_ROLLING_UPDATE, rolling_update=rolling_update or RollingUpdate())


def _not_updated(stateful_set: StatefulSet) -> int:
    """Number of the lowest ordinals that are recreated with the current revision."""
    strategy = _default(stateful_set.spec.update_strategy)
    if strategy.type != _ROLLING_UPDATE:
        return 0
    if strategy.rolling_update is None:
        # Only if the type is set and nothing below it: then the number not updated yet.
        return stateful_set.status.current_replicas
    return strategy.rolling_update.partition or 0


def _replace_missing(members: _Members) -> tuple[list[Action], bool]:
    """Create missing pods and delete ended ones, from the lowest ordinal; True if the pass ends with that."""
    actions: list[Action] = []
    for member in members.replicas:
        if member.is_available:
            continue
        if member.pod is None:
            actions.append(Create(member.name, member.ordinal, member.revision))
        elif member.has_ended and not member.is_terminating:
            actions.append(Delete(member.name))
        if members.monotonic:
            return actions, True
    return actions, False


def _scale_down(members: _Members) -> tuple[list[Action], bool]:
    """Delete pods beyond the ordinals, from the highest; True if the pass ends with that."""
    ascending = (*members.replicas, *reversed(members.condemned))
    first_unavailable = next((member for member in ascending if not member.is_available), None)
    actions: list[Action] = []
    for member in members.condemned:
        waits = not member.is_available and member is not first_unavailable
        if not member.is_terminating and not (members.monotonic and waits):
            actions.append(Delete(member.name))
        if members.monotonic:
            return actions, True
    return actions, False


def max_unavailable(stateful_set: StatefulSet, rules: UpdateRules) -> int:
    """Most pods that a rolling update may make unavailable at once. Raises IntOrStringError for no percentage."""
    rolling_update = _default(stateful_set.spec.update_strategy).rolling_update or RollingUpdate()
    return _limit(rolling_update, replicas_of(stateful_set), rules)


def _limit(rolling_update: RollingUpdate, replicas: int, rules: UpdateRules) -> int:
    if not rules.max_unavailable or rolling_update.max_unavailable is None:
        return 1
    return max(1, scaled_value(rolling_update.max_unavailable, replicas, round_up=False))


def _outdated_pods(members: _Members, rolling_update: RollingUpdate, revision: str, rules: UpdateRules) -> list[Delete]:
    """Deletions of pods without the new ``revision``, from the highest ordinal down to the partition."""
    updated = members.replicas[rolling_update.partition or 0 :][::-1]
    if rules.max_unavailable:
        limit = _limit(rolling_update, len(members.replicas), rules)
        allowed = max(0, limit - sum(not member.is_available for member in members.replicas))
        outdated = [member for member in updated if _is_outdated(member, revision)]
        first: list[_Member] = []
        if rules.clears_unavailable_first and not members.monotonic:
            first = [member for member in outdated if member.pod is not None and not member.is_available]
            outdated = [member for member in outdated if member.is_available]
        return [Delete(member.name) for member in (*first, *outdated[:allowed])]
    for member in updated:
        if _is_outdated(member, revision):
            return [Delete(member.name)]
        if not member.is_available:
            break
    return []


def _is_outdated(member: _Member, revision: str) -> bool:
    return member.revision != revision and not member.is_terminating


def _status(members: _Members, revisions: Revisions) -> StatefulSetStatus:
    created = [member for member in (*members.replicas, *members.condemned) if member.pod is not None]
    staying = [member.revision for member in created if not member.is_terminating]
    return StatefulSetStatus(
        replicas=len(created),
        ready_replicas=sum(member.is_running_and_ready for member in created),
        current_replicas=staying.count(revisions.current),
        updated_replicas=staying.count(revisions.update),
        current_revision=revisions.current,
        update_revision=revisions.update,
    )
