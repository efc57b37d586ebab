"""Karpenter's NodePools as node groups. Which machines there are to choose from is not in the cluster: new nodes are
like a good one that the pool has.
"""

from __future__ import annotations

from kubespread.kube.api.autoscaling import NodePool
from kubespread.kube.selector import from_map
from kubespread.kube.well_known import ZONE
from kubespread.node_groups.types import NodeGroup

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
