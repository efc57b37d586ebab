"""One pod against one cluster: every node's verdict, the arithmetic behind it, and the scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import waiting_pods
from kubespread.candidate.sources import read_once
from kubespread.controllers.adoption import pods_of
from kubespread.errors import UsageError
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import NamespacedName, full_name
from kubespread.kube.versions import SCORES_SINCE, KubeVersion
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.explain.question import Explain
from kubespread.questions.explain.report import ExplainReport, WhyHere, by_score
from kubespread.questions.remedies.change import Answer, Change, Goal, QuestionEdits, Revise
from kubespread.questions.remedies.families import FAMILIES, StuckPod
from kubespread.questions.remedies.search import advice
from kubespread.questions.resolving import gaps_of, quota_refusal, resolve, reviser
from kubespread.questions.scene import Scene
from kubespread.reports import judged_nodes
from kubespread.reports.advice import Advice
from kubespread.reports.parts import ConstraintReport, PodReference
from kubespread.scheduler.causes import Causes
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import ABSENT
from kubespread.scheduler.cluster.nodes import nodes_to_find
from kubespread.scheduler.evaluation import Evaluation, evaluate, preempt
from kubespread.scheduler.plugin import Code, SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, Shares, SoftConstraint, SpreadState
from kubespread.scheduler.profile.profile import framework, post_filters
from kubespread.world.store.pod_book import key_of

if TYPE_CHECKING:
    from kubespread.world.events.world import World

_NOTHING = QuestionEdits()


class _SamePlace(Goal):
    """Goal that the pod fits with other constraints, in the same cluster."""

    def __init__(self, evaluation: Evaluation, revise: Revise) -> None:
        self._evaluation, self._revise = evaluation, revise

    def ask(self, change: Change) -> Answer | None:
        revised = self._revise(change.settings)
        if revised is None:
            return None
        plugins, cluster = self._evaluation.prepared.framework, revised.dressed(self._evaluation.cluster)
        try:
            evaluation = evaluate(plugins, cluster, revised.pod)
        except SchedulingError:
            return Answer(0)
        return Answer(0 if evaluation.error is not None else int(evaluation.feasible.sum()))


def advice_on_constraints(
    evaluation: Evaluation, version: KubeVersion, revise: Revise, edits: QuestionEdits
) -> Advice | None:
    """Changes of the hard constraints of a pod that fits nowhere, to make it fit; None if it has none, or fits.

    Neither the rest of the pod nor the cluster is changed, so it takes a few more evaluations at most.
    """
    if evaluation.error is not None or evaluation.feasible.any():
        return None
    stuck = StuckPod(evaluation, version, edits=edits)
    if not stuck.own_constraints:
        return None
    families = [family for family in FAMILIES if family.of == "constraint"]
    result, _ = advice(stuck, families, _SamePlace(evaluation, revise), combines=False)
    return result


def answer(question: Explain, scene: Scene) -> ExplainReport:
    """Explain the pod on the requested nodes, or find changes that make it fit."""
    pods = [read_once(pod) for pod in question.pods]
    (candidate, *_), cluster = resolve(
        scene.snapshot, pods, scene.scheduler, question.surroundings, settings=question.settings
    )
    if question.fix:
        return _fix(msgspec.structs.replace(question, pods=tuple(pods)), candidate, cluster, scene)
    report = explain_candidate(
        candidate,
        cluster,
        scene,
        pods=question.with_pods or bool(question.nodes),
        revise=reviser(candidate),
        edits=QuestionEdits(scene.snapshot.edits, question.settings, candidate.workload),
        refusal=quota_refusal(candidate, cluster, scene.scheduler),
    )
    if report.waiting and report.schedulable and not question.settings:
        report = msgspec.structs.replace(report, waiting_fit=_fitting(scene.world.fork(), report.waiting))
    if question.why_here:
        node = _own_node(candidate, cluster)
        here = WhyHere.compare(node, report.nodes) if report.nodes else None
        report = msgspec.structs.replace(report, here=here)
    return report.only(question.nodes) if question.nodes else report


def _fix(question: Explain, candidate: Candidate, cluster: Cluster, scene: Scene) -> ExplainReport:
    """Report on the pod, or on the first replica without a node; if all have one, on one more."""
    # Explaining alone needs no world to try changes in.
    from kubespread.questions.explain.fixing import find_changes, judge

    judged = judge(question, candidate, cluster, scene)
    stuck = judged.stuck
    evaluation = None if stuck is None else stuck.evaluation
    report = explain_candidate(candidate, cluster, scene, evaluation=evaluation)
    changes = judged.advice if stuck is None else find_changes(stuck, judged.goal, question, candidate)
    return msgspec.structs.replace(
        report,
        fix=judged.fix,
        message=judged.message or report.message,
        advice=changes,
        notes=judged.notes,
        not_modelled=report.not_modelled if stuck is None else (*report.not_modelled, *Explain.never_modelled),
        # After the search, as each part of it may assume something of the cluster.
        gaps=gaps_of(candidate, cluster),
    )


def _fitting(world: World, waiting: Collection[NamespacedName]) -> int:
    """Number of ``waiting`` pods that find a node in ``world``, placed one after another before all others."""
    keys = {(name.namespace, name.name) for name in waiting}
    world.queue.waiting = {key: pod for key, pod in world.queue.waiting.items() if key in keys}
    world.settle()
    return len(keys) - len(keys & world.queue.waiting.keys())


def _own_node(candidate: Candidate, cluster: Cluster) -> str:
    """The node that the pod runs on. Raises UsageError."""
    key = key_of(candidate.pod)
    node = next((pod.spec.node_name for pod in candidate.surroundings.snapshot.pods if key_of(pod) == key), "")
    if not candidate.is_stored:
        raise UsageError("--why-here is about a pod that runs: name it as pod/NAME")
    if not node:
        raise UsageError(
            f"--why-here is about a pod that runs, and {candidate.pod.metadata.name} is pending: leave it out"
        )
    if node not in cluster.nodes.index:
        raise UsageError(f"the pod runs on {node}, which is not among the nodes")
    return node


def _waiting(candidate: Candidate) -> tuple[NamespacedName, ...]:
    """Pods of the workload that have no node; none for a pod in the cluster."""
    if candidate.workload is None or candidate.is_stored:
        return ()
    waiting = waiting_pods(candidate.surroundings.snapshot)
    replica_sets = candidate.surroundings.objects.get(ReplicaSet)
    return tuple(map(full_name, pods_of(candidate.workload, candidate.companions, replica_sets, waiting)))


def explain_candidate(
    candidate: Candidate,
    cluster: Cluster,
    scene: Scene,
    *,
    pods: bool = False,
    revise: Revise | None = None,
    edits: QuestionEdits = _NOTHING,
    evaluation: Evaluation | None = None,
    refusal: str | None = None,
) -> ExplainReport:
    """Explain an admitted pod on every node of ``cluster``, as kube-scheduler with its profile judges it.

    ``pods`` is True to name the counted pods. ``revise`` makes the pod with other constraints, to find some that help
    without undoing the question's ``edits``. ``evaluation`` is an earlier evaluation, if there is one. ``refusal`` is
    the message of a quota that refuses the pod.
    """
    pod = candidate.pod
    profile = scene.scheduler.profile_for(pod.spec.scheduler_name, candidate.surroundings.version)
    cluster = cluster if evaluation is None else evaluation.cluster
    plugins, version = framework(profile), profile.version
    report = partial(
        ExplainReport,
        kube_version=str(version),
        cluster=scene.source,
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        not_modelled=not_modelled(pod, plugins, cluster, profile),
        admission=candidate.admission,
        waiting=_waiting(candidate),
        notes=(*candidate.notes, *filter(None, [candidate.waits_behind])),
        gates=tuple(gate.name for gate in pod.spec.scheduling_gates),
    )
    try:
        evaluation = evaluation or evaluate(plugins, cluster, pod)
    except SchedulingError as error:
        return report(message=str(error), gaps=gaps_of(candidate, cluster))
    rows, details = _constraint_rows(evaluation, pods=pods), evaluation.causes()
    is_scored = version.reaches(SCORES_SINCE) and evaluation.error is None
    scores = _scores(evaluation) if is_scored else None
    nodes = (_node_report(evaluation, rows, details, node, scores) for node in range(len(cluster)))
    return report(
        schedulable=evaluation.message is None and refusal is None and not pod.spec.scheduling_gates,
        message=refusal or evaluation.message,
        conclusion=bars(evaluation),
        nominated=None if evaluation.nominated_node is None else cluster.nodes.names[evaluation.nominated_node],
        feasible=_feasible(evaluation, version) if evaluation.message is None else (),
        constraints=tuple(row.report for row in rows),
        filter_plugins=tuple(evaluation.verdicts),
        sampling=nodes_to_find(int(evaluation.included_nodes.sum()), profile.percentage_of_nodes_to_score),
        nodes=tuple(sorted(nodes, key=by_score)),
        advice=None if revise is None else advice_on_constraints(evaluation, version, revise, edits),
        preemption=judged_nodes.preemption_report(preempt(evaluation, post_filters(profile)), version)
        if evaluation.fits_nowhere and refusal is None
        else None,
        # All assumptions are known once the pod is judged.
        gaps=gaps_of(candidate, cluster),
    )


def _feasible(evaluation: Evaluation, version: KubeVersion) -> tuple[str, ...]:
    """Nodes that fit, the best first; by name where scores are not modeled."""
    names = evaluation.cluster.nodes.names
    if version.reaches(SCORES_SINCE):
        return tuple(names[node] for node in evaluation.ranking)
    return tuple(sorted(names[node] for node in np.flatnonzero(evaluation.feasible)))


class _ConstraintRow(Struct, frozen=True):
    """One constraint with its numbers for all nodes."""

    report: ConstraintReport
    values: Sequence[str]
    """The domains by their codes."""
    codes: Sequence[int]
    matching: Sequence[int]
    shares: Shares | None

    def at_node(self, node: int) -> judged_nodes.NodeConstraint:
        constraint, code = self.report, self.codes[node]
        domain = matching = skew = None
        satisfied, reason = False, f"the node has no label {constraint.topology_key}"
        if code != ABSENT:
            domain, matching = self.values[code], self.matching[node]
            skew = constraint.skew_with(matching, constraint.self_match)
            satisfied = skew <= constraint.max_skew
            reason = f"skew {skew} exceeds maxSkew {constraint.max_skew}"
        return judged_nodes.NodeConstraint(
            topology_key=constraint.topology_key,
            domain=domain,
            matching=matching,
            self_match=constraint.self_match,
            global_minimum=constraint.global_minimum,
            skew=skew,
            max_skew=constraint.max_skew,
            satisfied=satisfied,
            reason=None if satisfied else reason,
        )


def _constraint_rows(evaluation: Evaluation, *, pods: bool) -> list[_ConstraintRow]:
    reports = judged_nodes.constraint_reports(evaluation.states, evaluation.feasible)
    state = evaluation.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState):
        return []
    if pods:
        cluster, namespace = evaluation.cluster, evaluation.pod.metadata.namespace
        reports = [
            judged_nodes.with_pods(report, counted, cluster, namespace)
            for report, counted in zip(reports, judged_nodes.counted_constraints(state), strict=True)
        ]
    is_scored = state.soft is not None and evaluation.feasible.any()
    shares = iter(state.soft.shares(evaluation.feasible) if state.soft is not None and is_scored else ())
    return [
        _ConstraintRow(
            report,
            counted.column.values,
            counted.column.codes.tolist(),
            counted.counts_at().tolist(),
            next(shares, None) if isinstance(counted, SoftConstraint) else None,
        )
        for report, counted in zip(reports, judged_nodes.counted_constraints(state), strict=True)
    ]


_Scores = Callable[[int], tuple[dict[str, int], dict[str, judged_nodes.ScoreDetail]]]
"""The weighted scores of a node, and their details."""


def _scores(evaluation: Evaluation) -> _Scores:
    scores = evaluation.scores
    parts = [[score.raw for score in scores.values()], [score.normalized for score in scores.values()]]
    rows = np.ascontiguousarray(np.array(parts, dtype=np.int64).T)

    @cache
    def score(row: bytes) -> tuple[dict[str, int], dict[str, judged_nodes.ScoreDetail]]:
        values = np.frombuffer(row, dtype=np.int64).reshape(-1, 2).tolist()
        details = {
            name: judged_nodes.ScoreDetail(
                raw=raw, normalized=normalized, weight=score.weight, weighted=normalized * score.weight
            )
            for (name, score), (raw, normalized) in zip(scores.items(), values, strict=True)
        }
        return {name: detail.weighted for name, detail in details.items()}, details

    # Many nodes of a large cluster have the same.
    return lambda node: score(rows[node].tobytes()) if scores else ({}, {})


def _node_report(
    evaluation: Evaluation,
    rows: Sequence[_ConstraintRow],
    details: Mapping[str, Mapping[int, Causes]],
    node: int,
    scores: _Scores | None,
) -> judged_nodes.NodeReport:
    """``scores`` are None where nodes have none."""
    verdict = evaluation.verdict(node)
    feasible = verdict.code is Code.SUCCESS
    scored = scores is not None and feasible
    weighted, score_details = scores(node) if scores is not None and feasible else ({}, {})
    return judged_nodes.NodeReport(
        name=evaluation.cluster.nodes.names[node],
        feasible=feasible,
        verdict=judged_nodes.Verdict(code=verdict.code.value, plugin=verdict.plugin or None, reasons=verdict.reasons),
        rejections=tuple(
            judged_nodes.Rejection(
                plugin=status.plugin,
                code=status.code.value,
                reasons=status.reasons,
                details=details[status.plugin].get(node, ()),
            )
            for status in evaluation.rejections(node)
        ),
        constraints=tuple(row.at_node(node) for row in rows),
        scores=weighted,
        score_details=score_details,
        total=int(evaluation.total[node]) if scored else None,
        spread_scores=tuple(float(row.shares[node]) if scored and row.shares is not None else None for row in rows),
    )
