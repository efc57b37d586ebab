"""Two answers side by side: nodes, spread and placements that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Self

import msgspec
from msgspec import Struct

from kubespread.candidate.kustomization import Kustomization
from kubespread.candidate.manifest import Manifest
from kubespread.candidate.sources import ClusterWorkloads, PodGiven, Reference, read_once
from kubespread.escaping import escaped
from kubespread.kube.api.kinds import Kind
from kubespread.kube.versions import SCORES_SINCE
from kubespread.manifest.text import display_name
from kubespread.questions.compare import report as rows
from kubespread.questions.compare.question import Compare
from kubespread.questions.editing import edited
from kubespread.questions.explain.answer import answer_of as explained
from kubespread.questions.explain.report import ExplainReport
from kubespread.questions.resolving import given_pods, resolve
from kubespread.questions.scene import Scene, ask, cluster_reference
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.simulate.report import SimulateReport
from kubespread.reports.parts import ConstraintReport, letter, skew_of
from kubespread.scheduler.evaluation import NO_NODES
from kubespread.snapshot.snapshot import Snapshot

_NOT_PLACED = f"where replicas land, which depends on scores: they are modeled since 1.{SCORES_SINCE}"


@dataclass(frozen=True, slots=True)
class Side:
    """One of two questions that are compared: BEFORE or AFTER."""

    snapshot: Snapshot
    """The cluster, with its edits."""
    pod: PodGiven | Sequence[PodGiven]
    """As `explain` takes it."""
    scheduler: Scheduler = Scheduler()
    set: Sequence[str] = ()
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""


@dataclass(frozen=True, slots=True)
class ClusterSide:
    """BEFORE or AFTER where all workloads of a cluster are compared."""

    snapshot: Snapshot
    """The cluster, with its edits."""
    scheduler: Scheduler = Scheduler()
    set: Sequence[str] = ()
    """Fields to change in each workload."""
    kinds: tuple[Kind, ...] = ()
    """Of these kinds alone; none: whatever keeps pods running, and pods of nothing that does."""


def answer(question: Compare, scene: Scene) -> rows.CompareReport:
    """Each side is asked by itself. One without the other says nothing, so that no time is too long."""
    before, after = question.pods
    pods = _read(before, question)
    read = pods, pods if before.pod == after.pod else _read(after, question)
    sides = tuple(
        replace(side, pod=given, scheduler=side.scheduler.carried)
        for side, given in zip(question.pods, read, strict=True)
    )
    same = msgspec.structs.replace(question, pods=sides)
    untimed = msgspec.structs.replace(scene, timeout=None)
    was, now = untimed.tasks(_Answering.of(same, scene), range(2), same)
    return compared(Answered(asked_of(before), *was), Answered(asked_of(after), *now), preemption=question.preemption)


def _read(side: Side, question: Compare) -> tuple[PodGiven, ...]:
    return tuple(read_once(pod, question.template_path) for pod in given_pods(side.pod))


class _Answering:
    """The sides, by number: each explained, and simulated where both releases' scores are modeled."""

    def __init__(self, question: Compare) -> None:
        self._question = question
        self._is_scored = all(
            side.scheduler.release(side.snapshot.origin.release).since(SCORES_SINCE) for side in question.pods
        )
        self.assumed: dict[str, None] = {}
        """Each side's report says it."""

    @classmethod
    def of(cls, question: Compare, _scene: Scene) -> Self:
        return cls(question)

    def __call__(self, number: int) -> tuple[ExplainReport, SimulateReport | None]:
        question, side = self._question, self._question.pods[number]
        # What is edited lives on for seconds in a large cluster: once for both questions.
        now, notes = edited(side.snapshot, side.scheduler, question.namespace, preempts=question.preemption)
        resolved = resolve(
            now, side.pod, side.scheduler, question.choosing, settings=side.set, preempts=question.preemption
        )
        report = explained(resolved, cluster_reference(side.snapshot))
        report = report.revised(notes=tuple(dict.fromkeys((*notes, *report.notes))))
        if not self._is_scored:
            return report.revised(not_modelled=(*report.not_modelled, _NOT_PLACED)), None
        simulated = Simulate(
            pods=tuple(given_pods(side.pod)),
            replicas=question.replicas,
            from_scratch=question.from_scratch,
            deals=1,
            settings=tuple(side.set),
            preemption=question.preemption,
            named=question.named,
            namespace=question.namespace,
            recursive=question.recursive,
            template_path=question.template_path,
        )
        return report, simulated.alone(ask(now, simulated, side.scheduler))


def asked_of(side: Side | ClusterSide) -> rows.Asked:
    """As it was given."""
    config, pods = side.scheduler.config, given_pods(side.pod) if isinstance(side, Side) else ()
    return rows.Asked(
        manifest=", ".join(filter(None, map(_called, pods))) or None,
        settings=tuple(side.set),
        edits=tuple(map(str, side.snapshot.edits)),
        scheduler_config=None if config is None else escaped(str(config)),
        feature_gates=side.scheduler.feature_gates,
    )


def _called(pod: PodGiven) -> str:
    """What was typed for it; objects at hand were not."""
    if isinstance(pod, Mapping | ClusterWorkloads):
        return ""
    if isinstance(pod, Manifest):
        return pod.file
    if isinstance(pod, Reference):
        return f"{pod.kind.kind}/{pod.name}"
    return display_name(pod.directory if isinstance(pod, Kustomization) else str(pod))


class Answered(Struct, frozen=True):
    """What one side was asked, and its answers."""

    asked: rows.Asked
    explained: ExplainReport
    simulated: SimulateReport | None
    """None where placing replicas is not simulated; the other side's is not compared then."""


def compared(before: Answered, after: Answered, *, preemption: bool = True) -> rows.CompareReport:
    """What differs between ``before`` and ``after``; exchanged, they give the same with its sides exchanged."""
    sides = _side(before), _side(after)
    nodes, unchanged = _nodes(before.explained, after.explained)
    constraints = tuple(_constraints(_Spread.of(before, beside=after), _Spread.of(after, beside=before)))
    on_nodes, replicas = _placements(before.simulated, after.simulated)
    spread = any(constraint.is_outcome for constraint in constraints)
    return rows.CompareReport(
        preemption=preemption,
        same=not (nodes or on_nodes or replicas or spread or _as_a_whole(*sides)),
        before=sides[0],
        after=sides[1],
        nodes=nodes,
        unchanged_nodes=unchanged,
        constraints=constraints,
        replicas_on_nodes=on_nodes,
        replicas=replicas,
    )


def _side(side: Answered) -> rows.SideReport:
    explained, simulated = side.explained, side.simulated
    reports = (explained,) if simulated is None else (explained, simulated)
    return rows.SideReport(
        asked=side.asked,
        kube_version=explained.kube_version,
        scheduler_name=explained.scheduler_name,
        cluster=explained.cluster,
        pod=explained.pod,
        workload=None if simulated is None else simulated.workload,
        nodes=len(explained.nodes),
        fitting=sum(node.feasible for node in explained.nodes),
        first=_first(explained),
        message=explained.message,
        conclusion=explained.conclusion,
        replicas=None if simulated is None else simulated.replicas,
        present=None if simulated is None else simulated.present,
        placed=None if simulated is None else simulated.placed,
        stopped=None if simulated is None else simulated.stopped,
        preempted=() if simulated is None else simulated.preempted,
        gaps=tuple(dict.fromkeys(gap for report in reports for gap in report.gaps)),
        not_modelled=tuple(dict.fromkeys(gap for report in reports for gap in report.not_modelled)),
        admission=tuple(dict.fromkeys(change for report in reports for change in report.admission)),
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
    )


def _as_a_whole(before: rows.SideReport, after: rows.SideReport) -> bool:
    """Whether anything differs that is not about one node, replica or constraint."""
    outcomes = [(side.message, side.stopped, side.replicas, side.victims) for side in (before, after)]
    # Releases whose scores are not modeled have no first choice to compare.
    return outcomes[0] != outcomes[1] or (bool(before.first and after.first) and before.first != after.first)


def _first(report: ExplainReport) -> tuple[str, ...]:
    """The node that an earlier preemption reserved, else those with the best total, by name."""
    if report.nominated is not None:
        return (report.nominated,)
    totals = {node.name: node.total for node in report.nodes if node.total is not None} if report.schedulable else {}
    best = max(totals.values(), default=None)
    return tuple(sorted(name for name, total in totals.items() if total == best))


def _nodes(before: ExplainReport, after: ExplainReport) -> tuple[tuple[rows.NodeDifference, ...], int]:
    """Those that differ, and how many do not. Where a cycle failed before any node was judged, none is compared."""
    if not (_is_judged(before) and _is_judged(after)):
        return (), 0
    was, now = _node_sides(before), _node_sides(after)
    differing = tuple(
        rows.NodeDifference(name=name, before=was.get(name), after=now.get(name))
        for name in sorted({*was, *now})
        if _differ(was.get(name), now.get(name))
    )
    return differing, len(was.keys() & now.keys()) - sum(name.name in was and name.name in now for name in differing)


def _is_judged(report: ExplainReport) -> bool:
    return bool(report.nodes) or report.message == NO_NODES


def _node_sides(report: ExplainReport) -> Mapping[str, rows.NodeSide]:
    ranks = {name: rank for rank, name in enumerate(report.feasible, start=1)}
    return {
        node.name: rows.NodeSide(
            feasible=node.feasible,
            verdict=node.verdict,
            rejections=tuple(rejection for rejection in node.rejections if rejection.plugin in report.filter_plugins),
            violated=tuple(
                constraint
                for constraint, about in zip(node.constraints, report.constraints, strict=True)
                if about.is_hard and not constraint.satisfied
            ),
            scores=node.scores,
            total=node.total,
            # Without a total the order is that of names alone.
            rank=None if node.total is None else ranks.get(node.name),
        )
        for node in report.nodes
    }


def _differ(before: rows.NodeSide | None, after: rows.NodeSide | None) -> bool:
    if before is None or after is None or before.feasible != after.feasible:
        return True
    if not before.feasible:
        return _reasons(before) != _reasons(after)
    # Releases whose scores are not modeled have none to compare.
    return None not in (before.total, after.total) and _scores(before) != _scores(after)


def _reasons(side: rows.NodeSide) -> tuple[object, ...]:
    """The numbers behind them may change: what kube-scheduler says of the node is the same then."""
    return (
        side.verdict,
        [(rejection.plugin, rejection.code, rejection.reasons) for rejection in side.rejections],
        [constraint.topology_key for constraint in side.violated],
    )


def _scores(side: rows.NodeSide) -> dict[str, int]:
    """A plugin that gives nothing is one that does not run."""
    return {name: score for name, score in side.scores.items() if score}


class _Spread(Struct, frozen=True):
    """The constraints of one side, each with the matching pods of its domains in the end."""

    constraints: Sequence[ConstraintReport]
    counts: Sequence[Sequence[int]]

    @classmethod
    def of(cls, side: Answered, *, beside: Answered) -> _Spread:
        """As they stand after the last placement, where both sides are simulated."""
        simulated = None if beside.simulated is None else side.simulated
        constraints = side.explained.constraints if simulated is None else simulated.constraints
        return cls(constraints, [[domain.matching for domain in constraint.domains] for constraint in constraints])

    def side(self, position: int | None) -> rows.ConstraintSide | None:
        if position is None:
            return None
        constraint = self.constraints[position]
        return rows.ConstraintSide(
            letter=letter(position),
            when_unsatisfiable=constraint.when_unsatisfiable,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            selector=constraint.selector,
            node_affinity_policy=constraint.node_affinity_policy,
            node_taints_policy=constraint.node_taints_policy,
            source=constraint.source,
            skew=skew_of(self.counts[position], constraint),
        )

    def domains(self, position: int | None) -> Mapping[str, int]:
        if position is None:
            return {}
        values = (domain.value for domain in self.constraints[position].domains)
        return dict(zip(values, self.counts[position], strict=True))


def _constraints(before: _Spread, after: _Spread) -> Iterator[rows.ConstraintDifference]:
    for was, now in _paired(before.constraints, after.constraints):
        old, new = before.domains(was), after.domains(now)
        about = after.constraints[now] if was is None and now is not None else before.constraints[was or 0]
        yield rows.ConstraintDifference(
            topology_key=about.topology_key,
            before=before.side(was),
            after=after.side(now),
            domains=tuple(
                rows.DomainDifference(value=value, before=old.get(value), after=new.get(value))
                for value in sorted({*old, *new})
                if old.get(value) != new.get(value)
            )
            if was is not None and now is not None
            else (),
        )


_Pair = tuple[int | None, int | None]


def _paired(before: Sequence[ConstraintReport], after: Sequence[ConstraintReport]) -> list[_Pair]:
    """The positions of constraints that are the same, as they are declared, whichever side comes first."""
    removed, added = list(range(len(before))), list(range(len(after)))
    pairs = list[_Pair]()
    old, new = ([(each.topology_key, each.when_unsatisfiable) for each in side] for side in (before, after))
    # Those of the same key and action first, then those of the same key.
    for length in (2, 1):
        for was in tuple(removed):
            now = next((now for now in added if new[now][:length] == old[was][:length]), None)
            if now is not None:
                removed.remove(was)
                added.remove(now)
                pairs.append((was, now))
    pairs += [(was, None) for was in removed] + [(None, now) for now in added]

    def order(pair: _Pair) -> tuple[list[int], list[str]]:
        both = zip((old, new), pair, strict=True)
        declared = [(position, "\n".join(side[position])) for side, position in both if position is not None]
        positions = [position for position, _ in declared]
        return [min(positions), max(positions)], sorted(text for _, text in declared)

    return sorted(pairs, key=order)


def _placements(
    before: SimulateReport | None, after: SimulateReport | None
) -> tuple[tuple[rows.NodeReplicasDifference, ...], tuple[rows.ReplicaDifference, ...]]:
    if before is None or after is None:
        return (), ()
    was, now = ({node.name: node.present + node.placed for node in report.nodes} for report in (before, after))
    on_nodes = tuple(
        rows.NodeReplicasDifference(name=name, before=was.get(name, 0), after=now.get(name, 0))
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
    )
    if before.present != after.present:
        return on_nodes, ()
    nodes = ((placement.node for placement in report.placements) for report in (before, after))
    replicas = tuple(
        rows.ReplicaDifference(replica=replica, before=old, after=new)
        for replica, (old, new) in enumerate(zip_longest(*nodes))
        if old != new
    )
    return on_nodes, replicas
