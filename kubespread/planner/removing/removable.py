"""Which nodes can go: each alone in the cluster as it is, and as many as a greedy order finds together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from kubespread.controllers.drain import DrainFlags
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.well_known import ZONE
from kubespread.planner.removing.certain import Certain
from kubespread.planner.removing.domains import CountingDomains
from kubespread.planner.removing.playing import refusals, remove
from kubespread.planner.removing.room import Asks
from kubespread.planner.removing.unevenness import violated
from kubespread.planner.reports.removable import Hold, NodeRemoval, Together
from kubespread.planner.world.controlling import makes_others, not_modelled
from kubespread.planner.world.draining import drain_plan
from kubespread.planner.world.happenings import PREEMPTED
from kubespread.planner.world.owners import in_order
from kubespread.planner.world.pod_book import PodKey
from kubespread.planner.world.reporting import name_of
from kubespread.planner.world.world import World

NOT_MODELLED = (
    "autoscalers: none adds the nodes again, or removes them by rules of its own",
    "what nodes cost: an order by price may be better than one by pods",
)
CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_ALL_FLAGS = DrainFlags(force=True, ignore_daemonsets=True, delete_emptydir_data=True)
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
    preempted: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    until_deleted: int = 0

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
    lost: list[str] = field(default_factory=list)
    untried: int = 0

    def take(self, trial: World, names: Sequence[str]) -> None:
        self.nodes += names
        self.sizes.append(len(names))
        self.placed += trial.happenings.placed
        self.preempted += sum(each.why == PREEMPTED for each in trial.happenings.gone)
        self.lost += _lost(trial)
        self.world = trial


def removals(
    world: World,
    names: Sequence[str],
    flags: DrainFlags,
    waited: Collection[PodKey] = (),
    on_progress: Callable[[int], None] | None = None,
) -> tuple[tuple[NodeRemoval, ...], Together]:
    """What becomes of each of the nodes ``names``, and of those that can go together.

    ``world`` is settled, and stays as it is; ``waited`` are the pods that waited before that, which are not charged to
    the nodes they have been placed on. ``on_progress`` is told of each node that was looked at.
    """
    alone: list[_Alone] = []
    trials = _Trials(world, flags, waited)
    for number, name in enumerate(names):
        alone.append(trials.alone(name))
        if on_progress is not None:
            on_progress(number + 1)
    free_to_go = sorted((each for each in alone if not each.held), key=lambda each: (len(each.pods), each.name))
    group = trials.together([each.name for each in free_to_go])
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
            preempted=each.preempted,
            lost=each.lost,
            until_deleted=each.until_deleted,
        )
        for each in alone
    ]
    together = Together(
        nodes=tuple(group.nodes),
        groups=tuple(group.sizes),
        moved=len(group.placed),
        preempted=group.preempted,
        lost=tuple(group.lost),
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
    return tuple(not_modelled(owner) for owner in sorted(owners, key=in_order) if not makes_others(world, owner))


class _Trials:
    """Nodes that are removed from forks of one world, which is settled and stays as it is."""

    def __init__(self, world: World, flags: DrainFlags, waited: Collection[PodKey]) -> None:
        self._world, self._flags, self._waited = world, flags, waited
        self._certain, self._domains = Certain(world), CountingDomains(world)

    def alone(self, name: str) -> _Alone:
        """One node, while the others stay.

        It is drained whatever is said against that, all flags set where kubectl refuses: who sees to one thing that
        holds it is not to find the next one only then.
        """
        world, position = self._world, self._world.living.nodes.index[name]
        plan = drain_plan(world, name, self._flags)
        found = _Alone(world.living.nodes.objects[position], plan.evict)
        found.held = (*self._set_apart(found.node), *refusals(plan))
        if not plan.errors and self._certain.goes(position, found.pods):
            return found
        fork = world.fork()
        removed = remove(fork, [name], _ALL_FLAGS if plan.errors else self._flags, self._waited)
        found.held += removed.held
        found.until_deleted = removed.until_deleted
        if not found.held:
            found.violated = violated(fork, world.cluster, fork.happenings.placed)
            found.preempted = tuple(name_of(each.pod) for each in fork.happenings.gone if each.why == PREEMPTED)
            found.lost = tuple(_lost(fork))
        return found

    def _set_apart(self, node: Node) -> Iterator[Hold]:
        """What is said against a node whatever runs on it."""
        label = next((each for each in CONTROL_PLANE if each in node.metadata.labels), None)
        if label is not None:
            yield Hold(cause="controlPlane", detail=f"label {label}")
        for domain in self._domains.lost(self._world, [node.metadata.name]):
            yield Hold(cause="lastOfDomain", detail=domain)

    def together(self, names: Sequence[str]) -> _Group:
        """Greedily, in the order of ``names``: groups that go are gone, one that does not is halved.

        Nodes of a group are cordoned at once, so that no pod moves from one to the next.
        """
        group, most, at, misses = _Group(self._world), len(names), 0, 0
        asks, since = self._asks(group, names), 0
        while at < len(names) and misses < _IN_A_ROW:
            size = max(1, min(asks.likely(at - since, _SHARE), most))
            batch = names[at : at + size]
            held = self._impossible(group, batch, asks.short(at - since, size)) or self._try(group, batch)
            if not held:
                at, most, misses = at + size, 2 * size, 0
                asks, since = self._asks(group, names[at:]), at
            elif size == 1:
                group.held[batch[0]] = held
                at, misses = at + 1, misses + 1
            else:
                most = size // 2
        group.untried = len(names) - at
        return group

    def _asks(self, group: _Group, names: Sequence[str]) -> Asks:
        return Asks(group.world, names, self._flags, self._waited)

    def _impossible(self, group: _Group, names: Sequence[str], short: str) -> tuple[Hold, ...]:
        """What holds nodes together whatever is tried; ``short`` is what the others have too little of."""
        lost = tuple(Hold(cause="lastOfDomain", detail=domain) for domain in self._domains.lost(group.world, names))
        return lost or ((Hold(cause="noRoom", detail=short),) if short else ())

    def _try(self, group: _Group, names: Sequence[str]) -> tuple[Hold, ...]:
        """What holds the next nodes; they are gone from the group's world where nothing does."""
        trial = group.world.fork()
        held = remove(trial, names, self._flags, self._waited).held
        if not held:
            group.take(trial, names)
        return held


def _lost(world: World) -> Iterator[str]:
    """Pods without a controller that were evicted; those that would be preempted hold a node."""
    return (name_of(each.pod) for each in world.happenings.lost_for_good())
