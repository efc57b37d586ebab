"""Evicting one pod to make room; its controller creates another one elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kubespread.controllers.disruption import protects
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, priority_of
from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import Stuck
from kubespread.snapshot.edits.pods import EvictPod

EVICT, WAIT = "evict", "wait"


def waits(stuck: Stuck) -> Iterator[Ladder]:
    """Pods that are terminating go by themselves."""
    for pod in stuck.evaluation.cluster.running.pods:
        if pod.metadata.deletion_timestamp is not None:
            name = NamespacedName.of(pod)
            change = Change(WAIT, f"wait for {name} to terminate", 5, edits=_edits(pod))
            yield Ladder.of(change, f"waiting for {name}")


def evictions(stuck: Stuck) -> Iterator[Ladder]:
    """One pod each: those of lower priority first, and among them those on nodes with the fewest other rejections.

    One pod stands for all of its kind on the node.
    """
    for pod in _in_order(stuck):
        if pod.metadata.deletion_timestamp is None:
            name = NamespacedName.of(pod)
            yield Ladder.of(Change(EVICT, f"evict {name}", 35, edits=_edits(pod)), f"evicting {name}")


def _edits(pod: Pod) -> tuple[EvictPod]:
    return (EvictPod(pod.metadata.name, pod.metadata.namespace),)


def _in_order(stuck: Stuck) -> list[Pod]:
    running, complaints = stuck.evaluation.cluster.running, stuck.complaints
    mine, node, pods = priority_of(stuck.pod), running.node, running.pods
    _, first = np.unique(np.stack([running.kind, node]), axis=1, return_index=True)

    def order(place: int) -> tuple[bool, int, int, int]:
        priority = priority_of(pods[place])
        return priority >= mine, complaints[int(node[place])], priority, place

    return [pods[place] for place in sorted(first.tolist(), key=order)]


def notes_on(stuck: Stuck, change: Change) -> Iterator[str]:
    """Notes on budgets and priorities for the evictions in ``change``, which the budgets allow."""
    cluster = stuck.evaluation.cluster
    if WAIT in change.family:
        return
    evicted = {(edit.namespace, edit.name) for edit in change.edits if isinstance(edit, EvictPod)}
    for pod in cluster.running.pods if evicted else ():
        if (pod.metadata.namespace, pod.metadata.name) not in evicted:
            continue
        budgets = [budget.metadata.name for budget in cluster.objects.of(PodDisruptionBudget) if protects(budget, pod)]
        allowed = f"budget {', '.join(budgets)} allows it" if budgets else "no budget protects it"
        theirs, mine = priority_of(pod), priority_of(stuck.pod)
        compared = "the same priority" if theirs == mine else f"priority {theirs}, the pod's is {mine}"
        yield f"{allowed}; {compared}"
