"""Index of all pods of a cluster by name, node and controller; and the states that controllers, the scheduler and
kubelets give to pods.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Self, TypeVar

from msgspec.structs import replace

from kubespread.kube.api.core import Pod, PodCondition, PodStatus
from kubespread.kube.api.meta import ObjectMeta, OwnerReference
from kubespread.kube.owners import WorkloadName, controller_of, is_active, is_ready
from kubespread.kube.selector import pinned_names, required_node_selector
from kubespread.kube.well_known import BY_SCHEDULER, DISRUPTION_TARGET, ENDED_PHASES, JOB_COMPLETION_INDEX, READY
from kubespread.scheduler.cluster.columns import Forking

PENDING = PodStatus(phase="Pending")


@lru_cache(maxsize=256)
def running_since(time: str, *, ready: bool) -> PodStatus:
    """Status of a running pod; one object for all with the same start."""
    condition = PodCondition(type=READY, status="True" if ready else "False", last_transition_time=time)
    return PodStatus(phase="Running", start_time=time, conditions=[condition])


def has_readiness(pod: Pod) -> bool:
    """False for a running pod without a Ready condition, which every kubelet reports."""
    has_started = bool(pod.spec.node_name) and pod.status.phase in ("", "Running")
    return not has_started or any(condition.type == READY for condition in pod.status.conditions)


def assume_ready(pod: Pod) -> Pod:
    """The pod, running and ready since its creation."""
    if pod.status == PodStatus() or pod.status == PodStatus(phase="Running"):
        return replace(pod, status=running_since(pod.metadata.creation_timestamp, ready=True))
    ready = PodCondition(type=READY, status="True", last_transition_time=pod.metadata.creation_timestamp)
    status = replace(pod.status, phase="Running", conditions=[*pod.status.conditions, ready])
    return replace(pod, status=status)


def as_template(pod: Pod) -> Pod:
    """The pod as its controller would create it again: without node and status, but with its name."""
    meta = pod.metadata
    metadata = ObjectMeta(
        namespace=meta.namespace, labels=meta.labels, owner_references=meta.owner_references, name=meta.name
    )
    if (index := meta.annotations.get(JOB_COMPLETION_INDEX)) is not None:
        metadata.annotations = {JOB_COMPLETION_INDEX: index}
    return Pod(metadata=metadata, spec=replace(pod.spec, node_name=""), status=PENDING)


def reuse_if_alike(template: Pod, earlier: Pod | None) -> Pod:
    """``earlier`` if it differs from ``template`` in name only, so that results for one template are shared."""
    if earlier is None or template.status != earlier.status or template.spec != earlier.spec:
        return template
    meta, other = template.metadata, earlier.metadata
    is_same = (meta.namespace, meta.labels, meta.owner_references) == (
        other.namespace,
        other.labels,
        other.owner_references,
    )
    return earlier if is_same else template


def copy_of(template: Pod, name: str, time: str) -> Pod:
    """New pod of a template, without a node."""
    metadata = replace(template.metadata, name=name, creation_timestamp=time)
    return Pod(metadata=metadata, spec=template.spec, status=PENDING)


def on_node(pod: Pod, node: str, status: PodStatus) -> Pod:
    return Pod(metadata=pod.metadata, spec=replace(pod.spec, node_name=node), status=status)


def terminate(pod: Pod, time: str) -> Pod:
    """The pod while it terminates: no controller counts it, but it keeps its room until its kubelet is done."""
    return replace(pod, metadata=replace(pod.metadata, deletion_timestamp=pod.metadata.deletion_timestamp or time))


def stop(pod: Pod, time: str) -> Pod:
    """The pod once its kubelet has stopped it, though finalizers delay its removal: it takes no room."""
    phase = pod.status.phase if pod.status.phase in ENDED_PHASES else "Failed"
    return replace(terminate(pod, time), status=replace(pod.status, phase=phase))


def preempt(pod: Pod, time: str) -> Pod:
    """The pod while it terminates for the pod that preempts it."""
    target = PodCondition(type=DISRUPTION_TARGET, status="True", reason=BY_SCHEDULER, last_transition_time=time)
    going = terminate(pod, time)
    return replace(going, status=replace(pod.status, conditions=[*pod.status.conditions, target]))


def node_of(pod: Pod) -> str:
    """Node that the pod runs on, or is pinned to."""
    required = required_node_selector(pod)
    names = pinned_names(required.node_selector_terms) if required is not None else None
    return pod.spec.node_name or next(iter(names or ()), "")


K = TypeVar("K", bound=str)
PodKey = tuple[str, str]
"""Namespace and name."""
Adopter = Callable[[Pod], WorkloadName | None]
"""Lookup of the controller that adopts a pod."""


def key_of(pod: Pod) -> PodKey:
    return pod.metadata.namespace, pod.metadata.name


class PodCount(NamedTuple):
    """Number of a controller's active pods, and of the ready ones."""

    active: int
    ready: int


class PodBook(Forking):
    """Pods by name, by node and by owner; pods without a node are under the empty name."""

    _copied = ("_pods", "_on_node", "_of_owner", "_counts", "changed", "_own")

    def __init__(self, pods: Iterable[Pod], adopter: Adopter) -> None:
        self._adopter = adopter
        self._owners: dict[tuple[str, int], tuple[Sequence[OwnerReference], WorkloadName]] = {}
        """Owner by namespace and id of the references, which a controller's pods share and which must not be freed."""
        self._api_versions: dict[WorkloadName, str] = {}
        self._pods: dict[PodKey, Pod] = {}
        self._on_node: dict[str, dict[PodKey, Pod]] = {}
        self._of_owner: dict[WorkloadName, dict[PodKey, Pod]] = {}
        self._counts: dict[WorkloadName, PodCount] = {}
        """Counts of owners, updated from the first call of `count` on."""
        self.changed: set[WorkloadName] = set()
        """Owners of pods that have come, gone or changed since this was emptied, in all forks on the way."""
        self._own: set[str] = set()
        """Nodes and owners with pods that no fork shares: all other pods are copied before they change."""
        for pod in pods:
            self.add(pod)

    def __iter__(self) -> Iterator[Pod]:
        return iter(self._pods.values())

    def __contains__(self, key: PodKey) -> bool:
        return key in self._pods

    def __getitem__(self, key: PodKey) -> Pod:
        return self._pods[key]

    def owner_of(self, pod: Pod) -> WorkloadName | None:
        """Direct owner of the pod: a ReplicaSet, not its Deployment."""
        references = pod.metadata.owner_references
        cached = self._owners.get((pod.metadata.namespace, id(references)))
        if cached is not None:
            return cached[1]
        owner = controller_of(pod)
        if owner is None:
            return self._adopter(pod)
        name = WorkloadName(owner.kind, pod.metadata.namespace, owner.name)
        self._owners[pod.metadata.namespace, id(references)] = references, name
        self._api_versions[name] = owner.api_version
        return name

    def api_version_of(self, owner: WorkloadName) -> str:
        """apiVersion by which pods name the owner; empty if no pod does."""
        return self._api_versions.get(owner, "")

    def pods_on(self, node: str) -> list[Pod]:
        """Pods on a node, by namespace and name."""
        pods = self._on_node.get(node, {})
        return [pods[key] for key in sorted(pods)]

    def pods_of(self, owner: WorkloadName) -> list[Pod]:
        """Pods owned directly, in order of arrival."""
        return list(self._of_owner.get(owner, {}).values())

    def count(self, owner: WorkloadName) -> PodCount:
        """Number of active pods owned directly, and of the ready ones."""
        count = self._counts.get(owner)
        if count is None:
            active = [pod for pod in self._of_owner.get(owner, {}).values() if is_active(pod)]
            count = self._counts[owner] = PodCount(len(active), sum(map(is_ready, active)))
        return count

    @property
    def owners(self) -> Collection[WorkloadName]:
        return self._of_owner.keys()

    def add(self, pod: Pod) -> None:
        """Add a new or changed pod."""
        key = key_of(pod)
        self._pods[key] = pod
        self._changing(self._on_node, pod.spec.node_name)[key] = pod
        if (owner := self.owner_of(pod)) is not None:
            self.changed.add(owner)
            pods = self._changing(self._of_owner, owner)
            self._recount(owner, pods.get(key), pod)
            pods[key] = pod

    def remove(self, pod: Pod) -> None:
        key = key_of(pod)
        del self._pods[key]
        del self._changing(self._on_node, pod.spec.node_name)[key]
        if (owner := self.owner_of(pod)) is not None:
            self.changed.add(owner)
            self._recount(owner, self._changing(self._of_owner, owner).pop(key), None)

    def _recount(self, owner: WorkloadName, old: Pod | None, new: Pod | None) -> None:
        count = self._counts.get(owner)
        if count is None:
            return
        active, ready = count
        for pod, by in ((old, -1), (new, 1)):
            if pod is not None and is_active(pod):
                active += by
                ready += by * is_ready(pod)
        self._counts[owner] = PodCount(active, ready)

    def replace(self, old: Pod, new: Pod) -> None:
        """Replace a pod, which keeps its place by name."""
        if old.spec.node_name != new.spec.node_name:
            del self._changing(self._on_node, old.spec.node_name)[key_of(old)]
        self.add(new)

    def _changing(self, pods_of: dict[K, dict[PodKey, Pod]], key: K) -> dict[PodKey, Pod]:
        """The pods of a node or an owner, for this book alone to change."""
        pods = pods_of.get(key)
        if pods is None or key not in self._own:
            self._own.add(key)
            pods = pods_of[key] = {} if pods is None else dict(pods)
        return pods

    def fork(self, *, keeps_owners: bool = True) -> Self:
        """Copy that continues separately; without ``keeps_owners``, owners that its new pods name are not recorded
        here.
        """
        self._own.clear()
        other = super().fork()
        if not keeps_owners:
            other._owners, other._api_versions = dict(self._owners), dict(self._api_versions)
        return other
