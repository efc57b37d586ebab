"""Many clusters, asked the same question as if each were the only one: files by patterns of their names, contexts of a
kubeconfig by patterns of theirs.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from glob import glob
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from msgspec import structs

from kubespread.candidate.sources import read_once
from kubespread.deadline import check
from kubespread.errors import KubespreadError, SnapshotError, UsageError
from kubespread.questions.editing import connect, load
from kubespread.questions.fleet.report import FleetCluster, FleetReport, worst
from kubespread.questions.question import ManifestsQuestion, Question, parts_in, reports_in
from kubespread.questions.scene import Budget, OnProgress, ask, checked_timeout, cluster_reference
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.tasks import Workers
from kubespread.reports.parts import outcome
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of

if TYPE_CHECKING:
    from kubespread.snapshot.edits.verb import Edit
    from kubespread.snapshot.live.kubeconfig import Access

_MAX_NAMED = 3
_KEPT = 10
"""Clusters whose garbage may stay: of 100 nodes each 80 MB. To look for it takes a quarter of an audit's time."""
Settle = Callable[[Question[Any], Snapshot], Question[Any]]
"""Function that adds what only a cluster can say of a question, such as the namespace of its context."""
_MAX_CONTEXTS = 5
_AT_ONCE = 20
"""Running clusters that are waited for side by side, or read and not asked yet."""
_LOOKS = 0.1
"""Seconds between two looks at the time, while none comes."""


@dataclass(frozen=True, slots=True)
class Member:
    """One cluster of a fleet, before anything is read of it."""

    name: str
    source: str | Snapshot | Access
    """The path of its file, directory or archive, what was read of it already, or how it is reached."""
    edits: tuple[Edit, ...] = ()
    """Changes made to it before the question."""

    def opened(self) -> Snapshot:
        """Raises SnapshotError, ManifestError and UsageError."""
        if isinstance(self.source, Snapshot):
            snapshot = self.source
        else:
            snapshot = load(self.source) if isinstance(self.source, str) else connect(self.source)
        return snapshot.edited(*self.edits)

    @property
    def is_running(self) -> bool:
        return not isinstance(self.source, str | Snapshot)

    @property
    def option(self) -> tuple[str, str]:
        return ("--context" if self.is_running else "-S", self.name)


def opened(clusters: Sequence[Member], until: float) -> Iterator[Member | tuple[Member, KubespreadError]]:
    """Running clusters as they are read, side by side, with what was read of them or why there is nothing. No further
    ones once it is ``until``, as `monotonic` counts.
    """
    slots, come, is_over = Semaphore(_AT_ONCE), SimpleQueue[tuple[Member, Snapshot | BaseException]](), Event()

    def read(member: Member) -> None:
        slots.acquire()
        if is_over.is_set():
            return
        try:
            come.put((member, member.opened()))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            come.put((member, error))

    for member in clusters:
        Thread(target=read, args=(member,), daemon=True).start()
    left = len(clusters)
    try:
        while left and monotonic() < until:
            check()
            with suppress(Empty):
                member, what = come.get(timeout=max(0.0, min(_LOOKS, until - monotonic())))
                left -= 1
                if isinstance(what, Snapshot):
                    yield replace(member, source=what, edits=())
                elif isinstance(what, KubespreadError):
                    yield member, what
                else:
                    raise what
                slots.release()
    finally:
        is_over.set()
        slots.release(max(1, left))


def members(clusters: Iterable[str | Path | Snapshot | Access]) -> list[Member]:
    """Members for clusters of any form. Raises UsageError for a pattern that no file matches."""
    found: list[Member] = []
    for number, given in enumerate(clusters, 1):
        if isinstance(given, str | Path):
            found += (Member(path, path) for path in files([str(given)]))
        elif isinstance(given, Snapshot):
            found.append(Member(", ".join(given.files) or given.origin.source or f"cluster {number}", given))
        else:
            found.append(Member(given.context or "the current context", given))
    return found


def members_of(
    patterns: Iterable[str],
    named: Collection[str],
    access: Access,
    environment: Mapping[str, str],
    edits: tuple[Edit, ...] = (),
) -> list[Member]:
    """The files that ``patterns`` stand for, and the contexts that are ``named``, reached by ``access``. Raises
    UsageError where one stands for nothing, and ManifestError.
    """
    running = contexts(named, access, environment) if named else ()
    return [
        *(Member(path, path, edits) for path in files(patterns)),
        *(Member(str(access.context), access, edits) for access in running),
    ]


def files(patterns: Iterable[str]) -> list[str]:
    """Files that the patterns stand for, each once: ``fleet/*.json.gz``, with ``**`` for folders at any depth. Raises
    UsageError where nothing matches one.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        paths = matching(pattern)
        if not paths:
            raise UsageError(f"no file matches {pattern!r}")
        found |= dict.fromkeys(paths)
    return [*found]


def matching(pattern: str) -> list[str]:
    """The files that one pattern stands for, by name."""
    # A file may have a bracket in its name.
    return [pattern] if os.path.lexists(pattern) else sorted(glob(pattern, recursive=True))  # noqa: PTH207 - may be absolute


def contexts(patterns: Iterable[str], access: Access, environment: Mapping[str, str]) -> Iterator[Access]:
    """Ways to reach the contexts of the kubeconfig that match a pattern. Raises UsageError where none does, and
    ManifestError.
    """
    from kubespread.snapshot.live import kubeconfig

    known = sorted({each.name for each in kubeconfig.contexts(access, environment)})
    found: dict[str, None] = {}
    for pattern in patterns:
        named = [name for name in known if name == pattern or fnmatchcase(name, pattern)]
        if not named:
            has = some_of(known, _MAX_CONTEXTS) or "none"
            raise UsageError(f"no context matches {pattern!r}; the kubeconfig has {has}")
        found |= dict.fromkeys(named)
    # Another cluster or user is not theirs.
    return (structs.replace(access, context=name) for name in found)


def fleet(
    clusters: Iterable[str | Path | Snapshot | Access],
    question: Question[Any],
    scheduler: Scheduler | None = None,
    *,
    jobs: int | None = 1,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
) -> FleetReport:
    """Ask each of ``clusters`` the ``question``; the worst answer comes first.

    A cluster is a file, a directory or an archive, several by a pattern (``fleet/*.json.gz``); a snapshot; or how a
    running one is reached, `Access` as for `connect`. One that cannot be reached or read, or that the question cannot
    be asked of, has a row with the reason. ``jobs`` is how many processes do it; the answer is the same for any number.
    ``timeout`` is in seconds: those that have not answered then are given up, and
    ``unfinished`` names them. ``on_progress`` is called now and then with how many have answered.

    Raises UsageError where there are no clusters or no file matches a pattern, and what `ask` raises where all clusters
    refuse the question in the same words.
    """
    workers = Workers(jobs)
    return answers(members(clusters), question, scheduler or Scheduler(), workers, on_progress, timeout=timeout)


def answers(
    asked: Sequence[Member],
    question: Question[Any],
    scheduler: Scheduler,
    workers: Workers,
    on_progress: OnProgress | None = None,
    settle: Settle | None = None,
    timeout: float | None = None,
) -> FleetReport:
    """Answers of clusters that are found already; ``settle`` is for another process too. Saved ones are asked in their
    order by ``workers``, then running ones here as they come. Raises what `fleet` does.
    """
    if not asked:
        raise UsageError("a fleet without clusters: name some")
    if isinstance(question, ManifestsQuestion):
        question = structs.replace(question, pods=tuple(read_once(pod) for pod in question.pods))
    budget = Budget(on_progress, workers, checked_timeout(timeout))
    make = partial(_Asking.of, (question, settle), (scheduler.carried, os.path.realpath(".")))
    asking = make()
    rows = _rows(asked, partial(workers.results, asking, make, took=0.0, until=budget.until), budget.until)
    done = [*budget.told(rows, len(asked))]
    missing = [member.name for member in asked]
    done.sort(key=lambda row: missing.index(row.told.name))
    for row in done:
        missing.remove(row.told.name)
    refusals = {row.told.error if row.is_refused else None for row in done}
    if len(refusals) == 1 and None not in refusals and not missing:
        # It is the question's fault, and no cluster's.
        raise UsageError(*str(refusals.pop()).split("\n"))
    return FleetReport(
        question=question.given,
        clusters=tuple(sorted((row.told for row in done), key=lambda told: told.badness)),
        gaps=_each_once(done, "gaps"),
        not_modelled=_each_once(done, "not_modelled"),
        notes=_each_once(done, "notes"),
        unfinished=budget.unfinished("cluster", len(asked), missing),
    ).concluded()


def _rows(
    asked: Sequence[Member], results: Callable[[Sequence[Member]], Iterator[_Row]], until: float
) -> Iterator[_Row]:
    yield from results([member for member in asked if not member.is_running])
    for come in opened([member for member in asked if member.is_running], until):
        if isinstance(come, Member):
            yield from results([come])
        else:
            yield _failed(come[0].name, come[1])


def _failed(name: str, error: KubespreadError) -> _Row:
    return _Row(FleetCluster(name=name, error=str(error)))


def _each_once(done: Sequence[_Row], name: str) -> tuple[str, ...]:
    """Texts of reports beside their answers, each with the clusters that it is about where these are not all."""
    answered = [row for row in done if row.parts]
    whose: dict[str, dict[str, None]] = {}
    for row in answered:
        for part in row.parts:
            for text in getattr(part, name, ()):
                whose.setdefault(text, {})[row.told.name] = None
    return tuple(
        text if len(names) == len(answered) else f"{some_of([*names], _MAX_NAMED)}: {text}"
        for text, names in whose.items()
    )


class _Row(NamedTuple):
    """Answer of one cluster."""

    told: FleetCluster
    parts: tuple[Any, ...] = ()
    """Answers that have notes of their own."""
    is_refused: bool = False
    """True if the question cannot be asked of it."""


class _Asking:
    def __init__(self, question: Question[Any], settle: Settle | None, scheduler: Scheduler) -> None:
        self._question, self._settle, self._scheduler = question, settle, scheduler
        self.assumed: dict[str, None] = {}
        self._asked = 0

    @classmethod
    def of(cls, question: tuple[Question[Any], Settle | None], scene: tuple[Scheduler, str]) -> Self:
        scheduler, folder = scene
        if os.path.realpath(".") != folder:
            # Paths are as seen from there, and a worker may have been started elsewhere.
            os.chdir(folder)
        return cls(question[0], question[1], scheduler)

    def __call__(self, member: Member) -> _Row:
        self._asked += 1
        # A process that never looks for garbage in circles would keep what each cluster leaves until the last.
        if not gc.isenabled() and self._asked % _KEPT == 0:
            gc.collect()
        return self._row(member)

    def _row(self, member: Member) -> _Row:
        try:
            snapshot = member.opened()
        except KubespreadError as error:
            return _failed(member.name, error)
        try:
            return self._answered(member.name, snapshot)
        except KubespreadError as error:
            told = FleetCluster(name=member.name, error=str(error), cluster=cluster_reference(snapshot))
            return _Row(told, is_refused=not isinstance(error, SnapshotError))

    def _answered(self, name: str, snapshot: Snapshot) -> _Row:
        question = self._question if self._settle is None else self._settle(self._question, snapshot)
        refused: list[KubespreadError] = []
        answer = ask(snapshot, question, self._scheduler, on_refused=refused.append)
        reports, parts = reports_in(answer), parts_in(answer)
        is_yes = question.passes(answer)
        faults = (*snapshot.faults, *map(str, refused))
        verdict = worst(report.verdict for _, report in reports)
        whose, worst_report = next(named for named in reports if named[1].verdict == verdict)
        finding = worst_report.worst_finding()
        told = FleetCluster(
            name=name,
            verdict=verdict,
            passes=outcome([report for _, report in reports], is_yes, is_in_part=bool(faults)),
            headline=f"{whose}{worst_report.answer[0]}",
            finding=f"{whose}{finding}" if finding else "",
            share=worst_report.share() if len(reports) == 1 else None,
            nodes=len(snapshot.nodes),
            pods=len(snapshot.pods),
            unmet=tuple(f"{whose}{text}" for whose, report in reports for text in report.unmet),
            faults=faults,
            cluster=cluster_reference(snapshot),
            reports=tuple(report for _, report in reports),
        )
        return _Row(told, tuple(part for _, part in parts))
