"""Who else decides on the number of a workload's replicas, and how many there may be.

Domains without nodes that node autoscalers could create, by the configuration of their groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    HorizontalPodAutoscaler,
    MachineDeployment,
    NodePool,
    ScaledObject,
)
from kubespread.kube.api.core import Node, NodeSpec, NodeStatus, Pod, Taint
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.meta import ObjectMeta, ResourceList
from kubespread.kube.owners import WorkloadName
from kubespread.kube.quantity import NANO, QuantityError, parse
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, TaintError, parse_taint, untolerated
from kubespread.kube.well_known import CAPACITY_PREFIX, GROUP_MAX_SIZE, HOSTNAME, ZONE
from kubespread.scheduler.cluster.nodes import Nodes, matches_required_node_affinity

_POOL = "karpenter.sh/nodepool"
# A group's machine types are not in the cluster: any pod that requests no more than this is taken to fit on one.
_LARGE: ResourceList = {"cpu": "1000", "memory": "16Ti", "ephemeral-storage": "64Ti", "pods": "110"}


class Possible(Struct, frozen=True):
    """A domain that has no node now."""

    group: str
    """What could make it: ``NodePool general``."""
    node: Node
    """A node as the group would make it there, with room for every pod."""
    taint: Taint | None
    """Of that node, where the pod does not tolerate it."""


def without_nodes(
    key: str, pod: Pod, present: frozenset[str], objects: ClusterObjects, nodes: Nodes
) -> Mapping[str, Possible]:
    """The values of topology key ``key`` that are not ``present``, each as the most suitable group would make it.

    Groups that cannot grow are left out, and so are those that the pod's node selector or affinity does not allow, by
    the labels that the group states for its nodes.
    """
    possible: dict[str, Possible] = {}
    for group, labels, taints in _groups(key, pod, objects, nodes):
        value = labels.get(key, "")
        if not value or value in present or (value in possible and possible[value].taint is None):
            continue
        node = Node(
            metadata=ObjectMeta(name=f"{group} in {value}", labels={HOSTNAME: f"{group} in {value}", **labels}),
            spec=NodeSpec(taints=list(taints)),
            status=NodeStatus(capacity=_LARGE, allocatable=_LARGE),
        )
        if matches_required_node_affinity(Nodes((node,)), pod).all():
            kept_off = untolerated(taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS)
            if value not in possible or not kept_off:
                possible[value] = Possible(group, node, kept_off[0] if kept_off else None)
    return dict(sorted(possible.items()))


def _groups(
    key: str, pod: Pod, objects: ClusterObjects, nodes: Nodes
) -> Iterator[tuple[str, Mapping[str, str], Sequence[Taint]]]:
    """Each group with the labels and taints of its nodes, once per value that it may give ``key``."""
    for pool in objects.of(NodePool):
        if _has_room(pool, nodes):
            yield from _of_node_pool(key, pod, pool)
    for machines in objects.of(MachineDeployment):
        if _may_grow(machines):
            made, annotations = machines.spec.template, machines.metadata.annotations
            zone = {ZONE: made.spec.failure_domain} if made.spec.failure_domain else {}
            pairs = (pair.partition("=") for pair in annotations.get(f"{CAPACITY_PREFIX}labels", "").split(",") if pair)
            labels = {name.strip(): value.strip() for name, _, value in pairs}
            name = f"MachineDeployment {machines.metadata.name}"
            yield name, {**zone, **made.metadata.labels, **labels}, _taints(annotations)


def _of_node_pool(key: str, pod: Pod, pool: NodePool) -> Iterator[tuple[str, Mapping[str, str], Sequence[Taint]]]:
    template, name = pool.spec.template, pool.metadata.name
    allowed = {
        requirement.key: requirement.values
        for requirement in template.spec.requirements
        if requirement.operator == "In" and requirement.values
    }
    selected = _selected_labels(pod)
    chosen = {
        label: next((value for value in values if value in selected.get(label, ())), values[0])
        for label, values in allowed.items()
    }
    for value in allowed.get(key, [""]):
        yield f"NodePool {name}", {**chosen, key: value, **template.metadata.labels, _POOL: name}, template.spec.taints


def _selected_labels(pod: Pod) -> Mapping[str, Sequence[str]]:
    """The values of labels that the pod's node selector and affinity name: Karpenter makes the node that is asked."""
    selected = {label: [value] for label, value in pod.spec.node_selector.items()}
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in required.node_selector_terms if required is not None else ():
        for expression in term.match_expressions:
            if expression.operator == "In":
                selected.setdefault(expression.key, []).extend(expression.values)
    return selected


def _has_room(pool: NodePool, nodes: Nodes) -> bool:
    """Whether the pool grows for pods that wait, and its limits leave something beside the nodes that it has made."""
    if pool.spec.replicas is not None:
        return False
    own = [node for node in nodes.objects if node.metadata.labels.get(_POOL) == pool.metadata.name]
    try:
        return all(
            sum(_counted(node, resource) for node in own) < parse(limit).nano
            for resource, limit in pool.spec.limits.items()
        )
    except QuantityError:
        return True


def _counted(node: Node, resource: str) -> int:
    """In billionths; of ``nodes`` each is one."""
    offered = node.status.capacity or node.status.allocatable
    return NANO if resource == "nodes" else parse(offered.get(resource)).nano


def _may_grow(machines: MachineDeployment) -> bool:
    """Whether cluster-autoscaler is configured to scale it beyond its current size."""
    most = machines.metadata.annotations.get(GROUP_MAX_SIZE, "")
    replicas = machines.spec.replicas
    return most.isdecimal() and int(most) > (1 if replicas is None else replicas)


def _taints(annotations: Mapping[str, str]) -> Sequence[Taint]:
    taints = []
    for text in filter(None, map(str.strip, annotations.get(f"{CAPACITY_PREFIX}taints", "").split(","))):
        try:
            taints.append(parse_taint(text).taint)
        except TaintError:
            # cluster-autoscaler passes over what it cannot read, too.
            continue
    return taints


_KEDA_MOST = 100
"""KEDA's default of maxReplicaCount."""


class Autoscaler(Struct, frozen=True):
    text: str
    """``HorizontalPodAutoscaler web``."""
    least_field: str
    """What says how many replicas there are at least."""
    least: int
    most_field: str
    """What says how many there may be."""
    most: int


def autoscalers_of(workload: WorkloadName, objects: ClusterObjects) -> Iterator[Autoscaler]:
    """HorizontalPodAutoscalers, and KEDA's ScaledObjects, which make one each."""
    for autoscaler in objects.of(HorizontalPodAutoscaler):
        spec, target = autoscaler.spec, autoscaler.spec.scale_target_ref
        if WorkloadName(target.kind, autoscaler.metadata.namespace, target.name) == workload:
            least = 1 if spec.min_replicas is None else spec.min_replicas
            name = f"HorizontalPodAutoscaler {autoscaler.metadata.name}"
            yield Autoscaler(name, "minReplicas", least, "maxReplicas", spec.max_replicas)
    for scaled in objects.of(ScaledObject):
        count, target = scaled.spec, scaled.spec.scale_target_ref
        if WorkloadName(target.kind or "Deployment", scaled.metadata.namespace, target.name) == workload:
            most = _KEDA_MOST if count.max_replica_count is None else count.max_replica_count
            name = f"ScaledObject {scaled.metadata.name}"
            yield Autoscaler(name, "minReplicaCount", count.min_replica_count or 0, "maxReplicaCount", most)


def autoscaler_gaps(workload: WorkloadName, objects: ClusterObjects) -> Iterator[str]:
    """What is not known of a workload that one could scale, without the kind of HorizontalPodAutoscalers."""
    row = POD_CREATORS.get(workload.kind)
    if row is not None and row.has_replicas:
        yield from objects.gap(HorizontalPodAutoscaler, "workloads are taken to keep the replicas that they say")


def bounded(replicas: int, autoscalers: Iterable[Autoscaler]) -> tuple[int, str]:
    """The number of replicas that autoscalers bring ``replicas`` to, or leave it at, and which object decides, if any.

    At 0 a HorizontalPodAutoscaler does nothing.
    """
    why = ""
    for autoscaler in autoscalers if replicas else ():
        if replicas < autoscaler.least:
            replicas, why = autoscaler.least, f"{autoscaler.least_field} of {autoscaler.text}"
        elif replicas > autoscaler.most:
            replicas, why = autoscaler.most, f"{autoscaler.most_field} of {autoscaler.text}"
    return replicas, why
