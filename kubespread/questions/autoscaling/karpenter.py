"""Karpenter, round by round: pods go one by one onto existing nodes, onto nodes planned in this round, or onto new
ones; then the new nodes are launched and kube-scheduler places the waiting pods.

A planned node may be any machine that takes all its pods, and the cheapest of them is launched. Outlined; where
Karpenter chooses at random, the first name is taken. Topology spread as Karpenter sees it: the minimum is taken over
the domains that its pools could make, whether or not a node of them runs. Outlined.

Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/scheduler.go, Solve, addToExistingNode,
    addToInflightNode, addToNewNodeClaim, filterByRemainingResources, subtractMax
Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/nodeclaim.go, CanAdd,
    filterInstanceTypesByRequirements
Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/topology.go, NewTopology
Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/topologygroup.go, Get, nextDomainTopologySpread,
    domainMinCount
Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/preferences.go, Relax
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.daemonset import should_run
from kubespread.errors import SnapshotError
from kubespread.kube.api.core import (
    Affinity,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAntiAffinity,
    PodSpec,
    PreferredSchedulingTerm,
    Toleration,
    WeightedPodAffinityTerm,
)
from kubespread.kube.api.meta import ResourceList
from kubespread.kube.quantity import QuantityError, parse
from kubespread.kube.selector import Requirement, from_map, parse_term, required_node_selector
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, PREFER_NO_SCHEDULE, untolerated
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME
from kubespread.node_groups import NodeGroup
from kubespread.questions.autoscaling.growing import Decision, EqualPods, GrowingCluster, Machine, ZoneGroup, grown_by
from kubespread.reports.autoscaling import ScalingLoop
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import ABSENT, Mask, allocatable, allowed_pods, canonical, requests_of
from kubespread.scheduler.cluster.nodes import Nodes, matches_required_node_affinity
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.node_affinity import NodeAffinity as NodeAffinityPlugin
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    Constraint,
    DefaultConstraints,
    NodeInclusion,
    counted_kinds,
    pod_constraints,
)
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.snapshot.edits.verb import nodes_with
from kubespread.world.events.world import World
from kubespread.world.store.waiting import Waiting

_TOLERATES_PREFERENCES = Toleration(operator="Exists", effect=PREFER_NO_SCHEDULE)

Weighted = PreferredSchedulingTerm | WeightedPodAffinityTerm
Relaxation = Callable[[PodSpec], PodSpec | None]
"""Function that drops one preference of a spec; None if the spec has none of the kind."""


class Stage(Struct, frozen=True):
    """A pod with some of its preferences dropped."""

    pod: Pod
    """The pod with its remaining preferences as requirements."""
    strict: Pod
    """The pod without preferred nodes, which do not limit its domains (NewStrictPodRequirements)."""


def stages(pod: Pod) -> Iterator[Stage]:
    """Yield the pod with all preferences required, then with one fewer each time."""
    spec: PodSpec | None = pod.spec
    while spec is not None:
        strict = _without_preferred_nodes(spec)
        yield Stage(replace(pod, spec=_require(spec)), replace(pod, spec=_require(strict)))
        spec = next((relaxed for relax in _RELAXATIONS if (relaxed := relax(spec)) is not None), None)


def _without_preferred_nodes(spec: PodSpec) -> PodSpec:
    if spec.affinity is None or spec.affinity.node_affinity is None:
        return spec
    return _with_affinity(spec, "node_affinity", preferred_during_scheduling_ignored_during_execution=[])


def _with_affinity(spec: PodSpec, kind: str, **terms: object) -> PodSpec:
    """The spec with other terms in one kind of its affinity."""
    affinity = spec.affinity or Affinity()
    return replace(spec, affinity=replace(affinity, **{kind: replace(getattr(affinity, kind), **terms)}))


def _require(spec: PodSpec) -> PodSpec:
    constraints = [
        replace(constraint, when_unsatisfiable=DO_NOT_SCHEDULE) for constraint in spec.topology_spread_constraints
    ]
    affinity = spec.affinity
    if affinity is None:
        return replace(spec, topology_spread_constraints=constraints)
    hardened = Affinity(
        node_affinity=_required_of_nodes(affinity.node_affinity),
        pod_affinity=_required_of_pods(affinity.pod_affinity),
        pod_anti_affinity=_required_of_pods(affinity.pod_anti_affinity),
    )
    return replace(spec, topology_spread_constraints=constraints, affinity=hardened)


def _required_of_nodes(affinity: NodeAffinity | None) -> NodeAffinity | None:
    """The first of the required terms, joined with the most preferred one."""
    if affinity is None:
        return None
    terms = _terms(affinity)[:1] or [NodeSelectorTerm()]
    if preferred := affinity.preferred_during_scheduling_ignored_during_execution:
        wish, term = preferred[_heaviest(preferred)].preference, terms[0]
        terms = [
            NodeSelectorTerm(
                match_expressions=[*term.match_expressions, *wish.match_expressions],
                match_fields=[*term.match_fields, *wish.match_fields],
            )
        ]
    if terms == [NodeSelectorTerm()]:
        return None
    return NodeAffinity(required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=terms))


Kind = TypeVar("Kind", PodAffinity, PodAntiAffinity)


def _required_of_pods(affinity: Kind | None) -> Kind | None:
    if affinity is None:
        return None
    return replace(
        affinity,
        required_during_scheduling_ignored_during_execution=affinity.terms,
        preferred_during_scheduling_ignored_during_execution=[],
    )


def _terms(affinity: NodeAffinity) -> list[NodeSelectorTerm]:
    required = affinity.required_during_scheduling_ignored_during_execution
    return [] if required is None else required.node_selector_terms


def _heaviest(terms: Sequence[Weighted]) -> int:
    return max(range(len(terms)), key=lambda place: terms[place].weight)


def _fewer_required_terms(spec: PodSpec) -> PodSpec | None:
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None or len(terms := _terms(affinity)) < 2:
        return None
    rest = NodeSelector(node_selector_terms=terms[1:])
    return _with_affinity(spec, "node_affinity", required_during_scheduling_ignored_during_execution=rest)


def _fewer_preferred(kind: str) -> Relaxation:
    def relax(spec: PodSpec) -> PodSpec | None:
        affinity: NodeAffinity | PodAffinity | PodAntiAffinity | None = getattr(spec.affinity, kind, None)
        preferred: Sequence[Weighted] = (
            [] if affinity is None else affinity.preferred_during_scheduling_ignored_during_execution
        )
        if not preferred:
            return None
        heaviest = _heaviest(preferred)
        rest = [term for place, term in enumerate(preferred) if place != heaviest]
        return _with_affinity(spec, kind, preferred_during_scheduling_ignored_during_execution=rest)

    return relax


def _fewer_soft_constraints(spec: PodSpec) -> PodSpec | None:
    constraints = spec.topology_spread_constraints
    soft = next((constraint for constraint in constraints if constraint.when_unsatisfiable != DO_NOT_SCHEDULE), None)
    if soft is None:
        return None
    return replace(
        spec, topology_spread_constraints=[constraint for constraint in constraints if constraint is not soft]
    )


def _tolerating_preferences(spec: PodSpec) -> PodSpec | None:
    if _TOLERATES_PREFERENCES in spec.tolerations:
        return None
    return replace(spec, tolerations=[*spec.tolerations, _TOLERATES_PREFERENCES])


_RELAXATIONS: tuple[Relaxation, ...] = (
    _fewer_required_terms,
    _fewer_preferred("pod_affinity"),
    _fewer_preferred("pod_anti_affinity"),
    _fewer_preferred("node_affinity"),
    _fewer_soft_constraints,
    _tolerating_preferences,
)


NO_DEFAULTS = DefaultConstraints("system", ())


class TopologyGroup(Struct, frozen=True):
    """One constraint of a pod, and the matching pods of each domain."""

    constraint: Constraint
    counts: Counter[str]
    """Pods by domain, for every possible domain."""
    minimum: int

    @property
    def key(self) -> str:
        return self.constraint.topology_key

    def admits(self, domain: str | None) -> bool:
        """True if the pod may go to ``domain``; False for a node without the label."""
        if domain is None:
            return False
        return self.counts[domain] + self.constraint.self_match - self.minimum <= self.constraint.max_skew

    def nodes(self, cluster: Cluster) -> Mask:
        """Nodes in admitted domains."""
        column = cluster.nodes.label(self.key)
        answers = [*map(self.admits, column.values), False]
        return np.array(answers, dtype=np.bool_)[column.codes]


def spreads(cluster: Cluster, pod: Pod, templates: Iterable[Node]) -> list[TopologyGroup]:
    """Constraints of ``pod``, all treated as hard; the scheduler's defaults are not read."""
    if not pod.spec.topology_spread_constraints:
        return []
    nodes = list(templates)
    constraints = pod_constraints(pod, NO_DEFAULTS, cluster.objects).constraints
    inclusion = NodeInclusion(cluster.nodes, pod, compares=False)
    return [_spread(cluster, pod, constraint, inclusion, nodes) for constraint in constraints]


def _spread(
    cluster: Cluster, pod: Pod, constraint: Constraint, inclusion: NodeInclusion, templates: Sequence[Node]
) -> TopologyGroup:
    column, eligible = cluster.nodes.label(constraint.topology_key), inclusion.by_policies(constraint)
    counts: Counter[str] = Counter(dict.fromkeys(_possible(pod, constraint, templates), 0))
    counts.update({column.values[code]: 0 for code in set(column.codes[eligible].tolist()) if code != ABSENT})
    arrived = cluster.arrivals(counted_kinds(cluster, constraint, pod.metadata.namespace))
    codes = column.codes[arrived.node[eligible[arrived.node]]]
    matching = np.bincount(codes[codes != ABSENT], minlength=len(column.values)).tolist()
    counts.update(dict(zip(column.values, matching, strict=True)) if any(matching) else {})
    return TopologyGroup(constraint, counts, _minimum(pod, constraint, counts))


def _possible(pod: Pod, constraint: Constraint, templates: Sequence[Node]) -> Iterator[str]:
    """The domains of nodes that could be made; with nodeTaintsPolicy Honor the pod has to tolerate their taints."""
    for node in templates:
        domain = node.metadata.labels.get(constraint.topology_key)
        is_left_out = constraint.honors_taints and untolerated(
            node.spec.taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS
        )
        if domain is not None and not is_left_out:
            yield domain


def _minimum(pod: Pod, constraint: Constraint, counts: Counter[str]) -> int:
    """Minimum over the domains that the pod's own requirements allow. A new host is always possible, and is empty."""
    if constraint.topology_key == HOSTNAME:
        return 0
    requirements = list(_requirements(pod, constraint.topology_key))
    allowed = [
        count for domain, count in counts.items() if all(requirement.admits(domain) for requirement in requirements)
    ]
    return 0 if len(allowed) < (constraint.min_domains or 1) else min(allowed)


def _requirements(pod: Pod, key: str) -> Iterator[Requirement]:
    """The pod's requirements on one node label; of several required terms the first."""
    yield from (requirement for requirement in from_map(pod.spec.node_selector).requirements if requirement.key == key)
    required = required_node_selector(pod)
    for term in [] if required is None else required.node_selector_terms[:1]:
        yield from (label for label in parse_term(term).labels if label.key == key)


_PREFERRED_AWAY = frozenset({PREFER_NO_SCHEDULE})
_PODS = "pods"
_NODES = "nodes"
"""The limit of how many nodes a pool has; in one round Karpenter may overrun it by some."""
_ALWAYS = (
    "zones of nodes that no constraint asks for (the first by name), reserved and spot capacity, limits that are "
    "overrun within a round, minValues, batching, consolidation"
)
NOT_MODELLED = (
    "karpenter: the choice of instance types and their prices (a new node is like the template of its pool), "
    f"{_ALWAYS}",
)
NOT_MODELLED_OF_TYPES = (f"karpenter: prices that differ by zone or capacity type, types that are sold out, {_ALWAYS}",)


def loops(world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> Iterator[ScalingLoop]:
    """Let the world grow until no pod waits, no pool helps, or new nodes help no pod."""

    def decide(pending: Sequence[EqualPods]) -> Decision | None:
        round_ = _Round(GrowingCluster(world.cluster, daemons), groups, daemons)
        round_.place(pending)
        if not round_.claims:
            return None
        launched = [(group, [cheapest(claim.machines) for claim in round_.claims_of(group)]) for group in groups]
        return Decision(launched, round_.placed, round_.why)

    return grown_by(world, decide)


def cheapest(machines: Iterable[Machine]) -> Machine:
    """The machine with the lowest price, then without a price; of equals the smallest, by cpu and memory, then the
    first by name.
    """

    def key(machine: Machine) -> tuple[bool, Decimal, int, int, str]:
        offered, price = allocatable(machine.node), machine.price
        sizes = offered.get("cpu", 0), offered.get("memory", 0)
        return price is None, price or Decimal(0), *sizes, machine.type or ""

    return min(machines, key=key)


class _PodKind(Struct, frozen=True):
    """Identical pods, with their preferences in stages, and the filters that judge them here."""

    group: EqualPods
    plugins: Framework
    """Filters for existing nodes."""
    planning: Framework
    """Filters for planned nodes, except for labels and sizes: these are judged for each machine that a node may be."""
    stages: tuple[Stage, ...]
    requests: Mapping[str, int]
    """Requests of one pod, with 1 of ``pods``."""


class _Claim(Struct):
    """A node that is planned in this round."""

    group: ZoneGroup
    machines: list[Machine]
    """Machines that it may still be."""
    requests: Counter[str] = field(default_factory=Counter)
    """Requests of its pods, which are counted as ``pods``."""


class _Round:
    """One round of Karpenter's scheduling."""

    def __init__(self, growing: GrowingCluster, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> None:
        self._growing, self._daemons = growing, daemons
        self._there = len(growing)
        able = [group for group in groups if group.template is not None]
        self._groups = sorted(able, key=lambda group: (-group.group.weight, group.name))
        self._templates = [group.trial() for group in self._groups]
        nodes = growing.cluster.nodes.objects
        self._remaining = _remaining_of_pools(able, nodes)
        self._rooms: dict[int, Mapping[str, int]] = {}
        """Room by the identity of a machine."""
        self._allowed: dict[tuple[str, int], frozenset[int]] = {}
        """The machines of a group that a pod's node selector and affinity let in, by the identity of the pod."""
        self.claims: list[_Claim] = []
        """Claims by their place behind the existing nodes."""
        self.placed = 0
        self.why: str | None = None

    def claims_of(self, group: ZoneGroup) -> list[_Claim]:
        return [claim for claim in self.claims if claim.group is group]

    def place(self, pending: Sequence[EqualPods]) -> None:
        """Place all pods that find room; the others are tried again after them, until no more are placed."""
        waiting = _in_order([(_kind_of(group), pod) for group in pending for pod in group.waiting])
        while waiting:
            unplaced, stuck = list[tuple[_PodKind, Waiting]](), set[int]()
            for kind, pod in waiting:
                if id(kind) not in stuck and self._place(kind):
                    self.placed += 1
                    stuck.clear()
                else:
                    stuck.add(id(kind))
                    unplaced.append((kind, pod))
            if len(unplaced) == len(waiting):
                self.why = self._reason(unplaced[0][0])
                return
            waiting = unplaced

    def _place(self, kind: _PodKind) -> bool:
        for stage in kind.stages:
            spread = spreads(self._growing.cluster, stage.strict, self._templates)
            node = self._among_nodes(kind, stage.pod, spread)
            if node is None:
                node = self._planned_node(kind, stage.pod, spread)
            if node is None:
                node = self._new_node(kind, stage.pod, spread)
            if node is not None:
                self._growing.place(kind.group.pod, kind.plugins, node)
                return True
        return False

    def _among_nodes(self, kind: _PodKind, pod: Pod, spread: Sequence[TopologyGroup]) -> int | None:
        """The first existing node by name that fits."""
        names = self._growing.cluster.nodes.names
        fitting = self._fitting(kind.plugins, pod, spread)
        return min((node for node in fitting if node < self._there), key=lambda node: names[node], default=None)

    def _planned_node(self, kind: _PodKind, pod: Pod, spread: Sequence[TopologyGroup]) -> int | None:
        """The planned node with the fewest pods that fits."""
        if not self.claims:
            return None
        names = self._growing.cluster.nodes.names
        fitting = [node for node in self._fitting(kind.planning, pod, spread) if node >= self._there]
        for node in sorted(fitting, key=lambda node: (self.claims[node - self._there].requests[_PODS], names[node])):
            claim = self.claims[node - self._there]
            if machines := self._taking(claim.machines, claim, kind, pod):
                claim.machines = machines
                claim.requests.update(kind.requests)
                return node
        return None

    def _fitting(self, plugins: Framework, pod: Pod, spread: Sequence[TopologyGroup]) -> list[int]:
        fitting = self._growing.fitting(pod, plugins)
        for constraint in spread:
            fitting = fitting & constraint.nodes(self._growing.cluster)
        positions: list[int] = np.flatnonzero(fitting).tolist()
        return positions

    def _new_node(self, kind: _PodKind, pod: Pod, spread: Sequence[TopologyGroup]) -> int | None:
        """A node of the first pool that can make one, in the allowed domain with the fewest pods."""
        tried: dict[str, list[tuple[tuple[int, ...], ZoneGroup]]] = {}
        for group, template in zip(self._groups, self._templates, strict=True):
            labels = template.metadata.labels
            domains = [(constraint, labels.get(constraint.key)) for constraint in spread if constraint.key in labels]
            if len(domains) == len(spread) and all(constraint.admits(domain) for constraint, domain in domains):
                fullness = tuple(constraint.counts[domain or ""] for constraint, domain in domains)
                tried.setdefault(group.group.name, []).append((fullness, group))
        for choices in tried.values():
            for _, group in sorted(choices, key=lambda choice: (choice[0], choice[1].name)):
                claim = _Claim(group, self._within_limits(group))
                claim.machines = self._taking(claim.machines, claim, kind, pod)
                if claim.machines and self._takes(group, kind, pod):
                    self._reserve(claim)
                    claim.requests.update(kind.requests)
                    self.claims.append(claim)
                    return self._growing.add(group.trial(len(self.claims_of(group))))
        return None

    def _within_limits(self, group: ZoneGroup) -> list[Machine]:
        """The machines that a further node may be."""
        if group.room is not None and group.room <= len(self.claims_of(group)):
            return []
        return _within_limits(self._remaining[group.group.name], group)

    def _reserve(self, claim: _Claim) -> None:
        """Count the claim's largest machine towards the limits: it might be that one."""
        remaining = self._remaining[claim.group.group.name]
        for name in remaining:
            remaining[name] -= max(_amount(machine.node, name) for machine in claim.machines)

    def _taking(self, machines: Sequence[Machine], claim: _Claim, kind: _PodKind, pod: Pod) -> list[Machine]:
        """Machines with labels and room for one more pod beside the pods of ``claim``."""
        allowed = self._allowed_for(claim.group, pod)
        needed = {name: amount + claim.requests[name] for name, amount in kind.requests.items() if amount}
        return [
            machine
            for machine in machines
            if id(machine) in allowed
            and all(amount <= self._room(machine).get(name, 0) for name, amount in needed.items())
        ]

    def _allowed_for(self, group: ZoneGroup, pod: Pod) -> frozenset[int]:
        key = group.name, id(pod)
        if key not in self._allowed:
            admitted = matches_required_node_affinity(Nodes([machine.node for machine in group.machines]), pod)
            self._allowed[key] = frozenset(id(group.machines[place]) for place in np.flatnonzero(admitted))
        return self._allowed[key]

    def _room(self, machine: Machine) -> Mapping[str, int]:
        """Room on an empty node of the machine beside the pods of its DaemonSets."""
        if id(machine) not in self._rooms:
            room = Counter({**allocatable(machine.node), _PODS: allowed_pods(machine.node)})
            for daemon in self._daemons:
                if should_run(daemon, machine.node):
                    room.subtract({**requests_of(daemon)[0], _PODS: 1})
            self._rooms[id(machine)] = room
        return self._rooms[id(machine)]

    def _takes(self, group: ZoneGroup, kind: _PodKind, pod: Pod) -> bool:
        trial = group.trial()
        if untolerated(trial.spec.taints, pod.spec.tolerations, _PREFERRED_AWAY):
            return False
        growing = GrowingCluster(self._growing.cluster, self._daemons)
        node = growing.add(trial)
        return bool(growing.fitting(pod, kind.planning)[node])

    def _reason(self, kind: _PodKind) -> str:
        """Reason no pool can help a pod, once all its preferences are dropped."""
        reasons = dict.fromkeys(filter(None, (self.hindrance(group, kind.group) for group in self._groups)))
        return "; ".join(reasons) or "no node that a pool makes has room for the pod"

    def hindrance(self, group: ZoneGroup, pods: EqualPods) -> str | None:
        """Reason Karpenter adds no node of ``group`` though one would take the pods; None without such a reason."""
        kind = _kind_of(pods)
        stage = kind.stages[-1]
        claim = _Claim(group, [])
        takers = self._taking(group.machines, claim, kind, stage.pod)
        if not takers or not self._takes(group, kind, stage.pod):
            return None
        labels = group.trial().metadata.labels
        for constraint in spreads(self._growing.cluster, stage.strict, self._templates):
            domain = labels.get(constraint.key)
            if domain is None:
                return f"its nodes lack {constraint.key}, over which the pod is spread"
            if not constraint.admits(domain):
                counts = ", ".join(f"{value} {count}" for value, count in sorted(constraint.counts.items()))
                why = "for Karpenter also counts the domains of nodes that pools can make"
                return f"no more pods may go to {constraint.key} {domain}, {why}: {counts}"
        if group.room is not None and group.room <= len(self.claims_of(group)):
            return f"{group.name} may have no more nodes"
        remaining = self._remaining[group.group.name]
        # The machine for which least is lacking.
        lacking = [[name for name, left in remaining.items() if _amount(taker.node, name) > left] for taker in takers]
        if short := min(lacking, key=len):
            return f"{_limits_leave(group.group, remaining, short)}, too little for a node that takes the pod"
        return None


def hindrances(
    cluster: Cluster, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]
) -> Callable[[ZoneGroup, EqualPods], str | None]:
    """Function for the reason Karpenter adds no node of a group in ``cluster``, though one would take the pods."""
    return _Round(GrowingCluster(cluster, daemons), groups, daemons).hindrance


def _print(nano: int) -> str:
    """An amount in billionths as a quantity."""
    return str(max(nano, 0) // 10**9) if nano % 10**9 == 0 else f"{max(nano, 0) // 10**6}m"


def at_their_limits(groups: Sequence[ZoneGroup], nodes: Sequence[Node]) -> dict[str, str]:
    """Reasons, by name, for groups that get no further node: their pools' limits leave too little for any machine."""
    able = [group for group in groups if group.machines]
    remaining = _remaining_of_pools(able, nodes)
    why = dict[str, str]()
    for group in able:
        left = remaining[group.group.name]
        if not _within_limits(left, group):
            short = [
                name for name in left if all(_amount(machine.node, name) > left[name] for machine in group.machines)
            ]
            why[group.name] = f"{_limits_leave(group.group, left, short or left)}, too little for another node"
    return why


def too_little_for(pod: Pod, group: ZoneGroup, nodes: Sequence[Node]) -> str:
    """Note on a pool's limits if they leave less than the pod requests, and so no machine for it of any type."""
    requests = requests_of(pod)[0]
    remaining = _remaining([group], nodes, requests)
    short = [name for name, left in remaining.items() if parse(canonical(name, requests[name])).nano > left]
    return f"{_limits_leave(group.group, remaining, short)}, less than the pod requests" if short else ""


def _limits_leave(group: NodeGroup, remaining: Mapping[str, int], short: Iterable[str]) -> str:
    """``spec.limits of NodePool default leave 1 of cpu 64``."""
    left = ", ".join(f"{_print(remaining[name])} of {name} {group.limits[name]}" for name in short)
    return f"spec.limits of NodePool {group.name} leave {left}"


def _within_limits(remaining: Mapping[str, int], group: ZoneGroup) -> list[Machine]:
    """The machines of a group that limits leave room for."""
    return [
        machine
        for machine in group.machines
        if all(_amount(machine.node, name) <= left for name, left in remaining.items())
    ]


def _remaining_of_pools(groups: Sequence[ZoneGroup], nodes: Sequence[Node]) -> dict[str, dict[str, int]]:
    """Amount of each resource that the limits of each pool leave, in billionths."""
    pools = dict[str, list[ZoneGroup]]()
    for group in groups:
        pools.setdefault(group.group.name, []).append(group)
    return {name: _remaining(pool, nodes, _resources(pool)) for name, pool in pools.items()}


def _resources(pool: Sequence[ZoneGroup]) -> set[str]:
    """Resources that limits are checked for: a resource that no machine has is not."""
    return {_NODES, *(name for group in pool for machine in group.machines for name in _sizes(machine.node))}


def _remaining(pool: Sequence[ZoneGroup], nodes: Sequence[Node], resources: Collection[str]) -> dict[str, int]:
    """Amount of each of ``resources`` that the limits of a pool leave beside the nodes that it has."""
    group = pool[0].group
    added = {name for zone_group in pool for name in zone_group.added}
    members = [] if group.members is None else nodes_with(group.members, nodes)
    there = [node for node in members if node.metadata.name not in added]
    there += [machine.node for zone_group in pool for machine in zone_group.launched]
    try:
        return {
            name: parse(limit).nano - sum(_amount(node, name) for node in there)
            for name, limit in group.limits.items()
            if name in resources
        }
    except QuantityError as error:
        raise SnapshotError(f"NodePool {group.name}: spec.limits: {error}") from error


def _sizes(node: Node) -> ResourceList:
    return node.status.capacity or node.status.allocatable


def _amount(node: Node, resource: str) -> int:
    """Amount in billionths; limits may also say how many nodes there may be."""
    return parse(1 if resource == _NODES else _sizes(node).get(resource, 0)).nano


def _kind_of(group: EqualPods) -> _PodKind:
    """Kind of identical pods: Karpenter's own rules judge spreading, the profile's filters everything else."""
    plugins = _framework_without(group.plugins, PodTopologySpread.name)
    return _PodKind(
        group=group,
        plugins=plugins,
        planning=_framework_without(plugins, NodeAffinityPlugin.name, NodeResourcesFit.name),
        stages=tuple(stages(group.pod)),
        requests={**requests_of(group.pod)[0], _PODS: 1},
    )


def _framework_without(plugins: Framework, *names: str) -> Framework:
    return replace(
        plugins,
        filters=[plugin for plugin in plugins.filters if plugin.name not in names],
        pre_filters=[pre_filter for pre_filter in plugins.pre_filters if pre_filter.name not in names],
        scores=(),
    )


def _in_order(waiting: Sequence[tuple[_PodKind, Waiting]]) -> list[tuple[_PodKind, Waiting]]:
    """Sort by cpu, then memory, the most first; then the oldest, then by name."""

    def key(entry: tuple[_PodKind, Waiting]) -> tuple[int, int, str, str, str]:
        requests, meta = entry[0].requests, entry[1].pod.metadata
        return (
            -requests.get("cpu", 0),
            -requests.get("memory", 0),
            meta.creation_timestamp,
            meta.uid or meta.namespace,
            meta.name,
        )

    return sorted(waiting, key=key)
