"""VolumeBinding: bound volumes must reach the node, waiting claims must find a volume or a provisioner there.

The rules are those of 1.37. Claims and volumes once a pod has its node: bound to an existing volume, or to one
provisioned for them. What a provisioner makes is that of kubernetes-csi/external-provisioner: the volume is reached
from nodes that are in the same topology as the chosen one, by the keys that the driver registered there
(spec.drivers[].topologyKeys of its CSINode), and what the driver reports of free storage is less by what was asked for.

Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, PreFilter, Filter, Score, podHasPVCs
Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, FindPodVolumes, checkBoundClaims,
    checkVolumeProvisions, hasEnoughCapacity, AssumePodVolumes, BindPodVolumes
Source: pkg/scheduler/framework/plugins/volumebinding/scorer.go, buildScorerFunction
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api import cluster_objects as api
from kubespread.kube.api.core import NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubespread.kube.api.meta import Int64
from kubespread.kube.persistent_volumes import (
    bound_claim,
    bound_volume,
    capacity,
    driver_of,
    is_bound,
    provision,
    requested_storage,
    storage_class_name,
)
from kubespread.kube.quantity import parse
from kubespread.kube.selector import from_label_selector
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import SELECTED_NODE
from kubespread.scheduler.causes import (
    Cause,
    Causes,
    MissingVolumeDetail,
    StorageCapacityDetail,
    UnboundClaimDetail,
    VolumeNodeDetail,
    per_node,
)
from kubespread.scheduler.cluster import storage_index
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, Mask, Positions, divide, round_half_away, wrap
from kubespread.scheduler.cluster.nodes import everywhere, nodes_named, nowhere
from kubespread.scheduler.plugin import (
    JUDGES,
    RANKS,
    SKIP,
    Args,
    Code,
    FixedState,
    PluginSetting,
    Point,
    Specification,
    State,
    Status,
    Verdicts,
    ZeroScores,
    read_as,
)
from kubespread.scheduler.plugins.noderesources import scoring
from kubespread.scheduler.plugins.volumes import matching


def binding_on(
    cluster: Cluster,
    node: int,
    static_bindings: Iterable[tuple[api.PersistentVolumeClaim, api.PersistentVolume]],
    to_provision: Iterable[api.PersistentVolumeClaim],
) -> storage_index.StorageChange:
    """Change that binds a pod's claims on ``node``, to the volumes they take or to provisioned ones."""
    pairs = list(static_bindings)
    capacities: dict[int, api.CSIStorageCapacity] = {}
    for claim in to_provision:
        storage_class = cluster.storage.classes[storage_class_name(claim)]
        reached = _same_topology(cluster, node, driver_of(storage_class))
        pairs.append((claim, provision(claim, storage_class, reached)))
        if matching.counts_capacity(cluster, storage_class, claim):
            capacities |= _less(cluster, node, claim, capacities)
    return storage_index.StorageChange(
        [bound_claim(claim, volume) for claim, volume in pairs],
        [bound_volume(claim, volume) for claim, volume in pairs],
        capacities,
    )


def _same_topology(cluster: Cluster, node: int, driver: str) -> list[NodeSelectorTerm]:
    """Terms for the nodes that reach a volume made for ``node``, according to the driver; none for every node."""
    labels = cluster.nodes.objects[node].metadata.labels
    values = {key: labels[key] for key in topology_keys(cluster, node, driver) if key in labels}
    expressions = [NodeSelectorRequirement(key=key, operator="In", values=[value]) for key, value in values.items()]
    return [NodeSelectorTerm(match_expressions=expressions)] if values else []


def topology_keys(cluster: Cluster, node: int, driver: str) -> list[str]:
    """Labels by which the driver distinguishes nodes, as registered on ``node``."""
    csi_node = cluster.storage.csi_nodes.get(cluster.nodes.names[node])
    drivers = csi_node.spec.drivers if csi_node is not None else []
    return next((registered.topology_keys for registered in drivers if registered.name == driver), [])


def _less(
    cluster: Cluster, node: int, claim: api.PersistentVolumeClaim, before: Mapping[int, api.CSIStorageCapacity]
) -> dict[int, api.CSIStorageCapacity]:
    """Capacities of ``node`` for the claim's class after its volume was provisioned, by place among the cluster's."""
    labels, name = cluster.nodes.objects[node].metadata.labels, storage_class_name(claim)
    size = requested_storage(claim).value
    changed = {}
    for place, reported in enumerate(cluster.storage.capacities):
        report = before.get(place, reported)
        if report.storage_class_name != name or report.node_topology is None or report.capacity is None:
            continue
        if from_label_selector(report.node_topology).matches(labels):
            rest = max(0, parse(report.capacity).value - size)
            most = report.maximum_volume_size
            changed[place] = replace(
                report, capacity=rest, maximum_volume_size=most if most is None or parse(most).value <= rest else rest
            )
    return changed


NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
_SCORING = "StorageCapacityScoring"
_REASONS = (NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, VOLUME_MISSING)


class VolumeBinding(matching.VolumePlugin, frozen=True):
    name: ClassVar[str] = "VolumeBinding"

    shape: tuple[scoring.ShapePoint, ...] = ()
    """Score of free storage, for pods without claims too; empty without the gate StorageCapacityScoring."""

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        yield from super().gaps(cluster, pod)
        yield from matching.binding_gaps(cluster, pod)

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        return matching.undetermined_scores(cluster, pod) if self.shape else iter(())

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        unasked = ZeroScores(len(cluster)) if self.shape else SKIP
        if not cluster.knows_claims_of(pod):
            return unasked
        claims: list[api.PersistentVolumeClaim] = []
        undecided = cluster.undecided_claims(pod)
        for volume in pod.spec.volumes:
            if (name := storage_index.claim_name(pod, volume)) is None or name in undecided:
                continue
            claim = cluster.storage.claim(pod, name)
            problem = _problem(pod, name, claim, ephemeral=volume.ephemeral is not None)
            if problem is not None:
                return Status(Code.UNRESOLVABLE, (problem,))
            assert claim is not None
            claims.append(claim)
        if not claims:
            return unasked
        bound = [claim for claim in claims if is_bound(claim)]
        waiting = [claim for claim in claims if not is_bound(claim)]
        if any(claim.spec.volume_name or not cluster.storage.is_delayed(claim) for claim in waiting):
            return Status(Code.UNRESOLVABLE, (UNBOUND_IMMEDIATE,))
        return VolumeBindingState(cluster, bound, waiting, self.shape)


def _problem(pod: Pod, name: str, claim: api.PersistentVolumeClaim | None, *, ephemeral: bool) -> str | None:
    """Reason a claim rejects the pod on every node; None if it does not."""
    if claim is None:
        missing = f'persistentvolumeclaim "{name}"'
        return (
            f"waiting for ephemeral volume controller to create the {missing}" if ephemeral else f"{missing} not found"
        )
    if claim.status.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if ephemeral and not storage_index.is_owned(claim, pod):
        return storage_index.not_owner_message(claim, pod)
    return None


class _Problem(Struct, frozen=True):
    """One claim's reason, and the nodes that have it."""

    reason: str
    claim: api.PersistentVolumeClaim
    nodes: Mask


class VolumeBindingState(Struct, FixedState, dict=True):
    cluster: Cluster
    bound: Sequence[api.PersistentVolumeClaim]
    waiting: Sequence[api.PersistentVolumeClaim]
    shape: Sequence[scoring.ShapePoint]

    def filter(self) -> Verdicts:
        raised = {reason: nowhere(self.cluster.nodes) for reason in _REASONS}
        for problem in self._problems:
            raised[problem.reason] |= problem.nodes
        # Each set of reasons is a number: one bit a reason.
        flags = np.zeros(len(self.cluster), dtype=np.int32)
        for bit, reason in enumerate(_REASONS):
            flags |= raised[reason].astype(np.int32) << bit
        table: list[Status] = []
        entry = np.zeros(1 << len(_REASONS), dtype=np.int32)
        for number in np.flatnonzero(np.bincount(flags)).tolist():
            if reasons := tuple(reason for bit, reason in enumerate(_REASONS) if number >> bit & 1):
                table.append(Status(Code.UNRESOLVABLE, reasons))
                entry[number] = len(table)
        return self._with_errors(Verdicts(entry[flags], tuple(table)))

    def _with_errors(self, verdicts: Verdicts) -> Verdicts:
        """Add errors on nodes with CSI migration for an in-tree volume that cannot be translated."""
        for claim in self.bound:
            volume = self.cluster.storage.volumes.get(claim.spec.volume_name)
            failing, fault = (
                matching.untranslatable(self.cluster, volume)
                if volume is not None
                else (nowhere(self.cluster.nodes), "")
            )
            if failing.any():
                status = Status(Code.ERROR, (f'running "VolumeBinding" filter plugin: {fault}',))
                rows = np.where(failing, len(verdicts.table) + 1, verdicts.rows).astype(np.int32)
                return Verdicts(rows, (*verdicts.table, status))
        return verdicts

    @cached_property
    def _problems(self) -> Sequence[_Problem]:
        return [*self._problems_of_bound(), *self._problems_of_waiting()]

    def _problems_of_bound(self) -> Iterator[_Problem]:
        """Yield problems in the order of the pod's claims; each node has only its first."""
        open_nodes = everywhere(self.cluster.nodes)
        for claim in self.bound:
            volume = self.cluster.storage.volumes.get(claim.spec.volume_name)
            if volume is None:
                yield _Problem(VOLUME_MISSING, claim, open_nodes)
                return
            rejected = open_nodes & ~matching.admitted_nodes(self.cluster, volume, bound=True)
            yield _Problem(NODE_CONFLICT, claim, rejected)
            open_nodes = open_nodes & ~rejected

    def _problems_of_waiting(self) -> Iterator[_Problem]:
        """Yield problems of waiting claims: another node is selected, or no volume or provisioner serves them."""
        open_nodes = everywhere(self.cluster.nodes)
        for claim, nodes in self._node_selections:
            yield _Problem(BIND_CONFLICT, claim, ~nodes)
            open_nodes = open_nodes & nodes
        for claim, needed in self._waiting[1]:
            provisioned, enough = matching.provisionable(self.cluster, claim)
            unprovisioned = open_nodes & needed & ~provisioned
            full = open_nodes & needed & provisioned & ~enough
            yield _Problem(BIND_CONFLICT, claim, unprovisioned)
            yield _Problem(NOT_ENOUGH_SPACE, claim, full)
            open_nodes = open_nodes & ~(unprovisioned | full)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        return per_node(len(nodes), self._placed_causes(nodes))

    def _placed_causes(self, nodes: Positions) -> Iterator[tuple[int, Cause]]:
        for problem in self._problems:
            places = np.flatnonzero(problem.nodes[nodes])
            for place, causes in zip(places.tolist(), self._causes_of(problem, nodes[places]), strict=True):
                yield from ((place, cause) for cause in causes)

    def _causes_of(self, problem: _Problem, nodes: Positions) -> Sequence[Causes]:
        """Causes that one problem has on each of ``nodes``, which all have it."""
        claim = problem.claim
        name, bound_to = f"{claim.metadata.namespace}/{claim.metadata.name}", claim.spec.volume_name
        storage_class, size = storage_class_name(claim), str(requested_storage(claim))
        if problem.reason == NODE_CONFLICT:
            volume = self.cluster.storage.volumes[bound_to]
            return [
                tuple(
                    VolumeNodeDetail(
                        name,
                        bound_to,
                        unmet.term,
                        unmet.requirement.key,
                        unmet.requirement.operator,
                        unmet.requirement.values,
                        unmet.actual,
                    )
                    for unmet in unmet_list
                )
                for unmet_list in matching.unmet_on(self.cluster, volume, nodes)
            ]
        cause: Cause
        if problem.reason == VOLUME_MISSING:
            cause = MissingVolumeDetail(name, bound_to)
        elif problem.reason == NOT_ENOUGH_SPACE:
            cause = StorageCapacityDetail(name, storage_class, size)
        else:
            cause = UnboundClaimDetail(name, storage_class, size, claim.metadata.annotations.get(SELECTED_NODE))
        return [(cause,)] * len(nodes)

    @cached_property
    def _waiting(self) -> tuple[matching.PersistentVolumes, list[tuple[api.PersistentVolumeClaim, Mask]]]:
        """Volumes chosen for claims, and claims left to a provisioner, each with the nodes where it is."""
        volumes = matching.PersistentVolumes(self.cluster)
        to_provision = list(self._node_selections)
        unselected = [claim for claim in self.waiting if SELECTED_NODE not in claim.metadata.annotations]
        smallest_first = sorted(unselected, key=lambda claim: requested_storage(claim).nano)
        return volumes, to_provision + [(claim, ~volumes.take(claim)) for claim in smallest_first]

    @cached_property
    def _node_selections(self) -> list[tuple[api.PersistentVolumeClaim, Mask]]:
        selected = ((claim, claim.metadata.annotations.get(SELECTED_NODE)) for claim in self.waiting)
        return [(claim, nodes_named(self.cluster.nodes, [node])) for claim, node in selected if node is not None]

    def binding(self, node: int) -> storage_index.StorageChange | None:
        """Change that binds each waiting claim to its volume on ``node``, or to a provisioned one."""
        volumes, to_provision = self._waiting
        bindings = [(claim, volume) for claim, volume, nodes in volumes.bindings if nodes[node]]
        provisions = [claim for claim, needed in to_provision if needed[node]]
        return binding_on(self.cluster, node, bindings, provisions) if bindings or provisions else None

    def score(self) -> Counts | None:
        if not self.shape:
            return None
        volumes, to_provision = self._waiting
        bound, provisioned = StorageUse(self.cluster), StorageUse(self.cluster)
        for claim, volume, nodes in volumes.bindings:
            bound.bind(
                volume.spec.storage_class_name or "", nodes, requested_storage(claim).value, capacity(volume).value
            )
        for claim, needed in to_provision:
            for offer, nodes in matching.capacities_for(self.cluster, claim):
                free = parse(offer.capacity).value if offer.capacity is not None else 0
                provisioned.provision(storage_class_name(claim), needed & nodes, requested_storage(claim).value, free)
                needed = needed & ~nodes
        # Claims to be provisioned do not count on a node that also binds a volume.
        scores: Counts = np.where(bound.used_nodes, bound.scores(self.shape), provisioned.scores(self.shape))
        return scores


class VolumeBindingArgs(Args):
    bind_timeout_seconds: Int64 | None = None
    shape: list[scoring.UtilizationShapePoint] | None = None

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        if self.bind_timeout_seconds is not None and self.bind_timeout_seconds < 0:
            yield FieldFault(f"{path}.bindTimeoutSeconds", "must not be negative")
        if self.shape is None:
            return
        if version.has(_SCORING):
            yield from scoring.shape_faults(self.shape, f"{path}.shape")
        else:
            yield FieldFault(f"{path}.shape", f"needs the feature gate {_SCORING}")


def _volume_binding(setting: PluginSetting) -> VolumeBinding:
    if not setting.version.has(_SCORING):
        return VolumeBinding()
    shape = read_as(VolumeBindingArgs, setting.args).shape
    return VolumeBinding(
        tuple(scoring.ShapePoint(point.utilization, point.score) for point in shape or ()) or LESS_IS_BETTER
    )


VOLUME_BINDING = Specification(
    name=VolumeBinding.name,
    points=JUDGES | RANKS | {Point.RESERVE, Point.PRE_BIND},
    make=_volume_binding,
    args=VolumeBindingArgs,
)


_FULL = 100
LESS_IS_BETTER = (scoring.ShapePoint(0, scoring.MAX_SHAPE_SCORE), scoring.ShapePoint(_FULL, 0))
"""Line of scores without a shape: the free percentage."""


class StorageUse:
    """Storage requested by one pod's claims and offered to them, per node and storage class, in bytes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._requested: dict[str, Counts] = {}
        self._offered: dict[str, Counts] = {}
        self._used: dict[str, Mask] = {}

    def bind(self, storage_class: str, nodes: Mask, requested: int, capacity: int) -> None:
        """Add a volume of so much capacity on ``nodes``; volumes of one class add up."""
        self._ask(storage_class, nodes, requested)
        self._offered[storage_class][nodes] += wrap(capacity)

    def provision(self, storage_class: str, nodes: Mask, requested: int, capacity: int) -> None:
        """Add a provisioned volume on ``nodes``, from the ``capacity`` that all claims of a class share."""
        self._ask(storage_class, nodes, requested)
        self._offered[storage_class][nodes] = wrap(capacity)

    def _ask(self, storage_class: str, nodes: Mask, requested: int) -> None:
        if storage_class not in self._used:
            self._requested[storage_class] = np.zeros(len(self._cluster), dtype=np.int64)
            self._offered[storage_class] = np.zeros(len(self._cluster), dtype=np.int64)
            self._used[storage_class] = nowhere(self._cluster.nodes)
        self._requested[storage_class][nodes] += wrap(requested)
        self._used[storage_class] |= nodes

    @property
    def used_nodes(self) -> Mask:
        mask = nowhere(self._cluster.nodes)
        for nodes in self._used.values():
            mask |= nodes
        return mask

    def scores(self, shape: Sequence[scoring.ShapePoint]) -> Counts:
        """Mean score over a node's classes, rounded half away from zero; 0 without any."""
        total = np.zeros(len(self._cluster), dtype=np.int64)
        classes = np.zeros(len(self._cluster), dtype=np.int64)
        for storage_class, used in self._used.items():
            requested, offered = self._requested[storage_class], self._offered[storage_class]
            over = (offered == 0) | (requested > offered)
            utilization = np.where(over, _FULL, divide(requested * _FULL, offered))
            total += np.where(used, scoring.interpolate(utilization, shape), 0)
            classes += used
        return round_half_away(total / np.maximum(classes, 1))
