"""What would make a pod fit, each change proven by asking again."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.owners import NamespacedName
from kubespread.reports.advise import Advice, Suggestion, costly, not_enough, untried
from kubespread.reports.parts import ClusterReport, ConstraintReport, Judgment, PodReference, Report
from kubespread.wording import count_of, short_key, some_of, verb_of


class Gathered(Report, frozen=True, kw_only=True):
    """One domain holds more than half of the replicas, where a constraint would keep them apart."""

    topology_key: str
    """``topology.kubernetes.io/zone``."""
    domain: str
    """The fullest one."""
    replicas: int
    """How many of them it holds."""
    then: int
    """How many the fullest one holds with the constraint."""
    suggestion: Suggestion
    """The constraint, with which all replicas find a node."""


class AdviseReport(ClusterReport, frozen=True, kw_only=True):
    kind: str = "AdviseReport"
    scheduler_name: str
    pod: PodReference
    workload: str | None = None
    """Kind/name of what the pod belongs to."""
    replicas: int | None = None
    """How many replicas should fit; null for a single pod."""
    placed: int | None = None
    """How many of them find a node without any change, running ones included."""
    nodes: int = 0
    """How many nodes there are."""
    fitting: int = 0
    """How many of them fit the pod without any change."""
    message: str | None = None
    """kube-scheduler's, null where it finds a node for each."""
    victims: tuple[NamespacedName, ...] = ()
    """NAMESPACE/name of the pods that are preempted without any change, so that nothing has to change."""
    constraints: tuple[ConstraintReport, ...] = ()
    """Those in force for the pod that finds no node, with current counts."""
    conclusion: str | None = None
    """What bars the pod, if it is one thing."""
    advice: Advice | None = None
    """Null where nothing has to change."""
    gathered: Gathered | None = None
    """Of a workload whose replicas all find a node; null where no constraint is missing."""
    admission: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether nothing has to change."""
        return self.advice is None

    @property
    def succeeds(self) -> bool:
        """Whether the pod fits already, or after some change that was found."""
        return self.advice is None or bool(self.advice.enough)

    def judged(self) -> Judgment:
        return "yes" if self.succeeds else "no"

    def sentences(self) -> Iterator[str]:
        yield from _sentences(self)


def _sentences(report: AdviseReport) -> Iterator[str]:
    """What suffices, and what does not suffice alone."""
    advice = report.advice
    if advice is None:
        yield _message(report)
        if (gathered := report.gathered) is not None:
            holds = f"{short_key(gathered.topology_key)} {gathered.domain} holds {gathered.replicas} of them"
            yield f"{holds}; with a {gathered.suggestion.brief} none holds more than {gathered.then}"
        return
    if advice.enough:
        others = len(advice.enough) - 1
        more = f", or {count_of(others, 'other change')}" if others else ""
        yield f"{_subject(report)} {_verb(report)} with {advice.enough[0].change}{more}"
    else:
        yield f"none of {count_of(advice.tried, 'change')} tried makes {_subject(report)} fit"
    if changes := " · ".join(costly(advice)):
        yield f"Only at others' cost: {changes}"
    if changes := " · ".join(not_enough(advice)):
        yield f"Not enough alone: {changes}"
    if sentence := untried(advice):
        yield sentence


def _subject(report: AdviseReport) -> str:
    if report.replicas is None:
        return "the pod"
    return "the replica" if report.replicas == 1 else f"all {count_of(report.replicas, 'replica')}"


def _verb(report: AdviseReport) -> str:
    return "fits" if report.replicas is None else verb_of(report.replicas, "find a node")


def _message(report: AdviseReport) -> str:
    if report.victims:
        return f"{_subject(report)} {_verb(report)} by preempting {some_of(report.victims, 3)}: no change is needed"
    if report.message is not None:
        return f"nothing tells what could be changed: {report.message}"
    if report.replicas is not None:
        return f"{_subject(report)} {_verb(report)}: no change is needed"
    verb = verb_of(report.fitting, "fit")
    return f"{report.fitting:,} of {count_of(report.nodes, 'node')} {verb}: no change is needed"
