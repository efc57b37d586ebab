"""What differs for the workloads of a cluster between two sides: a row for each whose next pod is answered differently.

Every difference has a ``before`` and an ``after``; the two sides the other way round give the same report with these
exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from kubespread.kube.owners import WorkloadName
from kubespread.questions.compare.report import Asked, ConstraintDifference
from kubespread.reports.parts import ClusterReference, Judgment, PreemptionReport, QuestionReport, Report, manner_of
from kubespread.wording import count_of, some_of, verb_of

_MAX_NAMED = 3


class WorkloadChange(StrEnum):
    """A way in which the answer about a workload's next pod differs, the gravest first."""

    GONE = "gone"
    NEW = "new"
    REFUSED = "refused now"
    ADMITTED = "no longer refused"
    STOPS = "no longer fits"
    STARTS = "fits now"
    FIRST = "other first choice"
    PREEMPTION = "other preemption"
    NODES = "other nodes fit"
    SCORES = "other scores"
    SPREAD = "other spread"
    REASONS = "other reasons"


_VERBS: Mapping[WorkloadChange, tuple[str, str]] = {
    WorkloadChange.GONE: ("is gone", "are gone"),
    WorkloadChange.NEW: ("is new", "are new"),
    WorkloadChange.REFUSED: ("is refused now", "are refused now"),
    WorkloadChange.ADMITTED: ("is no longer refused", "are no longer refused"),
    WorkloadChange.STOPS: ("no longer fits", "no longer fit"),
    WorkloadChange.STARTS: ("fits now", "fit now"),
    WorkloadChange.FIRST: ("has another first choice", "have another first choice"),
    WorkloadChange.PREEMPTION: ("preempts different pods", "preempt different pods"),
    WorkloadChange.NODES: ("fits other nodes", "fit other nodes"),
    WorkloadChange.SCORES: ("scores differently", "score differently"),
    WorkloadChange.SPREAD: ("is counted differently", "are counted differently"),
    WorkloadChange.REASONS: ("fails for other reasons", "fail for other reasons"),
}
"""Of one workload and of several."""


class ClusterSideReport(Report, frozen=True):
    """One side: a cluster, and how it is scheduled."""

    asked: Asked
    kube_version: str
    scheduler_name: str | None
    """The profile used instead of the one that each pod names; null where each pod's own is used."""
    cluster: ClusterReference | None
    nodes: int
    """How many the cluster has."""
    workloads: int
    """How many were compared."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class WorkloadSide(Report, frozen=True):
    """What one side answers for a workload's next pod, as ``explain --preemption`` does."""

    refused: str | None
    """Why no such pod is judged: the API server's or the scheduler's message; null where it is."""
    fits: bool
    """Whether some node passes every filter."""
    fitting: int
    """How many nodes do."""
    first: tuple[str, ...]
    """The nodes tied for the best total, one of which gets the pod; empty if none fits or scores are not modeled."""
    message: str | None
    """kube-scheduler's message for a pod that fits nowhere."""
    preemption: PreemptionReport | None
    """What preemption does for it then; null where a node fits, or where nobody is preempted."""


class ScoreChange(Report, frozen=True):
    """By how much a plugin's weighted score differs, over the nodes that fit on both sides and score differently."""

    plugin: str
    """Its name."""
    least: int
    """On the node where it is least; below 0 where the score falls."""
    most: int
    """On the node where it is most."""


class WorkloadDifference(Report, frozen=True):
    """A workload whose next pod is answered differently, or that only one side has: then the other is null."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    changes: tuple[WorkloadChange, ...]
    """All ways in which it differs, the gravest first."""
    before: WorkloadSide | None
    """Null where BEFORE has no such workload."""
    after: WorkloadSide | None
    """Null where AFTER has no such workload."""
    nodes: dict[str, int] = {}
    """How many nodes differ, by their main difference: ``no longer fits``, ``other score`` ..."""
    scores: tuple[ScoreChange, ...] = ()
    """By plugin, only those that change."""
    constraints: tuple[ConstraintDifference, ...] = ()
    """The constraints that count differently, as the cluster is."""


class CompareWorkloadsReport(QuestionReport, frozen=True, kw_only=True):
    kind: str = "CompareWorkloadsReport"
    namespace: str | None
    """The namespace whose workloads are compared, null for all."""
    selector: str
    """The labels of those workloads, empty for all."""
    preemption: bool = True
    """Whether pods evict others of lower priority where they fit nowhere, as kube-scheduler lets them by default."""
    same: bool
    """Whether all were compared and none is answered differently; the questions may differ."""
    before: ClusterSideReport
    after: ClusterSideReport
    workloads: tuple[WorkloadDifference, ...]
    """Those that differ, by their gravest change, then by name."""
    unchanged: int
    """How many both sides have and answer alike."""
    refused: int
    """How many of the unchanged ones neither side judges, with the same message; each is a gap."""

    @property
    def manner(self) -> str:
        return manner_of(self.preemption)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Those of either side."""
        return (*self.before.gaps, *self.after.gaps)

    @property
    def total(self) -> int:
        """How many workloads either side has."""
        return len(self.workloads) + self.unchanged

    @property
    def _is_unknown(self) -> bool:
        """Whether no workload is judged on either side."""
        return not self.workloads and self.refused == self.total

    def _by_gravest_change(self) -> Iterator[str]:
        for change, verbs in _VERBS.items():
            if names := [row.workload.called for row in self.workloads if row.changes[0] is change]:
                yield f"{len(names):,} {verbs[len(names) > 1]} ({some_of(names, _MAX_NAMED)})"

    def judged(self) -> Judgment:
        if self._is_unknown:
            return "unknown"
        return "no" if self.workloads else "yes"

    def sentences(self) -> Iterator[str]:
        all_of = count_of(self.total, "workload")
        if self._is_unknown:
            yield f"unknown: {all_of} not judged on either side"
        elif not self.workloads:
            yield f"same: {all_of}"
        else:
            differ = verb_of(len(self.workloads), "differ")
            yield f"{len(self.workloads):,} of {all_of} {differ}: {', '.join(self._by_gravest_change())}"
        if self.refused and not self._is_unknown:
            yield f"{count_of(self.refused, 'workload')} not judged on either side"
