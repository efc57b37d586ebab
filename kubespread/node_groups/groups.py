"""Groups of nodes that an autoscaler may let grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct, field

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.selector import Requirement, Selector


class Autoscaler(StrEnum):
    """Which autoscaler adds nodes."""

    CLUSTER_AUTOSCALER = "ca"
    KARPENTER = "karpenter"


class Expander(StrEnum):
    """How cluster-autoscaler chooses among groups that help, as its option ``--expander`` has it."""

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
    """What it offers pods. Limits of NodePools are counted by it, too."""
    labels: Mapping[str, str] = field(default_factory=dict)
    zones: tuple[str, ...] = ()
    """Empty: offered in every zone that its NodePool may use."""
    price: Decimal | None = None
    """Of one node, in whatever unit all prices are; None where nobody says."""


class NodeGroup(Struct, frozen=True):
    """Nodes that are alike except for their zone.

    Every zone grows independently, like the one node group per zone that cluster-autoscaler needs to spread pods.
    """

    name: str
    maximum: int | None = None
    """How many nodes each zone may have; None without a limit."""
    minimum: int = 0
    template: Node | str | None = None
    """The template of new nodes if no node of the group can serve as one: a manifest, or the name of a node."""
    zones: tuple[str, ...] = ()
    """Empty: that of the template."""
    members: Selector | None = None
    """The labels of its nodes; None where nothing tells them from others."""
    running: int | None = None
    """How many nodes it has, where its source says so; None: those with the labels."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that its source gives every node, regardless of the template."""
    taints: Sequence[Taint] | None = None
    """The same for taints; None: those of the template."""
    requirements: tuple[Requirement, ...] = ()
    """What the labels of instance types have to meet, those on zones among them."""
    limits: ResourceList = field(default_factory=dict)
    """How much capacity all its nodes may have together."""
    weight: int = 0
    """Karpenter tries the pool with the highest one first."""
    priority: int | None = None
    """That of the expander ``priority``."""
    price: Decimal | None = None
    """Of one node; None where its source does not say."""


class NodeGroups(Struct, frozen=True):
    """Groups that may grow, and how cluster-autoscaler chooses among them."""

    groups: tuple[NodeGroup, ...]
    expanders: tuple[Expander, ...] = DEFAULT_EXPANDERS
