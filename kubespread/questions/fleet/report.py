"""Answers of many clusters to one question, each by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import force_setattr

from kubespread.reports.parts import ClusterReference, Judgment, QuestionReport, Report, Share
from kubespread.wording import count_of

WORST_FIRST: tuple[Judgment, ...] = ("no", "unknown", "yes")
"""A no is one whatever other clusters say; a cluster that cannot tell keeps the others' yes from being one of all."""


def worst(judgments: Iterable[Judgment]) -> Judgment:
    """The worst of several; yes where there are none."""
    return min(judgments, key=WORST_FIRST.index, default="yes")


class FleetCluster(Report, frozen=True, kw_only=True):
    """Answer of one cluster."""

    name: str
    """Cluster that was read: the path of a file, a directory or an archive, or a context of the kubeconfig."""
    verdict: Judgment = "unknown"
    """Its answer's; the worst where it has several answers, ``unknown`` where it has none."""
    passes: Judgment = "unknown"
    """Result that the question alone would end with: yes with exit code 0, no with 1, ``unknown`` with 2 or 3.
    Requirements and ``fail_on`` set that bar where there are any, else the verdict does.
    """
    headline: str = ""
    """The first sentence of its answer; empty where it has none."""
    finding: str = ""
    """The worst that is wrong in it, where the first sentence only counts; empty elsewhere."""
    share: Share | None = None
    """Share of it that is wrong; null where that is not counted, or where it has several answers."""
    nodes: int | None = None
    """Number of nodes in the cluster; null where it could not be read."""
    pods: int | None = None
    """Number of pods in the cluster, those without a node included."""
    error: str | None = None
    """Reason why it has no answer: it cannot be reached or read, or the question cannot be asked of it."""
    unmet: tuple[str, ...] = ()
    """Requirements on the answer that are not met."""
    faults: tuple[str, ...] = ()
    """Faults: what could not be read, or was refused, while the answer is about the rest."""
    cluster: ClusterReference | None = None
    """Cluster that this is, and the age of what was read of it; null where it could not be read."""
    reports: tuple[Any, ...] = ()
    """Reports of the question alone: one or, about several workloads, more; none where there is an error."""

    @property
    def badness(self) -> tuple[int, bool, int, int, float, str]:
        """Rank among clusters: the worst first, by what is wrong and then by how much is."""
        rank, part = (0, 0.0) if self.share is None else (self.share.rank, self.share.part)
        verdict = WORST_FIRST.index(self.verdict)
        return WORST_FIRST.index(self.passes), self.error is not None, verdict, -rank, -part, self.name


class FleetReport(QuestionReport, frozen=True, kw_only=True):
    """The answers of many clusters to one question."""

    kind: str = "FleetReport"
    clusters: tuple[FleetCluster, ...]
    """The worst first: those that fail, those that cannot tell, those that could not be asked, those that pass."""
    passes: Judgment = "unknown"
    """The worst of the clusters': ``no`` before ``unknown`` before ``yes``. It decides the exit code."""
    gaps: tuple[str, ...] = ()
    """Gaps of all reports, each once, with the clusters that it is about where these are not all."""
    not_modelled: tuple[str, ...] = ()
    """The same of what is not modeled."""
    notes: tuple[str, ...] = ()
    """The same of the notes."""

    def __post_init__(self) -> None:
        rows = self.clusters
        in_part: tuple[Judgment, ...] = () if self.unfinished is None else ("unknown",)
        force_setattr(self, "passes", worst((*(row.passes for row in rows), *in_part)))
        force_setattr(self, "unmet", tuple(f"{row.name}: {text}" for row in rows for text in row.unmet))

    def judged(self) -> Judgment:
        return worst(row.verdict for row in self.clusters)

    @property
    def is_no(self) -> bool:
        return any(row.passes == "no" for row in self.clusters)

    def sentences(self) -> Iterator[str]:
        answered = Counter(row.verdict for row in self.clusters if row.error is None)
        failed = sum(row.error is not None for row in self.clusters)
        parts = [f"{answered[verdict]:,} {verdict}" for verdict in WORST_FIRST if answered[verdict]]
        if failed:
            parts.insert(len(parts) - bool(answered["yes"]), f"{failed:,} without an answer")
        yield f"{count_of(len(self.clusters), 'cluster')}: {', '.join(parts)}"
