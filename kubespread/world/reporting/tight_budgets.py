"""The budgets that let no pod of the workloads in question go now."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from kubespread.controllers.disruption import LET_THROUGH, Expectation, disruptions_allowed, evict
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, is_active
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import GO_WITH_THEIR_NODES, workload_of

WorkloadOf = Callable[[Pod], WorkloadName | None]
"""The workload of a pod that counts; None for others."""


class TightBudget(Struct, frozen=True):
    """A budget that lets no pod go now."""

    name: NamespacedName
    pods: tuple[NamespacedName, ...]
    """Those on nodes that it protects."""
    nodes: tuple[str, ...]
    """Where they run."""
    workloads: tuple[WorkloadName, ...]
    message: str
    """The API server's."""
    is_for_good: bool
    """Whether it lets none go either when all the pods it expects are healthy."""


def whose(world: World, is_asked: Callable[[WorkloadName], bool]) -> WorkloadOf:
    """Pods count that are to leave their nodes when these go, of the workloads in question."""

    def workload(pod: Pod) -> WorkloadName | None:
        if not is_active(pod):
            return None
        name = workload_of(world, pod)
        return name if name.kind not in GO_WITH_THEIR_NODES and is_asked(name) else None

    return workload


def refused_pods(world: World, workload: WorkloadOf, node: str) -> list[Pod]:
    """The pods on a node that the API server would not evict now."""
    return [
        pod
        for pod in world.book.on(node)
        if workload(pod) is not None
        and evict(pod, world.budgets.protecting(pod, world.time), world.time).code != LET_THROUGH
    ]


def tight_budgets(world: World, workload: WorkloadOf) -> Iterator[TightBudget]:
    """By namespace and name; a budget that protects no pod on a node holds nothing."""
    protected: dict[NamespacedName, list[tuple[Pod, WorkloadName]]] = {}
    for pod in world.book:
        if pod.spec.node_name and (name := workload(pod)) is not None:
            for budget in world.budgets.protecting(pod, world.time):
                protected.setdefault(NamespacedName.of(budget), []).append((pod, name))
    budgets = {NamespacedName.of(budget): budget for budget in world.budgets.current(world.time)}
    for key in sorted(protected):
        budget, pods = budgets[key], [pod for pod, _ in protected[key]]
        status = budget.status
        if status.disruptions_allowed > 0:
            continue
        # One of several pods may go all the same: it is not ready, say.
        answers = [evict(pod, [budget], world.time) for pod in pods]
        refused = next((answer for answer in answers if answer.code != LET_THROUGH), None)
        if refused is not None:
            healthy = Expectation(status.expected_pods, status.desired_healthy)
            yield TightBudget(
                name=key,
                pods=tuple(map(NamespacedName.of, pods)),
                nodes=tuple(dict.fromkeys(pod.spec.node_name for pod in pods)),
                workloads=tuple(dict.fromkeys(workload for _, workload in protected[key])),
                message=refused.cause or refused.message or "",
                is_for_good=disruptions_allowed(healthy, status.expected_pods) == 0,
            )
