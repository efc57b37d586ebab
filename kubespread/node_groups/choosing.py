"""Which node groups a question is about: those of a file, else those the cluster tells its autoscaler."""

from __future__ import annotations

from kubespread.errors import UsageError
from kubespread.kube.api.autoscaling import MachineDeployment, NodePool
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.selector import from_map
from kubespread.kube.well_known import ZONE
from kubespread.node_groups.machine_deployments import machine_deployment_group
from kubespread.node_groups.types import Autoscaler, NodeGroup

_TOLD_BY = {Autoscaler.CLUSTER_AUTOSCALER: MachineDeployment, Autoscaler.KARPENTER: NodePool}


def groups_of_cluster(objects: ClusterObjects, autoscaler: Autoscaler) -> tuple[NodeGroup, ...]:
    """The NodePools of Karpenter, or the MachineDeployments that cluster-autoscaler is told to scale.

    Raises UsageError where there are none.
    """
    if autoscaler is Autoscaler.KARPENTER:
        groups = tuple(map(node_pool_group, objects.of(NodePool)))
    else:
        found = map(machine_deployment_group, objects.of(MachineDeployment))
        groups = tuple(group for group in found if group is not None)
    if not groups:
        kind = _TOLD_BY[autoscaler].__name__
        said = objects.unread.get(kind) or f"the cluster's source has no {kind} that may grow"
        raise UsageError(f"--autoscaler {autoscaler} needs --node-groups FILE: {said}")
    return groups


NODE_POOL_LABEL = "karpenter.sh/nodepool"


def node_pool_group(pool: NodePool) -> NodeGroup:
    """The group that Karpenter makes nodes for. A requirement with one value is a label of every node."""
    name, template = pool.metadata.name, pool.spec.template
    requirements = template.spec.requirements
    chosen = {
        each.key: each.values[0] for each in requirements if each.operator == "In" and len(each.values) == 1
    }  # fmt: skip
    zones = next((each.values for each in requirements if each.key == ZONE and each.operator == "In"), [])
    own_zone = template.metadata.labels.get(ZONE)
    labels = {**chosen, **template.metadata.labels, NODE_POOL_LABEL: name}
    labels.pop(ZONE, None)
    return NodeGroup(
        name=name,
        zones=(own_zone,) if own_zone else tuple(dict.fromkeys(zones)),
        members=from_map({NODE_POOL_LABEL: name}),
        labels=labels,
        taints=template.spec.taints,
        limits=pool.spec.limits,
        weight=pool.spec.weight,
    )
