"""VolumeBinding: bound volumes must reach the node, waiting claims must find a volume or a provisioner there.

Source of the rules: kube-scheduler 1.36, volumebinding/{volume_binding,binder}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.annotations import SELECTED_NODE
from kubespread.kube.objects import Pod
from kubespread.kube.quantity import ZERO, Quantity, parse
from kubespread.kube.storage import PersistentVolumeClaim
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.cluster.storage_index import claim_name, is_bound, is_owned
from kubespread.scheduler.node_matching import everywhere, nowhere
from kubespread.scheduler.plugin import SKIP, Code, Fixed, State, Status, Verdicts
from kubespread.scheduler.plugins.volumes.matching import PersistentVolumes, admits_node, provisionable, untranslatable

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
_REASONS = (NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, VOLUME_MISSING)


class VolumeBinding:
    name: ClassVar[str] = "VolumeBinding"

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        if not cluster.has_claims:
            return SKIP
        claims: list[PersistentVolumeClaim] = []
        for name, ephemeral in _claim_names(pod):
            claim = cluster.storage.claim(pod, name)
            problem = _problem(pod, name, claim, ephemeral=ephemeral)
            if problem is not None:
                return Status(Code.UNRESOLVABLE, (problem,))
            assert claim is not None
            claims.append(claim)
        if not claims:
            return SKIP
        bound = [claim for claim in claims if is_bound(claim)]
        waiting = [claim for claim in claims if not is_bound(claim)]
        if any(claim.spec.volume_name or not cluster.storage.is_delayed(claim) for claim in waiting):
            return Status(Code.UNRESOLVABLE, (UNBOUND_IMMEDIATE,))
        return VolumeBindingState(cluster, bound, waiting)


def _claim_names(pod: Pod) -> Iterator[tuple[str, bool]]:
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is not None:
            yield name, volume.ephemeral is not None


def _problem(pod: Pod, name: str, claim: PersistentVolumeClaim | None, *, ephemeral: bool) -> str | None:
    """Why a claim rejects the pod on every node, if it does."""
    if claim is None:
        missing = f'persistentvolumeclaim "{name}"'
        return f"waiting for ephemeral volume controller to create the {missing}" if ephemeral else f"{missing} not found"
    if claim.status.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if ephemeral and not is_owned(claim, pod):
        owner = f"{pod.metadata.namespace}/{pod.metadata.name}"
        return f"PVC {pod.metadata.namespace}/{name} was not created for pod {owner} (pod is not owner)"
    return None


@dataclass
class VolumeBindingState(Fixed):
    cluster: Cluster
    bound: Sequence[PersistentVolumeClaim]
    waiting: Sequence[PersistentVolumeClaim]

    def filter(self) -> Verdicts:
        node_conflict, missing = self._judge_bound()
        bind_conflict, no_space = self._judge_waiting()
        flags = np.stack([node_conflict, bind_conflict, no_space, missing], axis=1)
        distinct, which = np.unique(flags, axis=0, return_inverse=True)
        table: list[Status] = []
        entry = np.zeros(len(distinct), dtype=np.int32)
        for position, row in enumerate(distinct):
            reasons = tuple(reason for reason, raised in zip(_REASONS, row, strict=True) if raised)
            if reasons:
                table.append(Status(Code.UNRESOLVABLE, reasons))
                entry[position] = len(table)
        return self._with_errors(Verdicts(entry[which.reshape(-1)], tuple(table)))

    def _with_errors(self, verdicts: Verdicts) -> Verdicts:
        """An in-tree volume that cannot be translated is an error on the nodes that leave it to CSI."""
        for claim in self.bound:
            volume = self.cluster.storage.volumes.get(claim.spec.volume_name)
            failing, fault = untranslatable(self.cluster, volume) if volume is not None else (nowhere(self.cluster.nodes), "")
            if failing.any():
                status = Status(Code.ERROR, (f'running "VolumeBinding" filter plugin: {fault}',))
                which = np.where(failing, len(verdicts.table) + 1, verdicts.which).astype(np.int32)
                return Verdicts(which, (*verdicts.table, status))
        return verdicts

    def _judge_bound(self) -> tuple[Mask, Mask]:
        """Claims in the pod's order; each node stops at its first problem."""
        node_conflict, missing = nowhere(self.cluster.nodes), nowhere(self.cluster.nodes)
        open_nodes = everywhere(self.cluster.nodes)
        for claim in self.bound:
            volume = self.cluster.storage.volumes.get(claim.spec.volume_name)
            if volume is None:
                missing |= open_nodes
                break
            rejected = open_nodes & ~admits_node(self.cluster, volume, bound=True)
            node_conflict |= rejected
            open_nodes &= ~rejected
        return node_conflict, missing

    def _judge_waiting(self) -> tuple[Mask, Mask]:
        """Claims that a node was selected for want that node; the others take a volume, or else a provisioner."""
        bind_conflict, no_space = nowhere(self.cluster.nodes), nowhere(self.cluster.nodes)
        to_provision: list[tuple[PersistentVolumeClaim, Mask]] = []
        unselected = []
        for claim in self.waiting:
            selected = claim.metadata.annotations.get(SELECTED_NODE)
            if selected is None:
                unselected.append(claim)
                continue
            there = nowhere(self.cluster.nodes)
            if selected in self.cluster.nodes.index:
                there[self.cluster.nodes.index[selected]] = True
            bind_conflict |= ~there
            to_provision.append((claim, there))
        volumes = PersistentVolumes(self.cluster)
        smallest_first = sorted(unselected, key=lambda claim: requested_storage(claim).nano)
        to_provision += [(claim, ~volumes.take(claim)) for claim in smallest_first]
        open_nodes = ~bind_conflict
        for claim, needed in to_provision:
            provisioned, enough = provisionable(self.cluster, claim)
            unprovisioned = open_nodes & needed & ~provisioned
            full = open_nodes & needed & provisioned & ~enough
            bind_conflict |= unprovisioned
            no_space |= full
            open_nodes &= ~(unprovisioned | full)
        return bind_conflict, no_space


def requested_storage(claim: PersistentVolumeClaim) -> Quantity:
    given = claim.spec.resources.requests
    return parse(given["storage"]) if "storage" in given else ZERO
