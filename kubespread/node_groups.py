"""Groups of nodes that an autoscaler may let grow, among them the cluster's own: Karpenter's NodePools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.api.cluster_objects import ClusterObjects, NodePool
from kubespread.kube.api.core import Node, NodeSelectorRequirement, Taint
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.gotext import parse_int64, quote
from kubespread.kube.selector import OPERATORS, Requirement, Selector, from_map
from kubespread.kube.well_known import ZONE
from kubespread.wording import some_of


class Autoscaler(StrEnum):
    CLUSTER_AUTOSCALER = "ca"
    KARPENTER = "karpenter"

    @property
    def full_name(self) -> str:
        return "cluster-autoscaler" if self is Autoscaler.CLUSTER_AUTOSCALER else self.value


class AutoscalerFields(Protocol):
    """Fields about an autoscaler that questions and scenarios have."""

    @property
    def autoscaler(self) -> str | None: ...
    @property
    def node_groups(self) -> Any: ...
    @property
    def instance_types(self) -> Any: ...


def autoscaler_of(fields: AutoscalerFields) -> Autoscaler | None:
    """The autoscaler that adds nodes, or None. Raises UsageError for an unknown name, or for groups without one."""
    name = fields.autoscaler
    if name is None:
        if fields.node_groups is not None or fields.instance_types is not None:
            raise UsageError("node groups and instance types are for an autoscaler: say which, ca or karpenter")
        return None
    try:
        return Autoscaler(name)
    except ValueError:
        raise UsageError(f"unknown autoscaler {name!r}: expected {' or '.join(Autoscaler)}") from None


class Expander(StrEnum):
    """Strategy by which cluster-autoscaler chooses among groups that help, as named by its option ``--expander``."""

    LEAST_WASTE = "least-waste"
    MOST_PODS = "most-pods"
    PRIORITY = "priority"
    PRICE = "price"
    RANDOM = "random"


DEFAULT_EXPANDERS = (Expander.LEAST_WASTE,)


class InstanceType(Struct, frozen=True):
    """A machine that Karpenter may launch."""

    name: str
    allocatable: ResourceList
    """Resources that it offers pods. Limits of NodePools are counted by it, too."""
    labels: Mapping[str, str] = field(default_factory=dict)
    zones: tuple[str, ...] = ()
    """Zones that offer it; empty for every zone that its NodePool may use."""
    price: Decimal | None = None
    """Price of one node, in the unit of all prices; None if unknown."""


class NodeGroup(Struct, frozen=True):
    """Nodes that are alike except for their zone.

    Every zone grows independently, like the one node group per zone that cluster-autoscaler needs to spread pods.
    """

    name: str
    maximum: int | None = None
    """Most nodes of each zone; None without a limit."""
    minimum: int = 0
    template: Node | str | None = None
    """Template of new nodes if no node of the group can serve as one: a manifest, or the name of a node."""
    zones: tuple[str, ...] = ()
    """Zones of its nodes; empty for the template's zone."""
    members: Selector | None = None
    """Selector of its nodes; None if nothing distinguishes them from others."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that its source gives every node, regardless of the template."""
    taints: Sequence[Taint] | None = None
    """Taints that it gives every node; None for the template's."""
    requirements: tuple[Requirement, ...] = ()
    """Requirements on the labels of instance types, including their zones."""
    limits: ResourceList = field(default_factory=dict)
    """Capacity that all its nodes may have together."""
    weight: int = 0
    """Karpenter tries the pool with the highest one first."""
    priority: int | None = None
    """Priority for the expander ``priority``."""
    price: Decimal | None = None
    """Price of one node; None if unknown."""
    is_static: bool = False
    """True if it has a number of nodes of its own, whatever pods wait."""


class NodeGroups(Struct, frozen=True):
    """Groups that may grow, and how cluster-autoscaler chooses among them."""

    groups: tuple[NodeGroup, ...]
    expanders: tuple[Expander, ...] = DEFAULT_EXPANDERS


def groups_of_cluster(objects: ClusterObjects, autoscaler: Autoscaler) -> tuple[NodeGroup, ...]:
    """Karpenter's NodePools; nothing in a cluster names the groups of cluster-autoscaler.

    Raises UsageError where there are none.
    """
    if autoscaler is not Autoscaler.KARPENTER:
        raise UsageError(f"--autoscaler {autoscaler} needs --node-groups FILE")
    groups = tuple(map(node_pool_group, objects.get(NodePool)))
    if not groups:
        reason = objects.unread.get("NodePool") or "the cluster's source has no NodePool that may grow"
        raise UsageError(f"--autoscaler {autoscaler} needs --node-groups FILE: {reason}")
    return groups


def uncounted_groups(objects: ClusterObjects) -> Iterator[str]:
    """Yield ``new nodes of NodePool default are not counted: add --autoscaler karpenter``; none for static pools."""
    names = [pool.metadata.name for pool in objects.get(NodePool) if pool.spec.replicas is None]
    if names:
        kind = f"NodePool{'s' if len(names) > 1 else ''}"
        yield f"new nodes of {kind} {some_of(names, 3)} are not counted: add --autoscaler karpenter"


NODE_POOL_LABEL = "karpenter.sh/nodepool"


def node_pool_group(pool: NodePool) -> NodeGroup:
    """The group of nodes that Karpenter creates for ``pool``; a requirement with one value is a label of every node.

    Raises SnapshotError for a requirement that Karpenter would not understand.
    """
    name, template = pool.metadata.name, pool.spec.template
    requirements = template.spec.requirements
    single = (written for written in requirements if written.operator == "In" and len(written.values) == 1)
    chosen = {written.key: written.values[0] for written in single}
    of_zones = [written.values for written in requirements if written.key == ZONE and written.operator == "In"]
    own_zone = template.metadata.labels.get(ZONE)
    labels = {**chosen, **template.metadata.labels, NODE_POOL_LABEL: name}
    labels.pop(ZONE, None)
    return NodeGroup(
        name=name,
        zones=(own_zone,) if own_zone else tuple(dict.fromkeys(of_zones[0] if of_zones else ())),
        members=from_map({NODE_POOL_LABEL: name}),
        labels=labels,
        taints=template.spec.taints,
        requirements=tuple(_requirement(name, requirement) for requirement in requirements),
        limits=pool.spec.limits,
        weight=pool.spec.weight,
        is_static=pool.spec.replicas is not None,
    )


_OR_EQUAL = {"Gte": ("Gt", -1), "Lte": ("Lt", 1)}
"""Karpenter's own operators, each as the one that node selectors have too, and how far its bound is from that one's."""


def _requirement(pool: str, written: NodeSelectorRequirement) -> Requirement:
    operator, values = written.operator, tuple(written.values)
    if operator in _OR_EQUAL and len(values) == 1 and (bound := parse_int64(values[0])) is not None:
        operator, off = _OR_EQUAL[operator]
        values = (str(bound + off),)
    requirement = Requirement(written.key, operator, values)
    faults = requirement.faults() if operator in OPERATORS else [f"operator {quote(operator)} is not known"]
    if faults:
        raise SnapshotError(f"NodePool {pool}: requirement on {written.key}: {faults[0]}")
    return requirement
