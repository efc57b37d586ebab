"""Nodes that an autoscaler adds for the pending pods of a world, and the pods placed on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.owners import full_name
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.node_groups import (
    DEFAULT_EXPANDERS,
    Autoscaler,
    AutoscalerFields,
    Expander,
    InstanceType,
    NodeGroup,
    NodeGroups,
    autoscaler_of,
    groups_of_cluster,
)
from kubespread.questions.autoscaling import cluster_autoscaler, karpenter
from kubespread.questions.autoscaling.growing import EqualPods, ZoneGroup, pod_groups, verdicts_on, zone_groups
from kubespread.reports.autoscaling import (
    AutoscalingReport,
    GroupVerdict,
    LaunchedType,
    NodeGroupState,
    ScalingLoop,
    UnhelpedPods,
)
from kubespread.scenario.autoscaler import InstanceTypesGiven, read_instance_types, read_node_groups
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugin import SUCCESS
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of, some_of, verb_of
from kubespread.world.events.controllers import daemon_templates
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import NOTHING_LOST, Grow, LostPart
from kubespread.world.reporting.happenings import workload_of

GroupsGiven = str | NodeGroups | Sequence[NodeGroup] | None
"""A file, or the groups themselves; None for the groups among the cluster's objects."""


def growth(fields: AutoscalerFields, snapshot: Snapshot) -> Grow | None:
    """Make the event in which the autoscaler adds nodes; None without one. Raises UsageError and ManifestError."""
    kind = autoscaler_of(fields)
    if kind is None:
        return None
    groups = _groups(snapshot, kind, fields.node_groups)
    types = _types(kind, fields.instance_types)
    return partial(autoscale, groups=groups.groups, kind=kind, types=types, expanders=groups.expanders)


def with_files_read(fields: AutoscalerFields) -> dict[str, Any]:
    """Fields with the contents of their files, which can be read only once. Raises ManifestError."""
    groups, types = fields.node_groups, fields.instance_types
    return {
        "node_groups": read_node_groups(groups) if isinstance(groups, str) else groups,
        "instance_types": None if types is None else read_instance_types(types),
    }


def _groups(snapshot: Snapshot, kind: Autoscaler, chosen: GroupsGiven) -> NodeGroups:
    if chosen is None:
        return NodeGroups(groups_of_cluster(snapshot.objects, kind))
    if isinstance(chosen, NodeGroups):
        return chosen
    return read_node_groups(chosen) if isinstance(chosen, str) else NodeGroups(tuple(chosen))


def _types(kind: Autoscaler, chosen: InstanceTypesGiven | None) -> Sequence[InstanceType]:
    """Instance types that Karpenter may launch; empty where none are given."""
    if chosen is not None and kind is not Autoscaler.KARPENTER:
        raise UsageError(f"instance types are what karpenter chooses among: to {kind} a node group is of one kind")
    return () if chosen is None else read_instance_types(chosen)


def unfit(cluster: Cluster, daemons: Sequence[Pod], group: ZoneGroup, pending: Sequence[EqualPods]) -> str | None:
    """Reason no node of ``group`` can take any of the pods; None if one may."""
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


_MAX_NAMED = 3
_NOT_MODELLED = {
    Autoscaler.CLUSTER_AUTOSCALER: cluster_autoscaler.NOT_MODELLED,
    Autoscaler.KARPENTER: karpenter.NOT_MODELLED,
}


def autoscale(
    world: World,
    lost_part: LostPart = NOTHING_LOST,
    *,
    groups: Sequence[NodeGroup],
    kind: Autoscaler,
    types: Sequence[InstanceType] = (),
    expanders: Sequence[Expander] = DEFAULT_EXPANDERS,
) -> AutoscalingReport:
    """Add nodes to ``world`` as the autoscaler would, until nothing waits or no further node helps.

    Karpenter launches ``types`` for groups without a template, cluster-autoscaler chooses by ``expanders``, and no new
    node can be in ``lost_part``. Raises UsageError for a template that is no node of the cluster.
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
        lost_nodes=lost_part.nodes,
    )
    zones, barred = _groups_outside(zones, lost_part)
    static = "it is static: its number of nodes does not follow the pods that wait"
    barred += [GroupVerdict(group=group.name, reason=static) for group in groups if group.is_static]
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
    stuck = tuple(_unhelped_pods(world, zones, daemons, barred))
    nodes = world.cluster.nodes.objects
    hopes = [
        [group for group in picked if _may_take(group, pods) and not karpenter.too_little_for(pods.pod, group, nodes)]
        for pods in pod_groups(world)
    ]
    unknown = [group for group in picked if any(group in hope for hope in hopes)]
    world.assume(_gap(group) for group in unknown or [group for group in picked if not (stuck or group.template)])
    return AutoscalingReport(
        autoscaler=kind.full_name,
        expanders=() if launches else tuple(expander.value for expander in expanders),
        waiting=sum(map(len, pending)),
        loops=loops,
        groups=tuple(map(_state, zones)),
        types=_launched_types(zones),
        pending=stuck,
        unknown_groups=tuple(dict.fromkeys(group.group.name for group in unknown)) if all(hopes) else (),
        notes=tuple(notes),
        not_modelled=karpenter.NOT_MODELLED_OF_TYPES
        if zones and all(group.has_types for group in zones)
        else _NOT_MODELLED[kind],
    )


def _keys(pending: Sequence[EqualPods]) -> set[str]:
    """Topology keys that waiting pods are spread or gathered over, except zones and hosts."""
    keys = set[str]()
    for pods in pending:
        spec = pods.pod.spec
        keys |= {constraint.topology_key for constraint in spec.topology_spread_constraints}
        for affinity in () if spec.affinity is None else (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity):
            keys |= set() if affinity is None else {term.topology_key for term in affinity.terms}
    return keys - {ZONE, HOSTNAME}


def _launched_types(groups: Sequence[ZoneGroup]) -> tuple[LaunchedType, ...]:
    launched = [machine for group in groups for machine in group.launched]
    counted = Counter((machine.type, machine.price) for machine in launched if machine.type is not None)
    return tuple(
        LaunchedType(name=name, nodes=number, price=None if price is None else f"{price:f}")
        for (name, price), number in sorted(counted.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    )


def _expander_notes(
    groups: Sequence[ZoneGroup], expanders: Sequence[Expander], loops: Sequence[ScalingLoop]
) -> Iterator[str]:
    """Yield notes on facts that the expanders lack, and on loops in which they leave several groups."""
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
        maximum=group.group.maximum,
        before=None if group.is_unknown else group.before,
        added=len(group.added),
        pool=group.group.name,
    )


def _may_take(group: ZoneGroup, pods: EqualPods) -> bool:
    """True if some machine of a group may take the pods, by the taints and labels that all its nodes have."""
    spec, zone = pods.pod.spec, {} if group.zone is None else {ZONE: group.zone}
    labels = {**zone, **group.group.labels}
    is_tolerated = not untolerated(group.group.taints or (), spec.tolerations, DO_NOT_SCHEDULE_EFFECTS)
    return is_tolerated and all(labels.get(key, value) == value for key, value in spec.node_selector.items())


def _gap(group: ZoneGroup) -> str:
    """Gap of a group with instance types that are not in the cluster."""
    kinds = f"are taken to be like {group.made_of}" if group.template is not None else "may be of any kind"
    hint = "--instance-types FILE says which there are"
    return f"karpenter: the instance types of {group.group.name} are not in the cluster: its new nodes {kinds}; {hint}"


def _groups_outside(groups: Sequence[ZoneGroup], lost_part: LostPart) -> tuple[list[ZoneGroup], list[GroupVerdict]]:
    """Groups with their machines outside the lost part, and verdicts on groups that have none."""
    outside, barred = list[ZoneGroup](), list[GroupVerdict]()
    for group in groups:
        are_lost = [lost_part.takes(machine.node) for machine in group.machines]
        if not group.machines:
            are_lost = [lost_part.takes(Node(metadata=ObjectMeta(labels={ZONE: group.zone or ""})))]
        if all(are_lost):
            barred.append(GroupVerdict(group=group.name, reason="its nodes would be in what is lost"))
        else:
            machines = (machine for machine, is_lost in zip(group.machines, are_lost, strict=False) if not is_lost)
            outside.append(replace(group, machines=tuple(machines)))
    return outside, barred


def _unhelped_pods(
    world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod], barred: Iterable[GroupVerdict]
) -> Iterator[UnhelpedPods]:
    limited = karpenter.at_their_limits(groups, world.cluster.nodes.objects)
    hindrance = karpenter.hindrances(world.cluster, groups, daemons)

    def verdict(group: ZoneGroup, pods: EqualPods) -> GroupVerdict:
        left = karpenter.too_little_for(pods.pod, group, world.cluster.nodes.objects)
        return GroupVerdict(group=group.name, reason=left or reason(group, pods), too_large=bool(left))

    def reason(group: ZoneGroup, pods: EqualPods) -> str:
        """Reason a group does not help."""
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
            pods=tuple(full_name(waiting.pod) for waiting in pods.waiting),
            message=world.message(pods.waiting[0]),
            groups=(*(verdict(group, pods) for group in groups), *barred),
        )


def _notes(groups: Sequence[ZoneGroup], pending: Sequence[EqualPods]) -> Iterator[str]:
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
