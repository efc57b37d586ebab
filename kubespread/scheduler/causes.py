"""Causes for which a filter rejects a node, as data: the numbers and names behind kube-scheduler's reasons.

A state gives them for the requested nodes (`State.causes`), from the same numbers as its filter. Reports have
them as the details of a rejection, tagged in JSON by ``type``; ``short`` says one in a few words. The reasons of
PodTopologySpread have their arithmetic elsewhere; those of pods that wait with a nominated node have no causes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from kubespread.kube.api.core import Pod
from kubespread.kube.quantity import shorten
from kubespread.kube.selector import Requirement, Selector
from kubespread.kube.well_known import CORDON_TAINT_KEY, HOSTNAME
from kubespread.wording import short_key, some_of


class _Cause(msgspec.Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all causes. Pods, claims and other namespaced objects are named NAMESPACE/NAME."""

    words: ClassVar[str] = ""

    @property
    def short(self) -> str:
        """The cause in a few words."""
        return self.words.format(self)


class ResourceDetail(_Cause, frozen=True, tag="resource"):
    """A resource with less free than requested; ``free`` is negative on an overcommitted node."""

    resource: str
    requested: str
    free: str
    allocatable: str

    @property
    def short(self) -> str:
        needs = shorten(self.requested, up=True)
        return f"{self.resource} needs {needs}, free {shorten(self.free)} of {shorten(self.allocatable)}"


class PodCountDetail(_Cause, frozen=True, tag="podCount"):
    """The node runs as many pods as it allows."""

    running: int
    allowed: int

    words = "runs {0.running} of {0.allowed} pods"


class CordonDetail(_Cause, frozen=True, tag="cordon"):
    """The node is cordoned."""

    words = "cordoned"


class TaintDetail(_Cause, frozen=True, tag="taint"):
    """A taint the pod does not tolerate."""

    key: str
    value: str
    """Value of the taint."""
    effect: str

    @property
    def is_of_cordon(self) -> bool:
        """True for a cordon's own taint, which adds nothing on a cordoned node."""
        return self.key == CORDON_TAINT_KEY

    @property
    def taint(self) -> str:
        """In kubectl's notation: ``key=value:effect``."""
        return f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"

    words = "taint {0.taint}"


class NodeNameDetail(_Cause, frozen=True, tag="nodeName"):
    """The pod's nodeName is another node."""

    requested: str

    words = "nodeName is {0.requested}"


class NodeLabelDetail(_Cause, frozen=True, tag="nodeLabel"):
    """A requirement on the node's labels, or on its ``metadata.name``, that is not met.

    The terms of an affinity are alternatives: each unmet requirement of each unmet term is a detail.
    """

    source: str
    """``nodeSelector``, ``nodeAffinity`` or the profile's ``addedAffinity``."""
    term: int | None
    """Position of its term; None for a nodeSelector, which is one set of labels."""
    key: str
    operator: str
    values: tuple[str, ...]
    actual: str | None
    """Value on the node; None without the key."""

    @property
    def short(self) -> str:
        return f"needs {requirement(self)}, {has(self.actual)}"


class HostPortDetail(_Cause, frozen=True, tag="hostPort"):
    """A host port already used by a pod on the node; the address 0.0.0.0 means all addresses."""

    port: int
    protocol: str
    address: str
    pod: str

    words = "port {0.port}/{0.protocol} held by {0.pod}"


class PodAffinityDetail(_Cause, frozen=True, tag="podAffinity"):
    """A required pod affinity term that no pod in the node's domain matches."""

    topology_key: str
    domain: str | None
    """None for a node without the key."""
    selector: str
    namespaces: tuple[str, ...]
    namespace_selector: str | None
    """Selector of further namespaces; None without one."""

    @property
    def short(self) -> str:
        if self.domain is None:
            return f"no label {self.topology_key}"
        return f"no pod {self.selector} {_in_domain(self.topology_key, self.domain)}"


class PodAntiAffinityDetail(_Cause, frozen=True, tag="podAntiAffinity"):
    """A required anti-affinity term against pods in the node's domain.

    ``pod`` on ``node`` is the first of the ``pods`` that count there. With ``of_existing_pod`` the term is that pod's
    own, and its selector matches the candidate.
    """

    topology_key: str
    domain: str
    selector: str
    namespaces: tuple[str, ...]
    namespace_selector: str | None
    pod: str
    """The first of them, in the snapshot's order."""
    node: str
    pods: int
    """Number of matching pods in the domain, which the filter counts."""
    of_existing_pod: bool
    """True if the term is that pod's own and matches the candidate; else it is the candidate's."""

    @property
    def short(self) -> str:
        pods = self.pod if self.pods == 1 else f"{self.pod} and {self.pods - 1} more"
        side = "anti-affinity of" if self.of_existing_pod else "anti-affinity to"
        return f"{side} {pods} {_in_domain(self.topology_key, self.domain)}"


class VolumeNodeDetail(_Cause, frozen=True, tag="volumeNodeAffinity"):
    """A requirement of a bound volume's node affinity that the node does not meet."""

    claim: str
    volume: str
    term: int
    key: str
    operator: str
    values: tuple[str, ...]
    actual: str | None
    """Value on the node; None without the label."""

    @property
    def short(self) -> str:
        return f"volume {self.volume} needs {requirement(self)}, {has(self.actual)}"


class VolumeZoneDetail(_Cause, frozen=True, tag="volumeZone"):
    """A zone or region label of a bound volume, and the node's value."""

    claim: str
    volume: str
    key: str
    values: tuple[str, ...]
    actual: str | None

    @property
    def short(self) -> str:
        return f"volume {self.volume} is in {' or '.join(self.values)}, node {has(self.actual)}"


class MissingVolumeDetail(_Cause, frozen=True, tag="missingVolume"):
    """A claim bound to a volume that does not exist."""

    claim: str
    volume: str

    words = "claim {0.claim} is bound to missing volume {0.volume}"


class UnboundClaimDetail(_Cause, frozen=True, tag="unboundClaim"):
    """A claim that no volume for the node can serve, or that is to be bound on ``selected_node``."""

    claim: str
    storage_class: str
    requested: str
    """Storage as the claim writes it."""
    selected_node: str | None
    """Node that the claim is to be bound on, if that is the cause."""

    @property
    def short(self) -> str:
        if self.selected_node is not None:
            return f"claim {self.claim} is to be bound on {self.selected_node}"
        return f"no volume for claim {self.claim} ({self.requested})"


class StorageCapacityDetail(_Cause, frozen=True, tag="storageCapacity"):
    """A claim for more storage than its driver has left."""

    claim: str
    storage_class: str
    requested: str
    """Storage as the claim writes it."""

    words = "{0.storage_class} has no {0.requested} free for claim {0.claim}"


class VolumeLimitDetail(_Cause, frozen=True, tag="volumeLimit"):
    """A CSI driver's limit on the node, exceeded by the ``attached`` volumes and the pod's ``added`` ones."""

    driver: str
    attached: int
    added: int
    limit: int

    words = "{0.driver} needs {0.added} more, {0.attached} of {0.limit} volumes attached"


class DiskDetail(_Cause, frozen=True, tag="disk"):
    """A disk in exclusive use by a pod on the node; ``volume`` is the candidate's name for it."""

    volume: str
    pod: str

    words = "disk {0.volume} used by {0.pod}"


class ClaimInUseDetail(_Cause, frozen=True, tag="claimInUse"):
    """A ReadWriteOncePod claim that another pod uses."""

    claim: str
    pod: str
    node: str

    words = "claim {0.claim} used by {0.pod}"


class ClaimElsewhereDetail(_Cause, frozen=True, tag="claimElsewhere"):
    """A resource claim with devices that the node cannot use."""

    claim: str

    words = "devices of claim {0.claim} are elsewhere"


class ClaimUnboundDetail(_Cause, frozen=True, tag="claimUnbound"):
    """A resource claim with a device that its driver reports cannot be bound."""

    claim: str

    words = "devices of claim {0.claim} failed to bind"


class DeviceDetail(_Cause, frozen=True, tag="devices"):
    """A request of a resource claim for which the node has too few devices.

    Classes and selectors leave ``selected`` of its ``devices``; some of these are ``in_use``, ``tainted``,
    ``exhausted`` or ``full``.
    """

    claim: str
    request: str
    """Name of the request; with alternatives ``request/alternative``."""
    requested: int
    usable: int
    tainted: int
    """Number of free devices with a taint that the request does not tolerate."""
    in_use: int
    selected: int
    """Number of devices that class and request select, usable or not."""
    devices: int
    """Number of devices that the node can use."""
    exhausted: int = 0
    """Number of devices that need more of their pool's counters than other devices leave, including the request's."""
    counters: tuple[str, ...] = ()
    """Counters that these devices need more of than is left: ``set/counter``."""
    full: int = 0
    """Number of devices with less capacity left than the request consumes, or which allow no such request."""

    @property
    def short(self) -> str:
        need = f"{self.request} of {self.claim} needs {self.requested}"
        if not self.devices:
            return f"{need}, the node has no devices"
        if not self.selected:
            return f"{need}, none of {self.devices} devices match"
        reasons = {
            "in use": self.in_use,
            "tainted": self.tainted,
            f"short of {some_of(self.counters, 2) or 'counters'}": self.exhausted,
            "short of capacity": self.full,
        }
        away = [f"{count} {reason}" for reason, count in reasons.items() if count]
        return f"{need}, {self.usable} of {self.selected} free" + (f" ({', '.join(away)})" if away else "")


class FeatureDetail(_Cause, frozen=True, tag="feature"):
    """A feature that the pod needs and the node's kubelet does not declare."""

    feature: str

    words = "kubelet lacks {0.feature}"


Cause = (
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
    | ClaimUnboundDetail
    | DeviceDetail
    | FeatureDetail
)
Causes = tuple[Cause, ...]


def requirement(cause: NodeLabelDetail | VolumeNodeDetail) -> str:
    """Requirement in kubectl's notation: ``disktype=ssd``."""
    return str(Selector((Requirement(cause.key, cause.operator, cause.values),)))


def has(actual: str | None) -> str:
    """Phrase for the node's value: ``has hdd``, ``has none``."""
    return "has none" if actual is None else f"has {actual or '(empty)'}"


def _in_domain(topology_key: str, domain: str) -> str:
    """The node's domain by the key's last part and its value, ``in zone a``; empty for a host, which is the node."""
    if topology_key == HOSTNAME:
        return "on this host"
    return f"in {short_key(topology_key)} {domain or '(empty)'}"


def name_of(pod: Pod) -> str:
    """``namespace/name``."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def per_node(nodes: int, causes: Iterable[tuple[int, Cause]]) -> list[Causes]:
    """Causes of each of so many judged nodes, from pairs of a node's place among them and a cause."""
    gathered: list[Causes] = [()] * nodes
    for place, cause in causes:
        gathered[place] += (cause,)
    return gathered
