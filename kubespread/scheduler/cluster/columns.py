"""Arrays over the nodes of a cluster: labels as codes, counts over domains, and amounts in the integers kube-scheduler
counts in, with Go's arithmetic on them.

Cpu is counted in milli-units, everything else in whole units. Go's division truncates toward zero, where numpy's rounds
down.

Source: pkg/scheduler/framework/types.go, Resource, Add, NodeInfo, CalculateResource
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubespread.errors import SnapshotError
from kubespread.kube import pod_requests as requests
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.devices import DEVICE_CLASS_PREFIX
from kubespread.kube.name_rules import is_extended, is_hugepages, is_scalar
from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse
from kubespread.kube.selector import Requirement

Integers = NDArray[np.int64]


def divide(numerator: Integers, denominator: Integers | int) -> Integers:
    """Truncated quotient; 0 for a denominator of 0, which callers mask out."""
    if numerator.size and numerator.min() >= 0 and np.min(denominator) > 0:
        return numerator // denominator  # the usual case, where both roundings are one
    bottom = np.where(denominator == 0, 1, denominator)
    # Not by way of absolute values: the least int64 has none.
    with np.errstate(over="ignore"):
        floor: Integers = numerator // bottom
    is_too_low = (floor < 0) & (numerator % bottom != 0)
    return np.where(denominator == 0, 0, floor + is_too_low)


def round_half_away(values: NDArray[np.float64]) -> Integers:
    """Go's math.Round."""
    whole = np.trunc(values)
    return (whole + np.copysign(np.abs(values - whole) >= 0.5, values)).astype(np.int64)


def wrap(number: int) -> int:
    """Wrap a number as Go's int64 does."""
    return (number + 2**63) % 2**64 - 2**63


def truncate(number: float) -> int:
    """Go's int64 of a float on amd64: the lowest one for values beyond every int64."""
    return int(number) if abs(number) < 2**63 else -(2**63)


T = TypeVar("T")


def shallow(original: T) -> T:
    """Shallow copy of an object with a dictionary, five times as fast as copy.copy."""
    other: T = object.__new__(type(original))
    other.__dict__.update(original.__dict__)
    return other


class Forking:
    """Base of objects that can be forked; a fork shares all attributes except the declared ones."""

    _copied: ClassVar[tuple[str, ...]] = ()
    """Attributes copied by their own ``copy``."""
    _forked: ClassVar[tuple[str, ...]] = ()
    """Attributes forked too: an object, or a list or dictionary of objects."""

    def fork(self) -> Self:
        """Copy that continues separately."""
        other = shallow(self)
        values = other.__dict__
        for name in self._copied:
            values[name] = values[name].copy()
        for name in self._forked:
            values[name] = _fork_parts(values[name])
        return other


def _fork_parts(value: Any) -> Any:
    if value is None:
        return None
    if type(value) is dict:
        return {key: part.fork() for key, part in value.items()}
    return [part.fork() for part in value] if type(value) is list else value.fork()


_FEW = 8


class DomainCounts(Forking):
    """Counts by domain code, read back per node; a node without a domain counts nothing."""

    _copied = ("counts",)

    def __init__(self, domain: Codes, domains: int) -> None:
        """``domain`` is the code of every node's domain or ABSENT, ``domains`` how many codes there are."""
        self.counts: Counts = np.zeros(domains, dtype=np.int64)
        self._domain = domain
        self._is_everywhere = bool((domain != ABSENT).all())
        self._pods = 0

    @property
    def is_empty(self) -> bool:
        """True if no pod counts, as opposed to weights that cancel out."""
        return self._pods == 0

    def count(self, nodes: Codes) -> None:
        """Add one pod on each of ``nodes``."""
        codes = self._domain[nodes]
        # The first is for nodes without a domain.
        self.counts += np.bincount(codes + 1, minlength=len(self.counts) + 1)[1:]
        self._pods += len(codes) - int(np.count_nonzero(codes == ABSENT))

    def add(self, nodes: Codes, by: Codes, weight: int = 1) -> None:
        """Add pods that came to ``nodes`` (``by`` 1) or left them (-1), with one weight."""
        if len(nodes) <= _FEW:  # mostly one or two
            for node, sign in zip(nodes.tolist(), by.tolist(), strict=True):
                self.add_one(node, sign, weight)
            return
        codes = self._domain[nodes]
        has_domain = codes != ABSENT
        signs = by[has_domain]
        np.add.at(self.counts, codes[has_domain], weight * signs)
        self._pods += int(signs.sum())

    def add_one(self, node: int, by: int, weight: int = 1) -> None:
        """Add one pod that came to a node or left it."""
        code = self._domain.item(node)
        if code != ABSENT:
            self.counts[code] += by * weight
            self._pods += by

    def counts_at(self, nodes: Positions | None = None) -> Counts:
        """Count of the domain of each of ``nodes`` (None: all)."""
        codes = self._domain if nodes is None else self._domain[nodes]
        if self._is_everywhere:
            return self.counts.take(codes)
        if not len(self.counts):
            return np.zeros(len(codes), dtype=np.int64)
        return np.where(codes != ABSENT, self.counts[codes], 0)


Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]
Codes = NDArray[np.int32]
Positions = NDArray[np.intp]

ABSENT = -1


# These do the same as numpy's methods, in a tenth of their time for a few thousand values.
def some(mask: Mask) -> bool:
    return bool(np.count_nonzero(mask))


def greatest(values: Counts) -> int:
    """Raises ValueError for an empty array."""
    return values.item(values.argmax())


def least(values: Counts) -> int:
    """Raises ValueError for an empty array."""
    return values.item(values.argmin())


def distinct(codes: Codes) -> list[int]:
    """Distinct ``codes``, which must not be negative, in order; numpy's `unique` would import masked arrays."""
    return np.flatnonzero(np.bincount(codes)).tolist()


class LabelColumn:
    """Values of one label key on all nodes: ``codes[node]`` indexes ``values``, or is ABSENT."""

    def __init__(self, key: str, nodes: Sequence[Node]) -> None:
        index: dict[str, int] = {}
        codes = np.full(len(nodes), ABSENT, dtype=np.int32)
        for position, node in enumerate(nodes):
            value = node.metadata.labels.get(key)
            if value is not None:
                codes[position] = index.setdefault(value, len(index))
        self.codes: Codes = codes
        self.index: Mapping[str, int] = index
        self.values: tuple[str, ...] = tuple(index)
        self.present: Mask = codes != ABSENT
        self.absent: Mask = ~self.present
        self.is_everywhere = bool(self.present.all())
        """True if every node has the label."""

    @cached_property
    def sorted_codes(self) -> Codes:
        """Codes in the order of their values."""
        order = sorted(range(len(self.values)), key=self.values.__getitem__)
        return np.array(order, dtype=np.int32)

    @cached_property
    def sorted_values(self) -> Sequence[str]:
        return [self.values[code] for code in self.sorted_codes.tolist()]

    @cached_property
    def absent_as_empty(self) -> Codes:
        """Codes with the value ``""`` for nodes without the label, a new code if no node has that value."""
        empty = self.index.get("", len(self.values))
        return np.where(self.absent, np.int32(empty), self.codes)

    def admits(self, requirement: Requirement) -> Mask:
        """Nodes that satisfy ``requirement``, judged once per distinct value."""
        # The last entry answers for nodes without the label, which ABSENT = -1 indexes.
        answers = [requirement.admits(value) for value in self.values] + [requirement.admits(None)]
        return np.array(answers, dtype=np.bool_)[self.codes]

    def one_of(self, values: frozenset[str]) -> Mask:
        return self.admits(Requirement("", "In", tuple(values)))


Amounts = Mapping[str, Counts]
"""Amounts on all nodes by resource name."""

BASIC_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STAND_INS = {"cpu": "100m", "memory": "200Mi"}
"""Requests assumed by scoring for a container without cpu or memory requests."""


def scheduler_amounts(amounts: requests.Amounts) -> dict[str, int]:
    """Exact quantities as the integers that the scheduler counts in, without names that it does not count."""
    return {
        name: wrap(quantity.milli_value if name == "cpu" else quantity.value)
        for name, quantity in amounts.items()
        if name in BASIC_RESOURCES or is_scalar(name)
    }


@lru_cache(maxsize=4096)
def canonical(resource: str, amount: int) -> str:
    """Text that Kubernetes would print for an amount as kube-scheduler counts it."""
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


def requests_of(pod: Pod) -> tuple[dict[str, int], dict[str, int]]:
    """Requests of a pod, and the same with scoring defaults for cpu and memory that it does not request.

    With pod-level requests a default applies only to what the pod as a whole does not request.
    """
    with _blaming(pod):
        amounts = requests.pod_requests(pod, use_status=True)
        level = pod.spec.resources
        has_pod_level = level is not None and any(map(requests.is_pod_level_resource, level.requests))
        offered = {name: parse(text) for name, text in STAND_INS.items() if not (has_pod_level and name in amounts)}
        return scheduler_amounts(amounts), scheduler_amounts(requests.pod_requests(pod, offered, use_status=True))


def extended_requests(pod: Pod) -> Mapping[str, int]:
    """Extended resources that a pod requests, including the implicit ones of device classes."""
    requested = scheduler_amounts(requests.pod_requests(pod))
    return {
        name: amount
        for name, amount in requested.items()
        if amount and (is_extended(name) or name.startswith(DEVICE_CLASS_PREFIX))
    }


@contextmanager
def _blaming(owner: Node | Pod) -> Iterator[None]:
    """Raise SnapshotError naming ``owner`` for a quantity that cannot be parsed."""
    try:
        yield
    except QuantityError as error:
        meta = owner.metadata
        name = "/".join(part for part in (meta.namespace, meta.name) if part)
        raise SnapshotError(f"{type(owner).__name__} {name}: {error}") from error
