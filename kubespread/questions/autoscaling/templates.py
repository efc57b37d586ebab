"""Node groups as an autoscaler sees them in a cluster, each with a template of its new nodes.

It takes a good node of the group, else the machine provider's template, else any node of the group; and turns it into
a new node.

Source: cluster-autoscaler 1.36.1: cluster-autoscaler/processors/nodeinfosprovider/mixed_nodeinfos_processor.go,
    Process
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.errors import SnapshotError
from kubespread.kube.api.core import Node
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, READY, REGION, ZONE
from kubespread.node_groups.groups import NodeGroup
from kubespread.snapshot.edits.new_nodes import as_new_node, going_along, named, node_called
from kubespread.snapshot.edits.target import nodes_with

TEMPLATE_LABEL = "cluster-autoscaler.kubernetes.io/template-node"
"""What the templates of the simulation have and nodes that arrive do not."""
_TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
_OLDER_KEYS = {
    ZONE: BETA_ZONE,
    REGION: BETA_REGION,
    "kubernetes.io/os": "beta.kubernetes.io/os",
    "kubernetes.io/arch": "beta.kubernetes.io/arch",
    "node.kubernetes.io/instance-type": "beta.kubernetes.io/instance-type",
}


class ZoneGroup(Struct):
    """One group in one zone: what an autoscaler takes for a node group."""

    group: NodeGroup
    zone: str | None
    """None where nodes have no label that says."""
    name: str
    template: Node | None
    """A new node without a name; None where nothing tells what it would be like."""
    made_of: str
    """``node worker-1``, ``its template``."""
    before: int
    """How many nodes it has."""
    is_unknown: bool = False
    """Whether nothing tells which nodes it has: ``before`` is 0 for that reason."""
    pool_limit: int | None = None
    """How many nodes all zones of the group may have together, None for any number."""
    added: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.before + len(self.added)

    @property
    def room(self) -> int | None:
        """How many more there may be, None for any number."""
        return None if self.group.maximum is None else max(0, self.group.maximum - self.size)

    @property
    def _base(self) -> str:
        """What names of nodes begin with."""
        return self.name.replace("/", "-")

    def new_nodes(self, count: int, taken: set[str]) -> list[Node]:
        """Its next nodes, with names that are not in ``taken``."""
        assert self.template is not None
        nodes: list[Node] = []
        number = 0
        while len(nodes) < count:
            number += 1
            if (name := f"{self._base}-{number}") not in taken:
                nodes.append(named(self.template, name))
        return nodes

    def trial(self, number: int = 0) -> Node:
        """The template as it stands in a simulation."""
        assert self.template is not None
        node = named(self.template, f"template-node-for-{self._base}-{number}")
        meta = node.metadata
        return replace(node, metadata=replace(meta, labels={**meta.labels, TEMPLATE_LABEL: "true"}))

    def fork(self) -> ZoneGroup:
        """The same group, to grow apart from this one."""
        return replace(self, added=[*self.added])


def zone_groups(groups: Sequence[NodeGroup], nodes: Sequence[Node], *, launches: bool = False) -> list[ZoneGroup]:
    """Every group in each of its zones, by name. ``launches``: the autoscaler picks machines itself, as Karpenter does,
    so the template describes new nodes better than existing nodes do, in any zone. Raises UsageError for a template
    that is no node of the cluster.
    """
    in_zones = (_in_zones(group, nodes, launches=launches) for group in groups)
    return sorted(chain.from_iterable(in_zones), key=lambda group: group.name)


def zone_of(node: Node) -> str | None:
    return node.metadata.labels.get(ZONE)


def _in_zones(group: NodeGroup, nodes: Sequence[Node], *, launches: bool) -> Iterator[ZoneGroup]:
    declared = node_called(group.template, nodes) if isinstance(group.template, str) else group.template
    members = [] if group.members is None else nodes_with(group.members, nodes)
    in_use = sorted({zone for node in members if (zone := zone_of(node)) is not None})
    zones: Sequence[str | None] = group.zones or in_use or [None]
    for zone in zones:
        mine = [node for node in members if zone is None or zone_of(node) == zone]
        examples = [] if launches and declared is not None else members if launches else mine
        template, made_of = _template(group, zone, examples, declared, nodes)
        yield ZoneGroup(
            group=group,
            zone=zone_of(template) if zone is None and template is not None else zone,
            name=group.name if len(zones) == 1 else f"{group.name}/{zone}",
            template=template,
            made_of=made_of,
            before=len(mine) if group.running is None else group.running,
            is_unknown=group.members is None and group.running is None,
            pool_limit=_pool_limit(group, template),
        )


def _pool_limit(group: NodeGroup, template: Node | None) -> int | None:
    """How many nodes like ``template`` the limits of a NodePool allow."""
    if template is None:
        return None
    capacity = template.status.capacity or template.status.allocatable
    try:
        sizes = [(parse(limit), parse(capacity[name])) for name, limit in group.limits.items() if name in capacity]
    except QuantityError as error:
        raise SnapshotError(f"NodePool {group.name}: spec.limits: {error}") from error
    return min((limit.nano // size.nano for limit, size in sizes if size.nano), default=None)


def _template(
    group: NodeGroup, zone: str | None, members: Sequence[Node], template: Node | None, nodes: Sequence[Node]
) -> tuple[Node | None, str]:
    """The template of a new node, and its source."""
    good = next(filter(_is_good, members), None)
    if good is not None:
        example, made_of = good, f"node {good.metadata.name}"
    elif template is not None:
        is_node = isinstance(group.template, str)
        example = template if is_node else _provided(template)
        made_of = f"node {group.template}" if is_node else "template"
    elif members:
        example, made_of = members[0], f"node {members[0].metadata.name}"
    else:
        return None, "nothing"
    in_zone = {} if zone is None else {ZONE: zone}
    node = as_new_node(example, {**in_zone, **going_along(example, in_zone, nodes), **group.labels})
    if group.taints is not None:
        node = replace(node, spec=replace(node.spec, taints=list(group.taints)))
    return node, made_of


def _is_good(node: Node) -> bool:
    """Ready or silent about it, not cordoned and not about to be deleted."""
    ready = [condition.status for condition in node.status.conditions if condition.type == READY]
    is_going = any(taint.key == _TO_BE_DELETED for taint in node.spec.taints)
    return ready in ([], ["True"]) and not node.spec.unschedulable and not is_going


def _provided(template: Node) -> Node:
    """Providers' templates also carry the older copies of some labels."""
    labels = template.metadata.labels
    older = {old: labels[key] for key, old in _OLDER_KEYS.items() if key in labels}
    meta = replace(template.metadata, labels={**older, **labels})
    return replace(template, metadata=meta)
