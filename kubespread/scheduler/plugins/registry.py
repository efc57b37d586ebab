"""Every in-tree plugin, and which of them the default profile of a release has.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins, applyFeatureGates, applyDynamicResources
"""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugin import Point, Specification
from kubespread.scheduler.plugins.default_preemption import DEFAULT_PREEMPTION
from kubespread.scheduler.plugins.dynamicresources.plugin import DYNAMIC_RESOURCES
from kubespread.scheduler.plugins.inter_pod_affinity import INTER_POD_AFFINITY
from kubespread.scheduler.plugins.node_affinity import NODE_AFFINITY
from kubespread.scheduler.plugins.node_properties import (
    IMAGE_LOCALITY,
    NODE_DECLARED_FEATURES,
    NODE_NAME,
    NODE_PORTS,
    NODE_UNSCHEDULABLE,
    TAINT_TOLERATION,
)
from kubespread.scheduler.plugins.noderesources.plugin import BALANCED_ALLOCATION, NODE_RESOURCES_FIT
from kubespread.scheduler.plugins.podtopologyspread.plugin import POD_TOPOLOGY_SPREAD
from kubespread.scheduler.plugins.volumes.binding import VOLUME_BINDING
from kubespread.scheduler.plugins.volumes.filters import NODE_VOLUME_LIMITS, VOLUME_RESTRICTIONS, VOLUME_ZONE

REGISTRY: tuple[Specification, ...] = (
    # Some neither filter nor score: a profile may name them, and they decide nothing here.
    Specification(name="SchedulingGates", points=frozenset({Point.PRE_ENQUEUE})),
    Specification(name="PrioritySort", points=frozenset({Point.QUEUE_SORT})),
    NODE_UNSCHEDULABLE,
    NODE_NAME,
    TAINT_TOLERATION,
    NODE_AFFINITY,
    NODE_PORTS,
    NODE_RESOURCES_FIT,
    VOLUME_RESTRICTIONS,
    NODE_VOLUME_LIMITS,
    VOLUME_BINDING,
    VOLUME_ZONE,
    POD_TOPOLOGY_SPREAD,
    INTER_POD_AFFINITY,
    DYNAMIC_RESOURCES,
    DEFAULT_PREEMPTION,
    BALANCED_ALLOCATION,
    IMAGE_LOCALITY,
    Specification(name="DefaultBinder", points=frozenset({Point.BIND})),
    NODE_DECLARED_FEATURES,
    Specification(
        name="GangScheduling", points=frozenset({Point.PERMIT, Point.PRE_ENQUEUE}), is_default=False, since=35
    ),
    Specification(
        name="TopologyPlacementGenerator", points=frozenset({Point.PLACEMENT_GENERATE}), is_default=False, since=35
    ),
    Specification(name="PodGroupPodsCount", points=frozenset({Point.PLACEMENT_SCORE}), is_default=False, since=35),
)
"""Plugins in the order of the default profile; plugins that are off by default come last."""


Specifications = Mapping[str, Specification]
"""Plugins by name."""

CLOUD_LIMITS = frozenset({"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"})
"""Former plugins for one cloud each; they never reject a pod without such volumes."""
_ORDER_BEFORE_1_20 = (
    "NodeUnschedulable",
    "NodeResourcesFit",
    "NodeName",
    "NodePorts",
    "NodeAffinity",
    "VolumeRestrictions",
    "TaintToleration",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
)
_SPREADING_SINCE_1_19 = ("PodTopologySpread", "InterPodAffinity")


def default_plugins(version: KubeVersion) -> Specifications:
    """Plugins of a release's default profile, in order."""
    plugins = {
        plugin.name: plugin
        for plugin in REGISTRY
        if plugin.is_default and (not plugin.gate or version.has(plugin.gate))
    }
    if version.reaches(20):
        return plugins
    spreading = _SPREADING_SINCE_1_19 if version.reaches(19) else reversed(_SPREADING_SINCE_1_19)
    last = (*_ORDER_BEFORE_1_20, *spreading)
    return {name: plugins[name] for name in (*(name for name in plugins if name not in last), *last)}


def known_plugins(version: KubeVersion) -> Specifications:
    """Plugins that a release's profiles may name, enabled or not."""
    return {plugin.name: plugin for plugin in REGISTRY if version.reaches(plugin.since)}


def removed_plugins(version: KubeVersion) -> frozenset[str]:
    """Plugins that are refused by name since 1.31."""
    return CLOUD_LIMITS if version.reaches(31) else frozenset()
