"""NodeVolumeLimits: how many volumes of each CSI driver a node can attach.

Source of the rules: kube-scheduler 1.36, nodevolumelimits/csi.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.api.storage import CSINode, VolumeAttachment
from kubespread.scheduler.causes import Causes, VolumeLimit
from kubespread.scheduler.cluster.attachments import per_driver
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Positions
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.scheduler.plugin import SKIP, Code, OnNode, Plugin, State, Status, Verdicts
from kubespread.scheduler.plugins.volumes.gaps import claim_gaps
from kubespread.scheduler.specification import JUDGES, Specification

EXCEEDED = Status(Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))


class NodeVolumeLimits(Plugin):
    name: ClassVar[str] = "NodeVolumeLimits"

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        yield from claim_gaps(cluster, pod)
        if any(cluster.storage.attached(pod)):
            yield from cluster.objects.gap(CSINode, "how many volumes a node can attach is not evaluated")
            if cluster.objects.knows(CSINode):
                consequence = "only volumes of pods count towards the limits of nodes"
                yield from cluster.objects.gap(VolumeAttachment, consequence)

    def signature(self, pod: Pod) -> Hashable:
        return None if pod.spec.has_scheduled_volumes else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        claims = claim_names(pod) if cluster.has_claims else []
        missing = next((name for name in claims if cluster.storage.claim(pod, name) is None), None)
        added = dict(cluster.storage.attached(pod))
        return NodeVolumeLimitsState(added, _unknown_claim(pod, missing)) if added or missing else SKIP


def _unknown_claim(pod: Pod, name: str | None) -> Status | None:
    if name is None:
        return None
    claim = f"{pod.metadata.namespace}/{name}"
    return Status(Code.UNRESOLVABLE, (f'looking up PVC {claim}: persistentvolumeclaim "{name}" not found',))


@dataclass
class NodeVolumeLimitsState(OnNode):
    added: Mapping[str, str]
    unknown: Status | None

    def judge(self, held: Holdings) -> Verdicts:
        if self.unknown is not None:
            return Verdicts.rejecting(np.ones(len(held), dtype=np.bool_), self.unknown)
        which = np.zeros(len(held), dtype=np.int32)
        limits = held.cluster.storage.attach_limits
        for place, node in self._suspects(held):
            which[place] = any(self._exceeded(held, node, limits[held.cluster.nodes.names[node]]))
        return self._with_errors(held, Verdicts(which, (EXCEEDED,)))

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
        misused = held.cluster.misused_claims if self.added else {}
        names = held.cluster.nodes.names
        for place, node in held.places_of(misused):
            if names[node] in held.cluster.storage.attach_limits:
                error = f'running "{NodeVolumeLimits.name}" filter plugin: {misused[node]}'
                verdicts = verdicts.with_status(place, Status(Code.ERROR, (error,)))
        return verdicts

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        held, limits = Holdings(cluster, nodes), cluster.storage.attach_limits
        if self.unknown is not None:
            return super().causes(cluster, nodes)
        names = cluster.nodes.names
        return [tuple(self._exceeded(held, node, limits.get(names[node], {}))) for node in nodes.tolist()]

    def _exceeded(self, held: Holdings, node: int, limits: Mapping[str, int]) -> Iterator[VolumeLimit]:
        """The drivers that would have to attach too many volumes.

        A volume that is attached already costs nothing; drivers without a limit are unlimited.
        """
        used = held.attached(node)
        # Of attachments that no pod explains the candidate's own may be one.
        count = per_driver(used, held.cluster.volume_attachments.get(node, {}))
        new = Counter(driver for unique, driver in self.added.items() if unique not in used)
        for driver, added in new.items():
            if driver in limits and count[driver] + added > limits[driver]:
                yield VolumeLimit(driver, count[driver], added, limits[driver])


SPECIFICATION = Specification(name=NodeVolumeLimits.name, points=JUDGES, make=lambda setting: NodeVolumeLimits())
