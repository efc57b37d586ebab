"""The API server as seen by controllers: it applies the defaults of namespaces to their pods, and quotas refuse some.

Controllers that were refused try again, after all others, once quotas have room; back-offs are not simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.admission.plugins import AdmissionPlugins, ForbiddenError, admitted_again, gaps_again
from kubespread.kube.admission.quota import Ledger, is_charged, with_usage
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, ResourceQuota
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import WorkloadName
from kubespread.world.store.owners import in_order
from kubespread.world.store.pod_book import PodKey, key_of


class Refused(Struct):
    """Pods of one controller that the API server did not let it create."""

    message: str
    """What it said to the first of them."""
    pods: list[tuple[Pod, Pod]] = field(default_factory=list)
    """Those that were sent, each with its template."""
    may_retry: bool = False
    """Whether quotas have gained room or changed since."""


class ApiServer:
    """Admission of the pods that controllers create, and what quotas count as used."""

    def __init__(
        self,
        plugins: AdmissionPlugins,
        objects: ClusterObjects,
        pods: Sequence[Pod],
        time: datetime,
        assume: Callable[[Iterable[str]], None],
    ) -> None:
        """``assume`` records what has to be assumed to admit a pod."""
        self._plugins, self._objects, self._assume = plugins, objects, assume
        self.refused: dict[WorkloadName, Refused] = {}
        """By controller; a bare pod is its own."""
        self._admitted: dict[int, tuple[Pod, Pod]] = {}
        """By template, which is kept for that."""
        self._has_quotas = plugins.enabled and plugins.resource_quota
        self._ledger = Ledger(with_usage(objects.of(ResourceQuota), pods) if self._has_quotas else ())
        self._uncharged = {key_of(pod) for pod in pods if not is_charged(pod, time)} if self._ledger else set[PodKey]()
        """Pods that are there and that quotas do not count any more."""

    def fork(self) -> ApiServer:
        other = copy(self)
        other._admitted, other._ledger, other._uncharged = (
            dict(self._admitted),
            self._ledger.fork(),
            set(self._uncharged),
        )
        other.refused = {name: replace(refused, pods=list(refused.pods)) for name, refused in self.refused.items()}
        return other

    def quotas_in(self, objects: ClusterObjects) -> ClusterObjects:
        """``objects`` with what quotas count as used now."""
        return objects.with_all(ResourceQuota, self._ledger.quotas) if self._ledger else objects

    def learn(self, objects: ClusterObjects, added: Iterable[ApiObject]) -> None:
        """Objects other than pods and nodes have changed; ``added`` are those that are new or different."""
        self._objects = objects
        self._admitted.clear()
        if self._has_quotas and any(isinstance(obj, ResourceQuota) for obj in added):
            self._ledger = Ledger(objects.of(ResourceQuota))
            for refused in self.refused.values():
                refused.may_retry = True

    def admit(self, pod: Pod, template: Pod, owner: WorkloadName) -> tuple[Pod, Pod] | None:
        """The pod and its template as stored; None if the pod is refused, which is remembered."""
        self._assume(gaps_again(self._objects, self._plugins))
        try:
            admitted = self._admitted_again(template)
        except ForbiddenError as error:
            refusal = str(error)
        else:
            if admitted is not template:
                pod = Pod(metadata=pod.metadata, spec=admitted.spec, status=pod.status)
            refusal = self._ledger.refusal(pod) if self._ledger else ""
            if not refusal:
                self._ledger.charge(pod)
                return pod, admitted
        self.refuse(pod, template, owner, f'pods "{pod.metadata.name}" is forbidden: {refusal}')
        return None

    def refuse(self, pod: Pod, template: Pod, owner: WorkloadName, message: str) -> None:
        """Remember a pod that is not stored."""
        self.refused.setdefault(owner, Refused(message)).pods.append((pod, template))

    def takes_one_more(self, template: Pod) -> bool:
        """Whether another pod of a template would be stored unchanged, and none waits for quota."""
        try:
            admitted = self._admitted_again(template)
        except ForbiddenError:
            return False
        return admitted is template and not self.refused and not (self._ledger and self._ledger.refusal(template))

    def _admitted_again(self, template: Pod) -> Pod:
        if id(template) not in self._admitted:
            self._admitted[id(template)] = template, admitted_again(template, self._objects, self._plugins)
        return self._admitted[id(template)][1]

    def terminating(self, pod: Pod) -> None:
        """A pod is on its way out; that quotas count it for its grace period is not waited for."""
        if self._ledger and key_of(pod) not in self._uncharged:
            self._release(pod)
            self._uncharged.add(key_of(pod))

    def changed(self, old: Pod, new: Pod) -> None:
        """A pod requests something else."""
        if self._ledger and key_of(old) not in self._uncharged:
            self._release(old)
            self._ledger.charge(new)

    def removed(self, pod: Pod) -> None:
        """A pod is gone."""
        if self._ledger and key_of(pod) not in self._uncharged:
            self._release(pod)
        self._uncharged.discard(key_of(pod))

    def _release(self, pod: Pod) -> None:
        if self._ledger.charge(pod, -1):
            for name, refused in self.refused.items():
                refused.may_retry |= name.namespace == pod.metadata.namespace

    def take_refused(self, owner: WorkloadName) -> list[tuple[Pod, Pod]]:
        """What ``owner`` was refused: it is about to look after its pods again."""
        refused = self.refused.pop(owner, None)
        return [] if refused is None else refused.pods

    def who_may_retry(self, kinds: Collection[str], kind_of: Callable[[WorkloadName], str]) -> list[WorkloadName]:
        """Controllers of these kinds that are worth another try, each named once."""
        names = [name for name, refused in self.refused.items() if refused.may_retry and kind_of(name) in kinds]
        for name in names:
            self.refused[name].may_retry = False
        return sorted(names, key=in_order)
