"""Every plugin kubespread models, by name, and the framework of a profile made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubespread.scheduler.framework import Framework, Plugin
from kubespread.scheduler.plugins.node_affinity import NodeAffinity
from kubespread.scheduler.plugins.node_name import NodeName
from kubespread.scheduler.plugins.node_resources_fit import NodeResourcesFit
from kubespread.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.plugins.taint_toleration import TaintToleration
from kubespread.scheduler.profile import Profile

REGISTRY: Mapping[str, Callable[[Profile], Plugin]] = {
    NodeUnschedulable.name: lambda profile: NodeUnschedulable(),
    NodeName.name: lambda profile: NodeName(),
    TaintToleration.name: lambda profile: TaintToleration(),
    NodeAffinity.name: lambda profile: NodeAffinity(profile.added_affinity),
    NodeResourcesFit.name: lambda profile: NodeResourcesFit(),
    PodTopologySpread.name: lambda profile: PodTopologySpread(profile.spread),
}


def framework(profile: Profile) -> Framework:
    """The plugins of ``profile`` that kubespread models, ready to judge pods; the others are left out."""
    plugins = {name: make(profile) for name, make in REGISTRY.items()}
    return Framework(
        filters=[plugins[name] for name in profile.filters if name in plugins],
        scores=[(plugins[entry.name], entry.weight) for entry in profile.scores if entry.name in plugins],
    )
