"""Domains without nodes that node autoscalers could make, by the configuration of their groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects, MachineDeployment, NodePool
from kubespread.kube.api.core import Node, NodeSpec, NodeStatus, Pod, Taint
from kubespread.kube.api.meta import ObjectMeta, ResourceList
from kubespread.kube.quantity import NANO, QuantityError, parse
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import GROUP_MAX_SIZE, HOSTNAME, ZONE
from kubespread.node_groups.groups import NODE_POOL_LABEL, capacity_labels, capacity_taints
from kubespread.questions.check.lint.rule import Case
from kubespread.questions.check.lint.trial import ReplicaTrial
from kubespread.scheduler.cluster.nodes import Nodes, matches_required_node_affinity

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


def without_nodes(key: str, present: Collection[str], case: Case, trial: ReplicaTrial) -> Mapping[str, Possible]:
    """The values of topology key ``key`` that are not ``present``, each as the most suitable group would make it.

    Groups that cannot grow are left out, and so are those that the pod's node selector or affinity does not allow, by
    the labels that the group states for its nodes.
    """
    pod, possible = case.subject.pod, dict[str, Possible]()
    for group, labels, taints in _groups(key, pod, case.objects, trial.cluster.nodes):
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
            labels = {**zone, **made.metadata.labels, **capacity_labels(annotations)}
            yield f"MachineDeployment {machines.metadata.name}", labels, capacity_taints(annotations)


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
        yield (
            f"NodePool {name}",
            {**chosen, key: value, **template.metadata.labels, NODE_POOL_LABEL: name},
            template.spec.taints,
        )


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
    own = [node for node in nodes.objects if node.metadata.labels.get(NODE_POOL_LABEL) == pool.metadata.name]
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
