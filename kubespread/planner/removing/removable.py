"""Which nodes can go: each alone in the cluster as it is, and as many as a greedy order finds together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kubespread.controllers.drain import DrainFlags
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.well_known import ZONE
from kubespread.planner.removing.certain import Certain
from kubespread.planner.removing.domains import keys_that_count, lost_domains
from kubespread.planner.removing.playing import refusals, remove
from kubespread.planner.removing.room import Asks
from kubespread.planner.removing.unevenness import violated
from kubespread.planner.reports.removable import Hold, NodeRemoval, Together
from kubespread.planner.world.controlling import makes_others, not_modelled
from kubespread.planner.world.draining import drain_plan
from kubespread.planner.world.happenings import PREEMPTED
from kubespread.planner.world.owners import in_order
from kubespread.planner.world.world import World

NOT_MODELLED = (
    "autoscalers: none adds the nodes again, or removes them by rules of its own",
    "what nodes cost: an order by price may be better than one by pods",
)
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_SHARE = 0.9
"""Of what the other nodes have left, how much the pods of a group may ask for: rarely does the last bit fit."""
_IN_A_ROW = 20
"""After so many nodes that do not go after each other no other is tried."""


@dataclass(slots=True)
class _Alone:
    """One node, while the others stay."""

    node: Node
    pods: Sequence[Pod]
    """What a drain evicts."""
    held: tuple[Hold, ...] = ()
    violated: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.node.metadata.name


@dataclass(slots=True)
class _Group:
    """The nodes that went so far, in one world."""

    world: World
    nodes: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    held: dict[str, tuple[Hold, ...]] = field(default_factory=dict)
    placed: list[Pod] = field(default_factory=list)
    preempted: int = 0
    untried: int = 0

    def take(self, trial: World, names: Sequence[str]) -> None:
        self.nodes += names
        self.sizes.append(len(names))
        self.placed += trial.happenings.placed
        self.preempted += sum(each.why == PREEMPTED for each in trial.happenings.gone)
        self.world = trial


def removals(
    world: World, names: Sequence[str], flags: DrainFlags, on_progress: Callable[[int], None] | None = None
) -> tuple[tuple[NodeRemoval, ...], Together]:
    """What becomes of each of the nodes ``names``, and of those that can go together.

    ``world`` is settled, and stays as it is. ``on_progress`` is told of each node that was looked at.
    """
    alone: list[_Alone] = []
    certain, keys = Certain(world), keys_that_count(world)
    for number, name in enumerate(names):
        alone.append(_alone(world, name, flags, certain, keys))
        if on_progress is not None:
            on_progress(number + 1)
    free_to_go = sorted((each for each in alone if not each.held), key=lambda each: (len(each.pods), each.name))
    group = _together(world, [each.name for each in free_to_go], flags, keys)
    place = {name: number for number, name in enumerate(group.nodes, 1)}
    rows = [
        NodeRemoval(
            node=each.name,
            domain=each.node.metadata.labels.get(ZONE),
            pods=len(each.pods),
            alone=not each.held,
            place=place.get(each.name),
            held=each.held or group.held.get(each.name, ()),
            violated=each.violated,
        )
        for each in alone
    ]
    together = Together(
        nodes=tuple(group.nodes),
        groups=tuple(group.sizes),
        moved=len(group.placed),
        preempted=group.preempted,
        violated=violated(group.world, world.cluster, group.placed),
        untried=group.untried,
    )
    return tuple(
        sorted(rows, key=lambda row: (row.place or len(rows) + 1, not row.alone, row.pods, row.node))
    ), together


def unknown_controllers(world: World, names: Sequence[str], flags: DrainFlags) -> tuple[str, ...]:
    """What to say of pods that a drain evicts and of which nobody knows what becomes."""
    pods = (pod for name in names for pod in drain_plan(world, name, flags).evict)
    owners = {owner for pod in pods if (owner := world.book.owner_of(pod)) is not None}
    return tuple(not_modelled(owner) for owner in sorted(owners, key=in_order) if not makes_others(owner.kind))


def _alone(world: World, name: str, flags: DrainFlags, certain: Certain, keys: Sequence[str]) -> _Alone:
    position = world.living.nodes.index[name]
    plan = drain_plan(world, name, flags)
    found = _Alone(world.living.nodes.objects[position], plan.evict)
    found.held = (*_set_apart(world, found.node, keys), *refusals(plan))
    if not found.held and not certain.goes(position, found.pods):
        fork = world.fork()
        found.held = remove(fork, [name], flags)
        found.violated = violated(fork, world.cluster, fork.happenings.placed)
    return found


def _set_apart(world: World, node: Node, keys: Sequence[str]) -> Iterator[Hold]:
    """What is said against a node whatever runs on it."""
    label = next((each for each in CONTROL_PLANE if each in node.metadata.labels), None)
    if label is not None:
        yield Hold(cause="controlPlane", detail=f"label {label}")
    for domain in lost_domains(world, keys, [node.metadata.name]):
        yield Hold(cause="lastOfDomain", detail=domain)


def _together(world: World, names: Sequence[str], flags: DrainFlags, keys: Sequence[str]) -> _Group:
    """Greedily, in the order of ``names``: groups that go are gone, one that does not is halved.

    Nodes of a group are cordoned at once, so that no pod moves from one to the next.
    """
    group, most, at, misses = _Group(world), len(names), 0, 0
    asks, since = Asks(world, names, flags), 0
    while at < len(names) and misses < _IN_A_ROW:
        size = max(1, min(asks.likely(at - since, _SHARE), most))
        batch = names[at : at + size]
        held = _impossible(group.world, batch, keys, asks.short(at - since, size)) or _try(group, batch, flags)
        if not held:
            at, most, misses = at + size, 2 * size, 0
            asks, since = Asks(group.world, names[at:], flags), at
        elif size == 1:
            group.held[batch[0]] = held
            at, misses = at + 1, misses + 1
        else:
            most = size // 2
    group.untried = len(names) - at
    return group


def _impossible(world: World, names: Sequence[str], keys: Sequence[str], short: str) -> tuple[Hold, ...]:
    """What holds nodes together whatever is tried; ``short`` is what the others have too little of."""
    lost = tuple(Hold(cause="lastOfDomain", detail=domain) for domain in lost_domains(world, keys, names))
    return lost or ((Hold(cause="noRoom", detail=short),) if short else ())


def _try(group: _Group, names: Sequence[str], flags: DrainFlags) -> tuple[Hold, ...]:
    """What holds the next nodes; they are gone from the group's world where nothing does."""
    trial = group.world.fork()
    held = remove(trial, names, flags)
    if not held:
        group.take(trial, names)
    return held
