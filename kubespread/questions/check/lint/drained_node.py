"""One node drained of a workload's pods under a disruption budget, while nothing else happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.controllers.disruption.budgets import desired_and_expected, disruptions_allowed
from kubespread.kube.api.core import Pod
from kubespread.kube.api.policy import PodDisruptionBudget
from kubespread.kube.taint import cordoned
from kubespread.questions.queue.entries import Entry
from kubespread.questions.queue.queue import place
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap


@dataclass(frozen=True, slots=True)
class Drained:
    """Where the drain of a node stands when nothing moves any more."""

    left: int
    """Replicas that are still on the node, since the budget lets none of them go."""
    waiting: int
    """Evicted ones whose successors have no node."""
    message: str | None
    """kube-scheduler's, for the first of these."""


def evictions_allowed(budget: PodDisruptionBudget, replicas: int) -> int:
    """How many of ``replicas``, all of them healthy and all that the budget protects, may be evicted at once.

    Raises IntOrStringError for a budget that the API server would refuse.
    """
    return disruptions_allowed(desired_and_expected(budget.spec, replicas, replicas), replicas)


def drained(cluster: Cluster, plugins: Framework, pod: Pod, on: Sequence[int], node: int, allowed: int) -> Drained:
    """The node at position ``node`` is cordoned and its replicas are evicted as long as ``allowed`` are not missing.

    ``on`` are the positions of the nodes of all replicas, copies of ``pod`` that ``cluster`` does not hold. A successor
    that finds a node is ready at once, and the next replica may go.
    """
    bare = cluster.after(Change(replaced={node: cordoned(cluster.nodes.objects[node])}))
    staying, left, waiting = [each for each in on if each != node], sum(each == node for each in on), 0
    message: str | None = None
    while left and waiting < allowed:
        evicted = min(left, allowed - waiting)
        left -= evicted
        now = bare.after(Change(come=[(pod, each) for each in (*staying, *[node] * left)]))
        (outcome,) = place(now, [Entry(pod, plugins, waiting + evicted)], first_in_heap)
        staying += [choice.node for choice in outcome.choices]
        waiting += evicted - len(outcome.choices)
        message = outcome.stopped
    return Drained(left, waiting, message)
