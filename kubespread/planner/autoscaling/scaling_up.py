"""New nodes arrive in a world: with the pods of their DaemonSets first, and then kube-scheduler places who waits."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.kube.api.core import Node, Pod
from kubespread.planner.autoscaling.templates import ZoneGroup
from kubespread.planner.reports.autoscaling import GroupNodes
from kubespread.planner.world.daemons import follow
from kubespread.planner.world.world import World
from kubespread.snapshot.edits.nodes import NodeChange

Additions = Sequence[tuple[ZoneGroup, int]]
"""How many nodes of which groups."""


def scale_up(world: World, additions: Additions) -> list[GroupNodes]:
    """Add the nodes, create the pods of their DaemonSets, and let everyone work until nothing changes."""
    taken = set(world.cluster.nodes.names)
    came: list[GroupNodes] = []
    arrived: list[Node] = []
    for group, count in additions:
        if not count:
            continue
        nodes = group.new_nodes(count, taken)
        names = tuple(node.metadata.name for node in nodes)
        taken.update(names)
        group.added += names
        arrived += nodes
        came.append(GroupNodes(group=group.name, zone=group.zone, nodes=names))
    change = NodeChange(added=tuple(arrived))
    world.change_nodes(change)
    follow(world, change, {})
    world.settle()
    return came


def placed_since(world: World, mark: int) -> int:
    """How many pods were placed since there were ``mark`` of them, without those of DaemonSets."""
    return sum(not is_daemons(world, pod) for pod in world.happenings.placed[mark:])


def is_daemons(world: World, pod: Pod) -> bool:
    owner = world.book.owner_of(pod)
    return owner is not None and owner.kind == "DaemonSet"
