"""The API server as seen by controllers and evictions: it admits or refuses new pods, and updates PodDisruptionBudgets
with the pods they protect.

Controllers with refused pods try again, after all others, once quotas have room; back-offs are not simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.disruption import Eviction, Scales, budget_status, evict, reads_scale, selector_of
from kubespread.deadline import check
from kubespread.kube.admission.plugins import AdmissionPlugins, ForbiddenError, admitted_again, gaps_of_any_pod
from kubespread.kube.admission.quota import Ledger, is_charged, with_usage
from kubespread.kube.api.cluster_objects import ClusterObjects, PodDisruptionBudget
from kubespread.kube.api.core import Pod, ResourceQuota
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.columns import Forking
from kubespread.scheduler.evaluation import budget_gaps
from kubespread.world.store.owners import in_order
from kubespread.world.store.pod_book import PodKey, key_of


def budget_gaps_of(objects: ClusterObjects) -> Iterator[str]:
    """Yield gaps that matter to evictions: missing budgets, and replicas of the workloads they protect."""
    yield from budget_gaps(objects)
    owners = (owner for replica_set in objects.get(ReplicaSet) if (owner := controller_of(replica_set)) is not None)
    if any(reads_scale(budget.spec) for budget in objects.get(PodDisruptionBudget)) and any(
        owner.kind == Deployment.__name__ for owner in owners
    ):
        yield from objects.gap(Deployment, "budgets go by the replicas of their ReplicaSets")


class Budgets:
    """Budgets of a cluster, synced when they are read after a change of their pods."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget], scales: Scales, pods: Iterable[Pod]) -> None:
        self._budgets = list(budgets)
        self._selectors = [selector_of(budget) for budget in budgets]
        self._scales = scales
        self._protecting: dict[tuple[str, int], tuple[Mapping[str, str], tuple[int, ...]]] = {}
        """By namespace and id of labels, which must not be freed; with the positions of budgets."""
        self._pods: list[dict[PodKey, Pod]] = [{} for _ in budgets]
        self._stale = set(range(len(budgets)))
        for pod in pods if budgets else ():
            self.note_change(pod)

    def _places(self, pod: Pod) -> tuple[int, ...]:
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

    def note_change(self, pod: Pod) -> None:
        for place in self._places(pod):
            self._pods[place][key_of(pod)] = pod
            self._stale.add(place)

    def note_removal(self, pod: Pod) -> None:
        """Record a removed pod: its eviction is complete, and a pod with its name is a new one."""
        for place in self._places(pod):
            self._pods[place].pop(key_of(pod), None)
            self._stale.add(place)
            budget = self._budgets[place]
            if pod.metadata.name in (waited := budget.status.disrupted_pods):
                disrupted = {name: since for name, since in waited.items() if name != pod.metadata.name}
                self._budgets[place] = replace(budget, status=replace(budget.status, disrupted_pods=disrupted))

    def evict(self, pod: Pod, now: datetime) -> Eviction:
        """Ask the API server to evict ``pod``, which charges a budget that allows it."""
        places = self._places(pod)
        answer = evict(pod, [self._sync(place, now) for place in places], now)
        if answer.budget_after is not None:
            self._budgets[places[0]] = answer.budget_after
        return answer

    def protecting(self, pod: Pod, now: datetime) -> list[PodDisruptionBudget]:
        return [self._sync(place, now) for place in self._places(pod)]

    def current(self, now: datetime) -> list[PodDisruptionBudget]:
        return [self._sync(place, now) for place in range(len(self._budgets))]

    def _sync(self, place: int, now: datetime) -> PodDisruptionBudget:
        budget = self._budgets[place]
        if place in self._stale:
            self._stale.discard(place)
            status = budget_status(budget, list(self._pods[place].values()), self._scales, now)
            budget = self._budgets[place] = replace(budget, status=status)
        return budget


class RefusedPods(Struct):
    """Pods of one controller that the API server refused."""

    message: str
    """Message for the first pod."""
    pods: list[tuple[Pod, Pod]] = field(default_factory=list)
    """Refused pods, each with its template."""
    may_retry: bool = False
    """True if quotas have changed, or gained room, since."""

    def fork(self) -> RefusedPods:
        return replace(self, pods=list(self.pods))


class ApiServer(Forking):
    """Admission of pods created by controllers, and the usage that quotas count."""

    _copied, _forked = ("_uncharged",), ("refused", "_ledger")

    def __init__(
        self,
        plugins: AdmissionPlugins,
        version: KubeVersion,
        objects: ClusterObjects,
        pods: Sequence[Pod],
        time: datetime,
        assume: Callable[[Iterable[str]], None],
    ) -> None:
        """``assume`` records the assumptions for admitting a pod."""
        self._plugins, self._version, self._objects, self._assume = plugins, version, objects, assume
        self._is_noted = False
        """True if the assumptions for admitting pods are recorded."""
        self.refused: dict[WorkloadName, RefusedPods] = {}
        """Refused pods by controller; a bare pod is its own."""
        self._admitted: dict[int, tuple[Pod, Pod | ForbiddenError]] = {}
        """Stored pod or refusal by the id of a template, which must not be freed. Forks share it."""
        self._has_quotas = plugins.enabled
        self._ledger = Ledger(with_usage(objects.get(ResourceQuota), pods) if self._has_quotas else ())
        self._uncharged = {key_of(pod) for pod in pods if not is_charged(pod, time)} if self._ledger else set[PodKey]()
        """Pods that are there and that quotas do not count any more."""

    @property
    def quotas(self) -> Sequence[ResourceQuota]:
        """Enforced quotas with their current usage."""
        return self._ledger.quotas

    def quotas_in(self, objects: ClusterObjects) -> ClusterObjects:
        """``objects`` with the current usage of quotas."""
        return objects.with_all(ResourceQuota, self.quotas) if self._ledger else objects

    def use_objects(self, objects: ClusterObjects, added: Iterable[ApiObject]) -> None:
        """Note changed objects other than pods and nodes; ``added`` are the new or different ones."""
        self._objects, self._admitted, self._is_noted = objects, {}, False
        if self._has_quotas and any(isinstance(obj, ResourceQuota) for obj in added):
            self._ledger = Ledger(objects.get(ResourceQuota))
            for refused in self.refused.values():
                refused.may_retry = True

    def admit(self, pod: Pod, template: Pod, owner: WorkloadName) -> tuple[Pod, Pod] | None:
        """Pod and template as stored; None if the pod is refused, which is recorded."""
        check()
        if not self._is_noted:
            self._is_noted = True
            self._assume(gaps_of_any_pod(self._objects, self._plugins))
        try:
            admitted = self._admitted_again(template)
            if admitted is not template:
                pod = Pod(metadata=pod.metadata, spec=admitted.spec, status=pod.status)
            self._ask_quotas(pod)
        except ForbiddenError as error:
            self.refuse(pod, template, owner, error.message_for(pod.metadata.name))
            return None
        self._ledger.charge(pod)
        return pod, admitted

    def refuse(self, pod: Pod, template: Pod, owner: WorkloadName, message: str) -> None:
        self.refused.setdefault(owner, RefusedPods(message)).pods.append((pod, template))

    def takes_one_more(self, template: Pod) -> bool:
        """True if another pod of a template would be stored unchanged, and none waits for quota."""
        return not self.refused and not self._refusal(template) and self._admitted_again(template) is template

    def refusal_of_successor(self, template: Pod, pod: Pod) -> str:
        """Reason a pod of ``template`` would be refused in place of ``pod``; empty if it would not."""
        self._ledger.charge(pod, -1)
        refusal = self._refusal(template)
        self._ledger.charge(pod)
        return refusal

    def _refusal(self, template: Pod) -> str:
        try:
            self._ask_quotas(self._admitted_again(template))
        except ForbiddenError as error:
            owner = controller_of(template)
            return error.message_for(template.metadata.name if owner is None else f"{owner.name}-")
        return ""

    def _admitted_again(self, template: Pod) -> Pod:
        """Raises ForbiddenError."""
        if id(template) not in self._admitted:
            admitted: Pod | ForbiddenError
            try:
                admitted = admitted_again(template, self._version, self._objects, self._plugins)
            except ForbiddenError as error:
                admitted = error
            self._admitted[id(template)] = template, admitted
        _, admitted = self._admitted[id(template)]
        if isinstance(admitted, ForbiddenError):
            # One that is raised again and again would keep what led to it.
            raise type(admitted)(*admitted.args)
        return admitted

    def _ask_quotas(self, pod: Pod) -> None:
        """Raises ForbiddenError."""
        if self._ledger and (refusal := self._ledger.refusal(pod)):
            raise ForbiddenError(refusal)

    def note_terminating(self, pod: Pod) -> None:
        """Record a terminating pod; the grace period, in which quotas still count it, is not modeled."""
        if self._ledger and key_of(pod) not in self._uncharged:
            self._release(pod)
            self._uncharged.add(key_of(pod))

    def note_removal(self, pod: Pod) -> None:
        if self._ledger and key_of(pod) not in self._uncharged:
            self._release(pod)
        self._uncharged.discard(key_of(pod))

    def _release(self, pod: Pod) -> None:
        if self._ledger.charge(pod, -1):
            self._has_room(pod)

    def _has_room(self, pod: Pod) -> None:
        """Quotas of a pod's namespace have."""
        for name, refused in self.refused.items():
            refused.may_retry |= name.namespace == pod.metadata.namespace

    def take_refused(self, owner: WorkloadName) -> list[tuple[Pod, Pod]]:
        """Take the refused pods of ``owner``, to be tried again."""
        refused = self.refused.pop(owner, None)
        return [] if refused is None else refused.pods

    def take_retryable(self, kinds: Collection[str], kind_of: Callable[[WorkloadName], str]) -> list[WorkloadName]:
        """Controllers of these kinds that may retry; each is returned once per change of quotas."""
        names = [name for name, refused in self.refused.items() if refused.may_retry and kind_of(name) in kinds]
        for name in names:
            self.refused[name].may_retry = False
        return sorted(names, key=in_order)
