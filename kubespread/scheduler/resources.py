"""What nodes can allocate and what their pods request, as int64 columns per resource.

Source of the rules: kube-scheduler's NodeInfo (framework/types.go): cpu in milli-units, everything else in whole units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy

import numpy as np
from numpy.typing import NDArray

from kubespread.errors import SnapshotError
from kubespread.kube.objects import Node, Pod
from kubespread.kube.pod_requests import Amounts, amounts, is_pod_level_resource, pod_requests
from kubespread.kube.quantity import INT64_MAX, OUT_OF_RANGE, QuantityError, QuantityText, parse
from kubespread.kube.resource_names import is_scalar

Amount = NDArray[np.int64]

BASIC_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STAND_INS = {"cpu": "100m", "memory": "200Mi"}
"""What a container that does not ask for cpu or memory counts with when nodes are scored."""


def scheduler_amounts(given: Amounts) -> dict[str, int]:
    """Exact quantities as the integers the scheduler counts in; names it does not count are dropped. Raises QuantityError."""
    counted = {}
    for name, quantity in given.items():
        if name in BASIC_RESOURCES or is_scalar(name):
            number = quantity.milli_value if name == "cpu" else quantity.value
            if abs(number) > INT64_MAX:
                raise QuantityError(OUT_OF_RANGE)
            counted[name] = number
    return counted


class ResourceColumns:
    """Allocatable and requested per resource name; a resource nobody mentions has no column and counts as zero."""

    def __init__(self, nodes: Sequence[Node], pods: Sequence[Pod], pod_node: NDArray[np.int32]) -> None:
        self._zero: Amount = np.zeros(len(nodes), dtype=np.int64)
        self.allowed_pods: Amount = np.array([_allowed_pods(node) for node in nodes], dtype=np.int64)
        self.pod_count: Amount = np.bincount(pod_node, minlength=len(nodes)).astype(np.int64)
        self._allocatable = self._columns(range(len(nodes)), (_allocatable(node) for node in nodes))
        asked = _Requests()
        self._requested = self._columns(pod_node, (asked.requested(pod) for pod in pods))
        self._non_zero = self._columns(pod_node, (asked.non_zero(pod) for pod in pods))

    def without(self, pods: Sequence[Pod], pod_node: NDArray[np.int32]) -> ResourceColumns:
        """The same columns with some pods gone; for filters only, since what scoring takes to be used is left as it was."""
        fewer = copy(self)
        fewer.pod_count = self.pod_count - np.bincount(pod_node, minlength=len(self._zero))
        asked = _Requests()
        gone = self._columns(pod_node, (asked.requested(pod) for pod in pods))
        fewer._requested = {name: amount - gone.get(name, 0) for name, amount in self._requested.items()}
        return fewer

    def holding(self, pod: Pod, copies: int | Amount) -> ResourceColumns:
        """The same columns when each node holds so many more copies of ``pod``."""
        more = copy(self)
        more.pod_count = self.pod_count + copies
        requested, non_zero = _work_out(pod)
        more._requested = {**self._requested, **{name: self.requested(name) + amount * copies for name, amount in requested.items()}}
        more._non_zero = {**self._non_zero, **{name: self._used(name) + amount * copies for name, amount in non_zero.items()}}
        return more

    def _used(self, name: str) -> Amount:
        return self._non_zero.get(name, self._zero)

    def allocatable(self, name: str) -> Amount:
        return self._allocatable.get(name, self._zero)

    def requested(self, name: str) -> Amount:
        return self._requested.get(name, self._zero)

    def non_zero_requested(self, name: str) -> Amount:
        """What scoring takes to be used: with the stand-ins for cpu and memory, as requested for everything else."""
        return self._used(name) if name in STAND_INS else self.requested(name)

    def _columns(self, positions: Iterable[int], lists: Iterable[Mapping[str, int]]) -> dict[str, Amount]:
        """Add up one list of amounts per position."""
        where: dict[str, list[int]] = {}
        what: dict[str, list[int]] = {}
        for position, resources in zip(positions, lists, strict=True):
            for name, amount in resources.items():
                where.setdefault(name, []).append(position)
                what.setdefault(name, []).append(amount)
        columns = {}
        for name, found in where.items():
            columns[name] = self._zero.copy()
            np.add.at(columns[name], found, what[name])
        return columns


def _allowed_pods(node: Node) -> int:
    given = node.status.allocatable.get("pods", 0)
    with _blaming(node):
        return parse(given).rounded_up().value


def _allocatable(node: Node) -> dict[str, int]:
    with _blaming(node):
        return scheduler_amounts(amounts(node.status.allocatable))


Shape = tuple[tuple[tuple[str, QuantityText | None], ...], ...]


class _Requests:
    """The requests of existing pods, worked out once for all plain pods that ask for the same."""

    def __init__(self) -> None:
        self._known: dict[Shape, tuple[dict[str, int], dict[str, int]]] = {}

    def requested(self, pod: Pod) -> dict[str, int]:
        return self._of(pod)[0]

    def non_zero(self, pod: Pod) -> dict[str, int]:
        return self._of(pod)[1]

    def _of(self, pod: Pod) -> tuple[dict[str, int], dict[str, int]]:
        shape = _shape(pod)
        if shape is None:
            return _work_out(pod)
        if shape not in self._known:
            self._known[shape] = _work_out(pod)
        return self._known[shape]


def _shape(pod: Pod) -> Shape | None:
    """What the requests of a plain pod depend on; None for pods with anything that could add to it."""
    spec, status = pod.spec, pod.status
    if spec.init_containers or spec.resources is not None or spec.overhead or status.resources is not None:
        return None
    if any(container.resources is not None for container in status.container_statuses):
        return None
    return tuple(tuple(sorted(container.resources.requests.items())) for container in spec.containers)


def _work_out(pod: Pod) -> tuple[dict[str, int], dict[str, int]]:
    """Requested, and requested with stand-ins.

    With pod-level requests a stand-in is offered only for what the pod as a whole does not ask for.
    """
    with _blaming(pod):
        requested = pod_requests(pod, use_status=True)
        has_pod_level = pod.spec.resources is not None and any(map(is_pod_level_resource, pod.spec.resources.requests))
        offered = {name: parse(text) for name, text in STAND_INS.items() if not (has_pod_level and name in requested)}
        return scheduler_amounts(requested), scheduler_amounts(pod_requests(pod, offered, use_status=True))


@contextmanager
def _blaming(owner: Node | Pod) -> Iterator[None]:
    """Name the object whose quantity cannot be read."""
    try:
        yield
    except QuantityError as error:
        meta = owner.metadata
        name = "/".join(part for part in (meta.namespace, meta.name) if part)
        raise SnapshotError(f"{type(owner).__name__} {name}: {error}") from error
