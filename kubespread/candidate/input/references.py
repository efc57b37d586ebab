"""Workloads and pods of the cluster by name (``deploy/web``), and all of them at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS, REFERABLE, Kind, kind_called
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import controller_of, is_active, static_notes
from kubespread.kube.selector import Selector
from kubespread.snapshot.snapshot import Snapshot

_REFERENCE = re.compile(r"(?P<kind>[A-Za-z]+(?:\.[a-z0-9.]+)?)/(?P<name>[a-z0-9][a-z0-9.-]*)")
# Whether a Job or a bare pod will run again is not known; a CronJob's pods are those of its Jobs.
_LASTING = tuple(
    POD_CREATORS[kind] for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController")
)


class Reference(Struct, frozen=True):
    """One object of the cluster; without a namespace it is in that of the question."""

    kind: Kind
    name: str
    namespace: str | None = None


class ClusterWorkloads(Struct, frozen=True):
    """Every workload of the cluster."""

    kinds: tuple[Kind, ...] = ()
    """Of these kinds; by default of those that run until they are deleted."""
    all_namespaces: bool = False

    def references(self, snapshot: Snapshot, namespace: str, selector: Selector) -> Iterator[Reference]:
        """Those that ``selector`` selects, by kind, namespace and name; unless kinds are named without what another
        workload of the snapshot controls.
        """
        present = {_key(row, obj) for row in REFERABLE for obj in snapshot.of_kind(row)}
        for row in self.kinds or _LASTING:
            for obj in sorted(snapshot.of_kind(row), key=lambda obj: _key(row, obj)):
                meta = obj.metadata
                is_asked = self.all_namespaces or meta.namespace == namespace
                if is_asked and selector.matches(meta.labels) and (self.kinds or not _is_part(obj, present)):
                    yield Reference(row, meta.name, meta.namespace)

    def with_lone_pods(self, snapshot: Snapshot, namespace: str, selector: Selector) -> Iterator[Reference]:
        """The same and, unless kinds are named, pods that none of them makes: of those that share a controller (a Job)
        the first that waits for a node, else the first.
        """
        yield from self.references(snapshot, namespace, selector)
        if self.kinds:
            return
        makers = {_key(row, obj) for row in _LASTING for obj in snapshot.of_kind(row)}
        lone: dict[tuple[str, str, str], Pod] = {}
        for pod in sorted(snapshot.pods, key=lambda pod: (bool(pod.spec.node_name), pod.metadata.name)):
            owner, meta = controller_of(pod), pod.metadata
            maker = ("Pod", meta.namespace, meta.name) if owner is None else (owner.kind, meta.namespace, owner.name)
            is_asked = self.all_namespaces or meta.namespace == namespace
            if is_asked and maker not in makers and is_active(pod) and not any(static_notes(pod)):
                lone.setdefault(maker, pod)
        pods = (pod.metadata for pod in lone.values() if selector.matches(pod.metadata.labels))
        yield from (Reference(POD_CREATORS["Pod"], meta.name, meta.namespace) for meta in pods)

    def gaps(self, snapshot: Snapshot) -> Iterator[str]:
        """Why some of them are not known."""
        for row in self.kinds or _LASTING:
            if reason := snapshot.origin.unread.get(row.kind):
                yield f"{reason}: none of them is among the workloads"


def reference(text: str) -> Reference | None:
    """KIND/NAME of a kind that creates pods, as kubectl would take it; None for anything else."""
    match = _REFERENCE.fullmatch(text)
    row = kind_called(match["kind"]) if match is not None else None
    return None if match is None or row is None else Reference(row, match["name"])


def reference_kinds() -> str:
    """The kinds of `reference`, as short as kubectl takes them."""
    return ", ".join(kind.short for kind in REFERABLE)


def _is_part(obj: ApiObject, present: Set[tuple[str, str, str]]) -> bool:
    """Whether another workload speaks for it, or it is a former revision of a Deployment that was not listed."""
    owner = next((owner for owner in obj.metadata.owner_references if owner.controller), None)
    if owner is None:
        return False
    is_past = isinstance(obj, ReplicaSet) and obj.spec.replicas == 0
    return is_past or (owner.kind, obj.metadata.namespace, owner.name) in present


def _key(row: Kind, obj: ApiObject) -> tuple[str, str, str]:
    return row.kind, obj.metadata.namespace, obj.metadata.name
