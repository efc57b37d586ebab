"""One pod against one cluster: every node's verdict, the arithmetic behind it, and the scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import controller_of
from kubespread.kube.versions import SCORES_SINCE, KubeVersion
from kubespread.planner.advise.of_constraints import advice_on_constraints
from kubespread.planner.advise.revising import Revise
from kubespread.planner.bars import bars
from kubespread.planner.details import DetailsOfNodes, details_of
from kubespread.planner.honesty import not_modelled
from kubespread.planner.reports.explain import (
    ExplainReport,
    NodeConstraint,
    NodeReport,
    Rejection,
    ScoreDetail,
    Verdict,
)
from kubespread.planner.reports.parts import ConstraintReport, CountedPod, Domain, PodReference, PreemptionReport
from kubespread.planner.taints_policy import closed_minimums, taints_policy_hints
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, LabelColumn, Mask
from kubespread.scheduler.evaluation import Evaluation, PluginScore, evaluate
from kubespread.scheduler.plugin import Code, SchedulingError, State
from kubespread.scheduler.plugins.default_preemption import args_of
from kubespread.scheduler.plugins.podtopologyspread.constraints import Constraint, pretended_kinds
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState
from kubespread.scheduler.plugins.podtopologyspread.scoring import Shares, SoftConstraint
from kubespread.scheduler.preemption import Preemption, has_lower, preempt
from kubespread.scheduler.profile.profile import Profile
from kubespread.scheduler.sampling import nodes_to_find


def explain(
    cluster: Cluster,
    pod: Pod,
    profile: Profile,
    notes: Sequence[str] = (),
    admission: Sequence[str] = (),
    *,
    preemption: bool = False,
    pods: bool = False,
    revise: Revise | None = None,
) -> ExplainReport:
    """What kube-scheduler with ``profile`` would say about ``pod``, admitted already, on every node of ``cluster``.

    ``pods`` names the pods that each domain counts. ``revise`` makes the pod again with other constraints, to find
    those that let it in.
    """
    plugins = framework(profile)
    report = ExplainReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        not_modelled=not_modelled(pod, plugins, cluster, profile),
        admission=tuple(admission),
        notes=tuple(notes),
    )
    try:
        evaluation = evaluate(plugins, cluster, pod)
    except SchedulingError as error:
        return msgspec.structs.replace(report, message=str(error))
    rows, details = _constraint_rows(evaluation, pods=pods), details_of(evaluation)
    schedulable = evaluation.message is None
    hints = taints_policy_hints(plugins, cluster, pod, closed_minimums(evaluation), profile.version)
    return msgspec.structs.replace(
        report,
        schedulable=schedulable,
        message=evaluation.message,
        conclusion=bars(evaluation),
        nominated=None if evaluation.nominee is None else cluster.nodes.names[evaluation.nominee],
        feasible=_feasible(evaluation, profile.version) if schedulable else (),
        constraints=tuple(row.report for row in rows),
        filter_plugins=tuple(evaluation.verdicts),
        sampling=nodes_to_find(int(evaluation.included.sum()), profile.percentage_of_nodes_to_score),
        nodes=tuple(
            _node_report(evaluation, rows, details, node, scores=profile.version.since(SCORES_SINCE))
            for node in range(len(cluster))
        ),
        notes=(*notes, *hints, *(() if preemption else _who_would_make_room(evaluation, profile))),
        advice=None if revise is None else advice_on_constraints(evaluation, profile.version, revise),
        preemption=preemption_report(preempt(evaluation, args_of(profile)), profile.version)
        if preemption and len(cluster) and evaluation.error is None and not evaluation.feasible.any()
        else None,
    )


def _who_would_make_room(evaluation: Evaluation, profile: Profile) -> Iterator[str]:
    """What preemption would do where it helps."""
    is_stuck = evaluation.error is None and not evaluation.feasible.any()
    if is_stuck and len(evaluation.cluster) and has_lower(evaluation.cluster, evaluation.pod):
        report = preemption_report(preempt(evaluation, args_of(profile)), profile.version)
        if report.node is not None:
            yield report.sentence


def _feasible(evaluation: Evaluation, version: KubeVersion) -> tuple[str, ...]:
    """Best first; by name where scores are not modeled."""
    names = evaluation.cluster.nodes.names
    if version.since(SCORES_SINCE):
        return tuple(names[node] for node in evaluation.ranking)
    return tuple(sorted(names[node] for node in np.flatnonzero(evaluation.feasible)))


def preemption_report(found: Preemption, version: KubeVersion) -> PreemptionReport:
    """What preemption does for a pod that fits nowhere."""
    candidate, tail = found.candidate, (found.tail or None) if version.since(24) else None
    if candidate is None:
        return PreemptionReport(node=None, victims=(), violations=0, tail=tail)
    victims = tuple(f"{victim.metadata.namespace}/{victim.metadata.name}" for victim in candidate.victims)
    return PreemptionReport(node=candidate.node, victims=victims, violations=candidate.violations, tail=tail)


@dataclass(frozen=True)
class _ConstraintRow:
    """One constraint with its numbers for all nodes."""

    report: ConstraintReport
    domains: Sequence[str | None]
    matching: Counts
    shares: Shares | None

    def on(self, node: int) -> NodeConstraint:
        constraint, domain = self.report, self.domains[node]
        minimum = constraint.global_minimum
        matching = skew = None
        satisfied, reason = False, f"the node has no label {constraint.topology_key}"
        if domain is not None:
            matching = int(self.matching[node])
            skew = matching + constraint.self_match - (minimum or 0)
            satisfied = skew <= constraint.max_skew
            reason = f"skew {skew} exceeds maxSkew {constraint.max_skew}"
        return NodeConstraint(
            topology_key=constraint.topology_key,
            domain=domain,
            matching=matching,
            self_match=constraint.self_match,
            global_minimum=minimum,
            skew=skew,
            max_skew=constraint.max_skew,
            satisfied=satisfied,
            reason=None if satisfied else reason,
        )


def constraint_reports(states: Mapping[str, State], feasible: Mask) -> list[ConstraintReport]:
    """The constraints in force, in the order they were declared, with every domain's count.

    ``states`` are by plugin; ``feasible`` are the nodes among which soft constraints compare.
    """
    state = states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState):
        return []
    return [
        _hard_report(counted) if isinstance(counted, HardConstraint) else _soft_report(counted, feasible)
        for counted in counted_constraints(state)
    ]


def counted_constraints(state: SpreadState) -> list[HardConstraint | SoftConstraint]:
    """Hard and soft constraints in the order they were declared."""
    hard = iter(state.hard)
    soft = iter(state.soft.counted if state.soft is not None else ())
    return [next(hard) if constraint.is_hard else next(soft) for constraint in state.declared.constraints]


def _constraint_rows(evaluation: Evaluation, *, pods: bool) -> list[_ConstraintRow]:
    reports = constraint_reports(evaluation.states, evaluation.feasible)
    state = evaluation.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState):
        return []
    if pods:
        cluster, namespace = evaluation.cluster, evaluation.pod.metadata.namespace
        reports = [
            with_pods(report, counted, cluster, namespace)
            for report, counted in zip(reports, counted_constraints(state), strict=True)
        ]
    is_scored = state.soft is not None and evaluation.feasible.any()
    shares = iter(state.soft.shares(evaluation.feasible) if state.soft is not None and is_scored else ())
    return [
        _ConstraintRow(
            report,
            _domain_names(counted.column),
            counted.matching(),
            next(shares, None) if isinstance(counted, SoftConstraint) else None,
        )
        for report, counted in zip(reports, counted_constraints(state), strict=True)
    ]


def _domain_names(column: LabelColumn) -> list[str | None]:
    values = (*column.values, None)
    return [values[code] for code in column.codes.tolist()]


def _hard_report(counted: HardConstraint) -> ConstraintReport:
    return _constraint_report(counted.constraint, counted.global_minimum, _domains(counted, counted.matching()))


def _soft_report(counted: SoftConstraint, feasible: Mask) -> ConstraintReport:
    matching = counted.matching()
    compared = feasible & counted.column.present
    minimum = int(matching[compared].min()) if compared.any() else None
    return _constraint_report(counted.constraint, minimum, _domains(counted, matching))


def domain_counts(states: Mapping[str, State]) -> list[list[int]]:
    """The matching pods of every domain, in the order of `constraint_reports` and of their domains."""
    state = states.get(PodTopologySpread.name)
    counted = counted_constraints(state) if isinstance(state, SpreadState) else []
    return [in_domains(each, each.matching())[each.column.sorted_codes].tolist() for each in counted]


def in_domains(counted: HardConstraint | SoftConstraint, matching: Counts) -> Counts:
    """The matching pods of every value of the key, by its code. Nodes sharing a hostname label are added up."""
    codes, present = counted.column.codes, counted.column.present
    in_domain = np.zeros(len(counted.column.values), dtype=np.int64)
    if isinstance(counted, SoftConstraint) and counted.is_hostname:
        np.add.at(in_domain, codes[present], matching[present])
    else:
        in_domain[codes[present]] = matching[present]
    return in_domain


def _domains(counted: HardConstraint | SoftConstraint, matching: Counts) -> tuple[Domain, ...]:
    """Every value of the key with its counts, in the order of values."""
    column = counted.column
    size, order = len(column.values), column.sorted_codes
    nodes = np.bincount(column.codes[column.present], minlength=size)
    eligible = np.bincount(column.codes[column.present & counted.eligible], minlength=size)
    figures = (in_domains(counted, matching), nodes, eligible)
    return tuple(map(Domain, column.sorted_values, *(figure[order].tolist() for figure in figures)))


def _constraint_report(constraint: Constraint, minimum: int | None, domains: tuple[Domain, ...]) -> ConstraintReport:
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
        domains=domains,
    )


def _score_detail(score: PluginScore, node: int) -> ScoreDetail:
    normalized = int(score.normalized[node])
    return ScoreDetail(
        raw=int(score.raw[node]), normalized=normalized, weight=score.weight, weighted=normalized * score.weight
    )


def _node_report(
    evaluation: Evaluation,
    rows: Sequence[_ConstraintRow],
    details: Mapping[str, DetailsOfNodes],
    node: int,
    *,
    scores: bool,
) -> NodeReport:
    verdict = evaluation.verdict(node)
    feasible = verdict.code is Code.SUCCESS
    scored = scores and feasible and evaluation.error is None
    score_details = {name: _score_detail(score, node) for name, score in evaluation.scores.items()} if scored else {}
    return NodeReport(
        name=evaluation.cluster.nodes.names[node],
        feasible=feasible,
        verdict=Verdict(code=verdict.code.value, plugin=verdict.plugin or None, reasons=verdict.reasons),
        rejections=tuple(
            Rejection(
                plugin=status.plugin,
                code=status.code.value,
                reasons=status.reasons,
                details=details[status.plugin].get(node, ()),
            )
            for status in evaluation.rejections(node)
        ),
        constraints=tuple(row.on(node) for row in rows),
        scores={name: detail.weighted for name, detail in score_details.items()},
        score_details=score_details,
        total=int(evaluation.total[node]) if scored else None,
        spread_scores=tuple(float(row.shares[node]) if scored and row.shares is not None else None for row in rows),
    )


def with_pods(
    report: ConstraintReport, counted: HardConstraint | SoftConstraint, cluster: Cluster, namespace: str
) -> ConstraintReport:
    """``report`` with the pods that each of its domains counts for a pod of ``namespace``."""
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
    selected = pretended_kinds(cluster, counted.constraint, namespace).of(running.kind)
    places = np.flatnonzero(selected & counted.counts_on[running.node] & column.present[running.node])
    for place in places.tolist():
        node = int(running.node[place])
        by_domain.setdefault(column.values[column.codes[node]], []).append(
            _counted_pod(running.pods[place], cluster.nodes.names[node])
        )
    for pods in by_domain.values():
        pods.sort(key=lambda pod: (pod.node, pod.name))
    return by_domain


def _counted_pod(pod: Pod, node: str) -> CountedPod:
    owner, meta = controller_of(pod), pod.metadata
    return CountedPod(
        namespace=meta.namespace,
        name=meta.name,
        owner=None if owner is None else f"{owner.kind}/{owner.name}",
        node=node,
        terminating=meta.deletion_timestamp is not None,
    )
