"""The descheduler on the same cluster, round by round, for comparison with the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.disruption import LET_THROUGH
from kubespread.kube.api.core import Namespace, Pod
from kubespread.kube.owners import NamespacedName
from kubespread.questions.rebalance.descheduler.plugin import Chosen, View, choose
from kubespread.questions.rebalance.descheduler.policy import EvictorArgs, Limits, Policy
from kubespread.questions.rebalance.moves import Attempt
from kubespread.questions.rebalance.report import DeschedulerReport, DeschedulerRound, StayingPods
from kubespread.scheduler.cluster.columns import Mask
from kubespread.world.events.world import World
from kubespread.world.store.happenings import EVICTED
from kubespread.world.store.pod_book import key_of

# A cycle of the descheduler: the pods that its profiles choose, evicted as far as limits and budgets allow.
#
# Source: descheduler v0.36: pkg/descheduler/evictions/evictions.go, NewPodEvictor, EvictPod
# Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, PreEvictionFilter


NODE_LIMIT, NAMESPACE_LIMIT, TOTAL_LIMIT = "node limit", "namespace limit", "total limit"
NO_UID, NO_FIT, NAMESPACE, REFUSED = "no UID", "fits no other node", "namespaceLabelSelector", "refused by a budget"


class Cycle(Struct):
    """The evictions of one cycle so far, by all profiles."""

    limits: Limits
    evicted: list[Pod] = field(default_factory=list)
    held: list[tuple[Pod, str]] = field(default_factory=list)
    """Pods that were chosen and stay, and why."""
    _of_node: Counter[str] = field(default_factory=Counter)
    _of_namespace: Counter[str] = field(default_factory=Counter)

    def evict(self, view: View, chosen: Chosen, args: EvictorArgs, request: Callable[[Pod], bool]) -> None:
        """Evict what one profile chose, by namespace and name; ``request`` asks the API server.

        The descheduler's own order is arbitrary.
        """
        allowed = _PreEviction(view, args)
        for pod in chosen.pods:
            why = allowed.reason(pod) or self._limit(pod)
            if why is None and request(pod):
                self.evicted.append(pod)
                self._of_node[pod.spec.node_name] += 1
                self._of_namespace[pod.metadata.namespace] += 1
                continue
            self.held.append((pod, why or REFUSED))

    def _limit(self, pod: Pod) -> str | None:
        limits, meta = self.limits, pod.metadata
        if limits.total is not None and len(self.evicted) >= limits.total:
            return TOTAL_LIMIT
        if limits.per_node is not None and self._of_node[pod.spec.node_name] >= limits.per_node:
            return NODE_LIMIT
        if limits.per_namespace is not None and self._of_namespace[meta.namespace] >= limits.per_namespace:
            return NAMESPACE_LIMIT
        return None


class _PreEviction:
    """The check of a pod right before its eviction."""

    def __init__(self, view: View, args: EvictorArgs) -> None:
        self._view, self._args = view, args
        # The policy's own node selector is not applied here.
        nodes = [
            ready and args.node_selector.matches(node.metadata.labels)
            for ready, node in zip(view.ready, view.nodes.objects, strict=True)
        ]
        self._nodes: Mask = np.array(nodes, dtype=np.bool_)

    def reason(self, pod: Pod) -> str | None:
        """Why the pod is not evicted, None where it can be."""
        if self._args.node_fit and not self._view.fit.fits_other(pod, self._nodes):
            return NO_FIT
        if not self._args.namespace_selector.is_empty and pod.metadata.namespace not in self._namespaces():
            return NAMESPACE
        return None if pod.metadata.uid else NO_UID

    def _namespaces(self) -> Sequence[str]:
        matches = self._args.namespace_selector.matches
        return [
            namespace.metadata.name
            for namespace in self._view.objects.of(Namespace)
            if matches(namespace.metadata.labels)
        ]


MAX_ROUNDS = 20
NOT_MODELLED = (
    "the descheduler's order among equal pods and equal domains, which is arbitrary: here by name",
    "its interval, and back-off and retries of evictions",
)


def played(start: Attempt, policy: Policy, name: str) -> DeschedulerReport:
    """What the descheduler does with ``policy``, named ``name``, until nothing changes. Raises UsageError."""
    attempt = start.fork()
    seen = {_state(attempt.world): 0}
    rounds: list[DeschedulerRound] = []
    repeats: int | None = None
    while len(rounds) < MAX_ROUNDS and repeats is None:
        cycle = _cycle(attempt.world, policy)
        attempt.world.settle()
        attempt.count(attempt.world.next_step())
        rounds.append(_round(attempt, cycle, len(rounds) + 1))
        if not cycle.evicted:
            break
        repeats = seen.get(_state(attempt.world))
        seen[_state(attempt.world)] = len(rounds)
    return DeschedulerReport(
        policy=name,
        rounds=tuple(rounds),
        evictions=sum(len(one.evicted) for one in rounds),
        settles=not rounds[-1].evicted,
        repeats=repeats,
        holds=not attempt.violated,
        not_modelled=tuple(_not_modelled(policy)),
    )


def _cycle(world: World, policy: Policy) -> Cycle:
    """One cycle: all evictions first, as the descheduler does not wait for replacements."""
    cycle = Cycle(policy.limits)

    def request(pod: Pod) -> bool:
        current = world.book[key_of(pod)]
        if world.budgets.evict(current, world.time).code != LET_THROUGH:
            return False
        world.delete([current], EVICTED)
        return True

    for profile in policy.profiles:
        pods = [_identified(pod) for pod in world.book]
        view = View(world.living.nodes, pods, world.workloads.objects, world.time)
        cycle.evict(view, choose(view, policy, profile), profile.evictor, request)
    return cycle


def _identified(pod: Pod) -> Pod:
    """The pod with a UID, as every stored pod has one: without it the descheduler evicts nothing."""
    if pod.metadata.uid:
        return pod
    return replace(pod, metadata=replace(pod.metadata, uid=str(NamespacedName.of(pod))))


def _round(attempt: Attempt, cycle: Cycle, number: int) -> DeschedulerRound:
    held = Counter(why for _, why in cycle.held)
    return DeschedulerRound(
        number=number,
        evicted=tuple(map(NamespacedName.of, cycle.evicted)),
        held=tuple(StayingPods(why=why, pods=held[why]) for why in sorted(held)),
        pending=len(attempt.world.queue.waiting),
        violated=attempt.violated,
    )


def _state(world: World) -> frozenset[tuple[object, int]]:
    """How many pods of each owner are on each node: all that the descheduler and the scheduler depend on."""
    return frozenset(Counter((world.book.owner_of(pod), pod.spec.node_name) for pod in world.book).items())


def _not_modelled(policy: Policy) -> Iterator[str]:
    yield from NOT_MODELLED
    if policy.other_plugins:
        yield f"other plugins that the policy enables: {', '.join(policy.other_plugins)}"
