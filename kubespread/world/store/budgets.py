"""PodDisruptionBudgets kept up with the pods they protect, as the disruption controller and evictions keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from kubespread.controllers.disruption import Eviction, Scale, Scales, budget_status, evict, reads_scale, selector_of
from kubespread.kube.api.cluster_objects import ClusterObjects, PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import OwnerReference
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import controller_of
from kubespread.scheduler.preemption import budget_gaps
from kubespread.world.store.pod_book import PodKey, key_of


def gaps(objects: ClusterObjects) -> Iterator[str]:
    """Gaps that matter to evictions: missing budgets, and missing replica counts of the workloads they protect."""
    yield from budget_gaps(objects)
    owners = (owner for replica_set in objects.of(ReplicaSet) if (owner := controller_of(replica_set)) is not None)
    if any(reads_scale(budget.spec) for budget in objects.of(PodDisruptionBudget)) and any(
        owner.kind == Deployment.__name__ for owner in owners
    ):
        yield from objects.gap(Deployment, "budgets go by the replicas of their ReplicaSets")


class Budgets:
    """The budgets of a cluster; each is synced when asked about, if its pods have changed."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget], scales: Scales, pods: Iterable[Pod]) -> None:
        self._budgets = list(budgets)
        self._selectors = [selector_of(budget) for budget in budgets]
        self._scales = scales
        self._protecting: dict[tuple[str, int], tuple[Mapping[str, str], tuple[int, ...]]] = {}
        """With the labels themselves: as long as they are kept no others have their id."""
        self._pods: list[dict[PodKey, Pod]] = [{} for _ in budgets]
        self._stale = set(range(len(budgets)))
        for pod in pods:
            self.changed(pod)

    def _of(self, pod: Pod) -> tuple[int, ...]:
        """The places of the budgets that protect the pod. Pods of one template share their labels."""
        meta = pod.metadata
        key = meta.namespace, id(meta.labels)
        if key not in self._protecting:
            places = tuple(
                place
                for place, (budget, selector) in enumerate(zip(self._budgets, self._selectors, strict=True))
                if budget.metadata.namespace == meta.namespace and selector.matches(meta.labels)
            )
            self._protecting[key] = meta.labels, places
        return self._protecting[key][1]

    def changed(self, pod: Pod) -> None:
        """A pod is new or has changed."""
        for place in self._of(pod):
            self._pods[place][key_of(pod)] = pod
            self._stale.add(place)

    def removed(self, pod: Pod) -> None:
        """A pod is gone: it is no longer waited for, and a pod of the same name is another one."""
        for place in self._of(pod):
            self._pods[place].pop(key_of(pod), None)
            self._stale.add(place)
            budget = self._budgets[place]
            if pod.metadata.name in (waited := budget.status.disrupted_pods):
                disrupted = {name: since for name, since in waited.items() if name != pod.metadata.name}
                self._budgets[place] = replace(budget, status=replace(budget.status, disrupted_pods=disrupted))

    def evict(self, pod: Pod, now: datetime) -> Eviction:
        """Ask the API server to evict ``pod``; a budget that lets it through is charged."""
        places = self._of(pod)
        answer = evict(pod, [self._synced(place, now) for place in places], now)
        if answer.budget_after is not None:
            self._budgets[places[0]] = answer.budget_after
        return answer

    def protecting(self, pod: Pod, now: datetime) -> list[PodDisruptionBudget]:
        """The budgets that protect a pod, as they are now."""
        return [self._synced(place, now) for place in self._of(pod)]

    def current(self, now: datetime) -> list[PodDisruptionBudget]:
        """All of them as they are now."""
        return [self._synced(place, now) for place in range(len(self._budgets))]

    def _synced(self, place: int, now: datetime) -> PodDisruptionBudget:
        budget = self._budgets[place]
        if place in self._stale:
            self._stale.discard(place)
            status = budget_status(budget, list(self._pods[place].values()), self._scales, now)
            budget = self._budgets[place] = replace(budget, status=status)
        return budget


class KnownScales:
    """The scales of a cluster's controllers; for a kind that the cluster's source lacks, the number of its pods."""

    def __init__(self, scales: Scales, of_pods: Scales) -> None:
        self._scales, self._of_pods = scales, of_pods

    def __call__(self, controller: OwnerReference, namespace: str, /) -> Scale | None:
        return self._scales(controller, namespace) or self._of_pods(controller, namespace)
