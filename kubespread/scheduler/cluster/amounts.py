"""What nodes can allocate and what pods request, in the integers kube-scheduler counts in.

Cpu is counted in milli-units, everything else in whole units.

Source: pkg/scheduler/framework/types.go, Resource, Add, NodeInfo, CalculateResource
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

import numpy as np

from kubespread.errors import SnapshotError
from kubespread.kube import pod_requests as requests
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.devices import DEVICE_CLASS_PREFIX
from kubespread.kube.name_rules import is_extended, is_hugepages, is_scalar
from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.integers import wrapped

Amounts = Mapping[str, Counts]
"""Per resource name an amount a node."""

BASIC_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STAND_INS = {"cpu": "100m", "memory": "200Mi"}
"""What a container that does not ask for cpu or memory counts with when nodes are scored."""


def scheduler_amounts(amounts: requests.Amounts) -> dict[str, int]:
    """Exact quantities as the integers the scheduler counts in; names it does not count are dropped."""
    return {
        name: wrapped(quantity.milli_value if name == "cpu" else quantity.value)
        for name, quantity in amounts.items()
        if name in BASIC_RESOURCES or is_scalar(name)
    }


@lru_cache(maxsize=4096)
def canonical(resource: str, amount: int) -> str:
    """An amount as kube-scheduler counts it, in the text Kubernetes would print."""
    if resource == "cpu":
        return str(Quantity(amount * NANO // 1000))
    in_bytes = resource in ("memory", "ephemeral-storage") or is_hugepages(resource)
    return str(Quantity(amount * NANO, "BinarySI" if in_bytes else "DecimalSI"))


def allowed_pods(node: Node) -> int:
    with _blaming(node):
        return parse(node.status.allocatable.get("pods", 0)).rounded_up().value


def allocatable(node: Node) -> dict[str, int]:
    with _blaming(node):
        return scheduler_amounts(requests.amounts(node.status.allocatable))


def requested(pod: Pod) -> tuple[dict[str, int], dict[str, int]]:
    """What a pod requests of its node, and the same with scoring defaults for what it does not request.

    With pod-level requests a default applies only to what the pod as a whole does not request.
    """
    with _blaming(pod):
        amounts = requests.pod_requests(pod, use_status=True)
        level = pod.spec.resources
        has_pod_level = level is not None and any(map(requests.is_pod_level_resource, level.requests))
        offered = {name: parse(text) for name, text in STAND_INS.items() if not (has_pod_level and name in amounts)}
        return scheduler_amounts(amounts), scheduler_amounts(requests.pod_requests(pod, offered, use_status=True))


def requested_by_name(pod: Pod) -> Mapping[str, int]:
    """The extended resources that a pod requests, those named after a class among them."""
    requested = scheduler_amounts(requests.pod_requests(pod))
    return {
        name: amount
        for name, amount in requested.items()
        if amount and (is_extended(name) or name.startswith(DEVICE_CLASS_PREFIX))
    }


def columns(size: int, positions: Iterable[int], lists: Iterable[Mapping[str, int]]) -> dict[str, Counts]:
    """One list of amounts per position, added up per resource name; sums wrap as Go's do."""
    where: dict[str, list[int]] = {}
    what: dict[str, list[int]] = {}
    for position, amounts in zip(positions, lists, strict=True):
        for name, amount in amounts.items():
            where.setdefault(name, []).append(position)
            what.setdefault(name, []).append(amount)
    summed = {}
    for name, places in where.items():
        summed[name] = np.zeros(size, dtype=np.int64)
        np.add.at(summed[name], places, np.array(what[name], dtype=np.int64))
    return summed


@contextmanager
def _blaming(owner: Node | Pod) -> Iterator[None]:
    """Name the object whose quantity cannot be read."""
    try:
        yield
    except QuantityError as error:
        meta = owner.metadata
        name = "/".join(part for part in (meta.namespace, meta.name) if part)
        raise SnapshotError(f"{type(owner).__name__} {name}: {error}") from error
