"""Every plugin kubespread models, by name, and the framework of a profile made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubespread.kube.taint import COMPARISON_GATE
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cycle_state import missing_state
from kubespread.scheduler.framework import Framework, MessageRules
from kubespread.scheduler.plugin import Plugin
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
from kubespread.scheduler.plugins.podtopologyspread.filtering import SpreadRules
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.plugins.taint_toleration import TaintToleration
from kubespread.scheduler.plugins.volumes.binding import VolumeBinding
from kubespread.scheduler.plugins.volumes.limits import NodeVolumeLimits
from kubespread.scheduler.plugins.volumes.restrictions import VolumeRestrictions
from kubespread.scheduler.plugins.volumes.zone import VolumeZone
from kubespread.scheduler.profile.plugin_args import PluginArgs
from kubespread.scheduler.profile.profile import Profile, default_profile
from kubespread.scheduler.wording import wording

REGISTRY: Mapping[str, Callable[[PluginArgs], Plugin]] = {
    NodeUnschedulable.name: lambda args: NodeUnschedulable(),
    NodeName.name: lambda args: NodeName(),
    TaintToleration.name: lambda args: TaintToleration(
        _taint_naming(args.version), compares=args.version.has(COMPARISON_GATE)
    ),
    NodeAffinity.name: lambda args: NodeAffinity(
        args.added_affinity, one_conflict_rejects=not args.version.since(27), narrows=args.version.since(24)
    ),
    NodePorts.name: lambda args: NodePorts(checks_sidecars=args.version.since(33)),
    NodeResourcesFit.name: lambda args: NodeResourcesFit(
        args.fit,
        tells_unresolvable=args.version.since(34),
        checks_zero_requests=not args.version.since(28),
        delegates=args.version.has("DRAExtendedResource"),
    ),
    VolumeRestrictions.name: lambda args: VolumeRestrictions(),
    NodeVolumeLimits.name: lambda args: NodeVolumeLimits(),
    VolumeBinding.name: lambda args: VolumeBinding(scores_capacity=args.version.has("StorageCapacityScoring")),
    VolumeZone.name: lambda args: VolumeZone(),
    PodTopologySpread.name: lambda args: PodTopologySpread(args.spread, _spread_rules(args.version)),
    InterPodAffinity.name: lambda args: InterPodAffinity(args.inter_pod_affinity),
    DynamicResources.name: lambda args: DynamicResources(),
    NodeResourcesBalancedAllocation.name: lambda args: NodeResourcesBalancedAllocation(
        args.balanced, scores_improvement=args.version.since(36)
    ),
    ImageLocality.name: lambda args: ImageLocality(counts_image_volumes=args.version.since(36)),
    NodeDeclaredFeatures.name: lambda args: NodeDeclaredFeatures(),
}


def _taint_naming(version: KubeVersion) -> str | None:
    if version.since(34, 2):
        return None
    return (
        "node(s) had untolerated taint {taint}"
        if version.since(24)
        else "node(s) had taint {taint}, that the pod didn't tolerate"
    )


def _spread_rules(version: KubeVersion) -> SpreadRules:
    return SpreadRules(
        empty_selector_counts=not version.since(27),
        counts_ineligible_nodes=version.since(19) and not version.since(24),
        passes_without_domains=not version.since(20),
        missing_label_is_resolvable=not version.since(19),
        compares_tolerations=version.has(COMPARISON_GATE),
    )


def framework(profile: Profile) -> Framework:
    """The plugins of ``profile``, ready to judge pods."""
    plugins = {name: make(profile.args) for name, make in REGISTRY.items()}
    if NodeAffinity.name not in profile.pre_filters:
        # Names in the terms leave nodes out in PreFilter; without it Filter looks at each node.
        plugins[NodeAffinity.name] = NodeAffinity(profile.args.added_affinity, narrows=False)
    version = profile.args.version
    return Framework(
        filters=[plugins[name] for name in profile.filters if name in plugins],
        scores=[(plugins[entry.name], entry.weight) for entry in profile.scores if entry.name in plugins],
        pre_filters=[plugins[name] for name in profile.pre_filters if name in plugins],
        disabled=[
            plugins[name]
            for name in default_profile(version).filters
            if name in plugins and name not in profile.filters
        ],
        post_filters=profile.post_filters,
        missing=missing_state(profile),
        messages=MessageRules(
            counts_excluded_nodes=version.since(32),
            counts_rejection_per_node=not version.since(26),
            wording=wording(version),
        ),
    )
