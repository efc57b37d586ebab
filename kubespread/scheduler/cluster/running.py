"""The pods that run on a cluster's nodes, and their resource usage. A value: a change makes another one.

The pods with claims on devices that came and went since the snapshot, in order. Which devices a pod got depends on what
was free when it came. So the order of events is part of a cluster; DynamicResources derives the rest from it when
needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple, Self, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, ResourceClaim, extended_resources
from kubespread.scheduler.cluster.columns import Amounts, Codes, Counts, Mask, Positions, wrap
from kubespread.scheduler.cluster.kinds import HostPort, KindNumber, KindTable, PodKind, Requests
from kubespread.scheduler.cluster.memo import Recent, Results
from kubespread.scheduler.cluster.nodes import Nodes


class ClaimUse(NamedTuple):
    """A pod with claims that came to a node (``by`` 1) or left it (-1), by its position at that time."""

    pod: Pod
    node: int
    by: int


class ClaimEvent(Struct, frozen=True, eq=False):
    """Uses of claims at one time, with the objects and nodes of that time and cached results about these."""

    uses: Sequence[ClaimUse]
    objects: ClusterObjects
    nodes: Nodes
    results: Results


class ClaimHistory(Struct, frozen=True, eq=False):
    """History of pods that use claims for devices, up to one cluster. A value: more events make another one."""

    objects: ClusterObjects
    provided: frozenset[str]
    """Resources provided by devices."""
    events: tuple[ClaimEvent, ...] = ()
    ledgers: Recent[tuple[Hashable, ClaimEvent | None]] = field(default_factory=Recent)
    """Device ledgers by rules and last event, shared with forks."""

    @classmethod
    def build(cls, objects: ClusterObjects) -> Self:
        return cls(objects, frozenset(extended_resources(objects.get(DeviceClass))))

    @property
    def may_have_uses(self) -> bool:
        """True if any pod may use a claim for devices, or ever did."""
        return bool(self.provided or self.objects.get(ResourceClaim) or self.events)

    def add(self, uses: Sequence[ClaimUse], nodes: Nodes, results: Results) -> ClaimHistory:
        """The history with further uses."""
        event = ClaimEvent(tuple(uses), self.objects, nodes, results)
        return replace(self, events=(*self.events, event)) if uses else self

    def uses_by(self, pods: Iterable[tuple[Pod, int]], by: int, kinds: KindTable) -> list[ClaimUse]:
        """Uses of claims by ``pods``; few pods have claims."""
        if not self.provided:
            return [ClaimUse(pod, node, by) for pod, node in pods if pod.spec.resource_claims]

        def has_claims(pod: Pod) -> bool:
            requests = {} if pod.spec.resource_claims else kinds[kinds.number_of(pod)].requests[0]
            return bool(pod.spec.resource_claims) or not self.provided.isdisjoint(requests)

        return [ClaimUse(pod, node, by) for pod, node in pods if has_claims(pod)]

    def with_objects(self, objects: ClusterObjects) -> ClaimHistory:
        """The history with the same events and other objects."""
        other = ClaimHistory.build(objects)
        return replace(self, objects=objects, provided=other.provided) if self.events else other


T = TypeVar("T")

NO_PODS: Codes = np.empty(0, dtype=np.int32)
REMOVED = -1
_Change = tuple[Sequence[tuple[Pod, int]], Sequence[Pod], Codes, Codes] | Codes
"""Pods that leave, and others that come, by kind and node; or the new positions of all nodes."""


class Moves(Struct, frozen=True):
    """Pods that come to nodes (``by`` 1) or leave them (-1), by kind and node position."""

    kind: Codes
    node: Codes
    by: Codes

    @classmethod
    def from_tuples(cls, moves: Sequence[tuple[KindNumber, int, int]]) -> Moves:
        table = np.array(moves, dtype=np.int32).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2])

    def __len__(self) -> int:
        return len(self.kind)

    def select(self, chosen: Mask) -> Moves:
        return Moves(self.kind[chosen], self.node[chosen], self.by[chosen])

    def followed_by(self, others: Moves) -> Moves:
        return Moves(
            np.concatenate([self.kind, others.kind]),
            np.concatenate([self.node, others.node]),
            np.concatenate([self.by, others.by]),
        )


class PodList:
    """Pods in order of arrival, each with its kind and node position.

    Changes are cheap for any number of pods: they are recorded, and applied when the list is read.
    """

    __slots__ = ("_changes", "_kind", "_node", "_pods")

    def __init__(self, pods: Sequence[Pod], kind: Codes, node: Codes, changes: tuple[_Change, ...] = ()) -> None:
        self._pods, self._kind, self._node, self._changes = pods, kind, node, changes

    def change(self, removed: Sequence[tuple[Pod, int]], added: Sequence[Pod], kind: Codes, node: Codes) -> PodList:
        """List without the pods ``removed`` and with ``added``."""
        return PodList(self._pods, self._kind, self._node, (*self._changes, (removed, added, kind, node)))

    def on_other_nodes(self, position: Codes) -> PodList:
        """List for other nodes; ``position`` maps each node to its new one, or to REMOVED."""
        # REMOVED is the last entry of what it indexes.
        return PodList(self._pods, self._kind, self._node, (*self._changes, np.append(position, np.int32(REMOVED))))

    def _apply_changes(self) -> None:
        if not self._changes:
            return
        pods, kinds, node = list[Pod](), list[Codes](), NO_PODS
        pod_changes = [change for change in self._changes if isinstance(change, tuple)]
        leaving: dict[int, list[int]] = {id(pod): [] for removed, *_ in pod_changes for pod, _ in removed}
        for change in (((), self._pods, self._kind, self._node), *self._changes):
            if isinstance(change, np.ndarray):
                node = change[node]
                continue
            removed, added, kind, on = change
            for pod, position in removed:
                # Copies may be the same object.
                places = leaving[id(pod)]
                last = next(index for index in reversed(range(len(places))) if node[places[index]] == position)
                node[places.pop(last)] = REMOVED
            for place, pod in enumerate(added, start=len(pods)) if leaving else ():
                if id(pod) in leaving:
                    leaving[id(pod)].append(place)
            pods += added
            kinds.append(kind)
            node = np.concatenate([node, on])
        stays = node != REMOVED
        self._pods = tuple(compress(pods, stays.tolist()))
        self._kind, self._node, self._changes = np.concatenate(kinds)[stays], node[stays], ()

    @property
    def pods(self) -> Sequence[Pod]:
        self._apply_changes()
        return self._pods

    @property
    def kind(self) -> Codes:
        self._apply_changes()
        return self._kind

    @property
    def node(self) -> Codes:
        """Node of each pod; the pod's own nodeName is not read."""
        self._apply_changes()
        return self._node


class NodeUsage(Struct, frozen=True):
    """Requests of the pods on each node."""

    pod_count: Counts
    requested: Amounts
    """Requests by resource name."""
    non_zero_requested: Amounts
    """Requests that scoring counts, with stand-ins for missing ones."""

    @classmethod
    def build(cls, kinds: KindTable, nodes_of_kind: Mapping[KindNumber, Codes], nodes: int) -> NodeUsage:
        """Requests of all pods of a cluster."""
        pod_count, summed = np.zeros(nodes, dtype=np.int64), (dict[str, Counts](), dict[str, Counts]())
        for number, on in nodes_of_kind.items():
            np.add.at(pod_count, on, 1)
            for amounts, columns in zip(kinds[number].requests, summed, strict=True):
                for name, amount in amounts.items():
                    np.add.at(columns.setdefault(name, np.zeros_like(pod_count)), on, amount)
        return cls(pod_count, *summed)

    def move(self, kinds: KindTable, moves: Moves) -> NodeUsage:
        """Usage after moves; sums wrap as Go's do."""
        # Often it is the same pods in another state.
        net: dict[tuple[int, int], int] = {}
        requests_by_id: dict[int, Requests] = {}
        for number, node, by in zip(moves.kind.tolist(), moves.node.tolist(), moves.by.tolist(), strict=True):
            requests = kinds[number].requests
            requests_by_id[id(requests)] = requests
            net[id(requests), node] = net.get((id(requests), node), 0) + by
        pod_count, summed = self.pod_count.copy(), (dict(self.requested), dict(self.non_zero_requested))
        fresh: set[int] = set()
        for (requested, node), by in net.items():
            if not by:
                continue
            pod_count[node] += by
            for amounts, columns in zip(requests_by_id[requested], summed, strict=True):
                for name, amount in amounts.items():
                    column = columns.get(name)
                    if column is None or id(column) not in fresh:
                        column = columns[name] = np.zeros_like(pod_count) if column is None else column.copy()
                        fresh.add(id(column))
                    column[node] = wrap(column.item(node) + by * amount)
        return NodeUsage(pod_count, *summed)

    def on_other_nodes(self, remaining: Codes, added: int) -> NodeUsage:
        """Usage on the nodes at the positions ``remaining``, and on ``added`` empty ones after them."""

        def move(column: Counts) -> Counts:
            return np.concatenate([column[remaining], np.zeros(added, dtype=np.int64)])

        return NodeUsage(
            move(self.pod_count),
            {name: move(column) for name, column in self.requested.items()},
            {name: move(column) for name, column in self.non_zero_requested.items()},
        )


class RunningPods:
    """Pods on the nodes of one cluster."""

    def __init__(
        self, kinds: KindTable, listed: PodList, usage: NodeUsage, nodes_of_kind: Mapping[KindNumber, Codes]
    ) -> None:
        self._kinds = kinds
        self._listed = listed
        self.usage = usage
        self.nodes_of_kind = nodes_of_kind
        """Nodes of each kind's pods, one entry per pod, for kinds that have any."""
        self._used_ports: Mapping[int, frozenset[HostPort]] | None = None

    @classmethod
    def build(cls, kinds: KindTable, pods: Sequence[Pod], places: Sequence[int], nodes: int) -> RunningPods:
        """Pods, each on the node at its position among ``places``, of so many ``nodes``."""
        kind = np.fromiter(map(kinds.number_of, pods), dtype=np.int32, count=len(pods))
        node = np.array(places, dtype=np.int32)
        nodes_of_kind = _by_kind(kind, node)
        return cls(kinds, PodList(tuple(pods), kind, node), NodeUsage.build(kinds, nodes_of_kind, nodes), nodes_of_kind)

    def with_kinds(self, kinds: KindTable) -> RunningPods:
        """Running pods with another kind table of the same numbers."""
        other = RunningPods(kinds, self._listed, self.usage, self.nodes_of_kind)
        other._used_ports = self._used_ports
        return other

    def __len__(self) -> int:
        return int(self.usage.pod_count.sum())

    @property
    def pods(self) -> Sequence[Pod]:
        return self._listed.pods

    @property
    def kind(self) -> Codes:
        return self._listed.kind

    def kind_of(self, place: int) -> KindNumber:
        return KindNumber(self.kind.item(place))

    @property
    def node(self) -> Codes:
        return self._listed.node

    def change(
        self,
        removed: Sequence[tuple[Pod, int]],
        added: Sequence[tuple[Pod, int]],
        kind: Codes,
        usage: NodeUsage | None = None,
    ) -> RunningPods:
        """Apply removals, then additions; ``kind`` has the kinds in this order, ``usage`` the result, if known."""
        node = np.fromiter((position for _, position in (*removed, *added)), dtype=np.int32, count=len(kind))
        removed_kinds, added_kinds = kind[: len(removed)], kind[len(removed) :]
        listed = self._listed.change(removed, [pod for pod, _ in added], added_kinds, node[len(removed) :])
        if usage is None:
            by = np.ones(len(kind), dtype=np.int32)
            by[: len(removed)] = -1
            usage = self.usage.move(self._kinds, Moves(kind, node, by))
        # Often it is the same pods in another state, and most states are nothing that scheduling reads.
        if np.array_equal(node[: len(removed)], node[len(removed) :]) and np.array_equal(removed_kinds, added_kinds):
            return self._with_list(listed, usage, self.nodes_of_kind, ())
        leaving, coming = _by_kind(removed_kinds, node[: len(removed)]), _by_kind(added_kinds, node[len(removed) :])
        nodes_of_kind = dict(self.nodes_of_kind)
        for number, nodes in leaving.items():
            nodes_of_kind[number] = _remove(nodes_of_kind[number], nodes)
            if not len(nodes_of_kind[number]):
                del nodes_of_kind[number]
        for number, nodes in coming.items():
            before = nodes_of_kind.get(number)
            nodes_of_kind[number] = nodes if before is None else np.concatenate([before, nodes])
        return self._with_list(listed, usage, nodes_of_kind, (*leaving, *coming))

    def on_other_nodes(self, before: int, remaining: Codes, added: int) -> RunningPods:
        """Pods on the nodes at the positions ``remaining`` of ``before``, with ``added`` empty nodes after them."""
        position = np.full(before, REMOVED, dtype=np.int32)
        position[remaining] = np.arange(len(remaining), dtype=np.int32)
        # All kinds at once: there may be thousands, each with few pods.
        nodes = position[np.concatenate([NO_PODS, *self.nodes_of_kind.values()])]
        stays = nodes != REMOVED
        ends = np.cumsum([0, *map(len, self.nodes_of_kind.values())])
        ends = np.concatenate([[0], np.cumsum(stays)])[ends].tolist()
        nodes = nodes[stays]
        nodes_of_kind = {
            number: nodes[start:end]
            for number, start, end in zip(self.nodes_of_kind, ends, ends[1:], strict=False)
            if start < end
        }
        listed = self._listed.on_other_nodes(position)
        return RunningPods(self._kinds, listed, self.usage.on_other_nodes(remaining, added), nodes_of_kind)

    def _with_list(
        self, listed: PodList, usage: NodeUsage, nodes_of_kind: Mapping[KindNumber, Codes], moved: Iterable[KindNumber]
    ) -> RunningPods:
        other = RunningPods(self._kinds, listed, usage, nodes_of_kind)
        if not any(self._kinds[number].ports for number in moved):
            other._used_ports = self._used_ports
        return other

    def places_of(self, kinds: Iterable[KindNumber]) -> Positions:
        """Places, in the list, of the pods of these kinds."""
        return np.flatnonzero(np.isin(self.kind, np.fromiter(kinds, dtype=np.int32)))

    def pods_on(self, nodes: Positions, kinds: Iterable[KindNumber]) -> Iterator[tuple[int, Pod, KindNumber]]:
        """Yield pods of some kinds on some nodes: place of the node among ``nodes``, pod and kind."""
        place_of = {node: place for place, node in enumerate(nodes.tolist())}
        for pod in self.places_of(kinds).tolist():
            if (node := self.node.item(pod)) in place_of:
                yield place_of[node], self.pods[pod], self.kind_of(pod)

    @property
    def used_ports(self) -> Mapping[int, frozenset[HostPort]]:
        """Host ports in use, for nodes with any."""
        if self._used_ports is None:
            used = self.per_node(lambda kind: kind.ports)
            self._used_ports = {node: frozenset(ports) for node, ports in used.items()}
        return self._used_ports

    def per_node(self, parts: Callable[[PodKind], Iterable[T]]) -> dict[int, Counter[T]]:
        """Count parts of the pods on each node; ``parts`` is called once per kind, and few kinds have any."""
        merged: dict[int, Counter[T]] = {}
        for number, nodes in self.nodes_of_kind.items():
            if brought := tuple(parts(self._kinds[number])):
                for node in nodes.tolist():
                    merged.setdefault(node, Counter()).update(brought)
        return merged


def _remove(nodes: Codes, leaving: Codes) -> Codes:
    """Remove one occurrence of each of ``leaving`` from ``nodes``, which contains them all."""
    if len(leaving) == 1:
        place = (nodes == leaving[0]).argmax()
        return np.concatenate([nodes[:place], nodes[place + 1 :]])
    order, sought = np.argsort(nodes, kind="stable"), np.sort(leaving)
    repeats = np.arange(len(sought)) - np.searchsorted(sought, sought)
    keep = np.ones(len(nodes), dtype=np.bool_)
    keep[order[np.searchsorted(nodes[order], sought) + repeats]] = False
    return nodes[keep]


_FEW = 64


def _by_kind(kind: Codes, node: Codes) -> Mapping[KindNumber, Codes]:
    if len(kind) <= 1:
        return dict.fromkeys(kind.tolist(), node)
    if len(kind) < _FEW:  # mostly a few copies of one pod: sorting them takes longer
        nodes_of = dict[KindNumber, list[int]]()
        for number, position in zip(kind.tolist(), node.tolist(), strict=True):
            nodes_of.setdefault(number, []).append(position)
        return {number: np.array(nodes, dtype=np.int32) for number, nodes in nodes_of.items()}
    order = np.argsort(kind, kind="stable")
    kinds, starts = np.unique(kind[order], return_index=True)
    return dict(zip(kinds.tolist(), np.split(node[order], starts[1:]), strict=True))
