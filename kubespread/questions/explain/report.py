"""Report of kube-scheduler's decision for one pod, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.owners import NamespacedName
from kubespread.reports.advice import SCHEDULE_ANYWAY, Advice, Suggestion, costly, not_enough, untried_note
from kubespread.reports.judged_nodes import NodeReport
from kubespread.reports.parts import ClusterReport, ConstraintReport, Judgment, PodReference, PreemptionReport, Report
from kubespread.scheduler.causes import ResourceDetail
from kubespread.wording import count_of, some_of, verb_of, without_gates

_MAX_NAMES = 3


class Fix(Report, frozen=True):
    """The pod, or all replicas of its workload, before any change."""

    workload: str | None = None
    """Kind/name of the pod's workload."""
    replicas: int | None = None
    """Number of desired replicas; null for a single pod."""
    placed: int | None = None
    """Number of them with a node without any change, including running ones."""
    victims: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods that are preempted, which makes any change unnecessary."""

    @property
    def subject(self) -> str:
        if self.replicas is None:
            return "the pod"
        return "the replica" if self.replicas == 1 else f"all {count_of(self.replicas, 'replica')}"

    @property
    def verb(self) -> str:
        return "fits" if self.replicas is None else verb_of(self.replicas, "find a node")


class WhyHere(Report, frozen=True):
    """A running pod's node compared with all nodes that fit if the pod were scheduled again, in today's cluster."""

    node: str
    rank: int | None
    """Rank by score, from 1, shared by equal scores. Null if the node does not fit today, or scores are not modeled."""
    fitting: int
    """Number of nodes that fit today."""
    reasons: tuple[str, ...]
    """kube-scheduler's reasons if the node does not fit today."""
    total: int | None
    """Score of the node; null without one."""
    other: str | None
    """The best of the other nodes, of equals the first by name; null if no other fits."""
    other_total: int | None
    """Score of that node."""
    tied: tuple[str, ...]
    """Other nodes with the same score."""
    gains: dict[str, int]
    """Weighted score above that of ``other``, by plugin, without plugins that score both alike."""

    @classmethod
    def compare(cls, node: str, nodes: Sequence[NodeReport]) -> WhyHere:
        """Compare ``node`` with all ``nodes``, judged without the pod."""
        here = next(row for row in nodes if row.name == node)
        others = sorted(
            (row for row in nodes if row.feasible and row.name != node), key=lambda row: (-(row.total or 0), row.name)
        )
        other = next(iter(others), None)
        is_scored = here.feasible and here.total is not None
        plugins = (*here.scores, *(other.scores if other is not None else ()))
        differences = {
            plugin: here.scores.get(plugin, 0) - other.scores.get(plugin, 0)
            for plugin in dict.fromkeys(plugins)
            if other is not None and is_scored
        }
        return cls(
            node=node,
            rank=1 + sum((row.total or 0) > (here.total or 0) for row in others) if is_scored else None,
            fitting=len(others) + here.feasible,
            reasons=here.verdict.reasons,
            total=here.total,
            other=None if other is None else other.name,
            other_total=None if other is None else other.total,
            tied=tuple(row.name for row in others if is_scored and row.total == here.total),
            gains={plugin: gain for plugin, gain in differences.items() if gain},
        )

    def __str__(self) -> str:
        where = f"runs on {self.node}"
        if self.reasons:
            winner = f"; {self.other} would win" if self.other is not None else ""
            return f"{where}, which would not fit today: {', '.join(self.reasons)}{winner}"
        if self.other is None:
            return f"{where}, the only node that fits today"
        if self.rank is None or self.total is None or self.other_total is None:
            return f"{where}, one of {count_of(self.fitting, 'node')} that fit today; their scores are not modeled"
        if self.tied and self.rank == 1:
            return f"{where}, tied for the best of today with {some_of(self.tied, _MAX_NAMES)}: {self.total:,}"
        by = ", ".join(f"{plugin} {gain:+,}" for plugin, gain in self.gains.items())
        if self.rank == 1:
            return f"{where}, which would win today: {self.total:,} against {self.other_total:,} of {self.other}: {by}"
        place = f"number {self.rank:,} of {count_of(self.fitting, 'node')} that fit today with {self.total:,}"
        return f"{where}, {place}; {self.other} would win with {self.other_total:,}: {by} for its node"


class ExplainReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "ExplainReport"
    scheduler_name: str
    pod: PodReference
    schedulable: bool = False
    """True if some node fits, no quota refuses the pod, and it waits behind no scheduling gates."""
    gates: tuple[str, ...] = ()
    """Scheduling gates of the pod, which kube-scheduler does not try: ``nodes`` is as if it had none."""
    message: str | None = None
    """A quota's refusal, else kube-scheduler's message, ``0/3 nodes are available: ...``; null if some node fits."""
    conclusion: str | None = None
    """Sentence on the one cause that keeps the pod off all nodes; null if there are several causes."""
    feasible: tuple[str, ...] = ()
    """Nodes that fit, the best first, equals by name."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Constraints in force for the pod, A, B ... in declared order."""
    filter_plugins: tuple[str, ...] = ()
    """Filter plugins that judged this pod, in the profile's order, without skipped ones."""
    nodes: tuple[NodeReport, ...] = ()
    """All nodes, or the ones named with ``--node``; the best first."""
    sampling: int | None = None
    """Number of feasible nodes after which kube-scheduler would stop looking; null if it looks at all nodes."""
    nominated: str | None = None
    """Node that an earlier preemption reserved, which the pod gets without a search; ``nodes`` ignores that."""
    preemption: PreemptionReport | None = None
    """Null if some node fits, or if a quota refuses the pod."""
    advice: Advice | None = None
    """Changes tried to make the pod fit: to its own constraints, or with ``--fix`` of all kinds and for all replicas;
    null if none were tried.
    """
    admission: tuple[str, ...] = ()
    """Changes that the cluster's admission plugins would make to the pod, given the snapshot's objects."""
    waiting: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of its workload's pods without a node."""
    waiting_fit: int | None = None
    """Number of them that find a node now, placed one after another; null if none waits, no node fits, or fields of the
    pod are set.
    """
    here: WhyHere | None = None
    """Only with ``--why-here``."""
    fix: Fix | None = None
    """Only with ``--fix``: nodes and constraints are then for the first replica without a node, else for one more."""

    def only(self, names: Iterable[str]) -> ExplainReport:
        """Report on some of its nodes. Raises UsageError for an unknown node."""
        chosen = dict.fromkeys(names)
        existing = {node.name for node in self.nodes}
        if missing := [name for name in chosen if name not in existing]:
            raise UsageError(*(f"nodes {quote(name)} not found{alternatives(name, existing)}" for name in missing))
        return replace(self, nodes=tuple(node for node in self.nodes if node.name in chosen))

    @property
    def marks(self) -> tuple[str, str] | None:
        """Selector and namespace of the pods that the first constraint counts."""
        selector = self.constraints[0].selector if self.constraints else "<none>"
        return None if selector in ("<none>", "<empty>") else (selector, self.pod.namespace)

    @property
    def fits(self) -> bool:
        """True if the pod, or all desired replicas, find a node without any change."""
        fix = self.fix
        if fix is None or fix.replicas is None or fix.placed is None:
            return self.message is None or (fix is not None and bool(fix.victims))
        return fix.placed >= fix.replicas

    def judge(self) -> Judgment:
        is_found = self.fix is not None and self.advice is not None and bool(self.advice.enough)
        return "yes" if (self.fits or is_found) and not self.gates else "no"

    def sentences(self) -> Iterator[str]:
        if self.fix is not None:
            first, *others = _changes(self, self.fix)
            yield from (without_gates(self.gates, first), *others)
        else:
            yield from [summary(self), *opening(self), *side_remarks(self)]


def by_score(node: NodeReport) -> tuple[Any, ...]:
    """Sort key of nodes: fitting nodes by score, then the others, the nearest to fitting first."""
    failing = sum(not constraint.satisfied for constraint in node.constraints)
    return (not node.feasible, -(node.total or 0), absent_resources(node), len(node.rejections), failing, node.name)


def absent_resources(node: NodeReport) -> int:
    """Number of requested resources that the node does not have at all, such as GPUs."""
    details = (detail for rejection in node.rejections for detail in rejection.details)
    return sum(isinstance(detail, ResourceDetail) and detail.allocatable == "0" for detail in details)


def opening(report: ExplainReport) -> list[str]:
    """Sentences after the number of nodes that fit: pending pods of the workload, and why a pod is where it is."""
    sentences = []
    if waiting := [pod.name for pod in report.waiting]:
        verb, fitting = verb_of(len(waiting), "are"), report.waiting_fit
        fit = "" if fitting is None else f", {fitting:,} of {len(waiting):,} fit now"
        names = some_of(waiting, _MAX_NAMES)
        sentences.append(f"{len(waiting):,} of its pods {verb} pending{fit}: {names}; this pod would be the next")
    return sentences if report.here is None else [*sentences, str(report.here)]


def summary(report: ExplainReport, suffix: str = "") -> str:
    """``2 of 4 nodes fit: node3, node4``, without the ``suffix`` that all nodes share."""
    total = len(report.nodes)
    fitting = [node.name.removesuffix(suffix) for node in report.nodes if node.feasible]
    verb = verb_of(len(fitting), "fit")
    listed = f": {some_of(fitting, _MAX_NAMES)}" if fitting else ""
    refused = "not created; " if report.message and report.feasible else ""
    return without_gates(report.gates, f"{refused}{len(fitting):,} of {count_of(total, 'node')} {verb}{listed}")


def side_remarks(report: ExplainReport) -> list[str]:
    """Sentences on the one cause, kube-scheduler's message, preemption, sampling, and changes to constraints."""
    preemption = report.preemption
    preempting = None if preemption is None or preemption.node is None else preemption.sentence
    sentences = (report.conclusion, report.message, preempting, _sampling(report))
    return [sentence for sentence in (*sentences, *_advice(report.advice)) if sentence]


def _advice(advice: Advice | None) -> Iterator[str]:
    """``Enough alone: A maxSkew 2 (2 nodes) · A nodeTaintsPolicy Honor (2)``.

    Relaxing a constraint is not mentioned where it can stay hard with a smaller change.
    """
    if advice is None:
        return
    shown, hardened = list[Suggestion](), set[str]()
    for suggestion in advice.enough:
        if suggestion.family != SCHEDULE_ANYWAY or hardened.isdisjoint(suggestion.constraints):
            shown.append(suggestion)
            hardened.update(suggestion.constraints)
    if shown:
        first, *others = shown
        fits = [count_of(first.nodes or 0, "node"), *(f"{other.nodes:,}" for other in others)]
        remarks = ("; ".join([count, *suggestion.notes]) for count, suggestion in zip(fits, shown, strict=True))
        listed = (f"{suggestion.change} ({remark})" for suggestion, remark in zip(shown, remarks, strict=True))
        yield f"Enough alone: {' · '.join(listed)}"
    if changes := " · ".join(not_enough(advice)):
        yield f"Not enough: {changes}"


def _changes(report: ExplainReport, fix: Fix) -> Iterator[str]:
    """Yield sentences on the changes that suffice, that harm others, and that do not suffice alone."""
    advice = report.advice
    if advice is None:
        yield _without_change(report, fix)
        return
    if advice.enough:
        others = len(advice.enough) - 1
        more = f", or {count_of(others, 'other change')}" if others else ""
        yield f"{fix.subject} {fix.verb} with {advice.enough[0].change}{more}"
    else:
        yield f"none of {count_of(advice.tried, 'change')} tried makes {fix.subject} fit"
    if changes := " · ".join(costly(advice)):
        yield f"Only at others' cost: {changes}"
    if changes := " · ".join(not_enough(advice)):
        yield f"Not enough alone: {changes}"
    if sentence := untried_note(advice):
        yield sentence


def _without_change(report: ExplainReport, fix: Fix) -> str:
    if not report.fits:
        return f"no change is tried: {report.conclusion or report.message}"
    if fix.victims:
        return f"{fix.subject} {fix.verb} by preempting {some_of(fix.victims, 3)}: no change is needed"
    outcome = summary(replace(report, gates=())) if fix.replicas is None else f"{fix.subject} {fix.verb}"
    return f"{outcome}: no change is needed"


def _sampling(report: ExplainReport) -> str | None:
    if report.sampling is None:
        return None
    return (
        f"all {len(report.nodes):,} nodes are scored; kube-scheduler would stop once it has found "
        f"{report.sampling} that fit"
    )
