"""A cycle of the descheduler: the pods that its profiles choose, evicted as far as limits and budgets allow.

Source: descheduler v0.36: pkg/descheduler/evictions/evictions.go, NewPodEvictor, EvictPod
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, PreEvictionFilter
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct, field

from kubespread.kube.api.core import Namespace, Pod
from kubespread.questions.rebalance.descheduler.plugin import Chosen
from kubespread.questions.rebalance.descheduler.policy import EvictorArgs, Limits
from kubespread.questions.rebalance.descheduler.view import View
from kubespread.scheduler.cluster.labels import Mask

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
