"""The fewest new nodes with which all pods find one, searched by playing on copies of the world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.questions.autoscaling.growing import GrowingCluster, verdicts_on
from kubespread.questions.autoscaling.pending import PodGroup, pod_groups
from kubespread.questions.autoscaling.scaling_up import is_daemons, scale_up
from kubespread.questions.autoscaling.templates import ZoneGroup
from kubespread.reports.autoscaling import GroupLeast, GroupNodes, LeastNodes
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugin import SUCCESS
from kubespread.wording import count_of
from kubespread.world.events.world import World

_MAX_PLAYS, _MIN_PLAYS = 150, 12
_MAX_TRIED = 20_000
_WORK = 150_000
"""Plays times nodes and pods, beyond which the search gives up being complete."""

Counts = tuple[int, ...]
"""How many nodes of each group."""


class Played(Struct, frozen=True):
    """The outcome of adding these nodes."""

    waiting: int
    has_empty: bool
    """Whether a new node got no pod that waited."""
    message: str
    """kube-scheduler's message for the first waiting pod."""
    added: tuple[GroupNodes, ...]


class Room(Struct, frozen=True):
    """Room for identical pods, if topology domains did not matter."""

    pods: int
    existing: int
    """On the existing nodes."""
    per_node: Counts
    """On one new node of each group."""

    def is_enough(self, counts: Counts) -> bool:
        """Whether these new nodes give all of them room."""
        new = sum(room * count for room, count in zip(self.per_node, counts, strict=True))
        return self.existing + new >= self.pods


class Search:
    """Plays on copies of a world in which pods wait; each number of nodes once."""

    def __init__(self, world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> None:
        self._world, self._groups, self._daemons = world, groups, daemons
        self._pending = pod_groups(world)
        self._known: dict[Counts, Played] = {}
        size = len(world.cluster) + len(world.cluster.running)
        self._budget = max(_MIN_PLAYS, min(_MAX_PLAYS, _WORK // max(1, size)))
        most = sum(map(len, self._pending))
        rooms = [0 if group.template is None else group.room for group in groups]
        self._most = [most if room is None else min(most, room) for room in rooms]
        self._rooms = [] if world.surroundings.preempts else self._rooms_for_pods()

    def _rooms_for_pods(self) -> list[Room]:
        growing = GrowingCluster(self._world.cluster, self._daemons)
        first_new = len(growing)
        grown = [(place, growing.add(group.trial())) for place, group in enumerate(self._groups) if group.template]
        rooms = []
        for pods in self._pending:
            room = growing.room(pods.pod, pods.plugins, len(pods))
            per_node = [0] * len(self._groups)
            for place, node in grown:
                per_node[place] = int(room[node])
            rooms.append(Room(len(pods), int(room[:first_new].sum()), tuple(per_node)))
        return rooms

    def per_group(self) -> tuple[GroupLeast, ...]:
        """Of each group alone."""
        return tuple(self._alone(position) for position in range(len(self._groups)))

    def mixed(self, enough: Counts) -> LeastNodes | None:
        """Of all groups together; ``enough`` are numbers that may suffice."""
        self.play(enough)
        successes = [counts for counts, played in self._known.items() if not played.waiting]
        best = max(successes, key=lambda counts: (-sum(counts), counts), default=None)
        for tried, counts in enumerate(self._ascending(sum(self._most) if best is None else sum(best) - 1)):
            if counts not in self._known and (len(self._known) >= self._budget or tried >= _MAX_TRIED):
                return None if best is None else self._least_nodes(self._reduced(best), proven=False)
            if not self.play(counts).waiting:
                return self._least_nodes(counts, proven=True)
        return None if best is None else self._least_nodes(best, proven=True)

    def play(self, counts: Counts) -> Played:
        """Play with these nodes of each group, all added at once."""
        if counts not in self._known:
            self._known[counts] = self._played(counts)
        return self._known[counts]

    def _played(self, counts: Counts) -> Played:
        world, groups = self._world.fork(), [group.fork() for group in self._groups]
        added = scale_up(world, [(group, group.machines * count) for group, count in zip(groups, counts, strict=True)])
        pending = pod_groups(world)
        used = {pod.spec.node_name for pod in world.happenings.placed if not is_daemons(world, pod)}
        return Played(
            sum(map(len, pending)),
            any(name not in used for group in added for name in group.nodes),
            world.message(pending[0].waiting[0]) if pending else "",
            tuple(added),
        )

    def _alone(self, position: int) -> GroupLeast:
        group, most = self._groups[position], self._most[position]
        why = unfit(self._world.cluster, self._daemons, group, self._pending)
        if why is not None:
            return GroupLeast(group=group.name, total=None, why=why)
        lower, upper = 0, 1
        while (played := self._play_alone(position, upper)).waiting:
            if played.has_empty or upper == most:
                nodes = f"{upper} node{'' if upper == 1 else 's'}"
                return GroupLeast(group=group.name, total=None, why=f"with {nodes} of it: {played.message}")
            lower, upper = upper, min(2 * upper, most)
        while upper - lower > 1:
            middle = (lower + upper) // 2
            if self._play_alone(position, middle).waiting:
                lower = middle
            else:
                upper = middle
        return GroupLeast(group=group.name, total=upper, why=None)

    def _play_alone(self, position: int, count: int) -> Played:
        return self.play(tuple(count if place == position else 0 for place in range(len(self._groups))))

    def _ascending(self, most: int) -> Iterator[Counts]:
        """All numbers of nodes, ``most`` together, that could hold the pods by their room, the fewest first."""
        for total in range(1, most + 1):
            for counts in _compositions(total, self._most):
                if all(room.is_enough(counts) for room in self._rooms) and self._is_allowed(counts):
                    yield counts

    def _is_allowed(self, counts: Counts) -> bool:
        """Whether every pool stays within its limits."""
        together: Counter[str] = Counter()
        for group, count in zip(self._groups, counts, strict=True):
            together[group.group.name] += group.size + count
        return all(group.pool_limit is None or together[group.group.name] <= group.pool_limit for group in self._groups)

    def _reduced(self, counts: Counts) -> Counts:
        """``counts`` without the nodes that turn out not to be needed, left out one by one."""
        for place in range(len(counts)):
            while counts[place]:
                fewer = (*counts[:place], counts[place] - 1, *counts[place + 1 :])
                if self.play(fewer).waiting:
                    break
                counts = fewer
        return counts

    def _least_nodes(self, counts: Counts, *, proven: bool) -> LeastNodes:
        return LeastNodes(groups=self.play(counts).added, total=sum(counts), proven=proven)


def unfit(cluster: Cluster, daemons: Sequence[Pod], group: ZoneGroup, pending: Sequence[PodGroup]) -> str | None:
    """Why no node of ``group`` can take any of the pods; None where one may."""
    if group.template is None:
        return "no instance type of the file is for it" if group.has_types else "nothing tells what its nodes are like"
    if group.room == 0:
        most = group.group.maximum or 0
        return f"it may have {count_of(most, 'node')} and has {'it' if most == 1 else 'them'}"
    verdicts = verdicts_on(cluster, daemons, group.trials(), pending)
    if SUCCESS in verdicts:
        return None
    reasons = dict.fromkeys(reason for verdict in verdicts[: len(group.machines)] for reason in verdict.reasons)
    types = ", whatever its instance type" if group.has_types else ""
    return f"on an empty node of it{types}: {', '.join(reasons)}"


def _compositions(total: int, most: Sequence[int]) -> Iterator[Counts]:
    """Every way to split ``total`` into one number per entry of ``most``, none above its entry."""
    if not most:
        if total == 0:
            yield ()
        return
    for first in range(min(total, most[0]), -1, -1):
        if total - first <= sum(most[1:]):
            for rest in _compositions(total - first, most[1:]):
                yield (first, *rest)
