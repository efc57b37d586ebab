"""The next pod of every workload of a cluster, explained on two sides: what differs between the answers.

Each side's cluster is built once. A workload is explained node by node only where its verdicts, scores or counts are
not the same columns on both sides: a release changes few of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Self

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.candidate.candidate import Candidate, Surroundings, from_cluster
from kubespread.candidate.companions import with_companions, with_manifest_objects
from kubespread.candidate.settings import parse_settings
from kubespread.candidate.sources import ClusterWorkloads
from kubespread.errors import ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.versions import SCORES_SINCE
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.compare.answer import Answered, ClusterSide, asked_of, compared
from kubespread.questions.compare.question import Compare
from kubespread.questions.compare.report import CompareReport, NodeChange
from kubespread.questions.compare.workloads import report as reports
from kubespread.questions.editing import edited
from kubespread.questions.explain.answer import explained
from kubespread.questions.scene import Scene, cluster_reference
from kubespread.questions.workloads_asked import WorkloadsAsked
from kubespread.reports.judged_nodes import constraint_reports, preemption_report
from kubespread.reports.parts import PreemptionReport
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import Counts
from kubespread.scheduler.evaluation import Evaluation, evaluate, preempt
from kubespread.scheduler.plugin import SchedulingError, Verdicts
from kubespread.scheduler.profile.profile import Profile, framework, post_filters
from kubespread.world.store.owners import in_order


def answer(question: Compare, scene: Scene) -> reports.CompareWorkloadsReport:
    """Each side is asked by itself."""
    work = _Comparing.of(question, scene)
    whose, names = work.whose, work.names
    if not names:
        raise whose.none_found(work.after.snapshot)
    carried = tuple(replace(side, scheduler=side.scheduler.carried) for side in question.pods)
    elsewhere = msgspec.structs.replace(question, pods=carried)
    done = list(scene.tasks(work, names, elsewhere, _known))
    for each in done:
        work.before.learn(each.found[0])
        work.after.learn(each.found[1])
    rows = [each.row for each in done if each.row is not None]
    order = list(reports.WorkloadChange)
    unfinished = scene.unfinished("workload", len(names), names[len(done) :])
    return reports.CompareWorkloadsReport(
        namespace=whose.namespace,
        selector=whose.text,
        preemption=question.preemption,
        same=not (rows or unfinished),
        before=work.before.report(),
        after=work.after.report(),
        workloads=tuple(sorted(rows, key=lambda row: (order.index(row.changes[0]), in_order(row.workload)))),
        unchanged=len(done) - len(rows),
        refused=sum(each.is_refused for each in done),
        unfinished=unfinished,
    )


class _Found(Struct, frozen=True):
    """What a side was found to lack or to be not modeled for, so far; in order."""

    gaps: tuple[str, ...]
    assumed: tuple[str, ...]
    not_modelled: tuple[str, ...]


class _Compared(Struct, frozen=True):
    """One workload."""

    row: reports.WorkloadDifference | None
    """None where both sides answer alike."""
    is_refused: bool
    """Whether they do because neither judges it."""
    found: tuple[_Found, _Found]


class _Comparing:
    """The workloads of both sides, by name."""

    def __init__(self, question: Compare) -> None:
        self.whose = WorkloadsAsked.of(question.namespace, question.selector)
        self.before, self.after = (_Side(side, self.whose, preempts=question.preemption) for side in question.pods)
        self.names = sorted({*self.before.references, *self.after.references}, key=in_order)
        self.assumed: dict[str, None] = {}
        """Each side has its own, in what is found."""

    @classmethod
    def of(cls, question: Compare, _scene: Scene) -> Self:
        return cls(question)

    def __call__(self, name: WorkloadName) -> _Compared:
        was, now = self.before.judged(name), self.after.judged(name)
        row = _difference(name, was, now)
        is_refused = row is None and was is not None and was.refused is not None
        return _Compared(row, is_refused, (self.before.found, self.after.found))


def _known(compared: _Compared) -> str:
    row = compared.row
    return "" if row is None else f"{row.workload.called}: {', '.join(row.changes)}"


class _Judged(Struct, frozen=True):
    """What one side says of a workload's next pod."""

    refused: str | None = None
    message: str | None = None
    evaluation: Evaluation | None = None
    """None where the pod is refused, or its cycle failed before any node was judged."""
    preemption: PreemptionReport | None = None
    answered: Callable[[], Answered] | None = None
    """What it says node by node; None where the pod is refused."""
    is_scored: bool = True

    @property
    def first(self) -> tuple[str, ...]:
        """The node that an earlier preemption reserved, else those with the best total, by name."""
        evaluation = self.evaluation
        if evaluation is None or self.message is not None:
            return ()
        names = evaluation.cluster.nodes.names
        if evaluation.nominee is not None:
            return (names[evaluation.nominee],)
        if not self.is_scored:
            return ()
        best = evaluation.feasible & (evaluation.total == evaluation.total[evaluation.feasible].max())
        return tuple(sorted(names[node] for node in np.flatnonzero(best)))

    def report(self) -> reports.WorkloadSide:
        evaluation = self.evaluation
        return reports.WorkloadSide(
            refused=self.refused,
            fits=evaluation is not None and self.message is None,
            fitting=0 if evaluation is None else int(np.count_nonzero(evaluation.feasible)),
            first=self.first,
            message=self.message,
            preemption=self.preemption,
        )


class _Side:
    """The workloads of one side, its cluster built once."""

    def __init__(self, side: ClusterSide, whose: WorkloadsAsked, *, preempts: bool) -> None:
        self._side, self._preempts = side, preempts
        origin = side.snapshot.origin
        self._version = side.scheduler.release(origin.release)
        changed, self._notes = edited(side.snapshot, side.scheduler, whose.namespace, preempts=preempts)
        own_namespace = origin.namespace or DEFAULT_NAMESPACE
        self.snapshot, _ = with_manifest_objects(changed, (), own_namespace)
        self._surroundings = Surroundings(
            self.snapshot.objects,
            self._version,
            None,
            whose.namespace,
            own_namespace,
            side.scheduler.admission_plugins(),
            parse_settings(side.set),
        )
        self._stored = {NamespacedName.of(pod): pod for pod in as_counted(self.snapshot.pods, self._version)}
        self._cluster = Cluster.of(self.snapshot.nodes, self._stored.values(), self.snapshot.objects)
        workloads = ClusterWorkloads(side.kinds, all_namespaces=whose.namespace is None)
        self.references = {
            WorkloadName(reference.kind.kind, reference.namespace or "", reference.name): reference
            for reference in workloads.with_lone_pods(self.snapshot, whose.namespace or "", whose.selector)
        }
        self._profile = cache(lambda name: side.scheduler.profile_for(name, self._version))
        self._framework = cache(lambda name: framework(self._profile(name)))
        self._gaps = dict.fromkeys((*side.scheduler.source_gaps(self.snapshot.origin), *workloads.gaps(self.snapshot)))
        self._not_modelled = dict[str, None]()

    @property
    def found(self) -> _Found:
        return _Found(tuple(self._gaps), tuple(self._cluster.assumed), tuple(self._not_modelled))

    def learn(self, found: _Found) -> None:
        """What was found elsewhere, of the same side."""
        self._gaps |= dict.fromkeys(found.gaps)
        self._cluster.assumed.update(dict.fromkeys(found.assumed))
        self._not_modelled |= dict.fromkeys(found.not_modelled)

    def report(self) -> reports.ClusterSideReport:
        """What has been asked of it so far."""
        return reports.ClusterSideReport(
            asked=asked_of(self._side),
            kube_version=str(self._version),
            scheduler_name=self._side.scheduler.profile,
            cluster=cluster_reference(self._side.snapshot),
            nodes=len(self._cluster),
            workloads=len(self.references),
            gaps=tuple(dict.fromkeys((*self._gaps, *self._cluster.assumed))),
            not_modelled=tuple(self._not_modelled),
            notes=tuple(self._notes),
        )

    def judged(self, name: WorkloadName) -> _Judged | None:
        """None where the side has no such workload."""
        reference = self.references.get(name)
        if reference is None:
            return None
        try:
            candidate = from_cluster(reference, self.snapshot, self._surroundings)
            profile = self._profile(candidate.pod.spec.scheduler_name)
        except (ManifestError, UsageError) as error:
            self._gaps[f"{name.called} is not judged: {error}"] = None
            return _Judged(refused=str(error))
        self._gaps |= dict.fromkeys((*candidate.gaps, *candidate.admission_gaps))
        return self._judged(candidate, profile, self._cluster_for(candidate))

    def _judged(self, candidate: Candidate, profile: Profile, cluster: Cluster) -> _Judged:
        pod, plugins = candidate.pod, self._framework(candidate.pod.spec.scheduler_name)
        self._not_modelled |= dict.fromkeys(not_modelled(pod, plugins, cluster, profile))

        def answered() -> Answered:
            return Answered(asked_of(self._side), explained(cluster, pod, profile, preemption=self._preempts), None)

        try:
            evaluation = evaluate(plugins, cluster, pod)
        except SchedulingError as error:
            return _Judged(message=str(error), answered=answered)
        does_preempt = self._preempts and evaluation.fits_nowhere
        preemption = preempt(evaluation, post_filters(profile)) if does_preempt else None
        return _Judged(
            message=evaluation.message,
            evaluation=evaluation,
            preemption=None if preemption is None else preemption_report(preemption, self._version),
            answered=answered,
            is_scored=self._version.since(SCORES_SINCE),
        )

    def _cluster_for(self, candidate: Candidate) -> Cluster:
        """The cluster with what the pod brings along, and without the pod itself."""
        cluster = self._cluster
        if candidate.companions:
            objects = cluster.storage.in_objects(cluster.objects)
            cluster = cluster.with_objects(with_companions(objects, candidate.companions))
        if not candidate.is_stored:
            return cluster
        stored = self._stored[NamespacedName.of(candidate.pod)]
        node = cluster.nodes.index.get(stored.spec.node_name)
        without = cluster.after(Change(gone=() if node is None else [(stored, node)]))
        without.nominated = tuple(pod for pod in cluster.nominated if pod is not stored)
        return without


def _difference(name: WorkloadName, before: _Judged | None, after: _Judged | None) -> reports.WorkloadDifference | None:
    """None where both sides say the same."""
    if before is None or after is None:
        only = reports.WorkloadChange.NEW if before is None else reports.WorkloadChange.GONE
        return _row(name, before, after, (only,))
    if before.answered is None or after.answered is None:
        if before.refused == after.refused:
            return None
        change = reports.WorkloadChange.REASONS
        if before.refused is None or after.refused is None:
            change = reports.WorkloadChange.REFUSED if before.refused is None else reports.WorkloadChange.ADMITTED
        return _row(name, before, after, (change,))
    if _is_the_same(before, after):
        return None
    compared_in_full = compared(before.answered(), after.answered())
    changes = tuple(_changes(before, after, compared_in_full))
    return _row(name, before, after, changes, compared_in_full) if changes else None


def _row(
    name: WorkloadName,
    before: _Judged | None,
    after: _Judged | None,
    changes: tuple[reports.WorkloadChange, ...],
    in_full: CompareReport | None = None,
) -> reports.WorkloadDifference:
    nodes = () if in_full is None else in_full.nodes
    by_score = [node.score_changes for node in nodes if node.change is NodeChange.SCORE]
    counts = Counter(node.change for node in nodes)
    return reports.WorkloadDifference(
        workload=name,
        changes=changes,
        before=None if before is None else before.report(),
        after=None if after is None else after.report(),
        nodes={change.value: counts[change] for change in NodeChange if counts[change]},
        scores=tuple(
            reports.ScoreChange(plugin=plugin, least=min(by_node), most=max(by_node))
            for plugin in sorted({plugin for changed in by_score for plugin in changed})
            for by_node in [[changed.get(plugin, 0) for changed in by_score]]
        ),
        constraints=() if in_full is None else tuple(each for each in in_full.constraints if each.is_outcome),
    )


def _changes(before: _Judged, after: _Judged, in_full: CompareReport) -> Iterator[reports.WorkloadChange]:
    fits = [side.evaluation is not None and side.message is None for side in (before, after)]
    changed = {node.change for node in in_full.nodes}
    if fits[0] != fits[1]:
        yield reports.WorkloadChange.STARTS if fits[1] else reports.WorkloadChange.STOPS
    if before.first and after.first and before.first != after.first:
        yield reports.WorkloadChange.FIRST
    if _victims(before) != _victims(after):
        yield reports.WorkloadChange.PREEMPTION
    if changed - {NodeChange.SCORE, NodeChange.REASONS}:
        yield reports.WorkloadChange.NODES
    if NodeChange.SCORE in changed:
        yield reports.WorkloadChange.SCORES
    if any(constraint.is_outcome for constraint in in_full.constraints):
        yield reports.WorkloadChange.SPREAD
    if NodeChange.REASONS in changed or (before.message != after.message and fits == [False, False]):
        yield reports.WorkloadChange.REASONS


def _victims(side: _Judged) -> tuple[object, ...]:
    """Whom preemption evicts and where; what it says besides differs between releases."""
    preempted = side.preemption
    return (
        () if preempted is None or preempted.node is None else (preempted.node, preempted.victims, preempted.violations)
    )


def _is_the_same(before: _Judged, after: _Judged) -> bool:
    """Whether both sides come to the same in every column, so that nothing explained from them differs."""
    one, other = before.evaluation, after.evaluation
    if before.message != after.message or _victims(before) != _victims(after):
        return False
    if one is None or other is None:
        return one is other
    return (
        one.cluster.nodes.names == other.cluster.nodes.names
        and (one.rejection, one.error, one.nominee) == (other.rejection, other.error, other.nominee)
        and np.array_equal(one.included, other.included)
        and _verdicts_are_the_same(one.verdicts, other.verdicts)
        and _verdicts_are_the_same(one.alone, other.alone)
        and before.is_scored == after.is_scored
        and all(
            np.array_equal(_weighted(one, plugin), _weighted(other, plugin)) for plugin in {*one.scores, *other.scores}
        )
        and constraint_reports(one.states, one.feasible) == constraint_reports(other.states, other.feasible)
    )


def _verdicts_are_the_same(one: Mapping[str, Verdicts], other: Mapping[str, Verdicts]) -> bool:
    return [*one] == [*other] and all(
        one[plugin].table == other[plugin].table and np.array_equal(one[plugin].rows, other[plugin].rows)
        for plugin in one
    )


def _weighted(evaluation: Evaluation, plugin: str) -> Counts:
    """The weighted scores of the nodes that fit; a plugin that gives nothing is one that does not run."""
    score = evaluation.scores.get(plugin)
    return np.zeros(len(evaluation.cluster), dtype=np.int64) if score is None else score.weighted * evaluation.feasible
