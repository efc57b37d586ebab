"""Which pods the descheduler's evictor may evict.

Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, Filter
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property

from kubespread.controllers.disruption.budgets import selector_of
from kubespread.errors import UsageError
from kubespread.kube.api.annotations import (
    CONFIG_SOURCE,
    DESCHEDULER_EVICT,
    DESCHEDULER_PREFER_NO_EVICTION,
    MIRROR_POD,
)
from kubespread.kube.api.core import Pod
from kubespread.kube.api.policy import PodDisruptionBudget
from kubespread.kube.api.scheduling import PriorityClass
from kubespread.kube.api.storage import PersistentVolumeClaim
from kubespread.kube.gotext import quote
from kubespread.kube.pod_status import is_terminating, moment
from kubespread.kube.selector import Selector
from kubespread.questions.rebalance.descheduler.policy import (
    DAEMON_SET_PODS,
    FAILED_BARE,
    LOCAL_STORAGE,
    RESOURCE_CLAIMS,
    SYSTEM_CRITICAL,
    WITH_PVC,
    WITHOUT_PDB,
    EvictorArgs,
)
from kubespread.questions.rebalance.descheduler.view import View

SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

_Rule = Callable[[Pod], bool]


class Protections:
    """The evictor's arguments applied to the pods of one cluster."""

    def __init__(self, view: View, args: EvictorArgs) -> None:
        """Raises UsageError for a missing priority class."""
        self._view, self._args = view, args
        self._threshold = self._priority_threshold()
        self._rules: dict[str, _Rule] = dict(self._enabled())

    def reason(self, pod: Pod) -> str | None:
        """What protects the pod from eviction, None where nothing does."""
        annotations, args = pod.metadata.annotations, self._args
        if DESCHEDULER_EVICT in annotations:
            return None
        if args.heeds_prefer_no_eviction and DESCHEDULER_PREFER_NO_EVICTION in annotations:
            return DESCHEDULER_PREFER_NO_EVICTION
        if MIRROR_POD in annotations or annotations.get(CONFIG_SOURCE, "api") != "api":
            return "static pod"
        if is_terminating(pod):
            return "terminating"
        return next((name for name, protects in self._rules.items() if protects(pod)), None)

    def _priority_threshold(self) -> int | None:
        name = self._args.priority_class
        if not name:
            return self._args.priority_threshold
        priority_class = self._view.objects.named(PriorityClass, name)
        if priority_class is None:
            raise UsageError(f"the descheduler policy's priorityThreshold: priorityclass {quote(name)} not found")
        return priority_class.value

    def _enabled(self) -> Iterator[tuple[str, _Rule]]:
        on, args = self._args.protections, self._args
        if SYSTEM_CRITICAL in on:
            yield SYSTEM_CRITICAL, self._is_important
        yield (FAILED_BARE, _is_bare) if FAILED_BARE in on else ("bare pod", _is_bare_and_works)
        if LOCAL_STORAGE in on:
            yield LOCAL_STORAGE, _has_local_storage
        if DAEMON_SET_PODS in on:
            yield DAEMON_SET_PODS, _is_of_daemon_set
        if WITH_PVC in on:
            yield WITH_PVC, self._has_protected_claim
        if WITHOUT_PDB in on:
            yield WITHOUT_PDB, self._has_no_budget
        if RESOURCE_CLAIMS in on:
            yield RESOURCE_CLAIMS, _has_resource_claims
        if not args.label_selector.is_empty:
            yield "labelSelector", lambda pod: not args.label_selector.matches(pod.metadata.labels)
        if args.min_replicas > 1:
            yield "minReplicas", self._has_few_siblings
        if args.min_pod_age:
            yield "minPodAge", self._is_young

    def _is_important(self, pod: Pod) -> bool:
        priority = pod.spec.priority
        limits = (SYSTEM_CRITICAL_PRIORITY, *(() if self._threshold is None else (self._threshold,)))
        return priority is not None and any(priority >= limit for limit in limits)

    def _has_protected_claim(self, pod: Pod) -> bool:
        claims = [volume.persistent_volume_claim for volume in pod.spec.volumes]
        names = [claim.claim_name for claim in claims if claim is not None]
        protected = self._args.protected_storage_classes
        if not protected:
            return bool(names)
        # A missing claim, or one without a class, protects its pod.
        classes = [self._classes.get((pod.metadata.namespace, name)) or None for name in names]
        return any(name is None or name in protected for name in classes)

    @cached_property
    def _classes(self) -> dict[tuple[str, str], str | None]:
        return {
            (claim.metadata.namespace, claim.metadata.name): claim.spec.storage_class_name
            for claim in self._view.objects.of(PersistentVolumeClaim)
        }

    def _has_no_budget(self, pod: Pod) -> bool:
        return not any(
            namespace == pod.metadata.namespace and selector.matches(pod.metadata.labels)
            for namespace, selector in self._budgets
        )

    @cached_property
    def _budgets(self) -> list[tuple[str, Selector]]:
        return [
            (budget.metadata.namespace, selector_of(budget)) for budget in self._view.objects.of(PodDisruptionBudget)
        ]

    def _has_few_siblings(self, pod: Pod) -> bool:
        owners = pod.metadata.owner_references
        return len(owners) == 1 and self._siblings[owners[0].uid] < self._args.min_replicas

    @cached_property
    def _siblings(self) -> Counter[str]:
        return Counter(owner.uid for pod in self._view.pods for owner in pod.metadata.owner_references)

    def _is_young(self, pod: Pod) -> bool:
        """A pod without a start time counts as young."""
        started = moment(pod, "status.startTime", pod.status.start_time)
        if started is None:
            return True
        return (self._view.time - started).total_seconds() * 1e9 < self._args.min_pod_age


def _is_bare(pod: Pod) -> bool:
    return not pod.metadata.owner_references


def _is_bare_and_works(pod: Pod) -> bool:
    return _is_bare(pod) and pod.status.phase != "Failed"


def _has_local_storage(pod: Pod) -> bool:
    return any(volume.is_local for volume in pod.spec.volumes)


def _is_of_daemon_set(pod: Pod) -> bool:
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references)


def _has_resource_claims(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims)
