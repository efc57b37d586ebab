"""How many replicas the controller of a pod asks for, as the disruption controller finds out.

Source of the rules: k8s.io/kubernetes/pkg/controller/disruption (getExpectedScale and its finders), Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KINDS, full_kind, group_of
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.workloads import Deployment, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.gotext import quote
from kubespread.kube.owners import WorkloadName, controller_of

_Scalable = Deployment | ReplicaSet | StatefulSet | ReplicationController

_RESOURCES = {(row.api_version, row.kind): row.resource for row in KINDS}
# The group extensions is long gone, but the disruption controller still takes its objects for those of apps.
_GROUPS: Mapping[type[ApiObject], tuple[str, ...]] = {
    Deployment: ("apps", "extensions"),
    ReplicaSet: ("apps", "extensions"),
    StatefulSet: ("apps",),
    ReplicationController: ("",),
}
_SCALABLE_KINDS = frozenset(cls.__name__ for cls in _GROUPS)


class ScaleError(Exception):
    """A controller whose replicas cannot be told; the message is the disruption controller's."""


class Scale(NamedTuple):
    """The replicas that ``workload`` asks for. A kind outside Kubernetes' own has its group: ``Widget.example.com``."""

    workload: WorkloadName
    replicas: int


class Scales(Protocol):
    """Finds the scale of a pod's controller: None where there is no such object. Raises ScaleError for a kind without
    scales.
    """

    def __call__(self, controller: OwnerReference, namespace: str, /) -> Scale | None: ...


@dataclass(frozen=True, slots=True)
class CustomScale:
    uid: str
    replicas: int


@dataclass(frozen=True, slots=True)
class CustomKind:
    """A kind of a custom resource definition."""

    resource: str
    """``widgets.example.com``"""
    scales: Mapping[tuple[str, str], CustomScale] | None = None
    """Those of its objects by namespace and name, None where it has no scale subresource."""


class ClusterScales:
    """The scales of a cluster's controllers.

    ``custom`` are the kinds of custom resource definitions by apiVersion and kind; any other kind that is not
    Kubernetes' own counts as one that the API does not serve.
    """

    def __init__(self, objects: ClusterObjects, custom: Mapping[tuple[str, str], CustomKind] | None = None) -> None:
        found: Sequence[_Scalable] = (
            *objects.of(Deployment),
            *objects.of(ReplicaSet),
            *objects.of(StatefulSet),
            *objects.of(ReplicationController),
        )
        self._workloads = {_name_of(workload): workload for workload in found}
        self._custom = custom or {}

    def __call__(self, controller: OwnerReference, namespace: str, /) -> Scale | None:
        workload = self._find(controller, namespace)
        if isinstance(workload, ReplicaSet):
            # That of a missing Deployment stands for itself.
            workload = self._deployment(workload) or workload
        if workload is not None:
            replicas = workload.spec.replicas
            return Scale(_name_of(workload), 1 if replicas is None else replicas)
        return self._by_subresource(controller, namespace)

    def _find(self, owner: OwnerReference, namespace: str) -> _Scalable | None:
        group = group_of(owner.api_version)
        known = self._workloads.get(WorkloadName(owner.kind, namespace, owner.name))
        if known is None or group not in _GROUPS[type(known)] or not _is(owner, known.metadata.uid):
            return None
        return known

    def _deployment(self, replica_set: ReplicaSet) -> _Scalable | None:
        owner = controller_of(replica_set)
        if owner is None or owner.kind != Deployment.__name__:
            return None
        return self._find(owner, replica_set.metadata.namespace)

    def _by_subresource(self, owner: OwnerReference, namespace: str) -> Scale | None:
        kind = owner.api_version, owner.kind
        custom = self._custom.get(kind)
        if custom is not None and custom.scales is not None:
            scale = custom.scales.get((namespace, owner.name))
            if scale is None or not _is(owner, scale.uid):
                return None
            return Scale(WorkloadName(full_kind(*kind), namespace, owner.name), scale.replicas)
        resource = custom.resource if custom is not None else _RESOURCES.get(kind)
        if resource is None:
            raise ScaleError(f"no matches for kind {quote(owner.kind)} in version {quote(owner.api_version)}")
        if custom is not None or owner.kind not in _SCALABLE_KINDS:
            raise ScaleError(f"{resource} does not implement the scale subresource")
        return None


def total_scale(pods: Sequence[Pod], scales: Scales) -> int:
    """The replicas that the controllers of ``pods`` ask for together, each counted once.

    A pod without a controller adds nothing. Raises ScaleError, also for a controller that is gone.
    """
    asked: set[tuple[str, ...]] = set()
    replicas: dict[WorkloadName, int] = {}
    for pod in pods:
        controller = controller_of(pod)
        if controller is None:
            continue
        key = pod.metadata.namespace, controller.api_version, controller.kind, controller.name, controller.uid
        if key in asked:
            continue
        asked.add(key)
        scale = scales(controller, pod.metadata.namespace)
        if scale is None:
            raise ScaleError(f"found no controllers for pod {quote(pod.metadata.name)}")
        # Several ReplicaSets may lead to one Deployment.
        replicas[scale.workload] = scale.replicas
    return sum(replicas.values())


def _name_of(workload: ApiObject) -> WorkloadName:
    return WorkloadName(type(workload).__name__, workload.metadata.namespace, workload.metadata.name)


def _is(owner: OwnerReference, uid: str) -> bool:
    """By uid as in Kubernetes; what was never stored has none, and then the name is all there is."""
    return not owner.uid or not uid or owner.uid == uid
