"""What a Deployment's ReplicaSets go through, pass by pass: ours beside the Deployment controller's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

import kubespread
from kubespread.controllers.deployment import DeploymentPass, Write, limits, new_replica_set, reconcile, replicas_of
from kubespread.kube.api.core import PodTemplateSpec
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.well_known import DESIRED_REPLICAS, MAX_REPLICAS, REVISION
from tools.replay.cases import Data, Difference, Recorded

_ANNOTATIONS = {"desired": DESIRED_REPLICAS, "max": MAX_REPLICAS, "revision": REVISION}
_BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def step_differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """One pass. Statuses that lag behind are compared too, though a simulation never shows them."""
    ours = _one_pass(recorded.case)
    for what, wanted in recorded.expect.items():
        if ours[what] != wanted:
            yield Difference(recorded.name, what, wanted, ours[what])


def _one_pass(case: Data) -> Data:
    snapshot = _snapshot(case)
    (deployment,), replica_sets = snapshot.objects.get(Deployment), snapshot.objects.get(ReplicaSet)
    found = reconcile(deployment, replica_sets, snapshot.pods, new_hash="created", now=_BEGIN)
    new, created = new_replica_set(deployment, replica_sets), found.created
    kept = [each for each in found.replica_sets if created is None or each.metadata.name != created.metadata.name]
    max_surge, max_unavailable = limits(deployment)
    return {
        "maxSurge": max_surge,
        "maxUnavailable": max_unavailable,
        "new": new and new.metadata.name,
        "replicaSets": {each.metadata.name: replicas_of(each) for each in kept},
        "created": created and {"replicas": replicas_of(created), "annotations": _annotations(created)},
        "annotations": {each.metadata.name: _annotations(each) for each in kept},
        "writes": [_step_write(write, created) for write in found.writes],
    }


def _snapshot(case: Data) -> kubespread.Snapshot:
    pods = [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in case.get("pods", ())]
    return kubespread.Snapshot.from_objects([case["deployment"], *case["replicaSets"], *pods])


def _annotations(replica_set: ReplicaSet) -> Data:
    own = replica_set.metadata.annotations
    return {name: own[annotation] for name, annotation in _ANNOTATIONS.items() if annotation in own}


def _step_write(write: Write, created: ReplicaSet | None) -> list[object]:
    is_created = created is not None and write.replica_set == created.metadata.name
    return ["<created>" if is_created else write.replica_set, "deleted" if write.replicas is None else write.replicas]


def rollout_differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """A whole rollout: every pass that changes something, and what there is in the end."""
    ours = _Replay(recorded.case).run()
    for what, wanted in recorded.expect.items():
        if ours[what] != wanted:
            yield Difference(recorded.name, what, wanted, ours[what])


class _Replay:
    """A Deployment and its ReplicaSets, whose pods become available as the case says."""

    def __init__(self, case: Data) -> None:
        snapshot = _snapshot(case)
        self._case = case
        (self._deployment,) = snapshot.objects.get(Deployment)
        self._replica_sets = snapshot.objects.get(ReplicaSet)
        self._now = _BEGIN
        self._passes: list[Data] = []
        self._available_after: list[int] = []
        self._total_after: list[int] = []

    def run(self) -> Data:
        limits = self._case.get("maxPasses", [])
        for step, event in enumerate(self._case["steps"]):
            self._apply(event)
            self._until_nothing_changes(step, limits[step] if step < len(limits) else 0)
        return {
            "passes": self._passes,
            "final": {"sizes": self._sizes(), "available": self._available()},
            "minAvailable": min(self._available_after, default=None),
            "maxTotal": max(self._total_after, default=None),
        }

    def _until_nothing_changes(self, step: int, limit: int) -> None:
        changed = idle = 0
        while idle < 2 and not (limit and changed == limit):
            self._now += timedelta(seconds=1)
            image = _image(self._deployment.spec.template)
            found = reconcile(self._deployment, self._replica_sets, new_hash=f"h{image}", now=self._now)
            self._settle(found)
            if not found.writes:
                idle += 1
                continue
            idle, changed = 0, changed + 1
            writes = [[write.replica_set.removeprefix("web-h"), write.replicas] for write in found.writes]
            sizes, available = self._sizes(), self._available()
            self._passes.append({"step": step, "sizes": sizes, "available": available, "writes": writes})

    def _settle(self, found: DeploymentPass) -> None:
        """Pods that are not available are deleted first; new ones become available at once, or by events."""
        self._deployment = found.deployment
        self._replica_sets = tuple(_with_available(each, each.status.available_replicas) for each in found.replica_sets)
        if found.writes:
            self._available_after.append(sum(self._available().values()))
            self._total_after.append(sum(self._sizes().values()))
        if self._case["readiness"] == "instant":
            self._replica_sets = tuple(
                each if _revision(each) in self._case.get("stuck", ()) else _with_available(each, replicas_of(each))
                for each in self._replica_sets
            )

    def _apply(self, event: Data) -> None:
        if changes := event.get("set"):
            self._deployment = _changed(self._deployment, changes)
        for name, sign in (("unready", -1), ("ready", 1)):
            by = event.get(name, {})
            self._replica_sets = tuple(
                _with_available(each, max(0, each.status.available_replicas + sign * by.get(_revision(each), 0)))
                for each in self._replica_sets
            )

    def _sizes(self) -> Data:
        return {_revision(each): replicas_of(each) for each in self._replica_sets}

    def _available(self) -> Data:
        return {_revision(each): each.status.available_replicas for each in self._replica_sets}


def _with_available(replica_set: ReplicaSet, available: int) -> ReplicaSet:
    replicas = replicas_of(replica_set)
    available = min(available, replicas)
    status = replace(replica_set.status, replicas=replicas, ready_replicas=available, available_replicas=available)
    return replace(replica_set, status=status)


def _changed(deployment: Deployment, changes: Data) -> Deployment:
    spec = deployment.spec
    if "image" in changes:
        spec = replace(spec, template=_with_image(spec.template, changes["image"]))
    plain = {name: value for name, value in changes.items() if name != "image"}
    return replace(deployment, spec=replace(spec, **plain))


def _with_image(template: PodTemplateSpec | None, image: str) -> PodTemplateSpec:
    assert template is not None
    (container,) = template.spec.containers
    return replace(template, spec=replace(template.spec, containers=[replace(container, image=image)]))


def _revision(replica_set: ReplicaSet) -> str:
    return _image(replica_set.spec.template)


def _image(template: PodTemplateSpec | None) -> str:
    assert template is not None
    (container,) = template.spec.containers
    return container.image.partition(":")[2]
