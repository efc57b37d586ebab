"""New nodes arrive in a world: with the pods of their DaemonSets first, and then kube-scheduler places who waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubespread.kube.api.core import Node, Pod
from kubespread.questions.autoscaling.growing import PodGroup, pod_groups
from kubespread.questions.autoscaling.templates import Machine, ZoneGroup
from kubespread.reports.autoscaling import GroupNodes, ScalingLoop
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.controllers import follow
from kubespread.world.events.world import World

Additions = Sequence[tuple[ZoneGroup, Sequence[Machine]]]
"""Which nodes of which groups."""


class Decision(Struct, frozen=True):
    """What an autoscaler does about pods that wait."""

    additions: Additions
    expected: int
    """For how many of the pods it finds room there."""
    why: str | None
    tied: tuple[str, ...] = ()
    """Groups that might have been taken as well."""


def loops(world: World, decide: Callable[[Sequence[PodGroup]], Decision | None]) -> Iterator[ScalingLoop]:
    """Let the world grow until nothing waits, ``decide`` finds nothing that helps, or nodes that came helped nobody."""
    number = 0
    while pending := pod_groups(world):
        decision = decide(pending)
        if decision is None:
            return
        number += 1
        before, mark = sum(map(len, pending)), len(world.happenings.placed)
        added = scale_up(world, decision.additions)
        still_pending = sum(map(len, pod_groups(world)))
        yield ScalingLoop(
            number=number,
            added=tuple(added),
            pending=before,
            expected=decision.expected,
            placed=_placed_since(world, mark),
            left=still_pending,
            why=decision.why,
            tied=decision.tied,
        )
        if still_pending >= before:
            return


def scale_up(world: World, additions: Additions) -> list[GroupNodes]:
    """Add the nodes, create the pods of their DaemonSets, and let everyone work until nothing changes."""
    taken = set(world.cluster.nodes.names)
    came: list[GroupNodes] = []
    arrived: list[Node] = []
    for group, machines in additions:
        if not machines:
            continue
        nodes = group.new_nodes(machines, taken)
        names = tuple(node.metadata.name for node in nodes)
        taken.update(names)
        group.added += names
        group.launched += machines
        arrived += nodes
        types = tuple(machine.type for machine in machines if machine.type is not None)
        came.append(GroupNodes(group=group.name, zone=group.zone, nodes=names, types=types))
    change = NodeChange(added=tuple(arrived))
    world.change_nodes(change)
    follow(world, change, {})
    world.settle()
    return came


def _placed_since(world: World, mark: int) -> int:
    """How many pods were placed since there were ``mark`` of them, without those of DaemonSets."""
    return sum(not is_daemons(world, pod) for pod in world.happenings.placed[mark:])


def is_daemons(world: World, pod: Pod) -> bool:
    owner = world.book.owner_of(pod)
    return owner is not None and owner.kind == "DaemonSet"
