"""Constraints of a pod: its own, or the profile's, or the scheduler's built-in ones with a derived selector.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, filterTopologySpreadConstraints,
    buildDefaultConstraints, mergeLabelSetWithSelector
Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, getConstraints, systemDefaultConstraints
Source: pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector
Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go, ValidatePodTopologySpreadArgs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct, field, msgpack
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, Service, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.api.workloads import ReplicationController
from kubespread.kube.name_rules import label_key_faults
from kubespread.kube.owners import controller_of, find_controller
from kubespread.kube.selector import (
    NOTHING,
    Requirement,
    Selector,
    SelectorError,
    from_label_selector,
    from_map,
    required_node_selector,
)
from kubespread.kube.validation.faults import FieldFault, invalid_each, one_of
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, SCHEDULE_ANYWAY, ZONE
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Codes, DomainCounts, Mask, some
from kubespread.scheduler.cluster.kinds import KindJudgment, KindNumber, KindTable, PodKind
from kubespread.scheduler.cluster.memo import Memo
from kubespread.scheduler.cluster.nodes import Nodes, everywhere, matches_required_node_affinity, tolerated_nodes
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.plugin import Args

Source = Literal["pod", "profile", "system"]
"""Source of a constraint."""
SYSTEM, LIST = "System", "List"


class DefaultConstraints(Struct, frozen=True):
    """Constraints of pods that declare none; their selector is derived."""

    source: Source
    constraints: tuple[TopologySpreadConstraint, ...]


SYSTEM_DEFAULTS = DefaultConstraints(
    "system",
    (
        TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
        TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=SCHEDULE_ANYWAY),
    ),
)


class PodTopologySpreadArgs(Args):
    default_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    defaulting_type: str = ""

    def defaults(self, version: KubeVersion) -> DefaultConstraints:
        """Default constraints; built-in ones only with the gate DefaultPodTopologySpread."""
        if self.defaulting_type != LIST:
            return SYSTEM_DEFAULTS if version.has("DefaultPodTopologySpread") else DefaultConstraints("profile", ())
        # matchLabelKeys of a default constraint have no effect: the derived selector replaces the whole selector.
        constraints = (replace(constraint, match_label_keys=[]) for constraint in self.default_constraints)
        return DefaultConstraints("profile", tuple(constraints))

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        defaulting_type = self.defaulting_type or SYSTEM
        yield from one_of(f"{path}.defaultingType", defaulting_type, (SYSTEM, LIST))
        if defaulting_type == SYSTEM and self.default_constraints:
            yield FieldFault(f"{path}.defaultingType", "must be List where there are defaultConstraints")
        pairs: set[tuple[str, str]] = set()
        for position, constraint in enumerate(self.default_constraints):
            field = f"{path}.defaultConstraints[{position}]"
            yield from _constraint_faults(constraint, field)
            pair = (constraint.topology_key, constraint.when_unsatisfiable)
            if pair in pairs:
                yield FieldFault(field, "duplicate topologyKey and whenUnsatisfiable")
            pairs.add(pair)


def _constraint_faults(constraint: TopologySpreadConstraint, path: str) -> Iterator[FieldFault]:
    key, action = constraint.topology_key, constraint.when_unsatisfiable
    if constraint.max_skew <= 0:
        yield FieldFault(f"{path}.maxSkew", "must be greater than 0")
    yield from invalid_each(f"{path}.topologyKey", key, label_key_faults(key))
    yield from one_of(f"{path}.whenUnsatisfiable", action, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
    if constraint.label_selector is not None:
        yield FieldFault(f"{path}.labelSelector", "not allowed: it is made for each pod")


class Constraint(Struct, frozen=True):
    """One constraint in force, with defaults and a parsed selector."""

    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    selector: Selector
    self_match: int
    """1 if the pod itself matches the selector, else 0."""
    min_domains: int | None
    honors_affinity: bool
    honors_taints: bool
    source: Source
    counts_pods: bool = True
    """False for a selector without requirements, which matches every pod and counts none."""

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


class PodConstraints(Struct, frozen=True):
    """All constraints of one pod, in declared order."""

    constraints: tuple[Constraint, ...] = ()
    all_keys: bool = True
    """True if only nodes with every soft constraint's key are scored; False for the built-in constraints."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Malformed selector by whenUnsatisfiable, in the scheduler's words."""

    def positions(self, when_unsatisfiable: str) -> list[int]:
        """Positions of hard or soft constraints."""
        return [
            position
            for position, constraint in enumerate(self.constraints)
            if constraint.when_unsatisfiable == when_unsatisfiable
        ]


def pod_constraints(
    pod: Pod, defaults: DefaultConstraints, objects: ClusterObjects, *, empty_selector_counts: bool = False
) -> PodConstraints:
    """Constraints in force for ``pod``. Any constraint of its own, hard or soft, switches the defaults off."""
    own = pod.spec.topology_spread_constraints
    if own:
        return _own_constraints(pod, own, empty_selector_counts=empty_selector_counts)
    selector = default_selector(pod, objects) if defaults.constraints else Selector()
    if selector.is_empty:
        return PodConstraints()
    constraints = tuple(_constraint(constraint, selector, pod, defaults.source) for constraint in defaults.constraints)
    return PodConstraints(constraints, all_keys=defaults.source != "system")


def _own_constraints(
    pod: Pod, own: Iterable[TopologySpreadConstraint], *, empty_selector_counts: bool
) -> PodConstraints:
    constraints: list[Constraint] = []
    problems: dict[str, str] = {}
    for constraint in own:
        action = constraint.when_unsatisfiable
        # filterTopologySpreadConstraints selects by action; other values, from servers without validation, match none.
        if action not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
            continue
        try:
            selector = _effective_selector(constraint.label_selector, constraint.match_label_keys, pod.metadata.labels)
        except SelectorError as error:
            problems.setdefault(action, str(error))
            selector = NOTHING
        parsed = _constraint(constraint, selector, pod, "pod")
        constraints.append(replace(parsed, counts_pods=empty_selector_counts or not selector.is_empty))
    return PodConstraints(tuple(constraints), problems=problems)


def _effective_selector(
    label_selector: LabelSelector | None, keys: Iterable[str], labels: Mapping[str, str]
) -> Selector:
    """The labelSelector and the pod's own values for matchLabelKeys; keys the pod lacks are dropped.

    The API server has merged the keys into the selector already; the scheduler repeats them, which changes nothing.
    """
    selector = from_label_selector(label_selector)
    own = set(selector.requirements)
    requirements = (Requirement(key, "In", (labels[key],)) for key in keys if key in labels)
    return selector.and_also(*(requirement for requirement in requirements if requirement not in own))


def _constraint(constraint: TopologySpreadConstraint, selector: Selector, pod: Pod, source: Source) -> Constraint:
    return Constraint(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        when_unsatisfiable=constraint.when_unsatisfiable,
        selector=selector,
        self_match=int(selector.matches(pod.metadata.labels)),
        min_domains=constraint.min_domains,
        honors_affinity=constraint.node_affinity_policy in (None, "Honor"),
        honors_taints=constraint.node_taints_policy == "Honor",
        source=source,
    )


def default_selector(pod: Pod, objects: ClusterObjects) -> Selector:
    """Selector of all default constraints: matching Services merged, then the pod's controller.

    Empty if nothing selects the pod, which then has no default constraints at all.
    """
    namespace, labels = pod.metadata.namespace, pod.metadata.labels
    merged: dict[str, str] = {}
    for service in objects.get(Service):
        service_labels = service.spec.selector
        if (
            service.metadata.namespace == namespace
            and service_labels is not None
            and service_labels.items() <= labels.items()
        ):
            merged |= service_labels
    owner = controller_of(pod)
    owning = find_controller(owner, namespace, objects) if owner is not None else None
    if isinstance(owning, ReplicationController):
        return from_map(merged | (owning.spec.selector or {}))
    selector = from_map(merged)
    if owning is None or owning.spec.selector is None:
        return selector
    try:
        return selector.and_also(*from_label_selector(owning.spec.selector).requirements)
    except SelectorError:
        # The scheduler skips an owner whose selector it cannot parse.
        return selector


class NodeInclusion:
    """Nodes that nodeAffinityPolicy and nodeTaintsPolicy include for one pod, computed once per policy.

    NodeAffinityArgs.addedAffinity and cordons without a taint are invisible to both.
    """

    def __init__(self, nodes: Nodes, pod: Pod, *, compares: bool) -> None:
        self._affinity = matches_required_node_affinity(nodes, pod)
        self._taints = tolerated_nodes(nodes, pod, compares=compares)
        self._everywhere = everywhere(nodes)

    @classmethod
    def get_or_make(cls, cluster: Cluster, pod: Pod, *, compares: bool) -> NodeInclusion:
        """Cached inclusion for all pods of a cluster with the same affinity and tolerations."""
        read = pod.spec.node_selector, required_node_selector(pod), pod.spec.tolerations
        key = msgpack.encode(read), compares
        return _INCLUSIONS.get_or_make(cluster.results, key, lambda: cls(cluster.nodes, pod, compares=compares))

    def by_policies(self, constraint: Constraint) -> Mask:
        included = self.by_affinity(constraint)
        return included & self._taints if constraint.honors_taints else included

    def by_affinity(self, constraint: Constraint) -> Mask:
        """Nodes that the constraint would include if it did not honor taints."""
        return self._affinity if constraint.honors_affinity else self._everywhere

    def excludes_others_than(self, earlier: NodeInclusion) -> bool:
        """True if taints exclude other nodes than in ``earlier``, an inclusion of nodes with the same labels."""
        return some(self._taints != earlier._taints)


_INCLUSIONS = Memo[tuple[bytes, bool], NodeInclusion]()


def has_all_keys(nodes: Nodes, constraints: Iterable[Constraint]) -> Mask:
    present = everywhere(nodes)
    for constraint in constraints:
        present &= nodes.label(constraint.topology_key).present
    return present


def counted_kinds(cluster: Cluster, constraint: Constraint, namespace: str) -> KindJudgment:
    """Kinds of pods that a constraint counts: selected, in the candidate's namespace, not terminating."""
    if not constraint.counts_pods:
        return KindJudgment(cluster.kinds, lambda kind: False, among=lambda: ())
    return _selected_kinds(cluster.kinds, constraint.selector, namespace, terminating=False)


def pretended_kinds(cluster: Cluster, constraint: Constraint, namespace: str) -> KindJudgment:
    """Kinds of pods that a constraint counts in a dry run: terminating pods too, and all for an empty selector."""
    return _selected_kinds(cluster.kinds, constraint.selector, namespace, terminating=True)


def _selected_kinds(kinds: KindTable, selector: Selector, namespace: str, *, terminating: bool) -> KindJudgment:
    def judge(kind: PodKind) -> bool:
        return kind.namespace == namespace and (terminating or not kind.terminating) and selector.matches(kind.labels)

    return kinds.share(
        "judgment",
        ("selected", selector, namespace, terminating),
        lambda: KindJudgment(kinds, judge, among=lambda: kinds.selectable(namespace, selector)),
    )


class CountedConstraint(DomainCounts):
    """One constraint with its counted pods."""

    def __init__(
        self,
        cluster: Cluster,
        constraint: Constraint,
        namespace: str,
        *,
        eligible: Mask,
        counts_on: Mask,
        domain: Codes,
        domains: int,
    ) -> None:
        super().__init__(domain, domains)
        self.constraint = constraint
        self.eligible = eligible
        """Nodes that make their domain count."""
        self.counts_on = counts_on
        """Nodes with pods that count."""
        self.column = cluster.nodes.label(constraint.topology_key)
        """The domain of every node."""
        self._counts_kind = counted_kinds(cluster, constraint, namespace)
        for nodes in cluster.places_of(self._counts_kind)[1]:
            self.count(nodes[counts_on[nodes]])

    def move(self, moves: Moves) -> None:
        """Count pods that came and went; most do not match."""
        chosen = self._counts_kind.select(moves.kind)
        if some(chosen):
            chosen &= self.counts_on[moves.node]
            self.add(moves.node[chosen], moves.by[chosen])

    def move_one(self, kind: KindNumber, node: int, by: int) -> None:
        if self.counts_on[node] and self._counts_kind[kind]:
            self.add_one(node, by)
