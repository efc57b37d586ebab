"""Every in-tree plugin, in the order of the default profile; those that are off by default come last."""

from __future__ import annotations

from kubespread.scheduler.plugins import (
    default_preemption,
    image_locality,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_unschedulable,
    taint_toleration,
    unmodelled,
)
from kubespread.scheduler.plugins.dynamicresources import plugin as dynamic_resources
from kubespread.scheduler.plugins.interpodaffinity import plugin as inter_pod_affinity
from kubespread.scheduler.plugins.noderesources import balanced_allocation, fit
from kubespread.scheduler.plugins.podtopologyspread import plugin as pod_topology_spread
from kubespread.scheduler.plugins.volumes import binding, limits, restrictions, zone
from kubespread.scheduler.specification import Specification

REGISTRY: tuple[Specification, ...] = (
    unmodelled.SCHEDULING_GATES,
    unmodelled.PRIORITY_SORT,
    node_unschedulable.SPECIFICATION,
    node_name.SPECIFICATION,
    taint_toleration.SPECIFICATION,
    node_affinity.SPECIFICATION,
    node_ports.SPECIFICATION,
    fit.SPECIFICATION,
    restrictions.SPECIFICATION,
    limits.SPECIFICATION,
    binding.SPECIFICATION,
    zone.SPECIFICATION,
    pod_topology_spread.SPECIFICATION,
    inter_pod_affinity.SPECIFICATION,
    dynamic_resources.SPECIFICATION,
    default_preemption.SPECIFICATION,
    balanced_allocation.SPECIFICATION,
    image_locality.SPECIFICATION,
    unmodelled.DEFAULT_BINDER,
    node_declared_features.SPECIFICATION,
    unmodelled.GANG_SCHEDULING,
    unmodelled.TOPOLOGY_PLACEMENT_GENERATOR,
    unmodelled.POD_GROUP_PODS_COUNT,
)
