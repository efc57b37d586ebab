"""What the descheduler sees of a cluster when a cycle begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import numpy as np
from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Node, Pod, PodAffinityTerm
from kubespread.kube.pod_requests import Amounts, pod_requests
from kubespread.kube.quantity import NANO, parse
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.well_known import ENDED_PHASES, READY
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import matches_required_node_affinity, tolerated

# Which nodes the descheduler believes would accept a pod. It checks less than kube-scheduler does.
#
# Source: descheduler v0.36: pkg/descheduler/node/node.go, NodeFit, PodFitsAnyOtherNode


_PODS, _CPU = "pods", "cpu"


class NodeFit:
    """Node fit for pods of one cluster; pods to be evicted still take their room."""

    def __init__(self, nodes: Nodes, pods: Sequence[Pod]) -> None:
        self._nodes = nodes
        self._running = [
            (pod, position)
            for pod in pods
            if pod.status.phase not in ENDED_PHASES and (position := nodes.index.get(pod.spec.node_name)) is not None
        ]
        self._requests: dict[tuple[int, ...], tuple[Pod, Amounts]] = {}
        """By the parts of the spec that say what a pod requests, with a pod that keeps them."""
        self._free: dict[str, list[int]] = {}
        self._masks: dict[tuple[int, ...], tuple[Pod, Mask]] = {}
        self._repelling: dict[tuple[str, int], tuple[PodAffinityTerm, Mapping[int, set[str]]]] = {}

    def fits_other(self, pod: Pod, among: Mask) -> bool:
        """Whether some node of ``among`` other than the pod's own would accept it.

        Spreading, ports and volumes are not checked, nor pods' affinity and other pods' anti-affinity.
        """
        fitting = self._admits(pod) & among
        own = self._nodes.index.get(pod.spec.node_name)
        if own is not None:
            fitting[own] = False
        if not fitting.any():
            return False
        terms = list(_anti_affinity(pod))
        if not terms:
            return True
        return any(not self._is_repelled(pod, terms, node) for node in np.flatnonzero(fitting).tolist())

    def _admits(self, pod: Pod) -> Mask:
        """Nodes that are not cordoned, and whose labels, taints and room suit the pod. Computed once for identical
        pods.
        """
        spec = pod.spec
        key = (*_requesting(pod), id(spec.node_selector), id(spec.affinity), id(spec.tolerations))
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = pod, self._judged(pod)
        return mask[1]

    def _judged(self, pod: Pod) -> Mask:
        nodes = self._nodes
        admits = matches_required_node_affinity(nodes, pod) & tolerated(nodes, pod, compares=False)
        admits &= ~nodes.unschedulable
        # One free pod slot is enough for the pod itself.
        requests = {_PODS: 1, **{name: amount for name, amount in self._amounts(pod).items() if name != _PODS}}
        for name, amount in requests.items():
            admits &= np.array([amount <= free for free in self._free_of(name)], dtype=np.bool_)
        return admits

    def _amounts(self, pod: Pod) -> dict[str, int]:
        """Milli-units of cpu and whole units of everything else, rounded up."""
        return {name: _units(name, amount.nano) for name, amount in self._requested(pod).items()}

    def _requested(self, pod: Pod) -> Amounts:
        key = _requesting(pod)
        amounts = self._requests.get(key)
        if amounts is None:
            amounts = self._requests[key] = pod, pod_requests(pod)
        return amounts[1]

    def _free_of(self, name: str) -> list[int]:
        """What is left of a resource on each node; 0 where a node does not have it."""
        if name not in self._free:
            has = [parse(node.status.allocatable.get(name, 0)).nano for node in self._nodes.objects]
            used = self._used_pods if name == _PODS else self._used.get(name, [0] * len(has))
            self._free[name] = [_units(name, mine) - _units(name, taken) for mine, taken in zip(has, used, strict=True)]
        return self._free[name]

    @cached_property
    def _used_pods(self) -> list[int]:
        counts = np.bincount([position for _, position in self._running], minlength=len(self._nodes))
        return [count * NANO for count in counts.tolist()]

    @cached_property
    def _used(self) -> dict[str, list[int]]:
        """What the pods of each node request, exactly."""
        used: dict[str, list[int]] = {}
        for pod, position in self._running:
            for name, amount in self._requested(pod).items():
                if name not in used:
                    used[name] = [0] * len(self._nodes)
                used[name][position] += amount.nano
        return used

    def _is_repelled(self, pod: Pod, terms: Sequence[PodAffinityTerm], node: int) -> bool:
        """Whether some pod on the node matches the anti-affinity of ``pod``."""
        own = {pod.metadata.name}
        labels = self._nodes.objects[node].metadata.labels
        return any(
            term.topology_key in labels and not self._matching(pod, term).get(node, own) <= own for term in terms
        )

    def _matching(self, pod: Pod, term: PodAffinityTerm) -> Mapping[int, set[str]]:
        """The names of the pods that the term matches, by node; its namespaceSelector is not read."""
        key = pod.metadata.namespace, id(term)
        domains = self._repelling.get(key)
        if domains is None:
            domains = self._repelling[key] = term, self._matched(pod.metadata.namespace, term)
        return domains[1]

    def _matched(self, namespace: str, term: PodAffinityTerm) -> Mapping[int, set[str]]:
        try:
            selector = from_label_selector(term.label_selector)
        except SelectorError:
            return {}
        namespaces, domains = term.namespaces or [namespace], dict[int, set[str]]()
        for other, position in self._running:
            if other.metadata.namespace in namespaces and selector.matches(other.metadata.labels):
                domains.setdefault(position, set()).add(other.metadata.name)
        return domains


def _requesting(pod: Pod) -> tuple[int, ...]:
    """The parts of a spec that determine requests; pods of one template share them."""
    spec = pod.spec
    return id(spec.containers), id(spec.init_containers), id(spec.resources), id(spec.overhead)


def _units(name: str, nano: int) -> int:
    unit = NANO // 1000 if name == _CPU else NANO
    return -(-nano // unit)


def _anti_affinity(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is not None and affinity.pod_anti_affinity is not None:
        yield from affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution


class View(Struct, frozen=True, dict=True):
    """The nodes and pods of a cluster, beside its other objects."""

    nodes: Nodes
    pods: Sequence[Pod]
    objects: ClusterObjects
    time: datetime

    @cached_property
    def fit(self) -> NodeFit:
        return NodeFit(self.nodes, self.pods)

    @cached_property
    def ready(self) -> tuple[bool, ...]:
        """Per node."""
        return tuple(map(is_ready, self.nodes.objects))


def is_ready(node: Node) -> bool:
    """Whether the descheduler looks at the node: one that says nothing of its readiness counts as ready, and neither
    cordons nor taints matter.
    """
    return all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)


def in_listing_order(view: View, pods: Sequence[Pod]) -> Iterator[tuple[Pod, int]]:
    """Those of ``pods`` on nodes, by node, namespace and name, each with its node's position."""
    position_of = view.nodes.index
    placed = [(position_of[pod.spec.node_name], pod) for pod in pods if pod.spec.node_name in position_of]
    placed.sort(key=lambda item: (item[0], item[1].metadata.namespace, item[1].metadata.name))
    return ((pod, node) for node, pod in placed)
