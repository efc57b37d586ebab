"""One question asked of many clusters, of each as if it were the only one."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

from msgspec import structs

from kubespread.candidate.sources import read_once
from kubespread.errors import KubespreadError, SnapshotError, UsageError
from kubespread.questions.editing import load
from kubespread.questions.question import ManifestsQuestion, Question, parts_in, reports_in
from kubespread.questions.scene import Budget, OnProgress, ask, cluster_reference
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.tasks import Workers
from kubespread.reports.columns import Col, Fit
from kubespread.reports.parts import ClusterReference, Judgment, QuestionReport, Report, exit_verdict
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import count_of, some_of

if TYPE_CHECKING:
    from kubespread.snapshot.edits.verb import Edit
    from kubespread.views.view import View

_MAX_NAMED = 3
_COLLECT_AFTER = 10
"""Clusters between garbage collections: each leaves 80 MB per 100 nodes; collecting takes a quarter of an audit."""
Settle = Callable[[Question[Any], Snapshot], Question[Any]]
"""Function that completes a question from a cluster, such as with the namespace of its context."""
WORST_FIRST: tuple[Judgment, ...] = ("no", "unknown", "yes")
"""Verdicts of a fleet, the worst first: one no decides, and one unknown keeps the others' yes from
being a yes of all.
"""


def worst(judgments: Iterable[Judgment]) -> Judgment:
    """The worst verdict; yes if there are none."""
    return min(judgments, key=WORST_FIRST.index, default="yes")


class FleetCluster(Report, frozen=True, kw_only=True):
    """Answer of one cluster."""

    name: Annotated[str, Col(header="CLUSTER", fit=Fit.NAMES)]
    """Name of the cluster: the path of a file, a directory or an archive, or the source of a snapshot."""
    verdict: Annotated[Judgment, Col()] = "unknown"
    """Verdict of the cluster's answer, the worst of several; ``unknown`` without an answer."""
    passes: Annotated[Judgment, Col()] = "unknown"
    """Exit code of the question asked of this cluster alone: ``yes`` for 0, ``no`` for 1, ``unknown`` for 2 or 3."""
    nodes: Annotated[int | None, Col()] = None
    """Number of nodes in the cluster; null where it could not be read."""
    pods: Annotated[int | None, Col()] = None
    """Number of pods in the cluster, including pods without a node."""
    headline: str = ""
    """First sentence of the answer; empty without an answer."""
    finding: str = ""
    """The worst finding of a no if its first sentence only counts; else empty."""
    error: str | None = None
    """Reason there is no answer: the cluster cannot be read, or the question cannot be asked of it."""
    unmet: tuple[str, ...] = ()
    """Requirements that the answer does not meet."""
    faults: tuple[str, ...] = ()
    """Objects that could not be read, or were refused, in an answer about the rest."""
    cluster: ClusterReference | None = None
    """The cluster, and the age of its data; null if it could not be read."""
    reports: tuple[Any, ...] = ()
    """The reports of the question, as it prints them alone."""

    @property
    def says(self) -> Annotated[str, Col(header="ANSWER", fit=Fit.SENTENCE)]:
        """The answer on one line: read errors, answer, unmet requirements."""
        error = (self.error or "").removeprefix(f"{self.name}: ")
        parts = (error, *self.faults, self.finding or self.headline, *self.unmet)
        return "; ".join(part.replace("\n", "; ") for part in parts if part)

    @property
    def badness(self) -> tuple[int, bool, int, str]:
        """Sort key: the worst cluster first."""
        return WORST_FIRST.index(self.passes), self.error is not None, WORST_FIRST.index(self.verdict), self.name


class FleetReport(QuestionReport, frozen=True, kw_only=True):
    """The answers of many clusters to one question."""

    kind: str = "FleetReport"
    clusters: tuple[FleetCluster, ...]
    """The worst first: failed, unknown, without an answer, passed."""
    passes: Judgment = "unknown"
    """The worst result of any cluster: ``no`` before ``unknown`` before ``yes``. Decides the exit code."""
    gaps: tuple[str, ...] = ()
    """Gaps of all reports without repetition, each with its clusters where these are not all."""
    not_modelled: tuple[str, ...] = ()
    """Parts of the clusters that are not modeled, listed like gaps."""
    notes: tuple[str, ...] = ()
    """Notes of all reports, listed like gaps."""

    def __post_init__(self) -> None:
        rows = self.clusters
        in_part: tuple[Judgment, ...] = () if self.unfinished is None else ("unknown",)
        structs.force_setattr(self, "passes", worst((*(row.passes for row in rows), *in_part)))
        structs.force_setattr(self, "unmet", tuple(f"{row.name}: {text}" for row in rows for text in row.unmet))

    def judge(self) -> Judgment:
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


def view(report: FleetReport) -> View:
    """One row per cluster, the worst first."""
    from kubespread.views.look import Tone
    from kubespread.views.sheet import Sheet, columns_of
    from kubespread.views.view import TONES, View, side_notes

    def tone(row: FleetCluster) -> Tone:
        return max((TONES[row.passes], TONES[row.verdict]), key=(Tone.GOOD, Tone.WARN, Tone.BAD).index)

    rows, (names, *columns) = report.clusters, columns_of(FleetCluster)
    title = f"{report.question['name']} of {count_of(len(rows), 'cluster')}"
    folder = os.path.commonprefix([row.name for row in rows]).rpartition("/")[0] + "/"
    names = structs.replace(names, text=lambda row: row.name.removeprefix(folder))
    sheet = Sheet(title="Clusters", columns=[names, *columns], rows=rows, tone=tone, noun="cluster")
    return View(
        title=title,
        provenance=folder.removesuffix("/"),
        answer=report.statements,
        tone=TONES[report.verdict],
        sheets=[sheet],
        names=[row.name for row in rows if (row.verdict, row.passes) != ("yes", "yes")],
        beside=side_notes([report]),
    )


Member = tuple[str, str | Snapshot]
"""Name of a cluster, and the path of its file, directory or archive, or its snapshot."""


def members(clusters: Iterable[str | Path | Snapshot]) -> list[Member]:
    """Members for ``clusters`` in any form, each file once. Raises UsageError for a pattern that no file matches."""
    distinct: dict[str | int, Member] = {}
    for number, cluster in enumerate(clusters, 1):
        if isinstance(cluster, str | Path):
            # A file may have a bracket in its name.
            paths = [str(cluster)] if os.path.lexists(cluster) else sorted(glob(str(cluster), recursive=True))  # noqa: PTH207 - may be absolute
            if not paths:
                raise UsageError(f"no file matches {str(cluster)!r}")
            distinct |= {path: (path, path) for path in paths}
        else:
            distinct[number] = ", ".join(cluster.files) or cluster.origin.source or f"cluster {number}", cluster
    return [*distinct.values()]


def fleet(
    clusters: Iterable[str | Path | Snapshot],
    question: Question[Any],
    scheduler: Scheduler | None = None,
    *,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> FleetReport:
    """Ask each of ``clusters`` the ``question``; the worst answer comes first.

    A cluster is a file, a directory or an archive, several by a pattern (``fleet/*.json.gz``), or a snapshot, such as
    `connect` reads of a running one. One that cannot be read, or that the question cannot be asked of, has a row with
    the reason. ``jobs`` is the number of processes; the answer is the same for any number.
    ``timeout`` is in seconds: clusters without an answer by then are given up, and ``unfinished`` names them.
    ``on_progress`` is called now and then with the number of answers.

    Raises UsageError if there are no clusters or no file matches a pattern, and the error of `ask` if all clusters
    refuse the question in the same words.
    """
    budget = Budget(on_progress, Workers(jobs), timeout)
    return answers(members(clusters), question, scheduler or Scheduler(), budget)


def answers(
    clusters: Sequence[Member],
    question: Question[Any],
    scheduler: Scheduler,
    budget: Budget,
    settle: Settle | None = None,
    edits: Sequence[Edit] = (),
) -> FleetReport:
    """Ask every member, with ``edits`` made in each. Raises the errors of `fleet`."""
    if not clusters:
        raise UsageError("a fleet without clusters: name some")
    if isinstance(question, ManifestsQuestion):
        question = structs.replace(question, pods=tuple(read_once(pod) for pod in question.pods))
    make = partial(_Asking.build, (question, settle, tuple(edits)), (scheduler.portable, os.path.realpath(".")))
    asking = make()
    results = budget.workers.results(asking, make, clusters, 0.0, budget.end_time)
    rows = [*budget.report(results, len(clusters))]
    missing = [name for name, _ in clusters[len(rows) :]]
    refusals = {row.answer.error if row.is_refused else None for row in rows}
    if len(refusals) == 1 and None not in refusals and not missing:
        # The fault is the question's, not a cluster's.
        raise UsageError(*str(refusals.pop()).split("\n"))
    return FleetReport(
        question=question.own_fields,
        clusters=tuple(sorted((row.answer for row in rows), key=lambda answer: answer.badness)),
        gaps=_distinct_texts(rows, "gaps"),
        not_modelled=_distinct_texts(rows, "not_modelled"),
        notes=_distinct_texts(rows, "notes"),
        unfinished=budget.missing("cluster", len(clusters), missing),
    ).conclude()


def _distinct_texts(rows: Sequence[_Row], name: str) -> tuple[str, ...]:
    """Texts of reports beside their answers, without repetition, each with its clusters where these are not all."""
    answered = [row for row in rows if row.parts]
    clusters_of: dict[str, dict[str, None]] = {}
    for row in answered:
        for part in row.parts:
            for text in getattr(part, name, ()):
                clusters_of.setdefault(text, {})[row.answer.name] = None
    return tuple(
        text if len(names) == len(answered) else f"{some_of([*names], _MAX_NAMED)}: {text}"
        for text, names in clusters_of.items()
    )


class _Row(NamedTuple):
    """Answer of one cluster, with its reports."""

    answer: FleetCluster
    parts: tuple[Any, ...] = ()
    """Answers that have notes of their own."""
    is_refused: bool = False
    """True if the question cannot be asked of it."""


class _Asking:
    def __init__(
        self, question: Question[Any], settle: Settle | None, edits: Sequence[Edit], scheduler: Scheduler
    ) -> None:
        self._question, self._settle, self._edits, self._scheduler = question, settle, edits, scheduler
        self.assumed: dict[str, None] = {}
        self._clusters_read = 0

    @classmethod
    def build(cls, question: tuple[Question[Any], Settle | None, Sequence[Edit]], scene: tuple[Scheduler, str]) -> Self:
        scheduler, folder = scene
        if os.path.realpath(".") != folder:
            # Paths are relative to that folder, and a worker may have been started in another.
            os.chdir(folder)
        return cls(*question, scheduler)

    def __call__(self, member: Member) -> _Row:
        name, source = member
        self._clusters_read += 1
        # Without a collection, garbage in cycles would stay until the last cluster.
        if not gc.isenabled() and self._clusters_read % _COLLECT_AFTER == 0:
            gc.collect()
        try:
            snapshot = (source if isinstance(source, Snapshot) else load(source)).edited(*self._edits)
        except KubespreadError as error:
            return _Row(FleetCluster(name=name, error=str(error)))
        try:
            return self._answer(name, snapshot)
        except KubespreadError as error:
            answer = FleetCluster(name=name, error=str(error), cluster=cluster_reference(snapshot))
            return _Row(answer, is_refused=not isinstance(error, SnapshotError))

    def _answer(self, name: str, snapshot: Snapshot) -> _Row:
        question = self._question if self._settle is None else self._settle(self._question, snapshot)
        refused: list[KubespreadError] = []
        answer = ask(snapshot, question, self._scheduler, on_refused=refused.append)
        reports, parts = reports_in(answer), parts_in(answer)
        faults = (*snapshot.faults, *map(str, refused))
        verdict = worst(report.verdict for _, report in reports)
        prefix, worst_report = next(named for named in reports if named[1].verdict == verdict)
        finding = worst_report.worst_finding()
        row = FleetCluster(
            name=name,
            verdict=verdict,
            passes=exit_verdict([report for _, report in reports], has_bar=question.has_bar, is_in_part=bool(faults)),
            headline=f"{prefix}{worst_report.answer[0]}",
            finding=f"{prefix}{finding}" if verdict == "no" and finding else "",
            nodes=len(snapshot.nodes),
            pods=len(snapshot.pods),
            unmet=tuple(f"{prefix}{text}" for prefix, report in reports for text in report.unmet),
            faults=faults,
            cluster=cluster_reference(snapshot),
            reports=tuple(report for _, report in reports),
        )
        return _Row(row, tuple(part for _, part in parts))
