"""Judgment of kube-scheduler on one node, and the arithmetic behind it.

The constraints of a pod with their counts in every domain, and the counted pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from kubespread.kube.owners import controller_of, full_name
from kubespread.kube.versions import KubeVersion
from kubespread.reports.parts import ConstraintReport, CountedPod, Domain, PreemptionReport, Report
from kubespread.scheduler.causes import Causes, CordonDetail, TaintDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, Mask
from kubespread.scheduler.evaluation import Preemption
from kubespread.scheduler.plugin import State
from kubespread.scheduler.plugins.podtopologyspread.constraints import NodeInclusion, pretended_kinds
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SoftConstraint,
    SpreadState,
)

TAINTED, EXCLUDED = "TaintToleration", "NodeAffinity"
KEEPING_OFF = {TAINTED: "tainted", "NodeUnschedulable": "cordoned", EXCLUDED: "excluded by its node affinity"}
"""Plugins that keep pods off nodes regardless of other pods, and a word for such nodes."""


def preemption_report(preemption: Preemption, version: KubeVersion) -> PreemptionReport:
    """Report on preemption for a pod that fits nowhere."""
    candidate, tail = preemption.candidate, (preemption.tail or None) if version.reaches(24) else None
    if candidate is None:
        return PreemptionReport(node=None, victims=(), violations=0, tail=tail)
    victims = tuple(map(full_name, candidate.victims))
    return PreemptionReport(node=candidate.node, victims=victims, violations=candidate.violations, tail=tail)


def constraint_reports(states: Mapping[str, State], feasible: Mask) -> list[ConstraintReport]:
    """Constraints in force, in declared order, with the counts of every domain.

    ``states`` are by plugin; soft constraints compare the ``feasible`` nodes.
    """
    state = states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState):
        return []
    return [_constraint_report(counted, feasible, state.inclusion) for counted in counted_constraints(state)]


def counted_constraints(state: SpreadState) -> list[HardConstraint | SoftConstraint]:
    """Hard and soft constraints in declared order."""
    hard = iter(state.hard)
    soft = iter(state.soft.counted if state.soft is not None else ())
    return [next(hard) if constraint.is_hard else next(soft) for constraint in state.declared.constraints]


def domain_counts(states: Mapping[str, State]) -> list[list[int]]:
    """Matching pods of every domain, in the order of `constraint_reports`."""
    state = states.get(PodTopologySpread.name)
    counted = counted_constraints(state) if isinstance(state, SpreadState) else []
    return [
        in_domains(constraint, constraint.counts_at())[constraint.column.sorted_codes].tolist()
        for constraint in counted
    ]


def in_domains(counted: HardConstraint | SoftConstraint, matching: Counts) -> Counts:
    """Matching pods of every value of the key, by code; nodes that share a hostname label are added up."""
    codes, present = counted.column.codes, counted.column.present
    in_domain = np.zeros(len(counted.column.values), dtype=np.int64)
    if isinstance(counted, SoftConstraint) and counted.is_hostname:
        np.add.at(in_domain, codes[present], matching[present])
    else:
        in_domain[codes[present]] = matching[present]
    return in_domain


def _constraint_report(
    counted: HardConstraint | SoftConstraint, feasible: Mask, inclusion: NodeInclusion
) -> ConstraintReport:
    """Report with every value of the key and its counts, in the order of values."""
    constraint, column, matching = counted.constraint, counted.column, counted.counts_at()
    if isinstance(counted, HardConstraint):
        minimum: int | None = counted.global_minimum
    else:
        compared = feasible & column.present
        minimum = int(matching[compared].min()) if compared.any() else None
    order = column.sorted_codes

    def by_domain(among: Mask) -> Counts:
        return np.bincount(column.codes[column.present & among], minlength=len(column.values))[order]

    eligible = by_domain(counted.eligible)
    figures = (in_domains(counted, matching)[order], by_domain(column.present), eligible)
    domains: Iterable[Domain] = map(Domain, column.sorted_values, *(figure.tolist() for figure in figures))
    if not eligible.all():
        affinity, policies = (
            by_domain(inclusion.by_affinity(constraint)),
            by_domain(inclusion.by_policies(constraint)),
        )
        domains = (
            domain
            if domain.eligible_nodes
            else msgspec.structs.replace(
                domain, not_counted="topologyKeys" if met else "nodeTaints" if selected else "nodeAffinity"
            )
            for domain, selected, met in zip(domains, affinity.tolist(), policies.tolist(), strict=True)
        )
    return ConstraintReport(
        topology_key=constraint.topology_key,
        when_unsatisfiable=constraint.when_unsatisfiable,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains,
        selector=str(constraint.selector),
        node_affinity_policy="Honor" if constraint.honors_affinity else "Ignore",
        node_taints_policy="Honor" if constraint.honors_taints else "Ignore",
        source=constraint.source,
        self_match=constraint.self_match,
        global_minimum=minimum,
        domains=tuple(domains),
    )


def with_pods(
    report: ConstraintReport, counted: HardConstraint | SoftConstraint, cluster: Cluster, namespace: str
) -> ConstraintReport:
    """``report`` with the pods that each domain counts for a pod of ``namespace``."""
    pods = _by_domain(counted, cluster, namespace)
    domains = (msgspec.structs.replace(domain, pods=tuple(pods.get(domain.value, ()))) for domain in report.domains)
    return msgspec.structs.replace(report, domains=tuple(domains))


def _by_domain(
    counted: HardConstraint | SoftConstraint, cluster: Cluster, namespace: str
) -> Mapping[str, Sequence[CountedPod]]:
    by_domain: dict[str, list[CountedPod]] = {}
    if not counted.constraint.counts_pods:
        return by_domain
    running, column = cluster.running, counted.column
    selected = pretended_kinds(cluster, counted.constraint, namespace).select(running.kind)
    places = np.flatnonzero(selected & counted.counts_on[running.node] & column.present[running.node])
    for place in places.tolist():
        node, pod = int(running.node[place]), running.pods[place]
        owner, meta = controller_of(pod), pod.metadata
        by_domain.setdefault(column.values[column.codes[node]], []).append(
            CountedPod(
                namespace=meta.namespace,
                name=meta.name,
                owner=None if owner is None else f"{owner.kind}/{owner.name}",
                node=cluster.nodes.names[node],
                terminating=meta.deletion_timestamp is not None,
            )
        )
    for pods in by_domain.values():
        pods.sort(key=lambda pod: (pod.node, pod.name))
    return by_domain


SPREAD_PLUGIN = "PodTopologySpread"


class NodeConstraint(Report, frozen=True):
    """One constraint's arithmetic for one node: matching + selfMatch - globalMinimum = skew, against maxSkew.

    A node that lacks the topology key has no domain and no numbers.
    """

    topology_key: str
    domain: str | None
    """Node's value of the topology key."""
    matching: int | None
    """Matching pods in that domain."""
    self_match: int
    global_minimum: int | None
    """The constraint's global minimum."""
    skew: int | None
    """matching + selfMatch - globalMinimum."""
    max_skew: int
    satisfied: bool
    """True if the skew is at most maxSkew; violating a soft constraint only costs score."""
    reason: str | None
    """Reason it is not satisfied; null if it is."""


class Verdict(Report, frozen=True):
    """kube-scheduler's own judgment of a node: the first plugin that rejects it."""

    code: str
    """Scheduler framework code: ``Success``, ``Unschedulable``, ``UnschedulableAndUnresolvable`` or ``Error``."""
    plugin: str | None
    """Plugin that rejects the node; null for ``Success``."""
    reasons: tuple[str, ...]


class Rejection(Report, frozen=True):
    """Objection of one filter plugin to a node."""

    plugin: str
    """Filter plugin that rejects the node."""
    code: str
    """Scheduler framework code, as in a verdict."""
    reasons: tuple[str, ...]
    details: Causes = ()
    """Data behind the reasons; empty if the plugin gives none. PodTopologySpread's are in ``constraints``."""


def without_taint_of_cordon(counting: Iterable[Rejection]) -> list[Rejection]:
    """Rejections of one node, without the cordon's taint if the cordon itself is among them."""
    rejections = list(counting)
    is_cordoned = any(isinstance(detail, CordonDetail) for rejection in rejections for detail in rejection.details)
    return [rejection for rejection in rejections if not (is_cordoned and _is_of_cordon(rejection))]


def _is_of_cordon(rejection: Rejection) -> bool:
    taints = [detail for detail in rejection.details if isinstance(detail, TaintDetail)]
    return bool(taints) and len(taints) == len(rejection.details) and all(taint.is_of_cordon for taint in taints)


class ScoreDetail(Report, frozen=True):
    """Steps of one plugin's score of one node: raw, brought to 0..100, times weight."""

    raw: int
    """Score from the plugin."""
    normalized: int
    """Score from 0 to 100, relative to the other nodes' scores."""
    weight: int
    """Weight in the profile."""
    weighted: int
    """normalized times weight."""


class NodeReport(Report, frozen=True):
    name: str
    """Name of the node."""
    feasible: bool
    """True if every filter plugin of the profile passes."""
    verdict: Verdict
    """kube-scheduler's own judgment of the node: the first plugin that rejects it."""
    rejections: tuple[Rejection, ...]
    """Rejections by every filter plugin, not only the first, including plugins that the profile disables, which decide
    nothing.
    """
    constraints: tuple[NodeConstraint, ...]
    """Arithmetic of each constraint, in the order of the report's ``constraints``."""
    scores: dict[str, int]
    """Weighted scores by plugin; empty for a node that is not scored."""
    score_details: dict[str, ScoreDetail]
    """Steps of the scores by plugin; empty for a node that is not scored."""
    total: int | None
    """Sum of ``scores``; null for a node that is not scored."""
    spread_scores: tuple[float | None, ...]
    """Each constraint's part of the raw spread score; null for hard constraints and nodes that are not scored."""
