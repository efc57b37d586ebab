"""The data behind a rejection: one struct a kind of reason, told apart in JSON by ``type``.

All but amounts, which are canonical quantities as text here, is what the filter's own cause says (`scheduler.causes`).
``short`` says it in a few words.
"""

from __future__ import annotations

from fractions import Fraction

from kubespread.kube.quantity import NANO, Quantity, parse
from kubespread.kube.selector import Requirement, Selector
from kubespread.kube.well_known import CORDON_TAINT_KEY, HOSTNAME
from kubespread.reports.parts import Report
from kubespread.scheduler.causes import (
    ClaimElsewhere,
    ClaimInUse,
    Cordoned,
    DiskInUse,
    MissingFeature,
    MissingVolume,
    NoPodNear,
    NoStorageCapacity,
    NoVolumeForClaim,
    OtherNodeName,
    TakenPort,
    TooFewDevices,
    TooManyPods,
    UnmetExpression,
    UntoleratedTaint,
    UnwantedPod,
    VolumeElsewhere,
    VolumeLimit,
    VolumeOtherZone,
)


class ResourceDetail(Report, frozen=True, tag_field="type", tag="resource"):
    """More is requested of a resource than is free, which is below 0 where a node's pods request more than it has."""

    resource: str
    requested: str
    free: str
    allocatable: str

    @property
    def short(self) -> str:
        needs = rounded(self.requested, up=True)
        return f"{self.resource} needs {needs}, free {rounded(self.free)} of {rounded(self.allocatable)}"


class PodCountDetail(TooManyPods, frozen=True, tag_field="type", tag="podCount"):
    """The node runs as many pods as it may."""

    @property
    def short(self) -> str:
        return f"runs {self.running} of {self.allowed} pods"


class CordonDetail(Cordoned, frozen=True, tag_field="type", tag="cordon"):
    """The node is cordoned."""

    @property
    def short(self) -> str:
        return "cordoned"


class TaintDetail(UntoleratedTaint, frozen=True, tag_field="type", tag="taint"):
    """A taint the pod does not tolerate."""

    @property
    def is_of_cordon(self) -> bool:
        """Whether a cordon put it there, so that it says nothing new of a cordoned node."""
        return self.key == CORDON_TAINT_KEY

    @property
    def short(self) -> str:
        return f"taint {self.key}{f'={self.value}' if self.value else ''}:{self.effect}"


class NodeNameDetail(OtherNodeName, frozen=True, tag_field="type", tag="nodeName"):
    """The pod's nodeName is another node."""

    @property
    def short(self) -> str:
        return f"nodeName is {self.requested}"


class NodeLabelDetail(UnmetExpression, frozen=True, tag_field="type", tag="nodeLabel"):
    """A requirement on the node's labels, or on its ``metadata.name``, that it does not meet.

    The terms of an affinity are alternatives: of each that is not met, every unmet requirement is a detail.
    """

    @property
    def short(self) -> str:
        return f"needs {requirement(self)}, {has(self.actual)}"


class HostPortDetail(TakenPort, frozen=True, tag_field="type", tag="hostPort"):
    """A host port already used by a pod on the node; the address 0.0.0.0 means all addresses."""

    @property
    def short(self) -> str:
        return f"port {self.port}/{self.protocol} held by {self.pod}"


class PodAffinityDetail(NoPodNear, frozen=True, tag_field="type", tag="podAffinity"):
    """A required pod affinity term that no pod in the node's domain meets; without the label there is no domain."""

    @property
    def short(self) -> str:
        if self.domain is None:
            return f"no label {self.topology_key}"
        return f"no pod {self.selector} {_there(self.topology_key, self.domain)}"


class PodAntiAffinityDetail(UnwantedPod, frozen=True, tag_field="type", tag="podAntiAffinity"):
    """A required anti-affinity term against pods in the node's domain.

    ``pod`` on ``node`` is the first of the ``pods`` that count there. With ``of_existing_pod`` the term is that pod's
    own, and its selector matches the pod in question.
    """

    @property
    def short(self) -> str:
        pods = self.pod if self.pods == 1 else f"{self.pod} and {self.pods - 1} more"
        side = "anti-affinity of" if self.of_existing_pod else "anti-affinity to"
        return f"{side} {pods} {_there(self.topology_key, self.domain)}"


class VolumeNodeDetail(VolumeElsewhere, frozen=True, tag_field="type", tag="volumeNodeAffinity"):
    """A requirement of a bound volume's node affinity that the node's labels do not meet."""

    @property
    def short(self) -> str:
        return f"volume {self.volume} needs {requirement(self)}, {has(self.actual)}"


class VolumeZoneDetail(VolumeOtherZone, frozen=True, tag_field="type", tag="volumeZone"):
    """A zone or region label of a bound volume, and what the node has."""

    @property
    def short(self) -> str:
        return f"volume {self.volume} is in {' or '.join(self.values)}, node {has(self.actual)}"


class MissingVolumeDetail(MissingVolume, frozen=True, tag_field="type", tag="missingVolume"):
    """A claim bound to a volume that does not exist."""

    @property
    def short(self) -> str:
        return f"claim {self.claim} is bound to missing volume {self.volume}"


class UnboundClaimDetail(NoVolumeForClaim, frozen=True, tag_field="type", tag="unboundClaim"):
    """A claim with no volume for the node and no way to make one, or one whose volume is to be on ``selected_node``."""

    @property
    def short(self) -> str:
        if self.selected_node is not None:
            return f"claim {self.claim} is to be bound on {self.selected_node}"
        return f"no volume for claim {self.claim} ({self.requested})"


class StorageCapacityDetail(NoStorageCapacity, frozen=True, tag_field="type", tag="storageCapacity"):
    """A claim for which the driver has too little storage left."""

    @property
    def short(self) -> str:
        return f"{self.storage_class} has no {self.requested} free for claim {self.claim}"


class VolumeLimitDetail(VolumeLimit, frozen=True, tag_field="type", tag="volumeLimit"):
    """A CSI driver's limit on the node, which the ``attached`` volumes and the pod's ``added`` ones exceed."""

    @property
    def short(self) -> str:
        return f"{self.driver} needs {self.added} more, {self.attached} of {self.limit} volumes attached"


class DiskDetail(DiskInUse, frozen=True, tag_field="type", tag="disk"):
    """A disk of the pod, by its volume's name there, that a pod on the node uses and does not share."""

    @property
    def short(self) -> str:
        return f"disk {self.volume} used by {self.pod}"


class ClaimInUseDetail(ClaimInUse, frozen=True, tag_field="type", tag="claimInUse"):
    """A ReadWriteOncePod claim that another pod uses."""

    @property
    def short(self) -> str:
        return f"claim {self.claim} used by {self.pod}"


class ClaimElsewhereDetail(ClaimElsewhere, frozen=True, tag_field="type", tag="claimElsewhere"):
    """A resource claim whose devices cannot be used from the node."""

    @property
    def short(self) -> str:
        return f"devices of claim {self.claim} are elsewhere"


class DeviceDetail(TooFewDevices, frozen=True, tag_field="type", tag="devices"):
    """A request of a resource claim for which the node has too few devices: of all its ``devices`` classes and
    selectors leave the ``selected`` ones, and of these some are ``in_use`` or ``tainted``.
    """

    @property
    def short(self) -> str:
        wanted = f"{self.request} of {self.claim} needs {self.requested}"
        if not self.devices:
            return f"{wanted}, the node has no devices"
        if not self.selected:
            return f"{wanted}, none of {self.devices} devices match"
        away = [f"{count} {what}" for count, what in ((self.in_use, "in use"), (self.tainted, "tainted")) if count]
        return f"{wanted}, {self.usable} of {self.selected} free" + (f" ({', '.join(away)})" if away else "")


class FeatureDetail(MissingFeature, frozen=True, tag_field="type", tag="feature"):
    """A feature the pod needs and the node's kubelet does not declare."""

    @property
    def short(self) -> str:
        return f"kubelet lacks {self.feature}"


Detail = (
    ResourceDetail
    | PodCountDetail
    | CordonDetail
    | TaintDetail
    | NodeNameDetail
    | NodeLabelDetail
    | HostPortDetail
    | PodAffinityDetail
    | PodAntiAffinityDetail
    | VolumeNodeDetail
    | VolumeZoneDetail
    | MissingVolumeDetail
    | UnboundClaimDetail
    | StorageCapacityDetail
    | VolumeLimitDetail
    | DiskDetail
    | ClaimInUseDetail
    | ClaimElsewhereDetail
    | DeviceDetail
    | FeatureDetail
)


def requirement(detail: NodeLabelDetail | VolumeNodeDetail) -> str:
    """In kubectl's notation: ``disktype=ssd``."""
    return str(Selector((Requirement(detail.key, detail.operator, detail.values),)))


def has(actual: str | None) -> str:
    """What the node has of it: ``has hdd``, ``has none``."""
    return "has none" if actual is None else f"has {actual or '(empty)'}"


def _there(topology_key: str, domain: str) -> str:
    """The node's domain by the key's last part and its value, ``in zone a``; a host is not named, being the node."""
    if topology_key == HOSTNAME:
        return "on this host"
    return f"in {topology_key.rpartition('/')[2]} {domain or '(empty)'}"


_BINARY = tuple((1024**power, suffix) for power, suffix in ((5, "Pi"), (4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")))
_DECIMAL = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"))


def rounded(quantity: str, *, up: bool = False) -> str:
    """A quantity for people: in the greatest unit it fills with at most one decimal, and exact where it fills none.

    Rounded down, or ``up`` for what is needed, so that too little never looks like enough.
    """
    exact = parse(quantity)
    units = _BINARY if exact.format == "BinarySI" else _DECIMAL
    unit, suffix = next(((unit, suffix) for unit, suffix in units if abs(exact.nano) >= unit * NANO), (1, ""))
    if unit == 1:
        return _in_full(exact)
    tenths = Fraction(10 * exact.nano, unit * NANO)
    whole = tenths.__ceil__() if up else tenths.__floor__()
    return f"{'-' if whole < 0 else ''}{abs(whole) // 10}{f'.{abs(whole) % 10}' if whole % 10 else ''}{suffix}"


def _in_full(quantity: Quantity) -> str:
    """The number without a unit, with as many decimals as it has."""
    whole, fraction = divmod(abs(quantity.nano), NANO)
    decimals = f"{fraction:09d}".rstrip("0")
    return f"{'-' if quantity.nano < 0 else ''}{whole}{f'.{decimals}' if decimals else ''}"
