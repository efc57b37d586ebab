"""NodeDeclaredFeatures: the kubelet must say that it has the features the pod needs.

Source: pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, PreFilter, Filter
Source: staging/src/k8s.io/component-helpers/nodedeclaredfeatures/framework.go, InferForPodScheduling, MatchNode
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Node, Pod
from kubespread.scheduler.causes import Causes, FeatureDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Positions
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.plugin import (
    JUDGES,
    SKIP,
    Code,
    Fixed,
    Plugin,
    Specification,
    State,
    Status,
    Unprepared,
    Verdicts,
)

MISSING = Status(Code.UNRESOLVABLE, ("node(s) didn't match Pod's required features",))
RESTART_ALL = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_ON_HOST_NETWORK = "UserNamespacesHostNetworkSupport"
KNOWN_FEATURES = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    RESTART_ALL,
    USER_NAMESPACES_ON_HOST_NETWORK,
)


class NodeDeclaredFeatures(Plugin):
    name: ClassVar[str] = "NodeDeclaredFeatures"

    def signature(self, pod: Pod) -> Hashable:
        return _needed(pod)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        needed = _needed(pod)
        return NodeDeclaredFeaturesState(cluster.nodes, needed) if needed else SKIP


def _needed(pod: Pod) -> frozenset[str]:
    needed = set()
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    if any(
        rule.action == "RestartAllContainers" for container in containers for rule in container.restart_policy_rules
    ):
        needed.add(RESTART_ALL)
    if pod.spec.host_network and pod.spec.host_users is False:
        needed.add(USER_NAMESPACES_ON_HOST_NETWORK)
    return frozenset(needed)


@dataclass
class NodeDeclaredFeaturesState(Fixed):
    nodes: Nodes
    needed: frozenset[str]

    def filter(self) -> Verdicts:
        lacking = [bool(self._missing(node)) for node in self.nodes.objects]
        return Verdicts.rejecting(np.array(lacking, dtype=np.bool_), MISSING)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        objects = (self.nodes.objects[node] for node in nodes.tolist())
        return [tuple(map(FeatureDetail, sorted(self._missing(node)))) for node in objects]

    def _missing(self, node: Node) -> frozenset[str]:
        return self.needed - declared(node.status.declared_features)


def declared(features: Sequence[str]) -> frozenset[str]:
    """The known features of a node's list, by a merge that relies on its order and loses entries of an unsorted one."""
    declared = set()
    position, feature = 0, 0
    while position < len(features) and feature < len(KNOWN_FEATURES):
        if features[position] == KNOWN_FEATURES[feature]:
            declared.add(features[position])
            position, feature = position + 1, feature + 1
        elif features[position] < KNOWN_FEATURES[feature]:
            position += 1
        else:
            feature += 1
    return frozenset(declared)


SPECIFICATION = Specification(
    name=NodeDeclaredFeatures.name,
    points=JUDGES,
    make=lambda setting: NodeDeclaredFeatures(),
    since=35,
    gate="NodeDeclaredFeatures",
    unprepared=Unprepared(filter='error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'),
)
