"""Controllers of pods and other objects, and the properties of a pod that controllers and the scheduler read: its
state, priority and identity.

Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/controller_ref.go, GetControllerOfNoCopy
Source: pkg/controller/controller_utils.go, IsPodActive, podReadyTime
Source: pkg/api/v1/pod/util.go, IsPodReady, IsPodAvailable
Source: pkg/scheduler/util/utils.go, MoreImportantPod
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go, PodPriority
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Self

from msgspec import Struct

from kubespread.errors import SnapshotError, UsageError
from kubespread.kube import time
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api import kinds
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, PodCondition
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.api.unknown_fields import did_you_mean, near_miss
from kubespread.kube.api.workloads import ReplicaSet, ReplicationController, StatefulSet
from kubespread.kube.well_known import CONFIG_SOURCE, ENDED_PHASES, MIRROR_POD, READY
from kubespread.regex import regex


def is_active(pod: Pod) -> bool:
    """True for a pod that runs or will run: neither ended nor terminating."""
    return pod.status.phase not in ENDED_PHASES and pod.metadata.deletion_timestamp is None


def ready_condition(pod: Pod) -> PodCondition | None:
    """The Ready condition, if it is true; else None."""
    for condition in pod.status.conditions:
        if condition.type == READY:
            return condition if condition.status == "True" else None
    return None


def is_ready(pod: Pod) -> bool:
    return ready_condition(pod) is not None


def is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def is_finalizing(pod: Pod) -> bool:
    """True for a deleted and stopped pod that exists only because of finalizers nothing modeled removes."""
    return bool(pod.metadata.finalizers) and is_terminating(pod) and pod.status.phase in ENDED_PHASES


def ready_since(pod: Pod) -> datetime | None:
    """Time at which it became ready; None if it is not, or does not say. Raises SnapshotError."""
    condition = ready_condition(pod)
    if condition is None:
        return None
    return moment(pod, "lastTransitionTime of condition Ready", condition.last_transition_time)


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> bool:
    """True if it has been ready for as long as its workload requires. Raises SnapshotError."""
    if not min_ready_seconds:
        return ready_condition(pod) is not None
    since = ready_since(pod)
    return since is not None and since + timedelta(seconds=min_ready_seconds) <= now


def moment(pod: Pod, field: str, text: str) -> datetime | None:
    """Time in a field of ``pod``; None without one. Raises SnapshotError for an invalid time."""
    try:
        return time.parse(text)
    except time.TimestampError as error:
        raise SnapshotError(f'pod "{pod.metadata.namespace}/{pod.metadata.name}": {field}: {error}') from error


def priority_of(pod: Pod) -> int:
    """Priority that the scheduler compares, by default 0."""
    return pod.spec.priority or 0


def is_same_pod(one: Pod, other: Pod) -> bool:
    """True for equal uids, as in the scheduler; pods without uids compare by name."""
    if one.metadata.uid or other.metadata.uid:
        return one.metadata.uid == other.metadata.uid
    return (one.metadata.namespace, one.metadata.name) == (other.metadata.namespace, other.metadata.name)


_NAMED = regex(r"(?:(?P<namespace>[^/=\s]+)/)?(?P<kind>[^/=\s]+)/(?P<name>[^/=\s]+)")


class NamespacedName(str):
    """``namespace/name``, as Kubernetes' type of that name prints it: a text with parts."""

    namespace: str
    name: str

    def __new__(cls, namespace: str, name: str) -> Self:
        text = super().__new__(cls, f"{namespace}/{name}")
        text.namespace, text.name = namespace, name
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.namespace, self.name)

    @property
    def short_name(self) -> str:
        """The name, with a namespace other than the default one."""
        return self.removeprefix(f"{DEFAULT_NAMESPACE}/")


def full_name(obj: ApiObject) -> NamespacedName:
    return NamespacedName(obj.metadata.namespace, obj.metadata.name)


class WorkloadName(NamespacedName):
    """``namespace/Kind/name``; for a bare pod ``namespace/Pod/name``."""

    kind: str

    def __new__(cls, kind: str, namespace: str, name: str) -> Self:
        text = super().__new__(cls, namespace, f"{kind}/{name}")
        text.kind, text.name = kind, name
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.namespace, self.name)

    @property
    def without_kind(self) -> str:
        """``shop/web``, in the default namespace ``web``: usually unambiguous."""
        return NamespacedName(self.namespace, self.name).short_name

    @property
    def labels(self) -> dict[str, str]:
        """The parts, as labels of metrics."""
        return {"namespace": self.namespace, "kind": self.kind, "name": self.name}


class WorkloadReference(Struct, frozen=True):
    """Name of a workload, with an optional namespace."""

    kind: str
    """Kind as Kubernetes writes it, ``Deployment``."""
    name: str
    namespace: str | None = None
    """None for the default of the caller."""

    def __str__(self) -> str:
        namespace = f"{self.namespace}/" if self.namespace else ""
        row = kinds.POD_CREATORS.get(self.kind)
        return f"{namespace}{(row.short if row is not None else '') or self.kind.lower()}/{self.name}"

    def in_namespace(self, namespace: str) -> WorkloadName:
        return WorkloadName(self.kind, self.namespace or namespace, self.name)


def parse_reference(
    workload: str | WorkloadReference, suggested: Sequence[kinds.Kind] = kinds.REFERABLE
) -> WorkloadReference:
    """Parse ``deploy/web`` or ``shop/deploy/web``. Raises UsageError, with ``suggested`` kinds for an unknown kind."""
    if isinstance(workload, WorkloadReference):
        return workload
    match = _NAMED.fullmatch(workload)
    if match is None:
        raise UsageError(f"invalid workload {workload!r}: expected [NAMESPACE/]KIND/NAME, such as deploy/web")
    kind = kinds.kind_called(match["kind"]) or other_kind(match["kind"])
    if kind is None:
        suggestion = did_you_mean(near_miss(match["kind"], [alias for row in suggested for alias in row.aliases]))
        listed = ", ".join(row.short for row in suggested if row.kind != "Pod")
        raise UsageError(f"unknown kind {match['kind']!r}{suggestion or f'; KIND is one of {listed}'}")
    return WorkloadReference(kind.kind, match["name"], match["namespace"])


_KIND = regex(r"[A-Za-z][A-Za-z0-9]*(?:\.[a-z0-9.-]+)?")
_ALIASES = frozenset(alias for row in kinds.KINDS for alias in row.aliases)


def other_kind(name: str) -> kinds.Kind | None:
    """A kind that only pods may show; None for a known kind without pods, and for a misspelled one."""
    if _KIND.fullmatch(name) is None or name.lower() in _ALIASES:
        return None
    return (
        None if near_miss(name, (alias for row in kinds.REFERABLE for alias in row.aliases)) else kinds.owner_kind(name)
    )


SelectingController = ReplicationController | ReplicaSet | StatefulSet

SELECTING_CONTROLLERS: Mapping[tuple[str, str], type[SelectingController]] = {
    (kinds.KIND_OF[cls].api_version, cls.__name__): cls for cls in (ReplicationController, ReplicaSet, StatefulSet)
}
"""Controllers with selectors that the scheduler reads, by apiVersion and kind."""


def controller_of(controlled: ApiObject) -> OwnerReference | None:
    for owner in controlled.metadata.owner_references:
        if owner.controller:
            return owner
    return None


def custom_owner(workload: WorkloadName, controlled: Iterable[ApiObject]) -> WorkloadName | None:
    """The custom controller of one of ``controlled`` with kubectl's name ``workload``; None without one.

    kubectl's name has the plural and the group: ``clusters.postgresql.cnpg.io/db``.
    """
    alias, _, group = workload.kind.lower().partition(".")
    for obj in controlled:
        owner, namespace = controller_of(obj), obj.metadata.namespace
        if owner is None or (owner.name, namespace) != (workload.name, workload.namespace):
            continue
        kind = owner.kind.lower()
        is_named = alias in (kind, f"{kind}s") and group in ("", kinds.group_of(owner.api_version))
        if is_named and owner.kind != "Node" and kinds.pod_creator(owner.api_version, owner.kind) is None:
            return WorkloadName(owner.kind, namespace, owner.name)
    return None


def controls(controller: ApiObject, controlled: ApiObject) -> bool:
    """True if ``controlled``, of the same namespace, names ``controller`` as its own, by UID if both have one."""
    owner, meta = controller_of(controlled), controller.metadata
    return (
        owner is not None
        and (owner.kind, owner.name) == (type(controller).__name__, meta.name)
        and (owner.uid == meta.uid or not (owner.uid and meta.uid))
    )


def selects_pods(owner: OwnerReference) -> bool:
    """True if the scheduler reads the selector of an owner of this kind."""
    return (owner.api_version, owner.kind) in SELECTING_CONTROLLERS


def find_controller(owner: OwnerReference, namespace: str, objects: ClusterObjects) -> SelectingController | None:
    """Owner by exact apiVersion, kind and name, without its uid; None for kinds that select nothing."""
    if not selects_pods(owner):
        return None
    return objects.find(SELECTING_CONTROLLERS[owner.api_version, owner.kind], owner.name, namespace)


def static_notes(pod: Pod) -> Iterator[str]:
    """Yield a note for a static pod: the kubelet runs it from a file, and kube-scheduler never sees it."""
    annotations, owner = pod.metadata.annotations, controller_of(pod)
    is_owned_by_node = owner is not None and owner.kind == "Node"
    if MIRROR_POD in annotations or annotations.get(CONFIG_SOURCE, "api") != "api" or is_owned_by_node:
        yield (
            f"Pod/{pod.metadata.name} is a static pod: the kubelet of its node runs it whatever kube-scheduler would "
            "say; it is judged as if it were any other pod"
        )
