"""Every in-tree plugin: its place and weight in the default profile, and the extension points it extends.

Source of the rules: kube-scheduler 1.36, apis/config/v1/default_plugins.go and the plugins' own interfaces.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.versions import KubeVersion

PRE_FILTER, FILTER, POST_FILTER, PRE_SCORE, SCORE = "preFilter", "filter", "postFilter", "preScore", "score"
RESERVE, PRE_BIND, BIND, PERMIT, PRE_ENQUEUE, QUEUE_SORT = (
    "reserve",
    "preBind",
    "bind",
    "permit",
    "preEnqueue",
    "queueSort",
)
PLACEMENT_GENERATE, PLACEMENT_SCORE = "placementGenerate", "placementScore"
INTERFACES: Mapping[str, str] = {
    PRE_FILTER: "PreFilterPlugin",
    FILTER: "FilterPlugin",
    POST_FILTER: "PostFilterPlugin",
    RESERVE: "ReservePlugin",
    PRE_SCORE: "PreScorePlugin",
    SCORE: "ScorePlugin",
    PRE_BIND: "PreBindPlugin",
    BIND: "BindPlugin",
    "postBind": "PostBindPlugin",
    PERMIT: "PermitPlugin",
    PRE_ENQUEUE: "PreEnqueuePlugin",
    QUEUE_SORT: "QueueSortPlugin",
    PLACEMENT_GENERATE: "PlacementGeneratePlugin",
    PLACEMENT_SCORE: "PlacementScorePlugin",
}
"""The extension points in the order kube-scheduler builds them, with the names it gives them in errors."""

Plugins = Mapping[str, tuple[int, frozenset[str]]]

_JUDGES = frozenset({PRE_FILTER, FILTER})
_RANKS = frozenset({PRE_SCORE, SCORE})

# Every plugin of the default profile in order: its weight (0 = none given), and the points above that it extends.
_DEFAULT_PLUGINS: Plugins = {
    "SchedulingGates": (0, frozenset({PRE_ENQUEUE})),
    "PrioritySort": (0, frozenset({QUEUE_SORT})),
    "NodeUnschedulable": (0, frozenset({FILTER})),
    "NodeName": (0, frozenset({FILTER})),
    "TaintToleration": (3, frozenset({FILTER}) | _RANKS),
    "NodeAffinity": (2, _JUDGES | _RANKS),
    "NodePorts": (0, _JUDGES),
    "NodeResourcesFit": (1, _JUDGES | _RANKS),
    "VolumeRestrictions": (0, _JUDGES),
    "NodeVolumeLimits": (0, _JUDGES),
    "VolumeBinding": (0, _JUDGES | _RANKS | {RESERVE, PRE_BIND}),
    "VolumeZone": (0, _JUDGES),
    "PodTopologySpread": (2, _JUDGES | _RANKS),
    "InterPodAffinity": (2, _JUDGES | _RANKS),
    "DynamicResources": (2, _JUDGES | {PRE_ENQUEUE, POST_FILTER, SCORE, RESERVE, PRE_BIND}),
    "DefaultPreemption": (0, frozenset({PRE_ENQUEUE, POST_FILTER})),
    "NodeResourcesBalancedAllocation": (1, _RANKS),
    "ImageLocality": (1, frozenset({SCORE})),
    "DefaultBinder": (0, frozenset({BIND})),
    "NodeDeclaredFeatures": (0, _JUDGES),
}
# In the tree, and off unless a profile enables them.
_OPTIONAL_PLUGINS: Plugins = {
    "GangScheduling": (0, frozenset({PERMIT, PRE_ENQUEUE})),
    "TopologyPlacementGenerator": (0, frozenset({PLACEMENT_GENERATE})),
    "PodGroupPodsCount": (0, frozenset({PLACEMENT_SCORE})),
}
_SINCE_1_35 = frozenset({"NodeDeclaredFeatures", *_OPTIONAL_PLUGINS})
CLOUD_LIMITS = frozenset({"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"})
"""Once separate plugins for one cloud each; they never reject a pod without such volumes."""
_ORDER_BEFORE_1_20 = (
    "NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions",
    "TaintToleration", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
)  # fmt: skip


def default_plugins(version: KubeVersion) -> Plugins:
    """Every plugin of a version's default profile in order: its weight, and the extension points it extends."""
    plugins = dict(_DEFAULT_PLUGINS)
    if not version.has("NodeDeclaredFeatures"):
        del plugins["NodeDeclaredFeatures"]
    if not version.has("DynamicResourceAllocation"):
        del plugins["DynamicResources"]
    elif not version.since(35):
        plugins["DynamicResources"] = (0, plugins["DynamicResources"][1] - {SCORE})
    if not version.since(20):
        order = [
            *_ORDER_BEFORE_1_20,
            *(
                ("PodTopologySpread", "InterPodAffinity")
                if version.since(19)
                else ("InterPodAffinity", "PodTopologySpread")
            ),
        ]
        plugins = {name: plugins[name] for name in (*(name for name in plugins if name not in order), *order)}
    return plugins


def known_plugins(version: KubeVersion) -> Plugins:
    """Every plugin a version's profiles may name, whether it is enabled or not."""
    known = {**_DEFAULT_PLUGINS, **_OPTIONAL_PLUGINS, **default_plugins(version)}
    return known if version.since(35) else {name: known[name] for name in known if name not in _SINCE_1_35}


def removed_plugins(version: KubeVersion) -> frozenset[str]:
    """Plugins that are refused by name, since 1.31."""
    return CLOUD_LIMITS if version.since(31) else frozenset()
