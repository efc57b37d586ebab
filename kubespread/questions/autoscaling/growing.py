"""Node groups as an autoscaler sees them in a cluster, each with a template of its new nodes; and a cluster that gets
such nodes one by one in a simulation, without effect on the world.

A template is a good node of the group, else the machine provider's template, else any node of the group, turned into a
new node. Pods that wait for a node are grouped as autoscalers do: identical ones together.

Source: cluster-autoscaler 1.36.1: cluster-autoscaler/processors/nodeinfosprovider/mixed_nodeinfos_processor.go,
    Process
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, count, product

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.daemonset import pinned_to, should_run
from kubespread.errors import SnapshotError
from kubespread.kube.api.core import Node, NodeSpec, NodeStatus, Pod
from kubespread.kube.api.meta import ObjectMeta, ResourceList
from kubespread.kube.owners import WorkloadName
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.selector import Requirement
from kubespread.kube.taint import uncordon_node
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, READY, REGION, ZONE
from kubespread.node_groups import InstanceType, NodeGroup
from kubespread.reports.autoscaling import GroupNodes, ScalingLoop
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Mask, allocatable, requests_of
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Choice
from kubespread.scheduler.plugin import SUCCESS, Code, SchedulingError, Status
from kubespread.snapshot.edits.new_nodes import as_new_node, dependent_labels, labels_of_zone, node_called, rename_node
from kubespread.snapshot.edits.verb import NodeChange, nodes_with
from kubespread.wording import count_of
from kubespread.world.events.controllers import update_daemon_pods
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Applicant, LivingCluster, Waiting

TEMPLATE_LABEL = "cluster-autoscaler.kubernetes.io/template-node"
"""Label of simulated templates that real nodes do not have."""
_TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
_OLDER_KEYS = {
    ZONE: BETA_ZONE,
    REGION: BETA_REGION,
    "kubernetes.io/os": "beta.kubernetes.io/os",
    "kubernetes.io/arch": "beta.kubernetes.io/arch",
    "node.kubernetes.io/instance-type": "beta.kubernetes.io/instance-type",
}


class Machine(Struct, frozen=True):
    """A kind of machine for a new node."""

    node: Node
    """Node without a name."""
    type: str | None = None
    """Instance type; None if its group has a single kind of node."""
    price: Decimal | None = None


class ZoneGroup(Struct):
    """One group in one zone: a node group, as autoscalers see it."""

    group: NodeGroup
    zone: str | None
    """None if nodes have no zone label."""
    name: str
    template: Node | None
    """New node without a name; None if nothing describes it."""
    made_of: str
    """Origin of the template: ``node worker-1``, ``template``, ``3 instance types``, ``nothing``."""
    before: int
    """Number of nodes at first."""
    is_unknown: bool = False
    """True if nothing says which nodes it has: ``before`` is then 0."""
    pool_limit: int | None = None
    """Most nodes in all zones of the group together; None for no limit."""
    machines: tuple[Machine, ...] = ()
    """Machines for its new nodes: its instance types, else its template alone."""
    has_types: bool = False
    """True if instance types were given; the template then has their common labels and the most of each resource."""
    added: list[str] = field(default_factory=list)
    launched: list[Machine] = field(default_factory=list)
    """Machines of the added nodes."""

    @property
    def size(self) -> int:
        return self.before + len(self.added)

    @property
    def room(self) -> int | None:
        """Number of nodes that may still be added; None for no limit."""
        return None if self.group.maximum is None else max(0, self.group.maximum - self.size)

    @property
    def _base(self) -> str:
        """Prefix of its nodes' names."""
        return self.name.replace("/", "-")

    def new_nodes(self, machines: Sequence[Machine], used_names: set[str]) -> list[Node]:
        """Make nodes of these machines, with names that are not in use."""
        names = (name for number in count(1) if (name := f"{self._base}-{number}") not in used_names)
        return [rename_node(machine.node, name) for machine, name in zip(machines, names, strict=False)]

    def trial(self, number: int = 0) -> Node:
        """Node of the template, for a simulation."""
        assert self.template is not None
        return self._trial(self.template, number)

    def trials(self) -> list[Node]:
        """One node per machine, for a simulation."""
        return [self._trial(machine.node, number) for number, machine in enumerate(self.machines)]

    def _trial(self, template: Node, number: int) -> Node:
        node = rename_node(template, f"template-node-for-{self._base}-{number}")
        meta = node.metadata
        return replace(node, metadata=replace(meta, labels={**meta.labels, TEMPLATE_LABEL: "true"}))


def zone_groups(
    groups: Sequence[NodeGroup],
    nodes: Sequence[Node],
    *,
    launches: bool = False,
    types: Sequence[InstanceType] = (),
    keys: Collection[str] = (),
    lost_nodes: Sequence[Node] = (),
) -> list[ZoneGroup]:
    """Split every group into its zones, by name.

    ``launches``: the autoscaler picks machines itself, as Karpenter does, so the template describes new nodes better
    than existing nodes do, in any zone; groups without a template choose among ``types``, separately for each value of
    the topology ``keys``. ``lost_nodes`` are models of new ones too. Raises UsageError for a template that is no node
    of the cluster.
    """
    in_zones = (
        _of_types(group, nodes, types, keys)
        if types and group.template is None
        else _in_zones(group, nodes, lost_nodes, launches=launches)
        for group in groups
    )
    return sorted(chain.from_iterable(in_zones), key=lambda group: group.name)


def zone_of(node: Node) -> str | None:
    return node.metadata.labels.get(ZONE)


def _in_zones(
    group: NodeGroup, nodes: Sequence[Node], lost_nodes: Sequence[Node], *, launches: bool
) -> Iterator[ZoneGroup]:
    every = [*nodes, *lost_nodes]
    declared = node_called(group.template, every) if isinstance(group.template, str) else group.template
    members = [] if group.members is None else nodes_with(group.members, nodes)
    models = [] if group.members is None else nodes_with(group.members, every)
    in_use = sorted({zone for node in models if (zone := zone_of(node)) is not None})
    zones: Sequence[str | None] = group.zones or in_use or [None]
    for zone in zones:
        mine = [node for node in members if zone is None or zone_of(node) == zone]
        alike = [node for node in models if launches or zone is None or zone_of(node) == zone]
        examples = [] if launches and declared is not None else alike
        template, made_of = _template(group, zone, examples, declared, every)
        yield ZoneGroup(
            group=group,
            zone=zone_of(template) if zone is None and template is not None else zone,
            name=group.name if len(zones) == 1 else f"{group.name}/{zone}",
            template=template,
            made_of=made_of,
            before=len(mine),
            is_unknown=group.members is None,
            pool_limit=_pool_limit(group, template),
            machines=() if template is None else (Machine(template, price=group.price),),
        )


def _of_types(
    group: NodeGroup, nodes: Sequence[Node], types: Sequence[InstanceType], keys: Collection[str]
) -> Iterator[ZoneGroup]:
    """A group that may launch any of ``types`` that meets its requirements."""
    members = [] if group.members is None else nodes_with(group.members, nodes)
    zones = _zones_of(group, nodes, types)
    by_domain = dict[tuple[str | None, ...], list[Machine]]()
    for instance_type, zone in product(types, zones):
        if zone is None or not instance_type.zones or zone in instance_type.zones:
            for machine in _machines(group, instance_type, {} if zone is None else labels_of_zone(zone, nodes)):
                values = (machine.node.metadata.labels.get(key) for key in sorted(keys))
                by_domain.setdefault((zone, *values), []).append(machine)
    for domain, machines in by_domain.items():
        apart = [part or "" for place, part in enumerate(domain) if len({other[place] for other in by_domain}) > 1]
        labels = [machine.node.metadata.labels for machine in machines]
        yield ZoneGroup(
            group=group,
            zone=domain[0],
            name="/".join((group.name, *apart)),
            template=_common([machine.node for machine in machines]),
            made_of=count_of(len({machine.type for machine in machines}), "instance type"),
            before=sum(
                all(node.metadata.labels.get(key) == labels[0].get(key) for key in (ZONE, *keys)) for node in members
            ),
            is_unknown=group.members is None,
            machines=tuple(machines),
            has_types=True,
        )
    if not by_domain:
        yield ZoneGroup(
            group=group,
            zone=None,
            name=group.name,
            template=None,
            made_of="nothing",
            before=len(members),
            is_unknown=group.members is None,
            has_types=True,
        )


def _zones_of(group: NodeGroup, nodes: Sequence[Node], types: Sequence[InstanceType]) -> Sequence[str | None]:
    """Zones that a group names, else zones of the types and of the cluster's nodes; only ones that it may use."""
    all_zones = {zone for instance_type in types for zone in instance_type.zones}
    all_zones |= {zone for node in nodes if (zone := zone_of(node)) is not None}
    zones = [*(group.zones or sorted(all_zones))]
    return [zone for zone in zones if _meets({ZONE: zone}, group.requirements)] if zones else [None]


def _machines(group: NodeGroup, instance_type: InstanceType, zone: Mapping[str, str]) -> Iterator[Machine]:
    """Machines of a type in a group: one for each value of labels that requirements list and the type leaves open."""
    labels = instance_type.labels
    is_contradicted = any(labels.get(key, value) != value for key, value in group.labels.items())
    if is_contradicted or not _meets(labels, group.requirements):
        return
    fixed_labels = {**labels, **group.labels, **zone}
    left_open = {
        requirement.key: requirement.values
        for requirement in group.requirements
        if requirement.operator == "In" and requirement.key not in fixed_labels
    }
    for values in product(*left_open.values()):
        chosen = dict(zip(left_open, values, strict=True))
        if not _meets(chosen, group.requirements):
            continue
        node = Node(
            metadata=ObjectMeta(name=instance_type.name, labels={**fixed_labels, **chosen}),
            spec=NodeSpec(taints=list(group.taints or ())),
            status=NodeStatus(capacity=instance_type.allocatable, allocatable=instance_type.allocatable),
        )
        yield Machine(as_new_node(_provide(node), {}), instance_type.name, instance_type.price)


def _meets(labels: Mapping[str, str], requirements: Sequence[Requirement]) -> bool:
    """True if the requirements exclude none of the labels: a label that is not there may be any."""
    return all(requirement.matches(labels) for requirement in requirements if requirement.key in labels)


def _common(nodes: Sequence[Node]) -> Node:
    """A node with the labels that all have, and the most of each resource."""
    labels = dict(sorted(set.intersection(*({*node.metadata.labels.items()} for node in nodes))))
    most: ResourceList = {}
    for name, amount in chain.from_iterable(node.status.allocatable.items() for node in nodes):
        most[name] = max((most.get(name) or "0", amount or "0"), key=lambda text: parse(text).nano)
    status = replace(nodes[0].status, capacity=most, allocatable=most)
    return replace(nodes[0], metadata=replace(nodes[0].metadata, labels=labels), status=status)


def _pool_limit(group: NodeGroup, template: Node | None) -> int | None:
    """Number of nodes like ``template`` that the limits of a NodePool allow."""
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
        example = uncordon_node(template) if is_node else _provide(template)
        made_of = f"node {group.template}" if is_node else "template"
    elif members:
        # The provider's own template, which is not known, is not cordoned.
        example, made_of = uncordon_node(members[0]), f"node {members[0].metadata.name}"
    else:
        return None, "nothing"
    in_zone = {} if zone is None else {ZONE: zone}
    node = as_new_node(example, {**in_zone, **dependent_labels(example, in_zone, nodes), **group.labels})
    if group.taints is not None:
        node = replace(node, spec=replace(node.spec, taints=list(group.taints)))
    return node, made_of


def _is_good(node: Node) -> bool:
    """True if the node is ready or does not say, is not cordoned, and is not about to be deleted."""
    ready = [condition.status for condition in node.status.conditions if condition.type == READY]
    is_going = any(taint.key == _TO_BE_DELETED for taint in node.spec.taints)
    return ready in ([], ["True"]) and not node.spec.unschedulable and not is_going


def _provide(template: Node) -> Node:
    """Template with older copies of some labels, which providers' own templates have too."""
    labels = template.metadata.labels
    older = {old: labels[key] for key, old in _OLDER_KEYS.items() if key in labels}
    meta = replace(template.metadata, labels={**older, **labels})
    return replace(template, metadata=meta)


class EqualPods(Struct, frozen=True):
    """Pods of one controller with equal labels and specs: one stands for all."""

    plugins: Framework
    waiting: list[Waiting] = field(default_factory=list)

    @property
    def pod(self) -> Pod:
        """The first, for all of them."""
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


def pod_groups(world: World) -> list[EqualPods]:
    """Pods that an autoscaler provisions for, in the order they came: pods that found no node, except a DaemonSet's.

    Source: karpenter v1.14: pkg/utils/pod/scheduling.go, IsProvisionable
    Source: cluster-autoscaler 1.36.1: cluster-autoscaler/core/podlistprocessor/filter_out_daemon_sets.go, Process
    """
    groups: dict[tuple[WorkloadName | PodKey, bytes], EqualPods] = {}
    specs: dict[int, bytes] = {}
    for waiting in world.waiting:
        scheduled = world.settings.scheduler_of(waiting.pod)
        if waiting.pod.spec.scheduling_gates or scheduled is None or is_daemons(world, waiting.pod):
            continue
        template = id(waiting.template)
        if template not in specs:
            specs[template] = msgspec.json.encode((waiting.pod.metadata.labels, waiting.pod.spec))
        key = world.book.owner_of(waiting.pod) or key_of(waiting.pod), specs[template]
        groups.setdefault(key, EqualPods(scheduled[1])).waiting.append(waiting)
    return list(groups.values())


def largest_first(groups: Iterable[EqualPods], node: Node) -> list[EqualPods]:
    """Sort by the share of ``node``, cpu and memory together, that one pod takes."""
    offered = allocatable(node)

    def share(group: EqualPods) -> float:
        requests, _ = requests_of(group.pod)
        return sum(requests.get(name, 0) / offered[name] for name in ("cpu", "memory") if offered.get(name))

    return sorted(groups, key=share, reverse=True)


class GrowingCluster:
    """An autoscaler's simulation: nodes come with their DaemonSets' pods, and only filters decide which pods fit."""

    def __init__(self, cluster: Cluster, daemons: Sequence[Pod]) -> None:
        """``daemons`` are the pods of all DaemonSets, not pinned to any node."""
        self._daemons = daemons
        self._living = LivingCluster(cluster)
        self._applicants: dict[tuple[int, int], tuple[Pod, Framework, Applicant]] = {}
        """Applicants by the identities of their pods and plugins."""

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self._living.nodes)

    @property
    def cluster(self) -> Cluster:
        return self._living.cluster

    def add(self, node: Node) -> int:
        """Add a node; its position."""
        cluster = self._living.cluster.apply(ClusterChange(added_nodes=[node]))
        position = len(cluster) - 1
        daemons = [pinned_to(pod, node.metadata.name) for pod in self._daemons if should_run(pod, node)]
        if daemons:
            cluster = cluster.apply(ClusterChange(added_pods=[(pod, position) for pod in daemons]))
        self._living = LivingCluster(cluster)
        self._applicants.clear()
        return position

    def fitting(self, pod: Pod, plugins: Framework) -> Mask:
        """Nodes that pass all filters."""
        try:
            return self._applicant(pod, plugins).placing().feasible()
        except SchedulingError:
            return np.zeros(len(self), dtype=np.bool_)

    def verdict(self, pod: Pod, plugins: Framework, node: int) -> Status:
        """Status of the first filter that rejects the node."""
        try:
            return self._applicant(pod, plugins).placing().evaluation().verdict(node)
        except SchedulingError as error:
            return Status(Code.ERROR, (str(error),))

    def place(self, pod: Pod, plugins: Framework, node: int) -> None:
        """Run a copy of the pod on a node that `fitting` named."""
        applicant = self._applicant(pod, plugins)
        applicant.placing()
        applicant.take(Choice(node, 0, 1))

    def _applicant(self, pod: Pod, plugins: Framework) -> Applicant:
        key = id(pod), id(plugins)
        if key not in self._applicants:
            self._applicants[key] = pod, plugins, Applicant(self._living, pod, plugins)
        return self._applicants[key][-1]


def verdicts_on(
    cluster: Cluster, daemons: Sequence[Pod], nodes: Sequence[Node], groups: Sequence[EqualPods]
) -> list[Status]:
    """Verdicts on a pod of each group on each node, group by group, if nodes came with only their DaemonSets' pods."""
    growing = GrowingCluster(cluster, daemons)
    positions = [growing.add(node) for node in nodes]
    return [growing.verdict(group.pod, group.plugins, position) for group in groups for position in positions]


def helps(cluster: Cluster, daemons: Sequence[Pod], node: Node, groups: Sequence[EqualPods]) -> list[EqualPods]:
    """The ``groups`` with pods that pass all filters on ``node``, if it were added."""
    verdicts = verdicts_on(cluster, daemons, [node], groups)
    return [group for group, verdict in zip(groups, verdicts, strict=True) if verdict == SUCCESS]


Additions = Sequence[tuple[ZoneGroup, Sequence[Machine]]]
"""Machines to add to each group."""


class Decision(Struct, frozen=True):
    """An autoscaler's decision on pending pods."""

    additions: Additions
    expected: int
    """Number of pods with room on the added nodes."""
    why: str | None
    tied: tuple[str, ...] = ()
    """Groups that might have been chosen as well."""


def grown_by(world: World, decide: Callable[[Sequence[EqualPods]], Decision | None]) -> Iterator[ScalingLoop]:
    """Let the world grow until nothing waits, ``decide`` finds no help, or new nodes help no pod."""
    number = 0
    while pending := pod_groups(world):
        decision = decide(pending)
        if decision is None:
            return
        number += 1
        before, mark = sum(map(len, pending)), len(world.happenings.placed)
        added = scale_up(world, decision.additions)
        placed = sum(not is_daemons(world, pod) for pod in world.happenings.placed[mark:])
        yield ScalingLoop(
            number=number,
            added=tuple(added),
            pending=before,
            expected=decision.expected,
            placed=placed,
            left=sum(map(len, pod_groups(world))),
            why=decision.why,
            tied=decision.tied,
        )
        # As many may wait again: a rollout that was held up makes its next pods.
        if not placed:
            return


def scale_up(world: World, additions: Additions) -> list[GroupNodes]:
    """Add nodes and their DaemonSets' pods, and let controllers and kube-scheduler work until nothing changes."""
    used_names = set(world.cluster.nodes.names)
    came: list[GroupNodes] = []
    arrived: list[Node] = []
    for group, machines in additions:
        if not machines:
            continue
        nodes = group.new_nodes(machines, used_names)
        names = tuple(node.metadata.name for node in nodes)
        used_names.update(names)
        group.added += names
        group.launched += machines
        arrived += nodes
        types = tuple(machine.type for machine in machines if machine.type is not None)
        came.append(GroupNodes(group=group.name, zone=group.zone, nodes=names, types=types))
    change = NodeChange(added=tuple(arrived))
    world.change_nodes(change)
    update_daemon_pods(world, change, {})
    world.settle()
    return came


def is_daemons(world: World, pod: Pod) -> bool:
    owner = world.book.owner_of(pod)
    return owner is not None and owner.kind == "DaemonSet"
