"""What an autoscaler adds for the waiting pods of a world, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.owners import NamespacedName
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.node_groups.groups import DEFAULT_EXPANDERS, Autoscaler, Expander, InstanceType, NodeGroup
from kubespread.questions.autoscaling import cluster_autoscaler, karpenter
from kubespread.questions.autoscaling.growing import (
    Alike,
    GrowingCluster,
    is_daemons,
    pod_groups,
    scale_up,
    verdicts_on,
)
from kubespread.questions.autoscaling.templates import NOTHING_LOST, Lost, ZoneGroup, zone_groups
from kubespread.reports.autoscaling import (
    AutoscalingReport,
    GroupLeast,
    GroupNodes,
    GroupVerdict,
    LaunchedType,
    LeastNodes,
    NodeGroupState,
    ScalingLoop,
    UnhelpedPods,
)
from kubespread.scenario.prices import Prices
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugin import SUCCESS
from kubespread.wording import count_of, some_of, verb_of
from kubespread.world.events.controllers import daemon_templates
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import workload_of

# The fewest new nodes with which all pods find one, searched by playing on copies of the world.


_MAX_PLAYS, _MIN_PLAYS = 150, 12
_MAX_TRIED = 20_000
_WORK = 150_000
"""Plays times nodes and pods, beyond which the search gives up being complete."""

Counts = tuple[int, ...]
"""How many nodes of each group."""


class PlayedNodes(Struct, frozen=True):
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


class FewestNodes:
    """Plays on copies of a world in which pods wait; each number of nodes once."""

    def __init__(self, world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> None:
        self._world, self._groups, self._daemons = world, groups, daemons
        self._pending = pod_groups(world)
        self._known: dict[Counts, PlayedNodes] = {}
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

    def play(self, counts: Counts) -> PlayedNodes:
        """Play with these nodes of each group, all added at once."""
        if counts not in self._known:
            self._known[counts] = self._played(counts)
        return self._known[counts]

    def _played(self, counts: Counts) -> PlayedNodes:
        world, groups = self._world.fork(), [group.fork() for group in self._groups]
        added = scale_up(world, [(group, group.machines * count) for group, count in zip(groups, counts, strict=True)])
        pending = pod_groups(world)
        used = {pod.spec.node_name for pod in world.happenings.placed if not is_daemons(world, pod)}
        return PlayedNodes(
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
                nodes = count_of(upper, "node")
                return GroupLeast(group=group.name, total=None, why=f"with {nodes} of it: {played.message}")
            lower, upper = upper, min(2 * upper, most)
        while upper - lower > 1:
            middle = (lower + upper) // 2
            if self._play_alone(position, middle).waiting:
                lower = middle
            else:
                upper = middle
        return GroupLeast(group=group.name, total=upper, why=None)

    def _play_alone(self, position: int, count: int) -> PlayedNodes:
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


def unfit(cluster: Cluster, daemons: Sequence[Pod], group: ZoneGroup, pending: Sequence[Alike]) -> str | None:
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


_MAX_NAMED = 3
_NOT_MODELLED = {
    Autoscaler.CLUSTER_AUTOSCALER: cluster_autoscaler.NOT_MODELLED,
    Autoscaler.KARPENTER: karpenter.NOT_MODELLED,
}


def autoscale(
    world: World,
    groups: Sequence[NodeGroup],
    kind: Autoscaler,
    *,
    types: Sequence[InstanceType] = (),
    expanders: Sequence[Expander] = DEFAULT_EXPANDERS,
    prices: Prices | None = None,
    searches: bool = True,
    lost: Lost = NOTHING_LOST,
) -> AutoscalingReport:
    """Let ``world`` grow as the autoscaler would, until nothing waits or no further node helps.

    ``types``: what Karpenter launches for groups without a template. ``expanders``: how cluster-autoscaler chooses.
    ``prices``: of what has none of its own. ``searches``: also find the fewest nodes that
    would have been enough, where each group has one kind of nodes. ``lost``: what no new node can be part of. The nodes
    and pods that came are in the world and its happenings. Raises UsageError for a template that is no node of the
    cluster.
    """
    world.settle()
    daemons = [template for _, template in daemon_templates(world)]
    pending = pod_groups(world)
    launches = kind is Autoscaler.KARPENTER
    zones = zone_groups(
        [group for group in groups if not group.is_static],
        world.living.nodes.objects,
        launches=launches,
        types=types if launches else (),
        keys=_keys(pending),
        prices=prices,
        gone=lost.nodes,
    )
    zones, barred = _outside(zones, lost)
    static = "it is static: its number of nodes does not follow the pods that wait"
    barred += [GroupVerdict(group=group.name, reason=static) for group in groups if group.is_static]
    searches = searches and bool(pending) and not any(group.has_types for group in zones)
    search = FewestNodes(world.fork(), [group.fork() for group in zones], daemons) if searches else None
    picked = [
        group
        for group in zones
        if launches and group.group.template is None and not group.has_types and group.room != 0
    ]
    notes = list(dict.fromkeys(_notes([group for group in zones if group.template or group not in picked], pending)))
    loops = tuple(
        karpenter.loops(world, zones, daemons)
        if launches
        else cluster_autoscaler.loops(world, zones, daemons, expanders)
    )
    notes += _type_notes(zones) if launches else _expander_notes(zones, expanders, loops)
    if loops and not loops[-1].placed:
        notes.append(f"loop {loops[-1].number} placed none of the pods it was for: nothing further is tried")
    alone = () if search is None else search.per_group()
    stuck = tuple(_unhelped(world, zones, daemons, barred))
    nodes = world.cluster.nodes.objects
    hopes = [
        [group for group in picked if _may_take(group, pods) and not karpenter.too_little_for(pods.pod, group, nodes)]
        for pods in pod_groups(world)
    ]
    unknown = [group for group in picked if any(group in hope for hope in hopes)]
    world.assume(_unknown(group) for group in unknown or [group for group in picked if not (stuck or group.template)])
    return AutoscalingReport(
        autoscaler=kind.full_name,
        expanders=() if launches else tuple(expander.value for expander in expanders),
        waiting=sum(map(len, pending)),
        loops=loops,
        groups=tuple(map(_state, zones)),
        types=_launched(zones),
        pending=stuck,
        unknown_groups=tuple(dict.fromkeys(group.group.name for group in unknown)) if all(hopes) else (),
        least=None if search is None else search.mixed(tuple(len(group.added) for group in zones)),
        least_per_group=alone,
        notes=tuple(notes),
        not_modelled=karpenter.NOT_MODELLED_OF_TYPES
        if zones and all(group.has_types for group in zones)
        else _NOT_MODELLED[kind],
    )


def _keys(pending: Sequence[Alike]) -> set[str]:
    """The topology keys that waiting pods are spread or gathered over, other than those of zones and hosts."""
    keys = set[str]()
    for pods in pending:
        spec = pods.pod.spec
        keys |= {constraint.topology_key for constraint in spec.topology_spread_constraints}
        for affinity in () if spec.affinity is None else (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity):
            keys |= set() if affinity is None else {term.topology_key for term in affinity.terms}
    return keys - {ZONE, HOSTNAME}


def _launched(groups: Sequence[ZoneGroup]) -> tuple[LaunchedType, ...]:
    launched = [machine for group in groups for machine in group.launched]
    counted = Counter((machine.type, machine.price) for machine in launched if machine.type is not None)
    return tuple(
        LaunchedType(name=name, nodes=number, price=None if price is None else f"{price:f}")
        for (name, price), number in sorted(counted.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    )


def _expander_notes(
    groups: Sequence[ZoneGroup], expanders: Sequence[Expander], loops: Sequence[ScalingLoop]
) -> Iterator[str]:
    """What the expanders do not know, and where they leave several groups."""
    able = [group for group in groups if group.machines]
    if Expander.PRICE in expanders and (
        lacking := [group.name for group in able if all(machine.price is None for machine in group.machines)]
    ):
        yield f"the expander price passes over what has no price: {some_of(lacking, _MAX_NAMED)}"
    if Expander.PRIORITY in expanders and (lacking := [group.name for group in able if group.group.priority is None]):
        yield f"the expander priority takes what has no priority only where nothing has: {some_of(lacking, _MAX_NAMED)}"
    if tied := [loop for loop in loops if loop.tied]:
        first = tied[0]
        others = some_of(first.tied, _MAX_NAMED)
        where = (
            f"in loop {first.number}" if len(tied) == 1 else f"in {len(tied)} loops, the first time in {first.number},"
        )
        ranked = f"{where} the expander ranks {others} like {first.added[0].group}"
        yield f"{ranked}: cluster-autoscaler takes one at random, here it is the first by name"


def _type_notes(groups: Sequence[ZoneGroup]) -> Iterator[str]:
    priced: dict[str, bool] = {}
    for machine in (machine for group in groups for machine in group.machines):
        if machine.type is not None:
            priced[machine.type] = priced.get(machine.type, True) and machine.price is not None
    lacking = [name for name in priced if not priced[name]]
    if not lacking:
        return
    if len(lacking) == len(priced):
        yield "no instance type has a price: of those that fit the smallest is taken"
    else:
        yield f"taken only where none with a price fits, as they have none: {some_of(lacking, _MAX_NAMED)}"


def _state(group: ZoneGroup) -> NodeGroupState:
    return NodeGroupState(
        group=group.name,
        zone=group.zone,
        made_of=group.made_of,
        minimum=group.group.minimum,
        maximum=group.group.maximum,
        before=None if group.is_unknown else group.before,
        added=len(group.added),
        pool=group.group.name,
    )


def _may_take(group: ZoneGroup, pods: Alike) -> bool:
    """Whether some machine of a group may take the pods, by the taints and labels that all its nodes have."""
    spec, zone = pods.pod.spec, {} if group.zone is None else {ZONE: group.zone}
    labels = {**zone, **group.group.labels}
    is_tolerated = not untolerated(group.group.taints or (), spec.tolerations, DO_NOT_SCHEDULE_EFFECTS)
    return is_tolerated and all(labels.get(key, value) == value for key, value in spec.node_selector.items())


def _unknown(group: ZoneGroup) -> str:
    """The gap of a group whose instance types are not in the cluster."""
    kinds = f"are taken to be like {group.made_of}" if group.template is not None else "may be of any kind"
    told = "--instance-types FILE says which there are (kubespread snapshot --instance-types prints one)"
    return f"karpenter: the instance types of {group.group.name} are not in the cluster: its new nodes {kinds}; {told}"


def _outside(groups: Sequence[ZoneGroup], lost: Lost) -> tuple[list[ZoneGroup], list[GroupVerdict]]:
    """The groups without the machines that would be part of what is lost; of which that leaves none, and why."""
    outside, barred = list[ZoneGroup](), list[GroupVerdict]()
    for group in groups:
        taken = [lost.takes(machine.node) for machine in group.machines]
        if not group.machines:
            taken = [lost.takes(Node(metadata=ObjectMeta(labels={ZONE: group.zone or ""})))]
        if all(taken):
            barred.append(GroupVerdict(group=group.name, reason="its nodes would be in what is lost"))
        else:
            machines = (machine for machine, domain in zip(group.machines, taken, strict=False) if not domain)
            outside.append(replace(group, machines=tuple(machines)))
    return outside, barred


def _unhelped(
    world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod], barred: Iterable[GroupVerdict]
) -> Iterator[UnhelpedPods]:
    limited = karpenter.at_their_limits(groups, world.cluster.nodes.objects)
    hindrance = karpenter.hindrances(world.cluster, groups, daemons)

    def verdict(group: ZoneGroup, pods: Alike) -> GroupVerdict:
        left = karpenter.too_little_for(pods.pod, group, world.cluster.nodes.objects)
        return GroupVerdict(group=group.name, reason=left or reason(group, pods), too_large=bool(left))

    def reason(group: ZoneGroup, pods: Alike) -> str:
        """Why a group does not help."""
        if group.name in limited:
            return limited[group.name]
        if group.template is None and not _may_take(group, pods):
            return "all its nodes have a taint, a label or a zone that keeps the pod off"
        if why := unfit(world.cluster, daemons, group, [pods]):
            return why
        return (group.machines and hindrance(group, pods)) or "a pod would fit on an empty node of it"

    for pods in pod_groups(world):
        yield UnhelpedPods(
            workload=workload_of(world, pods.waiting[0].pod),
            pods=tuple(NamespacedName.of(waiting.pod) for waiting in pods.waiting),
            message=world.message(pods.waiting[0]),
            groups=(*(verdict(group, pods) for group in groups), *barred),
        )


def _notes(groups: Sequence[ZoneGroup], pending: Sequence[Alike]) -> Iterator[str]:
    keys = dict.fromkeys(
        constraint.topology_key
        for pods in pending
        for constraint in pods.pod.spec.topology_spread_constraints
        if constraint.when_unsatisfiable == DO_NOT_SCHEDULE
    )
    for group in groups:
        if group.template is None:
            why = "no instance type of the file is for it" if group.has_types else "it has no good node and no template"
            yield f"{group.name}: {why}, so it does not grow"
            continue
        if lacking := [key for key in keys if key not in group.template.metadata.labels]:
            yield f"{group.name}: its nodes lack {', '.join(lacking)}, which a constraint of waiting pods asks for"
        if group.before < group.group.minimum:
            are = verb_of(group.before, "are")
            shortfall = f"{count_of(group.before, 'node')} {are} fewer than min {group.group.minimum}"
            yield f"{group.name}: {shortfall}, but no autoscaler adds nodes for that alone"
