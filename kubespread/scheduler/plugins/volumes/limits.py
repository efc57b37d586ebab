"""NodeVolumeLimits: how many volumes of each CSI driver a node can attach.

Source of the rules: kube-scheduler 1.36, nodevolumelimits/csi.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.kube.storage import CSINode
from kubespread.scheduler.cluster import Cluster, Counts
from kubespread.scheduler.node_matching import everywhere
from kubespread.scheduler.plugin import SKIP, Code, CopiesMatter, State, Status, Verdicts
from kubespread.scheduler.storage import claim_names

EXCEEDED = Status(Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))


class NodeVolumeLimits:
    name: ClassVar[str] = "NodeVolumeLimits"

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        claims = claim_names(pod) if cluster.has_claims else []
        missing = next((name for name in claims if cluster.storage.claim(pod, name) is None), None)
        added = cluster.storage.attached(pod)
        return _State(cluster, added, _unknown_claim(pod, missing)) if added or missing else SKIP


def _unknown_claim(pod: Pod, name: str | None) -> Status | None:
    if name is None:
        return None
    claim = f"{pod.metadata.namespace}/{name}"
    return Status(Code.UNRESOLVABLE, (f'looking up PVC {claim}: persistentvolumeclaim "{name}" not found',))


@dataclass
class _State(State):
    copies_matter = CopiesMatter.ON_THE_NODE

    cluster: Cluster
    added: Mapping[str, str]
    unknown: Status | None
    copies: int | Counts = 0

    def holding(self, copies: int | Counts) -> State:
        return replace(self, copies=copies)

    def filter(self) -> Verdicts:
        if self.unknown is not None:
            return Verdicts.rejecting(everywhere(self.cluster), self.unknown)
        exceeded = np.zeros(len(self.cluster), dtype=np.bool_)
        for name, csi_node in self.cluster.storage.csi_nodes.items():
            node = self.cluster.node_index.get(name)
            if node is not None:
                exceeded[node] = self._exceeds(node, csi_node)
        return Verdicts.rejecting(exceeded, EXCEEDED)

    def _exceeds(self, node: int, csi_node: CSINode) -> bool:
        """A volume that is attached already costs nothing; drivers without a limit are unlimited."""
        limits = {
            driver.name: driver.allocatable.count
            for driver in csi_node.spec.drivers
            if driver.allocatable is not None and driver.allocatable.count is not None
        }
        used = self.cluster.attached_volumes.get(node, {})
        if (self.copies if isinstance(self.copies, int) else self.copies[node]) > 0:
            # A copy shares its volumes with the next one.
            used = {**used, **self.added}
        count = Counter(used.values())
        # Attachments no counted pod explains count too, the candidate's own among them.
        count.update(driver for unique, driver in self.cluster.volume_attachments.get(node, {}).items() if unique not in used)
        wanted = Counter(driver for unique, driver in self.added.items() if unique not in used)
        return any(driver in limits and count[driver] + new > limits[driver] for driver, new in wanted.items())
