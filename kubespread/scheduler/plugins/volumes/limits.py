"""NodeVolumeLimits: how many volumes of each CSI driver a node can attach, and whether it has the driver at all.

The rules are those of 1.37.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, PreFilter, Filter, getVolumeLimits,
    checkCSIDriverOnNode
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.cluster_objects import CSIDriver, CSINode, VolumeAttachment
from kubespread.kube.api.core import Pod
from kubespread.scheduler.causes import Causes, VolumeLimitDetail
from kubespread.scheduler.cluster.cluster import Cluster, per_driver
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Mask, Positions
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.scheduler.plugin import JUDGES, SKIP, Code, OnNode, Plugin, Specification, State, Status, Verdicts
from kubespread.scheduler.plugins.volumes.matching import claim_gaps

EXCEEDED = Status(Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))


@dataclass(frozen=True)
class NodeVolumeLimits(Plugin):
    name: ClassVar[str] = "NodeVolumeLimits"

    requires_drivers: bool = False
    """With the gate VolumeLimitScaling drivers may ask to be installed on a node before pods go there."""

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        yield from claim_gaps(cluster, pod)
        if any(cluster.storage.attached(pod)):
            yield from cluster.objects.gap(CSINode, "how many volumes a node can attach is not evaluated")
            if cluster.objects.knows(CSINode):
                consequence = "only volumes of pods count towards the limits of nodes"
                yield from cluster.objects.gap(VolumeAttachment, consequence)
            # Few drivers ask for it: a gap only where the drivers were asked for and refused.
            if self.requires_drivers and CSIDriver.__name__ in cluster.objects.unread:
                yield from cluster.objects.gap(CSIDriver, "nodes are taken to need no driver installed")
            if (lacking := self._lacking(cluster, pod)) and not cluster.objects.knows(CSINode):
                drivers = ", ".join(driver for driver, _ in lacking)
                yield from cluster.objects.gap(CSINode, f"every node counts as without the CSI driver {drivers}")

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        lacking = [nodes for _, nodes in self._lacking(cluster, pod)]
        if lacking and (np.sum(lacking, axis=0) > 1).any():
            yield (
                "NodeVolumeLimits: of several CSI drivers that a node lacks kube-scheduler names one at random, here "
                "the first by name"
            )

    def signature(self, pod: Pod) -> Hashable:
        return None if pod.spec.has_scheduled_volumes else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        claims = claim_names(pod) if cluster.has_claims else []
        missing = next((name for name in claims if cluster.storage.claim(pod, name) is None), None)
        added = dict(cluster.storage.attached(pod))
        names_driver = cluster.storage.names_driver(pod)
        if not (names_driver or missing):
            return SKIP
        return NodeVolumeLimitsState(added, _unknown_claim(pod, missing), self._lacking(cluster, pod), names_driver)

    def _lacking(self, cluster: Cluster, pod: Pod) -> Sequence[tuple[str, Mask]]:
        """The drivers of the pod's volumes that a node must have installed, each with the nodes that do not."""
        asking = {driver.metadata.name for driver in cluster.objects.of(CSIDriver) if _must_be_there(driver)}
        if not (self.requires_drivers and asking):
            return ()
        csi_nodes = [cluster.storage.csi_nodes.get(name) for name in cluster.nodes.names]
        attached, plain = (
            {driver for _, driver in cluster.storage.attached(pod, translates=translates)}
            for translates in (True, False)
        )

        def lacks(driver: str, csi_node: CSINode | None) -> bool:
            if csi_node is None:
                return driver in plain
            return all(entry.name != driver for entry in csi_node.spec.drivers)

        return [
            (driver, np.array([lacks(driver, csi_node) for csi_node in csi_nodes], dtype=np.bool_))
            for driver in sorted(attached & asking)
        ]


def _must_be_there(driver: CSIDriver) -> bool:
    return driver.spec.prevent_pod_scheduling_if_missing


def _unknown_claim(pod: Pod, name: str | None) -> Status | None:
    if name is None:
        return None
    claim = f"{pod.metadata.namespace}/{name}"
    return Status(Code.UNRESOLVABLE, (f'looking up PVC {claim}: persistentvolumeclaim "{name}" not found',))


@dataclass
class NodeVolumeLimitsState(OnNode):
    added: Mapping[str, str]
    unknown: Status | None
    lacking: Sequence[tuple[str, Mask]] = ()
    names_driver: bool = True
    """Whether the volumes of the pods on a node are checked even if none of the pod's own counts towards a limit."""

    def judge(self, held: Holdings) -> Verdicts:
        if self.unknown is not None:
            return Verdicts.rejecting(np.ones(len(held), dtype=np.bool_), self.unknown)
        rows = np.zeros(len(held), dtype=np.int32)
        limits = held.cluster.storage.attach_limits
        for place, node in self._suspects(held):
            rows[place] = any(self._exceeded(held, node, limits[held.cluster.nodes.names[node]]))
        table = [EXCEEDED]
        # A driver that is not there is found out before anything is counted.
        for driver, nodes in reversed(self.lacking):
            table.append(Status(Code.UNSCHEDULABLE, (f"{driver} CSI driver is not installed on the node",)))
            rows[held.pick(nodes)] = len(table)
        return self._with_errors(held, Verdicts(rows, tuple(table)))

    def _suspects(self, held: Holdings) -> Iterator[tuple[int, int]]:
        """The nodes where the limits would not do if no volume were attached already: place and position."""
        cluster, suspects = held.cluster, np.zeros(len(held), dtype=np.bool_)
        brought = {volume for kind, _ in held.more for volume, _ in cluster.storage.attached(kind.pod)}
        if brought >= self.added.keys() and all(by > 0 for _, by in held.more):
            return iter(())
        for driver, added in Counter(self.added.values()).items():
            if driver in cluster.attach_limits:
                limit = held.pick(cluster.attach_limits[driver])
                count = cluster.attached.counts.get(driver)
                most = added + len(brought) + (0 if count is None else held.pick(count))
                suspects |= most > limit
        places = np.flatnonzero(suspects)
        nodes = places if held.nodes is None else held.nodes[places]
        return zip(places.tolist(), nodes.tolist(), strict=True)

    def _with_errors(self, held: Holdings, verdicts: Verdicts) -> Verdicts:
        """The volumes of a pod on a node with limits cannot be counted when a claim made for it is another pod's."""
        misused = held.cluster.misused_claims if self.names_driver else {}
        names = held.cluster.nodes.names
        for place, node in held.places_of(misused):
            faults = [fault for kind, fault in misused[node].items() if not held.lacks(kind)]
            if faults and names[node] in held.cluster.storage.attach_limits:
                error = f'running "{NodeVolumeLimits.name}" filter plugin: {faults[0]}'
                verdicts = verdicts.with_status(place, Status(Code.ERROR, (error,)))
        return verdicts

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        held, limits = Holdings(cluster, nodes), cluster.storage.attach_limits
        if self.unknown is not None:
            return super().causes(cluster, nodes)
        names = cluster.nodes.names
        lacks = np.zeros(len(cluster), dtype=np.bool_)
        for _, without in self.lacking:
            lacks |= without
        return [
            () if lacks[node] else tuple(self._exceeded(held, node, limits.get(names[node], {})))
            for node in nodes.tolist()
        ]

    def _exceeded(self, held: Holdings, node: int, limits: Mapping[str, int]) -> Iterator[VolumeLimitDetail]:
        """The drivers that would have to attach too many volumes.

        A volume that is attached already costs nothing; drivers without a limit are unlimited.
        """
        used = held.attached(node)
        # Of attachments that no pod explains the candidate's own may be one.
        count = per_driver(used, held.cluster.volume_attachments.get(node, {}))
        new = Counter(driver for unique, driver in self.added.items() if unique not in used)
        for driver, added in new.items():
            if driver in limits and count[driver] + added > limits[driver]:
                yield VolumeLimitDetail(driver, count[driver], added, limits[driver])


SPECIFICATION = Specification(
    name=NodeVolumeLimits.name,
    points=JUDGES,
    make=lambda setting: NodeVolumeLimits(setting.version.has("VolumeLimitScaling")),
)
