"""Why a filter rejects a node, as data: the numbers and names behind kube-scheduler's reasons.

A state gives them for the nodes it is asked about (`State.causes`), from the same numbers as its filter. The reasons of
PodTopologySpread have their arithmetic elsewhere; those of pods that wait with a nominated node have no causes.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kubespread.kube.api.core import Pod


class _Cause(msgspec.Struct, frozen=True, rename="camel"):
    """Base of all causes. Pods, claims and other namespaced objects are named NAMESPACE/NAME."""


class ShortResource(_Cause, frozen=True):
    """More is requested of a resource than is free, in milli-units for cpu and whole units for everything else."""

    resource: str
    requested: int
    free: int
    allocatable: int


class TooManyPods(_Cause, frozen=True):
    running: int
    allowed: int


class Cordoned(_Cause, frozen=True):
    """The node's spec.unschedulable, and the pod does not tolerate the taint that stands for it."""


class UntoleratedTaint(_Cause, frozen=True):
    key: str
    value: str
    effect: str


class OtherNodeName(_Cause, frozen=True):
    """The pod's spec.nodeName is the name of another node."""

    requested: str


class UnmetExpression(_Cause, frozen=True):
    """A requirement on the node's labels, or on its name (``metadata.name``), that the node does not meet.

    Terms are alternatives: of a list none of whose terms is met, every unmet requirement is a cause.
    """

    source: str
    """``nodeSelector``, ``nodeAffinity`` or the profile's ``addedAffinity``."""
    term: int | None
    """The position of its term in the list; None for a nodeSelector, which is one set of labels."""
    key: str
    operator: str
    values: tuple[str, ...]
    actual: str | None
    """What the node has; None where it lacks the key."""


class TakenPort(_Cause, frozen=True):
    """A host port that a pod on the node holds."""

    port: int
    protocol: str
    address: str
    pod: str


class NoPodNear(_Cause, frozen=True):
    """A required pod affinity term that no pod in the node's domain meets."""

    topology_key: str
    domain: str | None
    """None where the node lacks the key."""
    selector: str
    namespaces: tuple[str, ...]
    namespace_selector: str | None
    """Of further namespaces; None where the term has none."""


class UnwantedPod(_Cause, frozen=True):
    """A required anti-affinity term that pods in the node's domain run into."""

    topology_key: str
    domain: str
    selector: str
    namespaces: tuple[str, ...]
    namespace_selector: str | None
    pod: str
    """The first of them in the snapshot's order."""
    node: str
    pods: int
    """How often the term is met in the domain, which is what the filter counts."""
    of_existing_pod: bool
    """Whether the term is that pod's own and speaks of the candidate; else it is the candidate's."""


class VolumeElsewhere(_Cause, frozen=True):
    """A bound volume whose node affinity the node does not meet: one requirement of it."""

    claim: str
    volume: str
    term: int
    key: str
    operator: str
    values: tuple[str, ...]
    actual: str | None
    """What the node has; None where it lacks the label."""


class VolumeOtherZone(_Cause, frozen=True):
    """A bound volume labeled with zones or regions the node is not in."""

    claim: str
    volume: str
    key: str
    values: tuple[str, ...]
    actual: str | None


class MissingVolume(_Cause, frozen=True):
    """A claim bound to a volume that is not there."""

    claim: str
    volume: str


class NoVolumeForClaim(_Cause, frozen=True):
    """A claim that waits for its first pod and finds neither a volume nor a provisioner for the node."""

    claim: str
    storage_class: str
    requested: str
    """The storage, as the claim writes it."""
    selected_node: str | None
    """The node the claim was promised to already, where that is the cause."""


class NoStorageCapacity(_Cause, frozen=True):
    """A claim whose driver reports too little free storage for the node."""

    claim: str
    storage_class: str
    requested: str
    """The storage, as the claim writes it."""


class VolumeLimit(_Cause, frozen=True):
    """A CSI driver that can attach no more volumes to the node; volumes attached already cost nothing."""

    driver: str
    attached: int
    added: int
    limit: int


class DiskInUse(_Cause, frozen=True):
    """One of the pod's volumes is a disk that a pod on the node uses and does not share."""

    volume: str
    pod: str


class ClaimInUse(_Cause, frozen=True):
    """A ReadWriteOncePod claim that another pod uses, wherever it is."""

    claim: str
    pod: str
    node: str


class ClaimElsewhere(_Cause, frozen=True):
    """A resource claim whose devices are where the node cannot reach them."""

    claim: str


class TooFewDevices(_Cause, frozen=True):
    """A request of a claim that finds too few devices on the node even if nothing else were requested."""

    claim: str
    request: str
    """With the alternative, where it has any: ``request/alternative``."""
    requested: int
    usable: int
    tainted: int
    """Devices that are free and have a taint the request does not tolerate."""
    in_use: int
    selected: int
    """Devices that class and request select: those that are usable, tainted or in use."""
    devices: int
    """All devices that the node reaches."""


class MissingFeature(_Cause, frozen=True):
    """A feature the pod needs and the kubelet does not declare."""

    feature: str


Cause = (
    ShortResource
    | TooManyPods
    | Cordoned
    | UntoleratedTaint
    | OtherNodeName
    | UnmetExpression
    | TakenPort
    | NoPodNear
    | UnwantedPod
    | VolumeElsewhere
    | VolumeOtherZone
    | MissingVolume
    | NoVolumeForClaim
    | NoStorageCapacity
    | VolumeLimit
    | DiskInUse
    | ClaimInUse
    | ClaimElsewhere
    | TooFewDevices
    | MissingFeature
)
Causes = tuple[Cause, ...]


def name_of(pod: Pod) -> str:
    """``namespace/name``."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def by_place(places: int, causes: Iterable[tuple[int, Cause]]) -> list[Causes]:
    """Causes that each come with the place of their node, gathered for all places in their order."""
    gathered: list[Causes] = [()] * places
    for place, cause in causes:
        gathered[place] += (cause,)
    return gathered
