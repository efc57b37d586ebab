"""The pods with claims on devices that came and went since the snapshot, in order.

Which devices a pod got depends on what was free when it came. So the order of events is part of a cluster; what
follows from it is worked out by DynamicResources when needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, ResourceClaim, extended_resources
from kubespread.scheduler.cluster.kinds import KindTable
from kubespread.scheduler.cluster.nodes import Nodes

_MAX_REMEMBERED = 16


class Use(NamedTuple):
    """A pod came to a node (``by`` 1) or left it (-1); the position is that of the nodes of then."""

    pod: Pod
    node: int
    by: int


class Happening(Struct, frozen=True, eq=False):
    """Uses of claims, and the nodes then; ``memo`` caches what was worked out about these nodes."""

    uses: Sequence[Use]
    nodes: Nodes
    memo: dict[Hashable, object]


class ClaimUsers:
    """What happened up to one cluster. A value: more happenings make another one."""

    def __init__(
        self, objects: ClusterObjects, before: ClaimUsers | None = None, happening: Happening | None = None
    ) -> None:
        self.objects = objects
        self.before = before
        self.happening = happening
        self._start: ClaimUsers = self if before is None or before.objects is not objects else before._start
        self._remembered: OrderedDict[tuple[ClaimUsers, Hashable], object]
        """Results for the few most recently asked about."""
        self._remembered = OrderedDict() if before is None else before._remembered

    @property
    def provided(self) -> frozenset[str]:
        """Resources that stand for devices."""
        return self._start._provided

    @cached_property
    def _provided(self) -> frozenset[str]:
        return frozenset(extended_resources(self.objects.of(DeviceClass)))

    @property
    def can_be_any(self) -> bool:
        """Whether some pod could have a claim that was allocated before or since."""
        return bool(self.provided or self.objects.of(ResourceClaim) or self.before)

    def plus(self, uses: Sequence[Use], nodes: Nodes, memo: dict[Hashable, object]) -> ClaimUsers:
        """With what some pods with claims did."""
        return ClaimUsers(self.objects, self, Happening(tuple(uses), nodes, memo)) if uses else self

    def among(self, pods: Iterable[tuple[Pod, int]], by: int, kinds: KindTable) -> list[Use]:
        """The uses by those of ``pods`` that have claims: usually few of many."""
        if not self.provided:
            return [Use(pod, node, by) for pod, node in pods if pod.spec.resource_claims]
        return [Use(pod, node, by) for pod, node in pods if self._has_claims(pod, kinds)]

    def with_objects(self, objects: ClusterObjects) -> ClaimUsers:
        """The same among other objects."""
        return ClaimUsers(objects, self) if self.before is not None else ClaimUsers(objects)

    def _has_claims(self, pod: Pod, kinds: KindTable) -> bool:
        if pod.spec.resource_claims:
            return True
        return not self.provided.isdisjoint(kinds[kinds.number_of(pod)].requests[0])

    def remember(self, rules: Hashable, value: object) -> None:
        """Keep what follows from all that happened by some ``rules``, for a while."""
        self._remembered[self, rules] = value
        while len(self._remembered) > _MAX_REMEMBERED:
            self._remembered.popitem(last=False)

    def recall(self, rules: Hashable) -> object:
        return self._remembered.get((self, rules))

    def last_rules(self) -> Hashable:
        """The rules used last; None if there are none yet."""
        return next((rules for _, rules in reversed(self._remembered)), None)

    def unknown(self, rules: Hashable) -> Iterator[ClaimUsers]:
        """This one and those before it, the last first, up to one that is remembered."""
        users: ClaimUsers | None = self
        while users is not None and (users, rules) not in self._remembered:
            yield users
            users = users.before
