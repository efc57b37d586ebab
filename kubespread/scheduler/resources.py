"""What nodes can allocate and what their pods request, as int64 columns per resource.

Source of the rules: kube-scheduler's NodeInfo (framework/types.go): cpu in milli-units, everything else in whole units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from kubespread.errors import SnapshotError
from kubespread.kube.objects import Node, Pod
from kubespread.kube.pod_requests import Amounts, amounts, pod_requests
from kubespread.kube.quantity import INT64_MAX, OUT_OF_RANGE, QuantityError, parse
from kubespread.kube.resource_names import is_scalar

Amount = NDArray[np.int64]

BASIC_RESOURCES = ("cpu", "memory", "ephemeral-storage")


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
        self._requested = self._columns(pod_node, (_requested(pod) for pod in pods))

    def allocatable(self, name: str) -> Amount:
        return self._allocatable.get(name, self._zero)

    def requested(self, name: str) -> Amount:
        return self._requested.get(name, self._zero)

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


def _requested(pod: Pod) -> dict[str, int]:
    with _blaming(pod):
        return scheduler_amounts(pod_requests(pod, use_status=True))


@contextmanager
def _blaming(owner: Node | Pod) -> Iterator[None]:
    """Name the object whose quantity cannot be read."""
    try:
        yield
    except QuantityError as error:
        meta = owner.metadata
        name = "/".join(part for part in (meta.namespace, meta.name) if part)
        raise SnapshotError(f"{type(owner).__name__} {name}: {error}") from error
