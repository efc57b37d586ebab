"""A question's cluster, release and world: made once, each part on demand."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.deadline import Deadline
from kubespread.errors import KubespreadError, UnansweredError, UsageError
from kubespread.escaping import escape
from kubespread.kube.time import SECOND, format_duration
from kubespread.kube.versions import KubeVersion
from kubespread.questions.editing import apply_edits
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.tasks import ALONE, Work, Workers
from kubespread.reports.parts import ClusterReference, ClusterReport, Unfinished
from kubespread.snapshot.edits.nodes import Drain
from kubespread.snapshot.edits.pods import EvictPod
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import Decisive

if TYPE_CHECKING:
    from kubespread.candidate.sources import PodGiven
    from kubespread.world.events.world import World
    from kubespread.world.reporting.difference import Baseline, Grow
    from kubespread.world.store.happenings import Happenings

OnRefused = Callable[[KubespreadError], None]


class OnProgress(Protocol):
    """Called now and then with the progress, and the total if it is known."""

    def __call__(self, finished: int, total: int = 0, /) -> None: ...


A = TypeVar("A", covariant=True)
R = TypeVar("R", bound=ClusterReport)
Item = TypeVar("Item")
Result = TypeVar("Result")
_MAX_NAMED = 3
_TO_CONCLUDE = 0.7
"""Seconds to conclude an answer from its finished parts, once the time limit is over."""
_CONTEXT = "context "
"""Beginning of the name of a source that is a context of a kubeconfig."""


class Side(Struct, frozen=True):
    """One side of a comparison, BEFORE or AFTER."""

    snapshot: Snapshot
    """The cluster, with its edits."""
    pod: PodGiven | Sequence[PodGiven]
    """Pod as for `explain`; `ClusterWorkloads` for all workloads."""
    scheduler: Scheduler = Scheduler()
    set: Sequence[str] = ()
    """Fields to change in the pod or its workload before it is admitted: ``maxSkew[zone]=2``, ``cpu=500m``."""


class Askable(Protocol[A]):
    """Parts of a question that its scene needs."""

    @property
    def preempts(self) -> bool: ...

    def answer(self, scene: Scene) -> A: ...

    def full_answer(self, scene: Scene) -> A: ...


class Budget(Struct):
    """Time limit, workers and progress of an answer."""

    on_progress: OnProgress | None = None
    workers: Workers = ALONE
    """Workers for independent parts of the answer, which does not depend on them."""
    timeout: float | None = None
    """Time limit in seconds, after which the answer covers the finished parts; None for none."""
    since: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        if self.timeout is not None and self.timeout <= 0:
            raise UsageError(f"timeout must be more than 0 seconds, not {self.timeout:g}")

    @property
    def end_time(self) -> float:
        return inf if self.timeout is None else self.since + self.timeout

    @property
    def is_over(self) -> bool:
        return monotonic() >= self.end_time

    def deadline(self) -> Deadline:
        """Context that gives up work in it when the time is up."""
        return Deadline(self.end_time)

    def report(self, results: Iterator[Result], total: int) -> Iterator[Result]:
        for number, result in enumerate(results, 1):
            if self.on_progress is not None:
                self.on_progress(number, total)
            yield result

    def missing(self, what: str, parts: int, missing: Sequence[object]) -> Unfinished | None:
        """Missing parts of an answer; None if nothing is missing."""
        if not missing or self.timeout is None:
            return None
        text = format_duration(round(self.timeout * SECOND))
        return Unfinished(timeout=text, what=what, finished=parts - len(missing), missing=tuple(map(str, missing)))


class Scene(Struct, frozen=True, dict=True):
    """A cluster and its scheduler, for the answer to one question."""

    snapshot_or_none: Snapshot | None
    """Snapshot as read, with its edits still to be made; None for a question about manifests alone."""
    scheduler: Scheduler
    question: Askable[Any]
    on_refused: OnRefused | None = None
    """Called with each workload left out of an answer about several; None: the first one raises."""
    budget: Budget = field(default_factory=Budget)
    parent: Scene | None = None
    """Scene of the answer that this one is a part of, about the same cluster."""
    since: float = field(default_factory=monotonic)

    def move(self, snapshot: Snapshot) -> Scene:
        """Scene of the question in another cluster."""
        return replace(self, snapshot_or_none=snapshot, parent=None)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot as read. Raises UsageError without one."""
        if self.snapshot_or_none is None:
            raise UsageError("no cluster is given, and this question is about one")
        return self.snapshot_or_none

    @cached_property
    def release(self) -> KubeVersion:
        """Raises UsageError."""
        return self.parent.release if self.parent is not None else self.scheduler.release(self.snapshot.origin.release)

    @property
    def source(self) -> ClusterReference | None:
        return None if self.snapshot_or_none is None else cluster_reference(self.snapshot_or_none)

    @cached_property
    def _edits_made(self) -> tuple[Snapshot, tuple[str, ...]]:
        if self.parent is not None:
            return self.parent._edits_made
        # Names without a namespace, in edits too, are in the question's; None: in the context's.
        namespace = getattr(self.question, "namespace", None)
        return apply_edits(self.snapshot, self.scheduler, namespace, preempts=self.question.preempts)

    @property
    def edited_snapshot(self) -> Snapshot:
        """The cluster with its edits made. Raises UsageError."""
        return self._edits_made[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for any question: on the release, and on the edits."""
        return self._edits_made[1]

    @cached_property
    def world(self) -> World:
        """The cluster as a world, with its controllers. Raises UsageError."""
        # Most questions are about the cluster as it is, and need none.
        from kubespread.questions.worlds import world_of

        if self.parent is not None and self.parent.question.preempts is self.question.preempts:
            return self.parent.world.fork()
        return world_of(self.edited_snapshot, self.scheduler, preempts=self.question.preempts)

    @cached_property
    def portable_question(self) -> Any:
        """The question with the contents of its autoscaler's files, which can be read only once.
        Raises ManifestError.
        """
        question: Any = self.question
        if not {"node_groups", "instance_types"} <= {*getattr(question, "__struct_fields__", ())}:
            return question
        from kubespread.questions.autoscaling.autoscale import with_files_read

        return replace(question, **with_files_read(question))

    @cached_property
    def grow(self) -> Grow | None:
        """The question's autoscaler, for the current cluster."""
        return self.grow_in(self.edited_snapshot)

    def grow_in(self, snapshot: Snapshot) -> Grow | None:
        """The question's autoscaler, for a cluster; None without one. Raises UsageError and ManifestError."""
        names = ("autoscaler", "node_groups", "instance_types")
        if all(getattr(self.question, name, None) is None for name in names):
            return None
        from kubespread.questions.autoscaling.autoscale import growth

        return growth(self.portable_question, snapshot)

    @property
    def undone_edits(self) -> tuple[str, ...]:
        """Edits that were not done in full."""
        snapshot = self.snapshot_or_none
        if snapshot is None or not any(isinstance(edit, Drain | EvictPod) for edit in snapshot.edits):
            return () if snapshot is None else snapshot.origin.undone
        return self.edited_snapshot.origin.undone

    def asking(self, question: Askable[Any]) -> Scene:
        """Scene of another question about this cluster, sharing its edits and world."""
        return Scene(self.snapshot_or_none, self.scheduler, question, self.on_refused, self.budget, self)

    def baseline(self) -> tuple[Baseline, tuple[str, ...]]:
        """Baseline of the settled world, and notes on it."""
        from kubespread.world.reporting.difference import Baseline

        baseline = Baseline.settle(self.world, self.grow)
        return baseline, (*placed_first(baseline.happenings), *baseline.happenings.notes)

    def tasks(
        self,
        work: Work[Item, Result],
        items: Sequence[Item],
        question: Askable[Any] | None = None,
        took: float | None = None,
    ) -> Iterator[Result]:
        """Yield the result of ``work`` for each item in order, as far as there is time.

        ``question`` replaces this one if it names files that can be read only once; ``took`` is the time in seconds to
        make ``work``, by default all since the question was asked.
        """
        portable, budget = question or self.portable_question, self.budget
        make = partial(type(work).build, portable, Scene(self.snapshot_or_none, self.scheduler.portable, portable))
        ready = monotonic() - self.since
        results = budget.workers.results(work, make, items, ready if took is None else took, budget.end_time)
        return budget.report(results, len(items))

    def gaps(self, assumed: Iterable[str]) -> tuple[str, ...]:
        """Gaps of the source and ``assumed``, without duplicates."""
        return tuple(dict.fromkeys((*self.scheduler.source_gaps(self.edited_snapshot.origin), *assumed)))


class Inquiry:
    """Answers of other questions about one cluster, each asked once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.parts: list[str] = []
        """Names of all parts that were to be finished in time."""
        self.missing: list[str] = []
        """Names of the parts that were not."""
        self._answers: dict[object, Any] = {}

    def answer(self, question: Askable[A], key: object) -> A:
        """Answer to the first question with this ``key``. Raises its error each time."""
        if key not in self._answers:
            try:
                answered: Any = question.answer(self.scene.asking(question))
                several = isinstance(answered, tuple)
                self._answers[key] = tuple(report.conclude() for report in answered) if several else answered.conclude()
            except KubespreadError as error:
                self._answers[key] = error
        answer: A | KubespreadError = self._answers[key]
        if isinstance(answer, KubespreadError):
            raise answer
        return answer

    def whole(self, name: str, question: Askable[R]) -> R | None:
        """The complete answer; None if time is up before, as part of an answer may lack the worst."""
        if not self.begin(name):
            return None
        answer = None
        with self.scene.budget.deadline():
            answer = self.answer(question, name)
        if answer is not None and answer.unfinished is None:
            return answer
        self.missing.append(name)
        self._answers.pop(name, None)
        return None

    def part(self, name: str, make: Callable[[], Iterable[Item]]) -> Sequence[Item]:
        """Make a part of the answer; empty if it is not finished in time."""
        if self.begin(name):
            with self.scene.budget.deadline():
                return [*make()]
            self.missing.append(name)
        return ()

    def begin(self, name: str) -> bool:
        """Begin the part called ``name``; True if there is time left for it."""
        self.parts.append(name)
        if is_over := self.scene.budget.is_over:
            self.missing.append(name)
        return not is_over

    def remarks(self, name: Literal["gaps", "not_modelled", "notes"]) -> tuple[str, ...]:
        """Gaps, unmodeled features or notes of all answers, without duplicates."""
        answers = (answer if isinstance(answer, tuple) else (answer,) for answer in self._answers.values())
        reports = (report for answer in answers for report in answer if not isinstance(report, KubespreadError))
        texts = (getattr(report, f"all_{name}", getattr(report, name)) for report in reports)
        return tuple(dict.fromkeys(text for own in texts for text in own))


def placed_first(happenings: Happenings) -> Iterator[Decisive]:
    """Yield ``2 pending and 1 missing pods are counted as placed first``, and the pods that these preempt."""
    from kubespread.reports.parts import preempted_pods as phrase_of
    from kubespread.world.reporting.happenings import preempted_pods
    from kubespread.world.store.pod_book import key_of

    if placed := len(happenings.placed):
        missing = len({*map(key_of, happenings.placed)} & {*map(key_of, happenings.created)})
        kinds = {"pending": placed - missing, "missing": missing}
        counts = " and ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number)
        made_room = tuple(preempted_pods(happenings))
        preempting = f", preempting {phrase_of(made_room, _MAX_NAMED)}" if made_room else ""
        pods = "pod is" if placed == 1 else "pods are"
        yield Decisive(f"{counts} {pods} counted as placed first{preempting}")


def ask(
    snapshot: Snapshot | None,
    question: Askable[A],
    scheduler: Scheduler | None = None,
    on_progress: OnProgress | None = None,
    on_refused: OnRefused | None = None,
    workers: Workers = ALONE,
    timeout: float | None = None,
) -> A:
    """Answer ``question`` about ``snapshot``, scheduled by a default kube-scheduler unless given; a `check` of
    manifests needs no snapshot.

    ``on_progress`` is called now and then with the progress, ``on_refused`` with workloads that the API server would
    refuse; without it the first one raises. ``workers`` do independent parts; ``timeout`` is the time limit in seconds.
    Raises UsageError, SnapshotError, ManifestError, and UnansweredError if nothing is finished in time.
    """
    budget = Budget(on_progress, workers, timeout)
    scene = Scene(snapshot, scheduler or Scheduler(), question, on_refused, budget)
    # To conclude from finished parts takes a moment more.
    with Deadline(budget.end_time + _TO_CONCLUDE):
        return question.full_answer(scene)
    raise UnansweredError(f"not finished within {format_duration(round((timeout or 0.0) * SECOND))}")


def cluster_reference(snapshot: Snapshot) -> ClusterReference:
    """Reference to the snapshot's origin, with its current age."""
    origin = snapshot.origin
    return ClusterReference(
        context=origin.source.removeprefix(_CONTEXT) if origin.source.startswith(_CONTEXT) else None,
        server=origin.server or None,
        snapshot=", ".join(map(escape, snapshot.files)) or None,
        time=origin.time or None,
        age_seconds=_age(origin.time),
        server_version=origin.server_version or None,
    )


def _age(time: str) -> int | None:
    """Seconds since ``time``; 0 for a snapshot from the future, by another clock."""
    try:
        then = datetime.datetime.fromisoformat(time)
    except ValueError:
        return None
    now = datetime.datetime.now(then.tzinfo)
    return max(0, int((now - then).total_seconds()))
