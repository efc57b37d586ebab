"""Node groups that are configured in the cluster: Karpenter's NodePools and Cluster API's MachineDeployments.

Sizes and capacity of MachineDeployments are in annotations.

Source of the rules: the clusterapi provider of cluster-autoscaler, and Cluster API's rules for labels that machines
pass on to their nodes.
"""

from __future__ import annotations

from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.api.cluster_objects import ClusterObjects, MachineDeployment, NodePool
from kubespread.kube.api.core import Node, NodeSelectorRequirement, NodeSpec, NodeStatus, Taint
from kubespread.kube.api.meta import ObjectMeta, ResourceList
from kubespread.kube.gotext import parse_int64, quote
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.selector import OPERATORS, Requirement, from_map
from kubespread.kube.taint import TaintError, parse_taint
from kubespread.kube.well_known import CAPACITY_PREFIX, GROUP_MAX_SIZE, GROUP_MIN_SIZE, ZONE
from kubespread.node_groups.groups import Autoscaler, NodeGroup

_TOLD_BY = {Autoscaler.CLUSTER_AUTOSCALER: MachineDeployment, Autoscaler.KARPENTER: NodePool}


def groups_of_cluster(objects: ClusterObjects, autoscaler: Autoscaler) -> tuple[NodeGroup, ...]:
    """Karpenter's NodePools but static ones, or the MachineDeployments that cluster-autoscaler is configured to scale.

    Raises UsageError where there are none.
    """
    if autoscaler is Autoscaler.KARPENTER:
        groups = tuple(node_pool_group(pool) for pool in objects.of(NodePool) if pool.spec.replicas is None)
    else:
        machine_groups = map(_machine_deployment_group, objects.of(MachineDeployment))
        groups = tuple(group for group in machine_groups if group is not None)
    if not groups:
        kind = _TOLD_BY[autoscaler].__name__
        reason = objects.unread.get(kind) or f"the cluster's source has no {kind} that may grow"
        raise UsageError(f"--autoscaler {autoscaler} needs --node-groups FILE: {reason}")
    return groups


NODE_POOL_LABEL = "karpenter.sh/nodepool"


def node_pool_group(pool: NodePool) -> NodeGroup:
    """The group that Karpenter makes nodes for. A requirement with one value is a label of every node.

    Raises SnapshotError for a requirement that Karpenter has no meaning for.
    """
    name, template = pool.metadata.name, pool.spec.template
    requirements = template.spec.requirements
    chosen = {
        requirement.key: requirement.values[0]
        for requirement in requirements
        if requirement.operator == "In" and len(requirement.values) == 1
    }
    zones = next(
        (
            requirement.values
            for requirement in requirements
            if requirement.key == ZONE and requirement.operator == "In"
        ),
        [],
    )
    own_zone = template.metadata.labels.get(ZONE)
    labels = {**chosen, **template.metadata.labels, NODE_POOL_LABEL: name}
    labels.pop(ZONE, None)
    return NodeGroup(
        name=name,
        zones=(own_zone,) if own_zone else tuple(dict.fromkeys(zones)),
        members=from_map({NODE_POOL_LABEL: name}),
        labels=labels,
        taints=template.spec.taints,
        requirements=tuple(_requirement(name, requirement) for requirement in requirements),
        limits=pool.spec.limits,
        weight=pool.spec.weight,
    )


_OR_EQUAL = {"Gte": ("Gt", -1), "Lte": ("Lt", 1)}
"""Karpenter's own operators, each as the one that node selectors have too, and how far its bound is from that one's."""


def _requirement(pool: str, written: NodeSelectorRequirement) -> Requirement:
    operator, values = written.operator, tuple(written.values)
    if operator in _OR_EQUAL and len(values) == 1 and (bound := parse_int64(values[0])) is not None:
        operator, off = _OR_EQUAL[operator]
        values = (str(bound + off),)
    requirement = Requirement(written.key, operator, values)
    faults = requirement.faults() if operator in OPERATORS else [f"operator {quote(operator)} is not known"]
    if faults:
        raise SnapshotError(f"NodePool {pool}: requirement on {written.key}: {faults[0]}")
    return requirement


_RESOURCES = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage", "maxPods": "pods"}
_DEFAULT_PODS = "110"
_HANDED_ON = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")


def _machine_deployment_group(machines: MachineDeployment) -> NodeGroup | None:
    """The group that cluster-autoscaler finds; None for machines that it is not configured to scale."""
    meta, annotations = machines.metadata, machines.metadata.annotations
    maximum, minimum = (annotations.get(key, "") for key in (GROUP_MAX_SIZE, GROUP_MIN_SIZE))
    if not maximum.isdecimal():
        return None
    return NodeGroup(
        name=meta.name,
        maximum=int(maximum),
        minimum=int(minimum) if minimum.isdecimal() else 0,
        template=_template(machines),
        running=1 if machines.spec.replicas is None else machines.spec.replicas,
    )


def _template(machines: MachineDeployment) -> Node | None:
    """What scale from zero makes of the capacity annotations; None where cpu or memory is not said."""
    capacity = _capacity(machines)
    if not {"cpu", "memory"} <= capacity.keys():
        return None
    annotations, template = machines.metadata.annotations, machines.spec.template
    labels = {
        key: value
        for key, value in template.metadata.labels.items()
        if key.partition("/")[0].endswith(_HANDED_ON)
    }  # fmt: skip
    if template.spec.failure_domain:
        labels[ZONE] = template.spec.failure_domain
    pairs = (pair.partition("=") for pair in annotations.get(f"{CAPACITY_PREFIX}labels", "").split(",") if pair)
    labels |= {key.strip(): value.strip() for key, _, value in pairs}
    return Node(
        metadata=ObjectMeta(name=machines.metadata.name, labels=labels),
        spec=NodeSpec(taints=_taints(annotations.get(f"{CAPACITY_PREFIX}taints", ""))),
        status=NodeStatus(capacity=capacity, allocatable=capacity),
    )


def _capacity(machines: MachineDeployment) -> ResourceList:
    annotations = machines.metadata.annotations
    quantities = {name: annotations.get(f"{CAPACITY_PREFIX}{key}", "") for key, name in _RESOURCES.items()}
    quantities[annotations.get(f"{CAPACITY_PREFIX}gpu-type", "")] = annotations.get(f"{CAPACITY_PREFIX}gpu-count", "")
    capacity: ResourceList = {name: text for name, text in quantities.items() if name and _is_quantity(text)}
    return {"pods": _DEFAULT_PODS, **capacity} if capacity else capacity


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def _taints(text: str) -> list[Taint]:
    taints = []
    for taint in filter(None, map(str.strip, text.split(","))):
        try:
            taints.append(parse_taint(taint).taint)
        except TaintError:
            # cluster-autoscaler passes over what it cannot read, too.
            continue
    return taints
