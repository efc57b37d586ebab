"""Direct controllers of pods, with the state that creating and deleting pods depends on.

Ongoing rollouts of a world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.deployment import TEMPLATE_HASH
from kubespread.controllers.disruption import ClusterScales
from kubespread.controllers.statefulset import POD_INDEX_LABEL, POD_NAME_LABEL, REVISION_LABEL, Revisions, ordinal_of
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.meta import ApiObject, LabelSelector
from kubespread.kube.api.workloads import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.owners import WorkloadName, controller_of, is_active
from kubespread.kube.selector import Selector, SelectorError, from_label_selector, from_map

_OF_ONE = (TEMPLATE_HASH, REVISION_LABEL, POD_NAME_LABEL, POD_INDEX_LABEL)
"""Labels that controllers give pods of one revision, or a single pod."""


class OngoingRollout(Struct):
    """A Deployment to change, with its ReplicaSets."""

    deployment: Deployment
    replica_sets: Sequence[ReplicaSet]
    template: Pod | None = None
    """New template of its ReplicaSet's pods, if changed."""
    new_hash: str = ""

    def fork(self) -> OngoingRollout:
        return replace(self)


class StatefulSetRollout(Struct):
    """A StatefulSet with its revisions and their templates."""

    stateful_set: StatefulSet
    revisions: Revisions
    templates: dict[str, Pod] = field(default_factory=dict)
    """A pod of each revision."""
    by_ordinal: dict[int, Pod] = field(default_factory=dict)
    """Last pod of each ordinal."""

    def fork(self) -> StatefulSetRollout:
        return replace(self, templates=dict(self.templates), by_ordinal=dict(self.by_ordinal))


T = TypeVar("T", bound=ApiObject)


def name_of(obj: ApiObject) -> WorkloadName:
    return WorkloadName(type(obj).__name__, obj.metadata.namespace, obj.metadata.name)


def are_namesakes(obj: ApiObject, other: ApiObject) -> bool:
    """True if two objects of one kind share namespace and name."""
    one, two = obj.metadata, other.metadata
    return one.name == two.name and one.namespace == two.namespace


def in_order(name: WorkloadName) -> tuple[str, str, str]:
    """Sort key of workloads: namespace, kind and name."""
    return name.namespace, name.kind, name.name


class PodCopy(Struct, frozen=True):
    """A pod of a workload's template, with objects created for it, such as claims."""

    pod: Pod
    companions: tuple[ApiObject, ...] = ()


Making = Callable[[WorkloadName, ClusterObjects], PodCopy]
"""Function for the next pod of a workload among the objects, admitted. Raises UsageError, SnapshotError and
ManifestError.
"""


class Owner(Struct):
    """One controller of pods."""

    name: WorkloadName
    replicas: int
    """Number of desired pods."""
    template: Pod | None = None
    """Template of its pods; None if unknown yet."""
    pods_to_recreate: list[Pod] = field(default_factory=list)
    """Lost pods to recreate unchanged; each pod of a StatefulSet or Job differs."""
    number: int = 0
    """Number in the name of its last new pod."""
    failures: int = 0
    """Number of a Job's lost pods."""
    has_ended: bool = False
    """True if a Job has failed here."""
    is_foreign: bool = False
    """True if its controller is unknown, and is replaced by that of a ReplicaSet."""

    def fork(self) -> Owner:
        return replace(self, pods_to_recreate=list(self.pods_to_recreate))


def inferred_replicas(name: WorkloadName, pods: Sequence[Pod]) -> int:
    """Desired pods of a controller known only by its ``pods``: as many as it has, plus gaps in a StatefulSet's
    ordinals.
    """
    if name.kind == "StatefulSet":
        ordinals = [ordinal for pod in pods if (ordinal := ordinal_of(pod, name.name)) is not None]
        return max(ordinals) - min(ordinals) + 1 if ordinals else 0
    return sum(map(is_active, pods))


def unknown_replicas(name: WorkloadName, objects: ClusterObjects) -> Iterator[str]:
    """Yield a note on a controller with an unknown number of desired pods."""
    kind = {cls.__name__: cls for cls in (ReplicaSet, ReplicationController, StatefulSet)}.get(name.kind)
    if kind is None:
        return
    if objects.knows(kind):
        subject = f"{name.kind}/{name.name} is not in the cluster, or does not say how many pods it is to have"
        yield f"{subject}: as many as it has"
    else:
        yield from objects.gap(kind, f"each {name.kind} is taken to want as many pods as it has")


def _by_name(cls: type[T]) -> cached_property[Mapping[WorkloadName, T]]:
    """All objects of one kind."""

    def by_name(workloads: Workloads) -> Mapping[WorkloadName, T]:
        return {name_of(obj): obj for obj in workloads.objects.get(cls)}

    return cached_property(by_name)


class Workloads:
    """Workload objects of a cluster by kind, namespace and name."""

    def __init__(self, objects: ClusterObjects) -> None:
        self.objects = objects

    replica_sets = _by_name(ReplicaSet)
    replication_controllers = _by_name(ReplicationController)
    deployments = _by_name(Deployment)
    stateful_sets = _by_name(StatefulSet)
    daemon_sets = _by_name(DaemonSet)
    jobs = _by_name(Job)

    @cached_property
    def scales(self) -> ClusterScales:
        """The scales that budgets go by."""
        return ClusterScales(self.objects)

    @cached_property
    def orphans(self) -> Mapping[WorkloadName, Sequence[WorkloadName]]:
        """ReplicaSets with desired pods by their Deployment, if that is not in the cluster."""
        below: dict[WorkloadName, list[WorkloadName]] = {}
        for name in self.replica_sets:
            if self.replicas(name) and (above := self.top_owner(name)) != name and above not in self.deployments:
                below.setdefault(above, []).append(name)
        return below

    @cached_property
    def _top_owners(self) -> Mapping[WorkloadName, WorkloadName]:
        """Workload above each ReplicaSet that is in the cluster."""
        owners = ((name, controller_of(replica_set)) for name, replica_set in self.replica_sets.items())
        return {
            name: name if owner is None else WorkloadName(owner.kind, name.namespace, owner.name)
            for name, owner in owners
        }

    def _resizable(self, name: WorkloadName) -> ReplicaSet | ReplicationController | StatefulSet | None:
        return self.replica_sets.get(name) or self.replication_controllers.get(name) or self.stateful_sets.get(name)

    def is_resizable(self, name: WorkloadName) -> bool:
        """True for a ReplicaSet, ReplicationController or StatefulSet of the cluster."""
        return self._resizable(name) is not None

    def replicas(self, name: WorkloadName) -> int | None:
        """Replicas in the object's spec; None if unset, or without such an object."""
        obj = self._resizable(name)
        return None if obj is None else obj.spec.replicas

    def resize(self, name: WorkloadName, replicas: int) -> ReplicaSet | ReplicationController | StatefulSet | None:
        """The object with other replicas; None without such an object."""
        obj = self._resizable(name)
        return None if obj is None else replace(obj, spec=replace(obj.spec, replicas=replicas))

    def selector_of(self, name: WorkloadName, pod: Pod) -> LabelSelector:
        """The workload's own selector; without one, the labels of ``pod`` that are not for one revision or one pod."""
        row = POD_CREATORS.get(name.kind)
        obj = None if row is None else self.objects.find(row.cls, name.name, name.namespace)
        own = getattr(getattr(obj, "spec", None), "selector", None)
        if own is not None:
            return own if isinstance(own, LabelSelector) else LabelSelector(match_labels=own)
        labels = pod.metadata.labels.items()
        return LabelSelector(match_labels={key: value for key, value in labels if key not in _OF_ONE})

    def missing(self, objects: Iterable[ApiObject]) -> Iterator[ApiObject]:
        """Yield the ``objects`` without an existing namesake of the same kind."""
        for obj in objects:
            if not any(are_namesakes(stored, obj) for stored in self.objects.get(type(obj))):
                yield obj

    def top_owner(self, name: WorkloadName, pods: Iterable[Pod] = ()) -> WorkloadName:
        """Top-level workload: the controller of a ReplicaSet, such as a Deployment, else the workload itself.

        If the ReplicaSet is not in the cluster, the hash in the labels of its ``pods`` shows that a Deployment created
        it.
        """
        if name.kind != "ReplicaSet":
            return name
        if (top_owner := self._top_owners.get(name)) is not None:
            return top_owner
        hashes = {pod.metadata.labels.get(TEMPLATE_HASH, "") for pod in pods}
        suffix = f"-{next(iter(hashes))}" if len(hashes) == 1 else "-"
        if len(suffix) > 1 and name.name.endswith(suffix):
            return WorkloadName("Deployment", name.namespace, name.name.removesuffix(suffix))
        return name


class Adopters:
    """Lookup of the controller that adopts a pod without one: the first with a matching selector.

    A StatefulSet adopts only pods with the name of one of its own.

    Source: pkg/controller/controller_ref_manager.go, ClaimPods
    Source: pkg/controller/statefulset/stateful_set_utils.go, isMemberOf
    """

    def __init__(self, objects: ClusterObjects) -> None:
        self._objects = objects
        self._adopters: dict[tuple[str, int, str], tuple[Mapping[str, str], WorkloadName | None]] = {}
        """Adopter by namespace, id of labels, which must not be freed, and name."""

    def __call__(self, pod: Pod) -> WorkloadName | None:
        meta = pod.metadata
        # Pods of one template share their labels.
        ordinal = meta.name if self._objects.get(StatefulSet) else ""
        key = meta.namespace, id(meta.labels), ordinal
        if key not in self._adopters:
            names = (
                name for name, selector in self._selectors.get(meta.namespace, ()) if selector.matches(meta.labels)
            )
            adopter = next(
                (name for name in names if name.kind != "StatefulSet" or ordinal_of(pod, name.name) is not None), None
            )
            self._adopters[key] = meta.labels, adopter
        return self._adopters[key][1]

    @cached_property
    def _selectors(self) -> Mapping[str, list[tuple[WorkloadName, Selector]]]:
        objects, by_namespace = self._objects, dict[str, list[tuple[WorkloadName, Selector]]]()
        adopting: Sequence[ReplicaSet | ReplicationController | StatefulSet] = (
            *objects.get(ReplicaSet),
            *objects.get(ReplicationController),
            *objects.get(StatefulSet),
        )
        for obj in adopting:
            label_selector = obj.spec.selector
            try:
                selector = (
                    from_label_selector(label_selector)
                    if isinstance(label_selector, LabelSelector)
                    else from_map(label_selector or {})
                )
            except SelectorError:
                continue
            if not selector.is_empty and not selector.nothing:
                name = name_of(obj)
                by_namespace.setdefault(name.namespace, []).append((name, selector))
        return by_namespace
