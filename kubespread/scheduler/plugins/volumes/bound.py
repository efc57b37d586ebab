"""Claims and volumes once a pod has its node: bound to an existing volume, or to one provisioned for them.

What a provisioner makes is that of kubernetes-csi/external-provisioner: the volume is reached from nodes that are in
the same topology as the chosen one, by the keys that the driver registered there (spec.drivers[].topologyKeys of its
CSINode), and what the driver reports of free storage is less by what was asked for.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, AssumePodVolumes, BindPodVolumes
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from kubespread.kube.api.annotations import BIND_COMPLETED
from kubespread.kube.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.storage import (
    CSIPersistentVolumeSource,
    CSIStorageCapacity,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    VolumeNodeAffinity,
)
from kubespread.kube.quantity import parse
from kubespread.kube.selector import from_label_selector
from kubespread.scheduler.cluster.change import StorageChange
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.storage_index import driver_of, storage_class_name
from kubespread.scheduler.plugins.volumes.matching import counts_capacity, requested_storage


def bound_on(
    cluster: Cluster,
    node: int,
    taken: Iterable[tuple[PersistentVolumeClaim, PersistentVolume]],
    to_provision: Iterable[PersistentVolumeClaim],
) -> StorageChange:
    """The claims of a pod bound to ``node``, each with the volume it takes or with one that is made for it there."""
    pairs = list(taken)
    capacities: dict[int, CSIStorageCapacity] = {}
    for claim in to_provision:
        storage_class = cluster.storage.classes[storage_class_name(claim)]
        pairs.append((claim, _provisioned(cluster, node, claim, storage_class)))
        if counts_capacity(cluster, storage_class, claim):
            capacities |= _less(cluster, node, claim, capacities)
    return StorageChange(
        [_bound_claim(claim, volume) for claim, volume in pairs],
        [_bound_volume(claim, volume) for claim, volume in pairs],
        capacities,
    )


def _bound_claim(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolumeClaim:
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations={**claim.metadata.annotations, BIND_COMPLETED: "yes"}),
        spec=replace(claim.spec, volume_name=volume.metadata.name),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )


def _bound_volume(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolume:
    meta = claim.metadata
    reference = ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid)
    return replace(volume, spec=replace(volume.spec, claim_ref=reference), status=PersistentVolumeStatus(phase="Bound"))


def _provisioned(
    cluster: Cluster, node: int, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> PersistentVolume:
    """The volume that the driver of a class makes for a claim whose pod goes to ``node``."""
    meta, spec, driver = claim.metadata, claim.spec, driver_of(storage_class)
    name = f"pvc-{meta.uid or f'{meta.namespace}-{meta.name}'}"
    made = PersistentVolumeSpec(
        capacity=spec.resources.requests,
        access_modes=spec.access_modes,
        storage_class_name=storage_class.metadata.name,
        volume_mode=spec.volume_mode,
        volume_attributes_class_name=spec.volume_attributes_class_name,
        node_affinity=_same_topology(cluster, node, driver),
        csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name) if driver else None,
    )
    return PersistentVolume(metadata=ObjectMeta(name=name), spec=made)


def _same_topology(cluster: Cluster, node: int, driver: str) -> VolumeNodeAffinity | None:
    """The nodes from which a volume made for ``node`` can be reached; None for every node, according to the driver."""
    labels = cluster.nodes.objects[node].metadata.labels
    values = {key: labels[key] for key in topology_keys(cluster, node, driver) if key in labels}
    if not values:
        return None
    expressions = [NodeSelectorRequirement(key=key, operator="In", values=[value]) for key, value in values.items()]
    return VolumeNodeAffinity(
        required=NodeSelector(node_selector_terms=[NodeSelectorTerm(match_expressions=expressions)])
    )


def topology_keys(cluster: Cluster, node: int, driver: str) -> list[str]:
    """The labels by which the driver tells nodes apart, as it registered them on ``node``."""
    csi_node = cluster.storage.csi_nodes.get(cluster.nodes.names[node])
    drivers = csi_node.spec.drivers if csi_node is not None else []
    return next((registered.topology_keys for registered in drivers if registered.name == driver), [])


def _less(
    cluster: Cluster, node: int, claim: PersistentVolumeClaim, before: Mapping[int, CSIStorageCapacity]
) -> dict[int, CSIStorageCapacity]:
    """What is reported about ``node`` for the claim's class once its volume is made, by place among the reports."""
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
                report,
                capacity=rest,
                maximum_volume_size=most if most is None or parse(most).value <= rest else rest,
            )
    return changed
