"""What differs between two answers to one question: BEFORE and AFTER.

Every difference has a ``before`` and an ``after``; the two sides the other way round give the same report with these
exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum

from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME
from kubespread.reports import parts as reports
from kubespread.reports.judged_nodes import NodeConstraint, Rejection, Verdict
from kubespread.wording import count_of, says


class Asked(reports.Report, frozen=True):
    """What one side was asked, as it was given."""

    manifest: str | None = None
    """The file, or KIND/NAME in the cluster; null for an object at hand."""
    settings: tuple[str, ...] = ()
    """Fields of the pod that were changed, ``maxSkew[zone]=2``."""
    edits: tuple[str, ...] = ()
    """What was changed in the cluster, ``cordon node-7``, in that order."""
    scheduler_config: str | None = None
    """The file; null where there is none."""
    feature_gates: str | None = None
    """As they were given, ``Name=true``; null where none were."""


class SideReport(reports.Report, frozen=True):
    """One side's answer as a whole."""

    asked: Asked
    kube_version: str
    scheduler_name: str
    cluster: reports.ClusterReference | None
    pod: reports.PodReference
    workload: str | None
    """Kind/name of what the replicas belong to."""
    nodes: int
    """How many the cluster has."""
    fitting: int
    """How many of them fit."""
    first: tuple[str, ...]
    """The nodes tied for the best total, one of which gets the pod; empty if none fits or scores are not modeled."""
    message: str | None
    """kube-scheduler's message for a pod that fits nowhere."""
    conclusion: str | None
    """What bars it, if it is one thing."""
    replicas: int | None
    """How many there should be; null where placing them is not simulated."""
    present: int | None
    """How many of them already run and stay where they are."""
    placed: int | None
    """How many of the others found a node."""
    stopped: str | None
    """The message for the first replica that stays pending."""
    preempted: tuple[reports.PreemptedPod, ...] = ()
    """The pods that were evicted for replicas, in the order that happened."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """Kind/name of the workload, or of a pod by itself."""
        return self.workload or f"Pod/{self.pod.name}"

    @property
    def pending(self) -> int:
        """How many replicas found no node."""
        return max(0, (self.replicas or 0) - self.running)

    @property
    def victims(self) -> set[str]:
        """NAMESPACE/name of those that were evicted, whichever replica took the place of which."""
        return {victim.pod for victim in self.preempted}

    @property
    def running(self) -> int:
        """How many replicas are on nodes in the end."""
        return (self.present or 0) + (self.placed or 0)


class NodeSide(reports.Report, frozen=True):
    """A node as one side judges it."""

    feasible: bool
    """Whether every filter passes."""
    verdict: Verdict
    """kube-scheduler's own judgment of the node: the first plugin that rejects it."""
    rejections: tuple[Rejection, ...]
    """Of every filter plugin that the profile runs."""
    violated: tuple[NodeConstraint, ...]
    """The hard constraints that reject it."""
    scores: dict[str, int]
    """Weighted, by plugin; empty for a node outside scoring."""
    total: int | None
    """The weighted sum of all scores; null for a node outside scoring."""
    rank: int | None
    """Its place among the nodes that fit, from 1, equal totals by name; null where there is none."""


class NodeChange(StrEnum):
    """The way in which a node differs."""

    GONE = "gone"
    NEW = "new"
    STOPS = "no longer fits"
    STARTS = "fits now"
    REASONS = "other reasons"
    SCORE = "other score"


class NodeDifference(reports.Report, frozen=True):
    """A node judged differently on each side, or present on one side only: then the other is null."""

    name: str
    """The node's."""
    before: NodeSide | None
    """Null where BEFORE has no such node."""
    after: NodeSide | None
    """Null where AFTER has no such node."""

    @property
    def change(self) -> NodeChange:
        """Its main difference."""
        if self.before is None or self.after is None:
            return NodeChange.NEW if self.before is None else NodeChange.GONE
        if self.before.feasible != self.after.feasible:
            return NodeChange.STARTS if self.after.feasible else NodeChange.STOPS
        return NodeChange.SCORE if self.after.feasible else NodeChange.REASONS

    @property
    def score_changes(self) -> dict[str, int]:
        """By how much the weighted scores differ, by plugin; a plugin without a score counts 0."""
        before = {} if self.before is None else self.before.scores
        after = {} if self.after is None else self.after.scores
        changes = {name: after.get(name, 0) - before.get(name, 0) for name in sorted({*before, *after})}
        return {name: change for name, change in changes.items() if change}


class ConstraintSide(reports.Report, frozen=True):
    """A constraint in force on one side, its defaults filled in."""

    letter: str
    """What that side's ``conclusion`` calls it: A, B ... as they are declared."""
    when_unsatisfiable: str
    max_skew: int
    min_domains: int | None
    selector: str
    node_affinity_policy: str
    node_taints_policy: str
    source: str
    skew: int
    """After the last placement; as the cluster is where placing is not simulated."""

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


class DomainDifference(reports.Report, frozen=True):
    """Matching pods of a domain, counted when ``skew`` is; null on a side that does not have it."""

    value: str
    """What its nodes have as the label's value."""
    before: int | None
    """How many BEFORE."""
    after: int | None
    """How many AFTER."""


class ConstraintDifference(reports.Report, frozen=True):
    """A constraint of either side, and the domains whose counts differ. Null on the side that has no such constraint.

    Constraints are the same where their topology keys are, of two over one key where ``whenUnsatisfiable`` is too.
    """

    topology_key: str
    before: ConstraintSide | None
    """Null where BEFORE has no such constraint."""
    after: ConstraintSide | None
    """Null where AFTER has no such constraint."""
    domains: tuple[DomainDifference, ...]
    """Those that differ, by value."""

    @property
    def is_about_nodes(self) -> bool:
        """Whether its domains are the nodes themselves."""
        return self.topology_key == HOSTNAME

    @property
    def is_outcome(self) -> bool:
        """Whether pods are spread differently: a changed limit alone is no difference."""
        if self.before is None or self.after is None:
            return False
        return bool(self.domains) or self.before.skew != self.after.skew


class NodeReplicasDifference(reports.Report, frozen=True):
    """A node that holds another number of the workload's replicas in the end."""

    name: str
    """The node's."""
    before: int
    """How many replicas BEFORE."""
    after: int
    """How many replicas AFTER."""


class ReplicaDifference(reports.Report, frozen=True):
    """A replica, numbered in the order of placement, that goes to another node; null where it is not placed."""

    replica: int
    """From 0."""
    before: str | None
    """Its node BEFORE."""
    after: str | None
    """Its node AFTER."""


class CompareReport(reports.QuestionReport, frozen=True, kw_only=True):
    kind: str = "CompareReport"
    preemption: bool = True
    """Whether pods evict others of lower priority where they fit nowhere, as kube-scheduler lets them by default."""
    same: bool
    """Whether the outcomes are the same; the questions may differ."""
    before: SideReport
    after: SideReport
    nodes: tuple[NodeDifference, ...]
    """Those that differ, in the order of names."""
    unchanged_nodes: int
    """Those both sides have and judge alike."""
    constraints: tuple[ConstraintDifference, ...]
    """All, also those that do not differ."""
    replicas_on_nodes: tuple[NodeReplicasDifference, ...]
    """In the order of names."""
    replicas: tuple[ReplicaDifference, ...]
    """Empty also where one side keeps more running replicas than the other: those placed are not the same ones then."""

    @property
    def manner(self) -> str:
        return reports.manner_of(self.preemption)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Those of either side."""
        return (*self.before.gaps, *self.after.gaps)

    def judged(self) -> reports.Judgment:
        return "yes" if self.same else "no"

    def sentences(self) -> Iterator[str]:
        """``4 nodes no longer fit, 3 replicas go elsewhere``."""
        yield f"same: {_alike(self)}" if self.same else ", ".join(_differences(self))


_MAX_NAMED = 3
_VERBS: Mapping[NodeChange, tuple[str, str]] = {
    NodeChange.GONE: ("is gone", "are gone"),
    NodeChange.NEW: ("is new", "are new"),
    NodeChange.STOPS: ("no longer fits", "no longer fit"),
    NodeChange.STARTS: ("fits now", "fit now"),
    NodeChange.REASONS: ("fails for other reasons", "fail for other reasons"),
    NodeChange.SCORE: ("scores differently", "score differently"),
}
"""Of one node and of several."""


def _alike(report: CompareReport) -> str:
    side = report.after
    fit = f"{side.fitting:,} of {count_of(side.nodes, 'node')} fit{'s' if side.fitting == 1 else ''}"
    if side.replicas is None:
        return fit
    preempting = f", preempting {reports.preempted_pods(side.preempted, _MAX_NAMED)}" if side.preempted else ""
    return f"{fit}, {side.running:,} of {count_of(side.replicas, 'replica')} placed{preempting}"


def _differences(report: CompareReport) -> list[str]:
    parts = _nodes(report)
    before, after = report.before, report.after
    if not parts and before.first and after.first and before.first != after.first:
        parts.append("another node is the first choice")
    parts += _replicas(report)
    if before.victims != after.victims:
        instead = f" instead of {len(before.preempted):,}" if before.preempted else ""
        parts.append(
            f"preempting {reports.preempted_pods(after.preempted, _MAX_NAMED)}{instead}"
            if after.preempted
            else f"no longer preempting {reports.preempted_pods(before.preempted, _MAX_NAMED)}"
        )
    if not parts and any(constraint.is_outcome for constraint in report.constraints):
        parts.append("matching pods are spread differently")
    if not parts and (before.message, before.stopped) != (after.message, after.stopped):
        parts.append("kube-scheduler says something else")
    return parts


def _nodes(report: CompareReport) -> list[str]:
    counts = Counter(node.change for node in report.nodes)
    parts = list[str]()
    for change, verbs in _VERBS.items():
        if number := counts[change]:
            parts.append(f"{f'{number:,}' if parts else count_of(number, 'node')} {verbs[number > 1]}")
    return parts


def _replicas(report: CompareReport) -> list[str]:
    before, after = report.before, report.after
    parts = list[str]()
    if before.replicas is None or after.replicas is None:
        return parts
    if before.running != after.running:
        of = "" if before.replicas == after.replicas else f" of {before.replicas:,}"
        parts.append(
            f"{after.running:,} of {count_of(after.replicas or 0, 'replica')} placed instead of {before.running:,}{of}"
        )
    elif before.pending != after.pending:
        parts.append(f"{after.pending:,} pending instead of {before.pending:,}")
    gone = sum(max(0, node.before - node.after) for node in report.replicas_on_nodes)
    come = sum(max(0, node.after - node.before) for node in report.replicas_on_nodes)
    if elsewhere := min(gone, come):
        parts.append(f"{says(elsewhere, 'replica', 'go')} elsewhere")
    elif report.replicas and not report.replicas_on_nodes:
        parts.append("replicas go to the same nodes in another order")
    return parts
