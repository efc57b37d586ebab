"""What kube-scheduler would decide for one pod, node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kubespread.errors import UsageError
from kubespread.kube.api.unknown_fields import alternatives
from kubespread.kube.gotext import quote
from kubespread.kube.owners import NamespacedName
from kubespread.questions.explain.why_here import WhyHere
from kubespread.reports.advise import SCHEDULE_ANYWAY, Advice, Suggestion, not_enough
from kubespread.reports.judged_nodes import NodeReport
from kubespread.reports.parts import ClusterReport, ConstraintReport, Judgment, PodReference, PreemptionReport
from kubespread.wording import count_of, some_of, verb_of


class ExplainReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "ExplainReport"
    scheduler_name: str
    pod: PodReference
    schedulable: bool = False
    """Whether some node fits."""
    message: str | None = None
    """kube-scheduler's, ``0/3 nodes are available: ...``; null where some node fits."""
    conclusion: str | None = None
    """What bars a pod that fits nowhere, if it is one thing."""
    feasible: tuple[str, ...] = ()
    """The nodes that fit, the best first; of equals by name."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Those in force for the pod, A, B ... in the order they are declared."""
    filter_plugins: tuple[str, ...] = ()
    """The filter plugins that judged this pod, in the profile's order; those it gives nothing to judge are skipped."""
    nodes: tuple[NodeReport, ...] = ()
    """All, or those of ``--node``; ordered as ``--sort`` asks, by default the best first."""
    sampling: int | None = None
    """How many feasible nodes kube-scheduler would have stopped at before scoring; null when it looks at all nodes."""
    nominated: str | None = None
    """The node an earlier preemption reserved, taken without looking further; ``nodes`` answers as if not."""
    preemption: PreemptionReport | None = None
    """Only when asked for, and only when no node fits."""
    advice: Advice | None = None
    """Which of the pod's own constraints, changed alone, lets a pod in that fits nowhere; null without such a
    constraint. Nothing else is tried.
    """
    admission: tuple[str, ...] = ()
    """What the cluster's admission plugins would change in the pod, with the objects the snapshot holds."""
    waiting: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods of its workload that exist and have no node."""
    here: WhyHere | None = None
    """Why the pod's own node won; only when asked for."""

    def sorted_by(self, key: str) -> ExplainReport:
        """The report with its nodes ordered by ``score`` (best first), ``name`` or ``skew`` (smallest first)."""
        return self.revised(nodes=tuple(sorted(self.nodes, key=NODE_ORDERS[key])))

    def only(self, names: Iterable[str]) -> ExplainReport:
        """The report about some of its nodes. Raises UsageError for a node that is not there."""
        chosen = dict.fromkeys(names)
        existing = {node.name for node in self.nodes}
        if missing := [name for name in chosen if name not in existing]:
            raise UsageError(*(f"nodes {quote(name)} not found{alternatives(name, existing)}" for name in missing))
        return self.revised(nodes=tuple(node for node in self.nodes if node.name in chosen))

    @property
    def marks(self) -> tuple[str, str] | None:
        """Those that the first constraint counts."""
        selector = self.constraints[0].selector if self.constraints else "<none>"
        return None if selector in ("<none>", "<empty>") else (selector, self.pod.namespace)

    def judged(self) -> Judgment:
        return "yes" if self.schedulable else "no"

    def sentences(self) -> Iterator[str]:
        yield from [*opening(self), summary(self), *beside(self)]

    @property
    def said(self) -> tuple[str, ...]:
        before = 0 if self.doubts else len(opening(self))
        return (f"{self.word}{self.answer[before]}", *self.answer[:before], *self.answer[before + 1 :])


def _by_score(node: NodeReport) -> tuple[Any, ...]:
    """Nodes that fail come last, the one nearest to fitting first."""
    failing = sum(not constraint.satisfied for constraint in node.constraints)
    return (not node.feasible, -(node.total or 0), len(node.rejections), failing, node.name)


def _by_skew(node: NodeReport) -> tuple[Any, ...]:
    """By the first constraint's skew, then the next; a node without the domain comes last."""
    return (*((constraint.skew is None, constraint.skew or 0) for constraint in node.constraints), node.name)


NODE_ORDERS: Mapping[str, Callable[[NodeReport], tuple[Any, ...]]] = {
    "score": _by_score,
    "name": lambda node: (node.name,),
    "skew": _by_skew,
}


_MAX_NAMES = 3


def opening(report: ExplainReport) -> list[str]:
    """What is said before whether nodes fit: that pods of the workload wait, and why a pod is where it is."""
    sentences = []
    if waiting := [pod.name for pod in report.waiting]:
        verb = verb_of(len(waiting), "are")
        sentences.append(f"{len(waiting):,} of its pods {verb} pending: {some_of(waiting, _MAX_NAMES)}")
    return sentences if report.here is None else [*sentences, str(report.here)]


def summary(report: ExplainReport, suffix: str = "") -> str:
    """``2 of 4 nodes fit: node3, node4``, without the ``suffix`` that all names of nodes share."""
    total = len(report.nodes)
    fitting = [node.name.removesuffix(suffix) for node in report.nodes if node.feasible]
    verb = verb_of(len(fitting), "fit")
    listed = f": {some_of(fitting, _MAX_NAMES)}" if fitting else ""
    return f"{len(fitting):,} of {count_of(total, 'node')} {verb}{listed}"


def beside(report: ExplainReport) -> list[str]:
    """What bars the pod, kube-scheduler's message, what preemption would do, that nodes are not sampled, and which
    constraint would have to change.
    """
    preempting = None if report.preemption is None else report.preemption.sentence
    sentences = (report.conclusion, report.message, preempting, _sampling(report))
    return [sentence for sentence in (*sentences, *_advice(report.advice)) if sentence]


def _advice(advice: Advice | None) -> Iterator[str]:
    """``Enough alone: A maxSkew 2 (2 nodes) · A nodeTaintsPolicy Honor (2)``; relaxing a constraint is not mentioned
    where it can stay hard with a smaller change.
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
        remarks = ("; ".join([count, *each.notes]) for count, each in zip(fits, shown, strict=True))
        listed = (f"{each.change} ({remark})" for each, remark in zip(shown, remarks, strict=True))
        yield f"Enough alone: {' · '.join(listed)}"
    if changes := " · ".join(not_enough(advice)):
        yield f"Not enough: {changes}"


def _sampling(report: ExplainReport) -> str | None:
    if report.sampling is None:
        return None
    return (
        f"all {len(report.nodes):,} nodes are scored; kube-scheduler would stop once it has found "
        f"{report.sampling} that fit"
    )
