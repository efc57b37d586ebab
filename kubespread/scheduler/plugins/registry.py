"""Every plugin kubespread models, by name, and the framework of a profile made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubespread.scheduler.framework import Framework, MessageRules, Plugin
from kubespread.scheduler.plugin_args import PluginArgs
from kubespread.scheduler.plugins.dynamic_resources import DynamicResources
from kubespread.scheduler.plugins.image_locality import ImageLocality
from kubespread.scheduler.plugins.interpodaffinity.plugin import InterPodAffinity
from kubespread.scheduler.plugins.node_affinity import NodeAffinity
from kubespread.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from kubespread.scheduler.plugins.node_name import NodeName
from kubespread.scheduler.plugins.node_ports import NodePorts
from kubespread.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubespread.scheduler.plugins.noderesources.balanced_allocation import NodeResourcesBalancedAllocation
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.plugins.taint_toleration import TaintToleration
from kubespread.scheduler.plugins.volumes.binding import NODE_CONFLICT, NODE_CONFLICT_BEFORE_1_33, VolumeBinding
from kubespread.scheduler.plugins.volumes.limits import NodeVolumeLimits
from kubespread.scheduler.plugins.volumes.restrictions import IN_USE, IN_USE_BEFORE_1_34, VolumeRestrictions
from kubespread.scheduler.plugins.volumes.zone import VolumeZone
from kubespread.scheduler.profile import Profile, default_profile

REGISTRY: Mapping[str, Callable[[PluginArgs], Plugin]] = {
    NodeUnschedulable.name: lambda args: NodeUnschedulable(),
    NodeName.name: lambda args: NodeName(),
    TaintToleration.name: lambda args: TaintToleration(names_taint=not args.version.since(34, 2)),
    NodeAffinity.name: lambda args: NodeAffinity(args.added_affinity, one_conflict_rejects=not args.version.since(27)),
    NodePorts.name: lambda args: NodePorts(checks_sidecars=args.version.since(33)),
    NodeResourcesFit.name: lambda args: NodeResourcesFit(
        args.fit,
        tells_unresolvable=args.version.since(34),
        checks_zero_requests=not args.version.since(28),
        delegates=args.version.since(36),
    ),
    VolumeRestrictions.name: lambda args: VolumeRestrictions(IN_USE if args.version.since(34) else IN_USE_BEFORE_1_34),
    NodeVolumeLimits.name: lambda args: NodeVolumeLimits(),
    VolumeBinding.name: lambda args: VolumeBinding(NODE_CONFLICT if args.version.since(33) else NODE_CONFLICT_BEFORE_1_33),
    VolumeZone.name: lambda args: VolumeZone(),
    PodTopologySpread.name: lambda args: PodTopologySpread(args.spread, empty_selector_counts=not args.version.since(27)),
    InterPodAffinity.name: lambda args: InterPodAffinity(args.inter_pod_affinity),
    DynamicResources.name: lambda args: DynamicResources(),
    NodeResourcesBalancedAllocation.name: lambda args: NodeResourcesBalancedAllocation(
        args.balanced, scores_improvement=args.version.since(36)
    ),
    ImageLocality.name: lambda args: ImageLocality(counts_image_volumes=args.version.since(36)),
    NodeDeclaredFeatures.name: lambda args: NodeDeclaredFeatures(),
}


def framework(profile: Profile) -> Framework:
    """The plugins of ``profile``, ready to judge pods."""
    plugins = {name: make(profile.args) for name, make in REGISTRY.items()}
    version = profile.args.version
    return Framework(
        filters=[plugins[name] for name in profile.filters if name in plugins],
        scores=[(plugins[entry.name], entry.weight) for entry in profile.scores if entry.name in plugins],
        disabled=[plugins[name] for name in default_profile(version).filters if name in plugins and name not in profile.filters],
        messages=MessageRules(counts_excluded_nodes=version.since(32), counts_rejection_per_node=not version.since(26)),
    )
