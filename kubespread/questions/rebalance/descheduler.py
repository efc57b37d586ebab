"""The descheduler's strategy for topology spread constraints with its evictor: the arguments of both in a
DeschedulerPolicy of descheduler/v1alpha2, and the pods of a cluster that one cycle evicts.

Source: descheduler v0.36: pkg/descheduler/policyconfig.go, decode
Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, Balance
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, Filter, PreEvictionFilter
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/validation.go, ValidateDefaultEvictorArgs
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Struct, field

from kubespread.controllers.disruption import selector_of
from kubespread.errors import Fault, ManifestError
from kubespread.kube import well_known
from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Namespace, Pod, PodAffinityTerm, TopologySpreadConstraint
from kubespread.kube.api.decoding import DecodingError, decode, normalize, unexpected_fields
from kubespread.kube.api.meta import Int32, Int64, KubeObject, LabelSelector
from kubespread.kube.gotext import quote
from kubespread.kube.owners import is_terminating, priority_of
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.selector import (
    Requirement,
    Selector,
    SelectorError,
    from_label_selector,
    parse_selector,
    required_node_selector,
)
from kubespread.kube.well_known import DO_NOT_SCHEDULE, ENDED_PHASES, READY, SCHEDULE_ANYWAY
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import FieldLines, display_name, faults_of, read_file
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import ABSENT, Mask, scheduler_amounts
from kubespread.scheduler.cluster.nodes import Nodes, everywhere, matches_required_node_affinity, tolerated_nodes

API_VERSION, KIND = "descheduler/v1alpha2", "DeschedulerPolicy"
PLUGIN, EVICTOR = "RemovePodsViolatingTopologySpreadConstraint", "DefaultEvictor"
LOCAL_STORAGE, DAEMON_SET_PODS = "PodsWithLocalStorage", "DaemonSetPods"
SYSTEM_CRITICAL, FAILED_BARE = "SystemCriticalPods", "FailedBarePods"
DEFAULT_PROTECTIONS = (LOCAL_STORAGE, SYSTEM_CRITICAL, FAILED_BARE, DAEMON_SET_PODS)
WITH_PVC, WITHOUT_BUDGET, RESOURCE_CLAIMS = "PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims"
EXTRA_PROTECTIONS = (WITH_PVC, WITHOUT_BUDGET, RESOURCE_CLAIMS)
_MANDATORY, _PREFERRED = "Mandatory", "Preferred"
_IGNORED = dict.fromkeys(("apiVersion", "kind", "metadata"), "")
_RUNS = ("evictionFailureEventNotification", "gracePeriodSeconds", "metricsCollector", "metricsProviders", "prometheus")
"""Fields on its operation and reporting."""
_Fault = tuple[str, str]
"""The field and the message."""

# The types of descheduler/v1alpha2, as they are written, with the fields that are read.
#
# Source: descheduler v0.36: pkg/api/v1alpha2/types.go, DeschedulerPolicy


class PluginSet(KubeObject):
    ignored = dict.fromkeys(("disabled",), "")

    enabled: list[str] = field(default_factory=list)


class Plugins(KubeObject):
    ignored = dict.fromkeys(("deschedule", "evict", "preSort", "presort", "sort", "filter", "preEvictionFilter"), "")

    balance: PluginSet = field(default_factory=PluginSet)


class PluginConfig(KubeObject):
    name: str = ""
    args: Any = None


class DeschedulerProfile(KubeObject):
    name: str = ""
    plugin_config: list[PluginConfig] = field(default_factory=list)
    plugins: Plugins = field(default_factory=Plugins)


class DeschedulerPolicy(KubeObject):
    ignored = _IGNORED | dict.fromkeys(_RUNS, "")

    profiles: list[DeschedulerProfile] = field(default_factory=list)
    node_selector: str = ""
    max_no_of_pods_to_evict_per_node: Int64 | None = None
    max_no_of_pods_to_evict_per_namespace: Int64 | None = None
    max_no_of_pods_to_evict_total: Int64 | None = None


class PriorityThreshold(KubeObject):
    value: Int32 | None = None
    name: str = ""


class PodProtections(KubeObject):
    default_disabled: list[str] = field(default_factory=list)
    extra_enabled: list[str] = field(default_factory=list)
    config: Any = None


class EvictorArgs(KubeObject):
    ignored = _IGNORED

    node_selector: str = ""
    label_selector: LabelSelector | None = None
    namespace_label_selector: LabelSelector | None = None
    priority_threshold: PriorityThreshold = field(default_factory=PriorityThreshold)
    node_fit: bool = False
    min_replicas: Int64 = 0
    min_pod_age: str = ""
    no_eviction_policy: str = ""
    pod_protections: PodProtections = field(default_factory=PodProtections)
    evict_local_storage_pods: bool = False
    evict_daemon_set_pods: bool = False
    evict_system_critical_pods: bool = False
    evict_failed_bare_pods: bool = False
    ignore_pvc_pods: bool = False
    ignore_pods_without_pdb: bool = field(name="ignorePodsWithoutPDB", default=False)

    @property
    def protections(self) -> frozenset[str]:
        """Names of enabled protections; deprecated booleans count only if the new fields are absent."""
        disabled, extra = self.pod_protections.default_disabled, self.pod_protections.extra_enabled
        if not (disabled or extra):
            disabled = [
                name
                for name, is_off in (
                    (LOCAL_STORAGE, self.evict_local_storage_pods),
                    (DAEMON_SET_PODS, self.evict_daemon_set_pods),
                    (SYSTEM_CRITICAL, self.evict_system_critical_pods),
                    (FAILED_BARE, self.evict_failed_bare_pods),
                )
                if is_off
            ]
            booleans = (WITH_PVC, self.ignore_pvc_pods), (WITHOUT_BUDGET, self.ignore_pods_without_pdb)
            extra = [name for name, is_on in booleans if is_on]
        return frozenset(DEFAULT_PROTECTIONS) - {*disabled} | {*extra}


class Namespaces(KubeObject):
    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)


class PluginArgs(KubeObject):
    ignored = _IGNORED

    constraints: list[str] | None = None
    topology_balance_node_fit: bool = True
    label_selector: LabelSelector | None = None
    namespaces: Namespaces = field(default_factory=Namespaces)


class Policy(Struct, frozen=True):
    written: DeschedulerPolicy
    profiles: Sequence[tuple[PluginArgs, EvictorArgs]]
    """Arguments of the profiles that enable the strategy."""


T = TypeVar("T", bound=KubeObject)


def read_policy(path: str | Path) -> Policy:
    """Read the policy in the file at ``path``, ``-`` for standard input. Raises ManifestError."""
    file = display_name(str(path))
    text = read_file(str(path))
    with faults_of(file):
        documents = read_documents(text)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ManifestError(file, [Fault(f"expected one {KIND}, found {len(documents)} documents")])
    return decode_policy(documents[0], file, FieldLines(text))


def decode_policy(data: dict[str, Any], file: str, lines: FieldLines) -> Policy:
    """Decode a policy as written. Raises ManifestError with all its faults."""
    kind = data.get("kind"), data.get("apiVersion")
    faults: list[_Fault] = []
    if kind != (KIND, API_VERSION):
        faults.append(("", f"expected a {KIND} of apiVersion {API_VERSION}, found {kind[0]} of {kind[1]}"))
    written = DeschedulerPolicy() if faults else _decode(data, DeschedulerPolicy, "", faults)
    profiles = list[tuple[PluginArgs, EvictorArgs]]()
    for place, profile in enumerate(written.profiles):
        if {PLUGIN, "*"}.intersection(profile.plugins.balance.enabled):
            profiles.append(_args(profile, f"profiles[{place}]", faults))
    if not profiles and not faults:
        faults.append(("profiles", f"no profile enables the balance plugin {PLUGIN}: the descheduler spreads nothing"))
    faults += _parse_faults("nodeSelector", lambda: parse_selector(written.node_selector))
    if faults:
        raise ManifestError(file, [Fault(message, place, lines.line(0, place)) for place, message in faults])
    return Policy(written, profiles)


def _args(profile: DeschedulerProfile, path: str, faults: list[_Fault]) -> tuple[PluginArgs, EvictorArgs]:
    plugin, evictor = PluginArgs(), EvictorArgs()
    for place, config in enumerate(profile.plugin_config):
        args = f"{path}.pluginConfig[{place}].args"
        if config.name == PLUGIN:
            plugin = _decode(config.args, PluginArgs, args, faults)
            faults += ((f"{args}.{name}", message) for name, message in _faults_of_plugin(plugin))
        elif config.name == EVICTOR:
            evictor = _decode(config.args, EvictorArgs, args, faults)
            faults += ((f"{args}.{name}", message) for name, message in _faults_of_evictor(evictor))
    return plugin, evictor


def _decode(data: Any, cls: type[T], path: str, faults: list[_Fault]) -> T:
    """``data`` as a ``cls``; faults are appended to ``faults``."""
    join = f"{path}." if path else ""
    try:
        clean = normalize({} if data is None else data, cls)
    except DecodingError as error:
        faults.append((f"{join}{error.path}", str(error)))
        return cls()
    faults += ((f"{join}{unknown.path}", str(unknown)) for unknown in unexpected_fields(clean, cls))
    return decode(clean, cls)


def _faults_of_plugin(args: PluginArgs) -> Iterator[_Fault]:
    actions = DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
    for place, action in enumerate(args.constraints or ()):
        if action not in actions:
            yield f"constraints[{place}]", f"constraint {action} is not one of [{' '.join(actions)}]"
    if args.namespaces.include and args.namespaces.exclude:
        yield "namespaces", "only one of Include/Exclude namespaces can be set"
    yield from _parse_faults("labelSelector", lambda: _labels(args.label_selector))


def _faults_of_evictor(args: EvictorArgs) -> Iterator[_Fault]:
    threshold, protections = args.priority_threshold, args.pod_protections
    unmodeled = (
        ("minPodAge", args.min_pod_age),
        ("priorityThreshold.name", threshold.name),
        ("podProtections.config", protections.config),
    )
    yield from ((name, "not modeled") for name, value in unmodeled if value)
    if args.no_eviction_policy not in ("", _PREFERRED, _MANDATORY):
        yield "noEvictionPolicy", f'noEvictionPolicy accepts only ["{_PREFERRED}" "{_MANDATORY}"] values'
    if args.min_replicas < 0:
        yield "minReplicas", f"Invalid value: {args.min_replicas}: must be at least 0"
    for name, values, supported in (
        ("defaultDisabled", protections.default_disabled, DEFAULT_PROTECTIONS),
        ("extraEnabled", protections.extra_enabled, EXTRA_PROTECTIONS),
    ):
        for place, value in enumerate(values):
            if value not in supported:
                message = f"Unsupported value: {quote(value)}: supported values: {', '.join(map(quote, supported))}"
                yield f"podProtections.{name}[{place}]", message
    yield from _parse_faults("nodeSelector", lambda: parse_selector(args.node_selector))
    yield from _parse_faults("labelSelector", lambda: _labels(args.label_selector))
    yield from _parse_faults("namespaceLabelSelector", lambda: _namespaces(args))


def _parse_faults(path: str, parse: Callable[[], object]) -> Iterator[_Fault]:
    try:
        parse()
    except SelectorError as error:
        yield path, str(error)


def _labels(selector: LabelSelector | None) -> Selector:
    """Selector as parsed; an absent one matches everything."""
    return Selector() if selector is None else from_label_selector(selector)


def _namespaces(args: EvictorArgs) -> Selector:
    """Selector of namespaces; without matchLabels the evictor ignores matchExpressions as well."""
    selector = args.namespace_label_selector
    return _labels(selector if selector is not None and selector.match_labels else None)


class ClusterView:
    """The descheduler's view of a cluster at the start of a cycle. Pods to be evicted still take their room.

    Source: descheduler v0.36: pkg/descheduler/node/node.go, NodeFit, PodFitsAnyOtherNode
    """

    def __init__(self, cluster: Cluster, pods: Sequence[Pod]) -> None:
        self.cluster, self.nodes, self.pods = cluster, cluster.nodes, pods
        self.running: list[list[Pod]] = [[] for _ in self.nodes.objects]
        """The pods of each node that have not ended, by namespace and name."""
        for pod in sorted(pods, key=lambda pod: (pod.metadata.namespace, pod.metadata.name)):
            if pod.status.phase not in ENDED_PHASES and pod.spec.node_name in self.nodes.index:
                self.running[self.nodes.index[pod.spec.node_name]].append(pod)
        self._admitting: dict[tuple[int, ...], Mask] = {}
        """Masks by the identities of the parts that pods of one template share."""

    def ready(self, selector: Selector) -> Mask:
        """Ready nodes that ``selector`` matches; a node without a Ready condition counts as ready, even if cordoned or
        tainted.
        """
        ready = [
            selector.matches(node.metadata.labels)
            and all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)
            for node in self.nodes.objects
        ]
        return np.array(ready, dtype=np.bool_)

    def fits_other(self, pod: Pod, among: Mask) -> bool:
        """True if a node of ``among`` other than the pod's own would accept it.

        Required anti-affinity is checked, but not spreading, ports, volumes or pod affinity.
        """
        fitting = self._admits(pod) & among
        own = self.nodes.index.get(pod.spec.node_name)
        if own is not None:
            fitting[own] = False
        affinity = pod.spec.affinity
        if affinity is None or affinity.pod_anti_affinity is None:
            return bool(fitting.any())
        terms = affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
        return any(not self._is_repelled(pod, terms, node) for node in np.flatnonzero(fitting).tolist())

    def _admits(self, pod: Pod) -> Mask:
        """Nodes that are not cordoned, with labels, taints and room that suit the pod."""
        spec, nodes, holdings = pod.spec, self.nodes, Holdings(self.cluster)
        parts = spec.containers, spec.init_containers, spec.resources, spec.overhead
        key = tuple(map(id, (*parts, spec.node_selector, spec.affinity, spec.tolerations)))
        if key not in self._admitting:
            admits = matches_required_node_affinity(nodes, pod) & tolerated_nodes(nodes, pod, compares=False)
            admits &= ~nodes.unschedulable & (holdings.pod_count < holdings.allowed_pods)
            for name, amount in scheduler_amounts(pod_requests(pod)).items():
                admits &= amount <= holdings.allocatable(name) - holdings.requests(name)
            self._admitting[key] = admits
        return self._admitting[key]

    def _is_repelled(self, pod: Pod, terms: Sequence[PodAffinityTerm], node: int) -> bool:
        """True if another pod on the node matches the anti-affinity of ``pod``; a namespaceSelector is not read."""
        labels = self.nodes.objects[node].metadata.labels
        return any(
            _matches(term, pod, other)
            for term in terms
            if term.topology_key in labels
            for other in self.running[node]
            if other.metadata.name != pod.metadata.name
        )


def _matches(term: PodAffinityTerm, pod: Pod, other: Pod) -> bool:
    try:
        selector = from_label_selector(term.label_selector)
    except SelectorError:
        return False
    namespaces = term.namespaces or [pod.metadata.namespace]
    return other.metadata.namespace in namespaces and selector.matches(other.metadata.labels)


SYSTEM_CRITICAL_PRIORITY = 2_000_000_000


def protections(view: ClusterView, args: EvictorArgs) -> dict[str, Callable[[Pod], bool]]:
    """Tests that protect pods from eviction, by name."""
    selector, threshold = _labels(args.label_selector), args.priority_threshold.value
    siblings = Counter(owner.uid for pod in view.pods for owner in pod.metadata.owner_references)
    budgets = [
        (budget.metadata.namespace, selector_of(budget)) for budget in view.cluster.objects.get(PodDisruptionBudget)
    ]
    critical = SYSTEM_CRITICAL_PRIORITY if threshold is None else min(SYSTEM_CRITICAL_PRIORITY, threshold)

    def lacks_budget(pod: Pod) -> bool:
        namespace, labels = pod.metadata.namespace, pod.metadata.labels
        return not any(namespace == own and selector.matches(labels) for own, selector in budgets)

    rules: dict[str, Callable[[Pod], bool]] = {
        well_known.DESCHEDULER_PREFER_NO_EVICTION: lambda pod: (
            well_known.DESCHEDULER_PREFER_NO_EVICTION in pod.metadata.annotations
        ),
        "mirror pod": lambda pod: well_known.MIRROR_POD in pod.metadata.annotations,
        "static pod": lambda pod: pod.metadata.annotations.get(well_known.CONFIG_SOURCE, "api") != "api",
        "terminating": is_terminating,
        SYSTEM_CRITICAL: lambda pod: pod.spec.priority is not None and pod.spec.priority >= critical,
        FAILED_BARE: lambda pod: not pod.metadata.owner_references,
        "bare pod": lambda pod: not pod.metadata.owner_references and pod.status.phase != "Failed",
        LOCAL_STORAGE: lambda pod: any(volume.is_local for volume in pod.spec.volumes),
        DAEMON_SET_PODS: lambda pod: any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references),
        WITH_PVC: lambda pod: any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes),
        WITHOUT_BUDGET: lacks_budget,
        RESOURCE_CLAIMS: lambda pod: bool(pod.spec.resource_claims),
        "labelSelector": lambda pod: not selector.matches(pod.metadata.labels),
        "minReplicas": lambda pod: (
            [siblings[owner.uid] < args.min_replicas for owner in pod.metadata.owner_references] == [True]
        ),
    }
    off = {*DEFAULT_PROTECTIONS, *EXTRA_PROTECTIONS} - args.protections
    if FAILED_BARE in args.protections:
        off.add("bare pod")
    if args.no_eviction_policy != _MANDATORY:
        off.add(well_known.DESCHEDULER_PREFER_NO_EVICTION)
    return {name: rule for name, rule in rules.items() if name not in off}


class DomainSpread(NamedTuple):
    """A constraint, and the first pod that has it."""

    constraint: TopologySpreadConstraint
    selector: Selector
    pod: Pod

    def eligible(self, nodes: Nodes) -> Mask:
        """Nodes that pass the inclusion policies."""
        honors = self.constraint.node_affinity_policy != "Ignore", self.constraint.node_taints_policy == "Honor"
        passing = matches_required_node_affinity(nodes, self.pod) if honors[0] else everywhere(nodes)
        return passing & tolerated_nodes(nodes, self.pod, compares=False) if honors[1] else passing


def spreads(pods: Iterable[Pod], enforced: Sequence[str]) -> Iterator[DomainSpread]:
    """Yield the distinct constraints of a namespace's candidates, in listing order; neither minDomains nor
    whenUnsatisfiable distinguishes them.

    Source: descheduler v0.36:
        pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go,
        newTopologySpreadConstraint
    """
    identities, specs = set[tuple[object, ...]](), set[tuple[int, ...]]()
    for pod in pods:
        spec, labels = pod.spec, pod.metadata.labels
        parts = spec.topology_spread_constraints, spec.node_selector, spec.affinity, spec.tolerations, labels
        alike = tuple(map(id, parts))
        if alike in specs:
            continue
        specs.add(alike)
        for constraint in spec.topology_spread_constraints:
            try:
                selector = from_label_selector(constraint.label_selector)
            except SelectorError:
                # The descheduler passes it over.
                continue
            keys = (Requirement(key, "In", (labels[key],)) for key in constraint.match_label_keys if key in labels)
            terms = sorted({*selector.requirements, *keys}, key=lambda term: (term.key, term.operator, term.values))
            affinity = [sorted(spec.node_selector.items()), required_node_selector(pod)]
            identity = (
                constraint.topology_key,
                constraint.max_skew,
                Selector(tuple(terms), selector.nothing),
                msgspec.msgpack.encode(affinity) if constraint.node_affinity_policy != "Ignore" else None,
                msgspec.msgpack.encode(spec.tolerations) if constraint.node_taints_policy == "Honor" else None,
            )
            if constraint.when_unsatisfiable in enforced and identity not in identities:
                identities.add(identity)
                yield DomainSpread(constraint, identity[2], pod)


def _pods_to_evict(
    view: ClusterView, spread: DomainSpread, counted: Sequence[tuple[Pod, int]], eligible: Mask, *, asks: bool
) -> list[Pod]:
    """Pods to evict from large domains, until sizes are within maxSkew of each other or meet at the average.

    Which of several equal domains gives is arbitrary; here it is the last by name. With ``asks`` pods that no node of a
    domain below the average would take stay, though they count as moved.
    """
    column = view.nodes.label(spread.constraint.topology_key)
    codes = np.unique(column.codes[eligible]).tolist()
    domains: dict[str, list[Pod]] = {column.values[code]: [] for code in codes if code != ABSENT}
    for pod, node in counted:
        # Its node need not be eligible: there it makes a domain of its own.
        if (code := column.codes.item(node)) != ABSENT and spread.selector.matches(pod.metadata.labels):
            domains.setdefault(column.values[code], []).append(pod)
    sizes, max_skew = list(map(len, domains.values())), spread.constraint.max_skew
    if skew_between(sizes) <= max_skew:
        return []
    average = float(sum(sizes)) / float(len(sizes))
    small = [column.index[value] for value, pods in domains.items() if len(pods) < average]
    below = eligible & np.isin(column.codes, small)
    fits = partial(view.fits_other, among=below)
    values = sorted(domains, key=lambda value: (len(domains[value]), value))
    sorted_domains = [in_eviction_order(domains[value]) for value in values]
    evictions, low, high = list[Pod](), 0, len(sorted_domains) - 1
    while low < high:
        # Once per round; the rest is done even if both are the same domain by then.
        if len(sorted_domains[high]) <= average:
            high -= 1
        above, least = len(sorted_domains[high]), len(sorted_domains[low])
        half = math.ceil((above - least - max_skew) / 2)
        move = min(math.ceil(above - average), math.ceil(average - least), half)
        if move <= 0:
            low += 1
            continue
        # False comes first, and the sort is stable: pods that fit nowhere else go last.
        giving = sorted(sorted_domains[high], key=fits)
        out = giving[-move:]
        evictions += (pod for pod in out if not asks or fits(pod))
        sorted_domains[high] = giving[:-move]
        sorted_domains[low] = [*sorted_domains[low], *out]
    return evictions


def in_eviction_order(pods: Sequence[Pod]) -> list[Pod]:
    """Sort a domain's pods, which are in listing order, for eviction from the end.

    Pods that select nodes, even by preference, go last, the others by priority, the highest first. Two equal ones
    compare as less than each other, so Go's insertion sort of a few pods reverses them.
    """

    def rank(place: int) -> tuple[bool, bool, int, int]:
        spec, affinity, has_priority = (
            pods[place].spec,
            pods[place].spec.affinity,
            pods[place].spec.priority is not None,
        )
        selects = bool(spec.node_selector) or (affinity is not None and affinity.node_affinity is not None)
        return not selects, has_priority, priority_of(pods[place]), -place if has_priority else place

    return [pods[place] for place in sorted(range(len(pods)), key=rank)]


def choose(
    view: ClusterView, policy: Policy, plugin: PluginArgs, evictor: EvictorArgs
) -> tuple[Sequence[Pod], Sequence[DomainSpread]]:
    """Pods that the strategy chooses with one profile's arguments, before limits and budgets; and its constraints.

    In a cluster of fewer than two ready nodes it does nothing. Constraints are processed independently, one after
    another. Raises UsageError.
    """
    included = view.ready(parse_selector(policy.written.node_selector))
    if np.count_nonzero(included) < 2:
        return (), ()
    processed, chosen = list[DomainSpread](), dict[tuple[str, str], Pod]()
    enforced = plugin.constraints or [DO_NOT_SCHEDULE]
    for _, group in groupby(_candidates(view, plugin, evictor, included), key=lambda pair: pair[0].metadata.namespace):
        placed = list(group)
        counted = [pair for pair in placed if not is_terminating(pair[0])]
        for spread in spreads((pod for pod, _ in placed), enforced):
            processed.append(spread)
            eligible = spread.eligible(view.nodes) & included
            evictions = _pods_to_evict(view, spread, counted, eligible, asks=plugin.topology_balance_node_fit)
            chosen.update({(pod.metadata.namespace, pod.metadata.name): pod for pod in evictions})
    return [chosen[key] for key in sorted(chosen)], processed


def _candidates(view: ClusterView, plugin: PluginArgs, evictor: EvictorArgs, included: Mask) -> list[tuple[Pod, int]]:
    """The pods that may be evicted with their nodes' positions, by namespace. No other pod is even counted."""
    rules, selector, namespaces = protections(view, evictor), _labels(plugin.label_selector), plugin.namespaces
    listed = (
        (pod, node)
        for node in np.flatnonzero(included).tolist()
        for pod in view.running[node]
        if (not namespaces.include or pod.metadata.namespace in namespaces.include)
        and pod.metadata.namespace not in namespaces.exclude
        and selector.matches(pod.metadata.labels)
        and (well_known.DESCHEDULER_EVICT in pod.metadata.annotations or not any(rule(pod) for rule in rules.values()))
    )
    return sorted(listed, key=lambda pair: pair[0].metadata.namespace)


class Cycle(Struct):
    """The evictions of one cycle so far, by all profiles.

    Source: descheduler v0.36: pkg/descheduler/evictions/evictions.go, NewPodEvictor, EvictPod
    """

    policy: DeschedulerPolicy
    evicted: list[Pod] = field(default_factory=list)
    staying_reasons: list[str] = field(default_factory=list)
    """Reasons chosen pods stay."""

    def evict(
        self, view: ClusterView, chosen: Sequence[Pod], args: EvictorArgs, request: Callable[[Pod], bool]
    ) -> None:
        """Evict one profile's choice in the given order, which is arbitrary; ``request`` asks the API server."""
        # The policy's own node selector is not applied here.
        nodes, selector = view.ready(parse_selector(args.node_selector)), _namespaces(args)
        every = () if selector.is_empty else view.cluster.objects.get(Namespace)
        namespaces = {obj.metadata.name for obj in every if selector.matches(obj.metadata.labels)}
        for pod in chosen:
            if args.node_fit and not view.fits_other(pod, nodes):
                why: str | None = "fits no other node"
            elif not selector.is_empty and pod.metadata.namespace not in namespaces:
                why = "namespaceLabelSelector"
            else:
                why = self._limit(pod) if pod.metadata.uid else "no UID"
            if why is None and request(pod):
                self.evicted.append(pod)
            else:
                self.staying_reasons.append(why or "refused by a budget")

    def _limit(self, pod: Pod) -> str | None:
        policy, evicted = self.policy, self.evicted
        of_node = [other for other in evicted if other.spec.node_name == pod.spec.node_name]
        of_namespace = [other for other in evicted if other.metadata.namespace == pod.metadata.namespace]
        limits = (
            ("total limit", policy.max_no_of_pods_to_evict_total, evicted),
            ("node limit", policy.max_no_of_pods_to_evict_per_node, of_node),
            ("namespace limit", policy.max_no_of_pods_to_evict_per_namespace, of_namespace),
        )
        return next((name for name, most, pods in limits if most is not None and len(pods) >= most), None)
