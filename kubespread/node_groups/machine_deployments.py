"""Cluster API's MachineDeployments as node groups of cluster-autoscaler: sizes and capacity stand in annotations.

Source of the rules: the clusterapi provider of cluster-autoscaler, and Cluster API's rules for labels that machines
hand on to their nodes.
"""

from __future__ import annotations

from kubespread.kube.api.annotations import CAPACITY_PREFIX, GROUP_MAX_SIZE, GROUP_MIN_SIZE
from kubespread.kube.api.autoscaling import MachineDeployment
from kubespread.kube.api.core import Node, NodeSpec, NodeStatus, Taint
from kubespread.kube.api.meta import ObjectMeta, ResourceList
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.taint import TaintError, parse_taint
from kubespread.kube.well_known import ZONE
from kubespread.node_groups.types import NodeGroup

_RESOURCES = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage", "maxPods": "pods"}
_DEFAULT_PODS = "110"
_HANDED_ON = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")


def machine_deployment_group(machines: MachineDeployment) -> NodeGroup | None:
    """The group that cluster-autoscaler finds; None for machines that it is not told to scale."""
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
    found = {name: annotations.get(f"{CAPACITY_PREFIX}{key}", "") for key, name in _RESOURCES.items()}
    found[annotations.get(f"{CAPACITY_PREFIX}gpu-type", "")] = annotations.get(f"{CAPACITY_PREFIX}gpu-count", "")
    capacity: ResourceList = {name: text for name, text in found.items() if name and _is_quantity(text)}
    return {"pods": _DEFAULT_PODS, **capacity} if capacity else capacity


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def _taints(text: str) -> list[Taint]:
    taints = []
    for each in filter(None, map(str.strip, text.split(","))):
        try:
            taints.append(parse_taint(each).taint)
        except TaintError:
            # cluster-autoscaler passes over what it cannot read, too.
            continue
    return taints
