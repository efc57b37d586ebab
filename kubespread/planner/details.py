"""The causes of rejections as a report tells them: amounts as canonical quantities, everything else as it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from kubespread.kube.quantity import NANO, Quantity
from kubespread.kube.resource_names import is_hugepages
from kubespread.planner.reports import details
from kubespread.planner.reports.details import Detail, ResourceDetail
from kubespread.scheduler import causes
from kubespread.scheduler.causes import Cause, ShortResource
from kubespread.scheduler.evaluation import Evaluation

_DETAIL_OF: Mapping[type[Cause], type[Detail]] = {
    causes.TooManyPods: details.PodCountDetail,
    causes.Cordoned: details.CordonDetail,
    causes.UntoleratedTaint: details.TaintDetail,
    causes.OtherNodeName: details.NodeNameDetail,
    causes.UnmetExpression: details.NodeLabelDetail,
    causes.TakenPort: details.HostPortDetail,
    causes.NoPodNear: details.PodAffinityDetail,
    causes.UnwantedPod: details.PodAntiAffinityDetail,
    causes.VolumeElsewhere: details.VolumeNodeDetail,
    causes.VolumeOtherZone: details.VolumeZoneDetail,
    causes.MissingVolume: details.MissingVolumeDetail,
    causes.NoVolumeForClaim: details.UnboundClaimDetail,
    causes.NoStorageCapacity: details.StorageCapacityDetail,
    causes.VolumeLimit: details.VolumeLimitDetail,
    causes.DiskInUse: details.DiskDetail,
    causes.ClaimInUse: details.ClaimInUseDetail,
    causes.MissingFeature: details.FeatureDetail,
}
"""The fields of both have the same names."""

DetailsOfNodes = Mapping[int, tuple[Detail, ...]]


def details_of(evaluation: Evaluation) -> Mapping[str, DetailsOfNodes]:
    """By plugin and node, what is behind the plugin's rejection of the node. Nodes with the same causes share them."""
    shared: dict[tuple[Cause, ...], tuple[Detail, ...]] = {}
    told: dict[str, DetailsOfNodes] = {}
    for plugin, by_node in evaluation.causes().items():
        for each in by_node.values():
            if each not in shared:
                shared[each] = tuple(map(_detail, each))
        told[plugin] = {node: shared[each] for node, each in by_node.items()}
    return told


def _detail(cause: Cause) -> Detail:
    if isinstance(cause, ShortResource):
        return ResourceDetail(
            resource=cause.resource,
            requested=_canonical(cause.resource, cause.requested),
            free=_canonical(cause.resource, cause.free),
            allocatable=_canonical(cause.resource, cause.allocatable),
        )
    return _DETAIL_OF[type(cause)](**msgspec.structs.asdict(cause))


@lru_cache(maxsize=4096)
def _canonical(resource: str, amount: int) -> str:
    """An amount as kube-scheduler counts it, in the text Kubernetes would print."""
    if resource == "cpu":
        return str(Quantity(amount * NANO // 1000))
    in_bytes = resource in ("memory", "ephemeral-storage") or is_hugepages(resource)
    return str(Quantity(amount * NANO, "BinarySI" if in_bytes else "DecimalSI"))
