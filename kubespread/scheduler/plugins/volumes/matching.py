"""Nodes that a volume, a class or a driver's storage reaches, and the free volume a claim would take there.

Also missing data about storage that the volume plugins may depend on.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, findMatchingVolumes, nodeHasAccess, capacitySufficient
Source: staging/src/k8s.io/component-helpers/storage/volume/helpers.go, CheckNodeAffinity
Source: pkg/apis/core/v1/helper/helpers.go, MatchTopologySelectorTerms
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from kubespread.kube.api import cluster_objects as api
from kubespread.kube.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubespread.kube.persistent_volumes import (
    NO_PROVISIONER,
    ZONE_LABELS,
    capacity,
    in_tree_plugin,
    is_available,
    is_provisioned,
    is_reserved_for,
    provisioned_name,
    requested_storage,
    storage_class_name,
    suffices,
    translation_fault,
)
from kubespread.kube.quantity import parse
from kubespread.kube.selector import from_label_selector
from kubespread.kube.well_known import BETA_REGION, HOSTNAME, MIGRATED_PLUGINS, REGION
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Mask, Positions
from kubespread.scheduler.cluster.nodes import (
    Unmet,
    everywhere,
    judge_distinct,
    matches_requirements,
    nodes_named,
    nowhere,
    parsed_terms,
    unmet_requirements,
)
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.scheduler.plugin import Plugin
from kubespread.wording import Decisive


class VolumePlugin(Plugin, frozen=True):
    """A plugin that judges only pods with volumes, by their claims."""

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        return claim_gaps(cluster, pod)

    def signature(self, pod: Pod) -> Hashable:
        return None if pod.spec.has_scheduled_volumes else ()


_NO_VOLUMES = "the pod's claims are judged as if there were no volumes"


def claim_gaps(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Yield missing data for every plugin that reads the pod's claims."""
    names, objects = claim_names(pod), cluster.objects
    unlisted = objects.gap(api.PersistentVolumeClaim, "zones, binding and limits of the pod's claims are not evaluated")
    if not cluster.knows_claims_of(pod):
        yield from map(Decisive, unlisted)
        return
    claims = [claim for name in names if (claim := cluster.storage.claim(pod, name)) is not None]
    if any(claim.spec.volume_name for claim in claims):
        yield from map(Decisive, objects.gap(api.PersistentVolume, _NO_VOLUMES))
    yield from _placement_gaps(cluster, claims)
    if cluster.undecided_claims(pod):
        consequence = "whether and where the pod's claims can be bound is not known"
        yield from map(Decisive, (*unlisted, *objects.gap(api.StorageClass, consequence)))


def _placement_gaps(cluster: Cluster, claims: Iterable[api.PersistentVolumeClaim]) -> Iterator[str]:
    """Yield gaps for volumes provisioned before their pods have nodes, if nodes may differ in reaching them."""
    storage = cluster.storage
    for claim in claims:
        volume, name = storage.volumes.get(claim.spec.volume_name), storage_class_name(claim)
        is_made_here = (
            volume is not None and volume.metadata.name == provisioned_name(claim) and not volume.metadata.uid
        )
        if volume is None or not is_made_here or storage.is_delayed(claim) or volume.spec.csi is None:
            continue
        reached, driver = np.flatnonzero(admitted_nodes(cluster, volume)).tolist(), volume.spec.csi.driver
        registered = [own for node in storage.csi_nodes.values() for own in node.spec.drivers if own.name == driver]
        keys = {key for own in registered for key in own.topology_keys} if registered else {HOSTNAME}
        labels = (cluster.nodes.objects[node].metadata.labels for node in reached)
        if len({tuple(own.get(key) for key in keys) for own in labels}) > 1:
            among = "" if volume.spec.node_affinity is None else " that its allowedTopologies name"
            yield (
                f"where the driver of StorageClass {name} makes a volume is its choice: new ones are taken to be "
                f"reached from every node{among}"
            )


def binding_gaps(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Yield missing data about claims that are not bound yet."""
    claims = (cluster.storage.claim(pod, name) for name in claim_names(pod))
    unbound = [claim for claim in claims if claim is not None and not claim.spec.volume_name]
    if unbound:
        yield from cluster.objects.gap(api.PersistentVolume, _NO_VOLUMES)
    yield from _provisioning_gaps(cluster, unbound)


def _provisioning_gaps(cluster: Cluster, unbound: Iterable[api.PersistentVolumeClaim]) -> Iterator[str]:
    """Yield missing data about the storage capacity of drivers that provision delayed claims."""
    storage, objects = cluster.storage, cluster.objects
    delayed = [claim for claim in unbound if storage.is_delayed(claim)]
    provisioners = {storage.classes[storage_class_name(claim)].provisioner for claim in delayed} - {NO_PROVISIONER}
    if not provisioners:
        return
    yield from objects.gap(api.CSIDriver, "storage capacity is not evaluated")
    if any(
        driver.spec.storage_capacity and driver.metadata.name in provisioners for driver in objects.get(api.CSIDriver)
    ):
        yield from objects.gap(api.CSIStorageCapacity, "every node counts as without storage capacity")


def undetermined_scores(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Yield free storage that kube-scheduler scores at random, or crashes over."""
    claims = (cluster.storage.claim(pod, name) for name in claim_names(pod))
    for claim in claims:
        if claim is None or claim.spec.volume_name or not cluster.storage.is_delayed(claim):
            continue
        name, offered = f"{claim.metadata.namespace}/{claim.metadata.name}", capacities_for(cluster, claim)
        if (
            len({offer.capacity for offer, _ in offered}) > 1
            and (np.sum([nodes for _, nodes in offered], axis=0) > 1).any()
        ):
            yield (
                f"VolumeBinding: several CSIStorageCapacity objects of one node have room for claim {name}; "
                "kube-scheduler scores by one of them at random, here by the first"
            )
        if offered and claim.spec.storage_class_name is None:
            yield (
                f"VolumeBinding: kube-scheduler crashes while it scores claim {name}, whose class is only in an "
                "annotation; it is scored as if the class were in spec.storageClassName"
            )
        if any(offer.capacity is None for offer, _ in offered):
            yield (
                f"VolumeBinding: kube-scheduler crashes while it scores claim {name} where a CSIStorageCapacity has a "
                "maximumVolumeSize and no capacity; here that is a capacity of 0"
            )


def admitted_nodes(cluster: Cluster, volume: api.PersistentVolume, *, bound: bool = False) -> Mask:
    """Nodes that a volume's node affinity admits; a bound in-tree volume is translated for its CSI driver."""
    view = _View(cluster, volume)
    plain = _matches(cluster, view.plain)
    if not bound or not view.migrated.any():
        return plain
    return np.where(view.migrated, _matches(cluster, view.translated), plain)


def unmet_on(cluster: Cluster, volume: api.PersistentVolume, nodes: Positions) -> list[list[Unmet]]:
    """Requirements of a bound volume's node affinity that each of ``nodes`` does not meet."""
    view = _View(cluster, volume)
    plain, translated, migrated = parsed_terms(view.plain), parsed_terms(view.translated), view.migrated[nodes]
    keys = sorted({requirement.key for term in (*plain, *translated) for requirement in term.labels})

    def of_place(place: int) -> list[Unmet]:
        labels = cluster.nodes.objects[nodes.item(place)].metadata.labels
        return unmet_requirements(translated if migrated[place] else plain, labels, name=None)

    return judge_distinct(
        [migrated.astype(np.int32), *(cluster.nodes.label(key).codes[nodes] for key in keys)], of_place
    )


class _View:
    """A bound volume's node affinity as it is written, and as its CSI driver sees it where it is left to CSI."""

    def __init__(self, cluster: Cluster, volume: api.PersistentVolume) -> None:
        affinity, plugin = volume.spec.node_affinity, in_tree_plugin(volume.spec)
        self.plain = affinity.required if affinity is not None else None
        self.translated = self.plain
        self.migrated = nowhere(cluster.nodes)
        has_zone = bool(_used_keys(self.plain) & {*ZONE_LABELS} or _labeled_zones(volume))
        if plugin is not None and plugin.zone_key is not None and has_zone:
            self.translated = _translate(volume, self.plain, plugin.zone_key)
            self.migrated = _migrated_nodes(cluster, plugin.name)


def _matches(cluster: Cluster, selector: NodeSelector | None) -> Mask:
    """Nodes with labels that match a term; matchFields count as met, as the node's name is not known here."""
    if selector is None:
        return everywhere(cluster.nodes)
    matching = nowhere(cluster.nodes)
    for term in parsed_terms(selector):
        if term.can_match:
            matching |= matches_requirements(cluster.nodes, term.labels)
    return matching


def untranslatable(cluster: Cluster, volume: api.PersistentVolume) -> tuple[Mask, str]:
    """Nodes where a bound volume must be translated for its CSI driver and cannot be, and why."""
    plugin, fault = in_tree_plugin(volume.spec), translation_fault(volume)
    if plugin is None or fault is None:
        return nowhere(cluster.nodes), ""
    return _migrated_nodes(cluster, plugin.name), fault


def _migrated_nodes(cluster: Cluster, plugin: str) -> Mask:
    """Nodes with CSI migration of this in-tree plugin's volumes."""
    csi_nodes = cluster.storage.csi_nodes.values()
    return nodes_named(
        cluster.nodes,
        (
            csi_node.metadata.name
            for csi_node in csi_nodes
            if plugin in csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")
        ),
    )


def _used_keys(required: NodeSelector | None) -> set[str]:
    terms = required.node_selector_terms if required is not None else []
    return {expression.key for term in terms for expression in term.match_expressions}


def _labeled_zones(volume: api.PersistentVolume) -> list[str]:
    """Zones in a volume's zone label, without empty ones."""
    label = next((volume.metadata.labels[key] for key in ZONE_LABELS if key in volume.metadata.labels), "")
    return [zone for part in label.split("__") if (zone := part.strip())]


def _translate(volume: api.PersistentVolume, required: NodeSelector | None, driver_key: str) -> NodeSelector:
    """The volume's node affinity with its zone on the driver's own label."""
    used = _used_keys(required)
    zone_key = next((key for key in ZONE_LABELS if key in used), None)
    terms = list(required.node_selector_terms) if required is not None else []
    if zone_key is None:
        added = NodeSelectorRequirement(key=driver_key, operator="In", values=_labeled_zones(volume))
        terms = terms or [NodeSelectorTerm()]
        return NodeSelector(node_selector_terms=[_rewrite(term, [*term.match_expressions, added]) for term in terms])
    renamed = {zone_key: driver_key}
    if zone_key == ZONE_LABELS[1]:
        renamed[BETA_REGION] = REGION
    return NodeSelector(
        node_selector_terms=[
            _rewrite(
                term,
                [
                    NodeSelectorRequirement(
                        key=renamed.get(expression.key, expression.key),
                        operator=expression.operator,
                        values=expression.values,
                    )
                    for expression in term.match_expressions
                ],
            )
            for term in terms
        ]
    )


def _rewrite(term: NodeSelectorTerm, expressions: list[NodeSelectorRequirement]) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=expressions, match_fields=term.match_fields)


class PersistentVolumes:
    """Volumes that one pod's claims may take, node by node; each can be taken once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._chosen: dict[str, Mask] = {}
        self.bindings: list[tuple[api.PersistentVolumeClaim, api.PersistentVolume, Mask]] = []
        """Volumes that claims take, with the nodes where they do."""

    def take(self, claim: api.PersistentVolumeClaim) -> Mask:
        """Nodes with a volume for ``claim``: the one reserved for it, else the smallest that suffices."""
        served = nowhere(self._cluster.nodes)
        usable = [volume for volume in self._cluster.storage.volumes_for(claim) if _fits(volume, claim)]
        open_nodes = everywhere(self._cluster.nodes)
        for volume in usable:
            if is_reserved_for(volume, claim):
                free = open_nodes & ~self._chosen.get(volume.metadata.name, nowhere(self._cluster.nodes))
                self._serve(claim, volume, free & admitted_nodes(self._cluster, volume), served)
                # Whether it reaches the node or not, no other volume is looked at.
                open_nodes &= ~free
        available = [volume for volume in usable if volume.spec.claim_ref is None and is_available(volume, claim)]
        for volume in sorted(available, key=lambda volume: capacity(volume).nano):
            free = open_nodes & ~served & ~self._chosen.get(volume.metadata.name, nowhere(self._cluster.nodes))
            self._serve(claim, volume, free & admitted_nodes(self._cluster, volume), served)
        return served

    def _serve(self, claim: api.PersistentVolumeClaim, volume: api.PersistentVolume, nodes: Mask, served: Mask) -> None:
        served |= nodes
        self.bindings.append((claim, volume, nodes))
        chosen = self._chosen.get(volume.metadata.name, nowhere(self._cluster.nodes))
        self._chosen[volume.metadata.name] = chosen | nodes


def _fits(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    return (
        storage_class_name(volume) == storage_class_name(claim)
        and (volume.spec.claim_ref is None or is_reserved_for(volume, claim))
        and suffices(volume, claim)
    )


def provisionable(cluster: Cluster, claim: api.PersistentVolumeClaim) -> tuple[Mask, Mask]:
    """Nodes where the claim's class can provision a volume at all, and nodes with room for it."""
    storage_class = cluster.storage.classes.get(storage_class_name(claim))
    if storage_class is None or not is_provisioned(storage_class):
        return nowhere(cluster.nodes), everywhere(cluster.nodes)
    # Capacity is checked only for drivers that report it, and for each claim separately.
    capacities, enough = _capacities(cluster, storage_class, claim), everywhere(cluster.nodes)
    if capacities is not None:
        enough = np.logical_or.reduce([nowhere(cluster.nodes), *(nodes for _, nodes in capacities)])
    return _allowed_topologies(cluster, storage_class), enough


def _allowed_topologies(cluster: Cluster, storage_class: api.StorageClass) -> Mask:
    if not storage_class.allowed_topologies:
        return everywhere(cluster.nodes)
    allowed = nowhere(cluster.nodes)
    for term in storage_class.allowed_topologies:
        if term.match_label_expressions:
            matching = everywhere(cluster.nodes)
            for expression in term.match_label_expressions:
                matching &= cluster.nodes.label(expression.key).one_of(frozenset(expression.values))
            allowed |= matching
    return allowed


def capacities_for(cluster: Cluster, claim: api.PersistentVolumeClaim) -> list[tuple[api.CSIStorageCapacity, Mask]]:
    """Capacity objects with room for a claim, each with its nodes."""
    storage_class = cluster.storage.classes.get(storage_class_name(claim))
    return (_capacities(cluster, storage_class, claim) or []) if storage_class is not None else []


def _capacities(
    cluster: Cluster, storage_class: api.StorageClass, claim: api.PersistentVolumeClaim
) -> list[tuple[api.CSIStorageCapacity, Mask]] | None:
    """Reports of the class's driver with room for the claim, each with its nodes; None if capacity is not checked."""
    if not counts_capacity(cluster, storage_class, claim):
        return None
    size = requested_storage(claim).value
    return [
        (offer, matches_requirements(cluster.nodes, from_label_selector(offer.node_topology).requirements))
        for offer in cluster.storage.capacities
        if offer.storage_class_name == storage_class.metadata.name
        and offer.node_topology is not None
        and _offers(offer.maximum_volume_size if offer.maximum_volume_size is not None else offer.capacity, size)
    ]


def counts_capacity(cluster: Cluster, storage_class: api.StorageClass, claim: api.PersistentVolumeClaim) -> bool:
    """True if the class's driver reports its capacity, and the claim its size."""
    return "storage" in claim.spec.resources.requests and any(
        driver.metadata.name == storage_class.provisioner and driver.spec.storage_capacity
        for driver in cluster.objects.get(api.CSIDriver)
    )


def _offers(amount: str | int | float | None, size: int) -> bool:
    return amount is not None and parse(amount).value >= size
