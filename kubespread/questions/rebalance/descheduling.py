"""The descheduler on the same cluster, round by round, for comparison with the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from kubespread.controllers.disruption.eviction import LET_THROUGH
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName
from kubespread.questions.rebalance.descheduler.evicting import Cycle
from kubespread.questions.rebalance.descheduler.plugin import choose
from kubespread.questions.rebalance.descheduler.policy import Policy
from kubespread.questions.rebalance.descheduler.view import View
from kubespread.questions.rebalance.moves import Attempt
from kubespread.questions.rebalance.report import DeschedulerReport, DeschedulerRound, StayingPods
from kubespread.world.events.world import World
from kubespread.world.store.happenings import EVICTED
from kubespread.world.store.pod_book import key_of

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
