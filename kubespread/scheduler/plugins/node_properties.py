"""Plugins that look at one property of a node by itself.

NodeName: a pod that names its node fits nowhere else. NodeUnschedulable: cordoned nodes take only pods that tolerate
the taint a cordon stands for. TaintToleration: untolerated NoSchedule and NoExecute taints reject, PreferNoSchedule
taints cost score. NodePorts: the pod's host ports must be free on the node. NodeDeclaredFeatures: the kubelet must say
that it has the features the pod needs. ImageLocality: nodes that already hold the pod's images score higher, the more
so the more nodes hold them, by the rules of 1.37.

Source: pkg/scheduler/framework/plugins/nodename/node_name.go, Filter, Fits
Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go, Filter
Source: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, Filter, PreScore, Score,
    countIntolerableTaintsPreferNoSchedule
Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go, PreFilter, Filter, fitsPorts
Source: staging/src/k8s.io/kube-scheduler/framework/types.go, HostPortInfo, CheckConflict
Source: pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, PreFilter, Filter
Source: staging/src/k8s.io/component-helpers/nodedeclaredfeatures/framework.go, InferForPodScheduling, MatchNode
Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, Score, calculatePriority, sumImageScores,
    normalizedImageName
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.kube.admission.plugins import added_tolerations
from kubespread.kube.api.core import Container, Node, Pod, Taint
from kubespread.kube.name_rules import normalized_image
from kubespread.kube.taint import (
    COMPARISON_GATE,
    CORDON_TAINT,
    DO_NOT_SCHEDULE_EFFECTS,
    PREFER_NO_SCHEDULE,
    tolerates,
    untolerated,
)
from kubespread.kube.versions import older_reasons
from kubespread.scheduler.causes import (
    Causes,
    CordonDetail,
    FeatureDetail,
    HostPortDetail,
    NodeNameDetail,
    TaintDetail,
    name_of,
    per_node,
)
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Counts, Positions, truncate
from kubespread.scheduler.cluster.kinds import ANY_ADDRESS, HostPort, host_ports
from kubespread.scheduler.cluster.nodes import Nodes, count_untolerated, nodes_named, tolerated_nodes
from kubespread.scheduler.plugin import (
    JUDGES,
    MAX_NODE_SCORE,
    RANKS,
    SKIP,
    Code,
    FixedState,
    OnNodeState,
    Plugin,
    Point,
    ScaledToHighest,
    Specification,
    State,
    Status,
    Verdicts,
)

_MIB = 1024 * 1024
MIN_THRESHOLD = 23 * _MIB
MAX_IMAGE_THRESHOLD = 1000 * _MIB


class ImageLocality(Plugin, frozen=True):
    name: ClassVar[str] = "ImageLocality"

    counts_init_containers: bool = True
    """Since 1.30."""
    counts_image_volumes: bool = True
    """Since 1.36."""
    expects_image_volumes: bool = True
    """Since 1.37 an image volume also raises the sum of image sizes needed for the highest score."""

    def signature(self, pod: Pod) -> Hashable:
        return tuple(self._images(pod)), self._image_count(pod)

    def prepare(self, cluster: Cluster, pod: Pod) -> ImageLocalityState:
        return ImageLocalityState(cluster.nodes, self._images(pod), self._image_count(pod))

    def _containers(self, pod: Pod) -> list[Container]:
        return [*(pod.spec.init_containers if self.counts_init_containers else ()), *pod.spec.containers]

    def _images(self, pod: Pod) -> list[str]:
        volumes = _image_volumes(pod) if self.counts_image_volumes else []
        images = [container.image for container in self._containers(pod)]
        return [normalized_image(image) for image in (*images, *volumes)]

    def _image_count(self, pod: Pod) -> int:
        """Number of images that may add up to their threshold."""
        return len(self._containers(pod)) + (len(_image_volumes(pod)) if self.expects_image_volumes else 0)


def _image_volumes(pod: Pod) -> list[str]:
    return [volume.image.reference for volume in pod.spec.volumes if volume.image is not None]


class ImageLocalityState(Struct, FixedState, dict=True):
    nodes: Nodes
    images: list[str]
    expected: int

    def score(self) -> Counts:
        total = np.zeros(len(self.nodes), dtype=np.int64)
        # The nodes that hold each image of the pod, and its size as the first node of the cluster reports it.
        image_states = [self.nodes.images[image] for image in self.images if image in self.nodes.images]
        highest = self.expected * MAX_IMAGE_THRESHOLD
        if not image_states or highest <= MIN_THRESHOLD:
            return total
        for holders, size in image_states:
            spread = float(len(holders)) / float(len(self.nodes))
            total[holders] += truncate(float(size) * spread)
        return MAX_NODE_SCORE * (np.clip(total, MIN_THRESHOLD, highest) - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)


IMAGE_LOCALITY = Specification(
    name=ImageLocality.name,
    points=frozenset({Point.SCORE}),
    make=lambda setting: ImageLocality(
        counts_init_containers=setting.version.reaches(30),
        counts_image_volumes=setting.version.reaches(36),
        expects_image_volumes=setting.version.reaches(37),
    ),
    weight=1,
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


class NodeDeclaredFeatures(Plugin, frozen=True):
    name: ClassVar[str] = "NodeDeclaredFeatures"

    def signature(self, pod: Pod) -> Hashable:
        return _needed_features(pod)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        needed = _needed_features(pod)
        return NodeDeclaredFeaturesState(cluster.nodes, needed) if needed else SKIP


def _needed_features(pod: Pod) -> frozenset[str]:
    needed = set()
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    if any(
        rule.action == "RestartAllContainers" for container in containers for rule in container.restart_policy_rules
    ):
        needed.add(RESTART_ALL)
    if pod.spec.host_network and pod.spec.host_users is False:
        needed.add(USER_NAMESPACES_ON_HOST_NETWORK)
    return frozenset(needed)


class NodeDeclaredFeaturesState(Struct, FixedState, dict=True):
    nodes: Nodes
    needed: frozenset[str]

    def filter(self) -> Verdicts:
        lacking = [bool(self._missing(node)) for node in self.nodes.objects]
        return Verdicts.rejecting(np.array(lacking, dtype=np.bool_), MISSING)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        objects = (self.nodes.objects[node] for node in nodes.tolist())
        return [tuple(map(FeatureDetail, sorted(self._missing(node)))) for node in objects]

    def _missing(self, node: Node) -> frozenset[str]:
        return self.needed - declared_features(node.status.declared_features)


def declared_features(features: Sequence[str]) -> frozenset[str]:
    """Known features in a node's list, by a merge that relies on its order and loses entries of an unsorted one."""
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


NODE_DECLARED_FEATURES = Specification(
    name=NodeDeclaredFeatures.name,
    points=JUDGES,
    make=lambda setting: NodeDeclaredFeatures(),
    since=35,
    gate="NodeDeclaredFeatures",
)


NOT_FREE = Status(Code.UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",))


class NodePorts(Plugin, frozen=True):
    name: ClassVar[str] = "NodePorts"

    checks_sidecars: bool = True
    """Since 1.33."""

    def signature(self, pod: Pod) -> Hashable:
        return host_ports(pod, sidecars=self.checks_sidecars)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        requested = host_ports(pod, sidecars=self.checks_sidecars)
        return NodePortsState(requested) if requested else SKIP


class NodePortsState(Struct, OnNodeState, dict=True):
    requested: frozenset[HostPort]

    def filter(self, holdings: Holdings) -> Verdicts:
        return Verdicts.rejecting(holdings.judged_by_ports(lambda used: any(map(self._conflicts, used))), NOT_FREE)

    def _conflicts(self, used: HostPort) -> bool:
        """True if a requested port conflicts; addresses are compared as text, so ``::`` is no wildcard."""
        used_address, *used_port = used
        return any(
            port == used_port and (address == used_address or ANY_ADDRESS in (address, used_address))
            for address, *port in self.requested
        )

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        conflicts = {
            number: [port for port in sorted(cluster.kinds[number].ports) if self._conflicts(port)]
            for number in cluster.running.nodes_of_kind
        }
        holders = cluster.running.pods_on(nodes, (number for number, ports in conflicts.items() if ports))
        return per_node(
            len(nodes),
            (
                (place, HostPortDetail(port, protocol, address, name_of(pod)))
                for place, pod, kind in holders
                for address, protocol, port in conflicts[kind]
            ),
        )


NODE_PORTS = Specification(
    name=NodePorts.name, points=JUDGES, make=lambda setting: NodePorts(checks_sidecars=setting.version.reaches(33))
)


UNTOLERATED = Status(Code.UNRESOLVABLE, ("node(s) had untolerated taint(s)",))


class TaintToleration(Plugin, frozen=True):
    name: ClassVar[str] = "TaintToleration"

    naming: str = ""
    """Up to 1.34.1 the reason names the first untolerated taint, in this form."""
    compares: bool = False
    """True if tolerations with the operators Gt and Lt are honored."""

    def signature(self, pod: Pod) -> Hashable:
        return msgspec.msgpack.encode(pod.spec.tolerations)

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield gaps about tolerations that the API server may add to a new pod."""
        tolerated = {} if pod.metadata.uid else {toleration.key: toleration for toleration in added_tolerations(pod)}
        keeping = {
            taint.key
            for taints in (cluster.nodes.taint_lists if tolerated else ())
            for taint in untolerated(taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=self.compares)
            if taint.key in tolerated and tolerates(tolerated[taint.key], taint)
        }
        for key in sorted(keeping):
            yield (
                f"ExtendedResourceToleration: whether pods that request {key} are given a toleration of the nodes' "
                f"taint {key}, as on GKE; KUBESPREAD_EXTENDED_RESOURCE_TOLERATION=true applies it"
            )

    def prepare(self, cluster: Cluster, pod: Pod) -> TaintTolerationState:
        return TaintTolerationState(cluster.nodes, pod, self.naming, self.compares)


class TaintTolerationState(Struct, ScaledToHighest, FixedState, dict=True):
    reverses: ClassVar[bool] = True

    nodes: Nodes
    pod: Pod
    naming: str
    compares: bool

    def _untolerated_taints(self, taints: Sequence[Taint]) -> list[Taint]:
        return untolerated(taints, self.pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=self.compares)

    def filter(self) -> Verdicts:
        if not self.naming:
            return Verdicts.rejecting(~tolerated_nodes(self.nodes, self.pod, compares=self.compares), UNTOLERATED)
        table: list[Status] = []
        rows = []
        for taints in self.nodes.taint_lists:
            first = next(iter(self._untolerated_taints(taints)), None)
            if first is not None:
                table.append(Status(Code.UNRESOLVABLE, (self.naming.format(taint=f"{{{first.key}: {first.value}}}"),)))
            rows.append(len(table) if first is not None else 0)
        return Verdicts(self.nodes.per_taint_list(rows).astype(np.int32), tuple(table))

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """All untolerated taints of each node, not only kube-scheduler's first one."""
        per_list = [
            tuple(TaintDetail(taint.key, taint.value, taint.effect) for taint in self._untolerated_taints(taints))
            for taints in self.nodes.taint_lists
        ]
        return [per_list[row] for row in self.nodes.per_taint_list(range(len(per_list)))[nodes].tolist()]

    def score(self) -> Counts:
        # A toleration limited to another effect does not help here.
        tolerations = [
            toleration for toleration in self.pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)
        ]
        return count_untolerated(self.nodes, tolerations, frozenset({PREFER_NO_SCHEDULE}), compares=self.compares)


TAINT_TOLERATION = Specification(
    name=TaintToleration.name,
    points=frozenset({Point.FILTER}) | RANKS,
    make=lambda setting: TaintToleration(
        older_reasons(setting.version.release).get(UNTOLERATED.reasons[0], ("",))[0],
        compares=setting.version.has(COMPARISON_GATE),
    ),
    weight=3,
)


UNSCHEDULABLE = Status(Code.UNRESOLVABLE, ("node(s) were unschedulable",))


class NodeUnschedulable(Plugin, frozen=True):
    name: ClassVar[str] = "NodeUnschedulable"

    def signature(self, pod: Pod) -> Hashable:
        return msgspec.msgpack.encode(pod.spec.tolerations)

    def prepare(self, cluster: Cluster, pod: Pod) -> NodeUnschedulableState:
        # A toleration of the cordon's taint counts even if the node does not have it.
        return NodeUnschedulableState(
            cluster.nodes, tolerated=any(tolerates(toleration, CORDON_TAINT) for toleration in pod.spec.tolerations)
        )


class NodeUnschedulableState(Struct, FixedState, dict=True):
    nodes: Nodes
    tolerated: bool

    def filter(self) -> Verdicts:
        rejected = self.nodes.unschedulable
        return Verdicts.rejecting(rejected & (not self.tolerated), UNSCHEDULABLE)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        return [(CordonDetail(),)] * len(nodes)


NODE_UNSCHEDULABLE = Specification(
    name=NodeUnschedulable.name, points=frozenset({Point.FILTER}), make=lambda setting: NodeUnschedulable()
)


OTHER_NODE = Status(Code.UNRESOLVABLE, ("node(s) didn't match the requested node name",))


class NodeName(Plugin, frozen=True):
    name: ClassVar[str] = "NodeName"

    def signature(self, pod: Pod) -> Hashable:
        return pod.spec.node_name

    def prepare(self, cluster: Cluster, pod: Pod) -> NodeNameState:
        return NodeNameState(cluster.nodes, pod.spec.node_name)


class NodeNameState(Struct, FixedState, dict=True):
    nodes: Nodes
    node_name: str

    def filter(self) -> Verdicts:
        return Verdicts.rejecting(~nodes_named(self.nodes, [self.node_name]) & bool(self.node_name), OTHER_NODE)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        return [(NodeNameDetail(self.node_name),)] * len(nodes)


NODE_NAME = Specification(name=NodeName.name, points=frozenset({Point.FILTER}), make=lambda setting: NodeName())
