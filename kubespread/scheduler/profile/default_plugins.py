"""Which plugins a release's default profile has, in which order, and which others its profiles may name.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins, applyFeatureGates, applyDynamicResources
"""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugins.registry import REGISTRY
from kubespread.scheduler.specification import Specification

Specifications = Mapping[str, Specification]
"""Plugins by name."""

CLOUD_LIMITS = frozenset({"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"})
"""Once separate plugins for one cloud each; they never reject a pod without such volumes."""
_ORDER_BEFORE_1_20 = (
    "NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions",
    "TaintToleration", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
)  # fmt: skip
_SPREADING_SINCE_1_19 = ("PodTopologySpread", "InterPodAffinity")


def default_plugins(version: KubeVersion) -> Specifications:
    """Every plugin of a release's default profile, in order."""
    plugins = {
        plugin.name: plugin
        for plugin in REGISTRY
        if plugin.is_default and (not plugin.gate or version.has(plugin.gate))
    }
    if version.since(20):
        return plugins
    spreading = _SPREADING_SINCE_1_19 if version.since(19) else reversed(_SPREADING_SINCE_1_19)
    last = (*_ORDER_BEFORE_1_20, *spreading)
    return {name: plugins[name] for name in (*(name for name in plugins if name not in last), *last)}


def known_plugins(version: KubeVersion) -> Specifications:
    """Every plugin that a release's profiles may name, whether it is enabled or not."""
    return {plugin.name: plugin for plugin in REGISTRY if version.since(plugin.since)}


def removed_plugins(version: KubeVersion) -> frozenset[str]:
    """Plugins that are refused by name, since 1.31."""
    return CLOUD_LIMITS if version.since(31) else frozenset()
