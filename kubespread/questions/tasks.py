"""Independent parts of an answer, done one after another or handed to worker processes: the answer is the same.

A worker builds the work from the question and the snapshot once, and then does one part after another.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from math import inf
from time import monotonic, process_time
from typing import Any, Protocol, Self, TypeVar

from msgspec import Struct

from kubespread.deadline import Deadline
from kubespread.errors import KubespreadError, UsageError

Item = TypeVar("Item", contravariant=True)
Result = TypeVar("Result", covariant=True)
_STARTING = 1.0
"""Seconds that a worker takes to start and to import this package."""
_MAX_DEATHS = 2
"""Workers that may die before the rest is done without any."""
_PATIENCE = 10
"""Seconds that a worker waits for another task, no longer, since that is how it outlives a process that is killed."""
DIED = "a worker died, perhaps for lack of memory: what it was doing is done again"
_MAX_BY_DEFAULT = 8
"""Maximum number of workers by default: each holds the whole cluster."""
_SHARED_FROM = 100_000
"""Bytes from which a snapshot is one file for all workers, instead of a copy with every task."""


class Work(Protocol[Item, Result]):
    """The parts of one answer: each result depends on its item alone."""

    @classmethod
    def build(cls, question: Any, scene: Any) -> Self:
        """Make the work in any process."""

    @property
    def assumed(self) -> dict[str, None]:
        """Assumptions so far about data that the cluster's source lacks."""

    def __call__(self, item: Item, /) -> Result: ...


class Workers(Struct, frozen=True):
    """Processes that do the parts of an answer. Raises UsageError for fewer than one."""

    jobs: int | None = 1
    """1: this process alone. None: as many as cores, once the remaining work is worth starting them."""
    on_lost: Callable[[str], object] = warnings.warn
    """Called when a worker dies."""

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"jobs must be at least 1, not {self.jobs}")

    def results(
        self,
        work: Work[Item, Result],
        make: Callable[[], Work[Item, Result]],
        items: Sequence[Item],
        took: float,
        until: float = inf,
    ) -> Iterator[Result]:
        """Yield the results of ``work`` for ``items`` in order, up to the first not finished at ``until``.

        ``make`` makes the same work in another process, and took ``took`` seconds here. Raises the first error of an
        item.
        """
        # By the processor: a machine that is busy with others is slow, and has no cores for workers.
        since = process_time()
        for number, item in enumerate(items):
            pace = (process_time() - since) / number if number else 0.0
            if (jobs := self._worth(len(items) - number, pace, took)) > 1:
                yield from self._handed_out(work, make, items[number:], jobs, until)
                return
            if monotonic() >= until:
                return
            finished: tuple[Result, ...] = ()
            with Deadline(until):
                finished = (work(item),)
            if not finished:
                return
            yield from finished
            # The world of an item refers to itself, and a command does without Python's own collector.
            gc.collect(1)

    def _worth(self, left: int, pace: float, took: float) -> int:
        """Number of workers for the remaining parts, which take ``pace`` seconds each."""
        if self.jobs is not None:
            return min(self.jobs, left)
        # Two cores save half. Below four times the starting time, workers hardly shorten the wait.
        if left * pace < 4 * (_STARTING + 2 * took) or (os.cpu_count() or 1) == 1:
            return 1
        from joblib import cpu_count

        return min(int(cpu_count()), left, _MAX_BY_DEFAULT)

    def _handed_out(
        self,
        work: Work[Item, Result],
        make: Callable[[], Work[Item, Result]],
        items: Sequence[Item],
        jobs: int,
        until: float,
    ) -> Iterator[Result]:
        # Imported on demand: few questions start workers.
        import pickle
        from concurrent.futures.process import BrokenProcessPool
        from uuid import uuid4

        # Workers outlive a question, and work that they kept would report its assumptions to the first alone.
        name, pickled = uuid4().hex, pickle.dumps(make, pickle.HIGHEST_PROTOCOL)
        completed, deaths = 0, 0
        while completed < len(items) and deaths < _MAX_DEATHS and monotonic() < until:
            try:
                for finished, assumed in _in_processes(name, pickled, items[completed:], jobs, until):
                    work.assumed.update(dict.fromkeys(assumed))
                    if not finished:
                        return
                    if isinstance(finished[0], KubespreadError):
                        raise finished[0]
                    completed += 1
                    yield from finished
            except BrokenProcessPool:
                deaths += 1
                self.on_lost(DIED)
            except (OSError, UnboundLocalError, ImportError) as error:
                # Too few file handles. Where loky meets that while it starts a process, it fails anew in its cleanup.
                # A browser has no processes, and not all that starts them.
                fault = error.__context__ if isinstance(error, UnboundLocalError) else error
                if not isinstance(fault, OSError | ImportError):
                    raise
                deaths = _MAX_DEATHS
                self.on_lost(f"no workers: {getattr(fault, 'strerror', '') or fault}; the rest is done without any")
        yield from ALONE.results(work, make, items[completed:], 0.0, until)


ALONE = Workers()


WorkerResults = Iterator[tuple[tuple[Any, ...], list[str]]]
"""Result of each item in order, an error or, once the time is up, nothing; with the assumptions made for it."""


def _in_processes(name: str, pickled: bytes, items: Sequence[Any], jobs: int, until: float) -> WorkerResults:
    """Raises BrokenProcessPool."""
    import numpy as np
    from joblib import Parallel, delayed, parallel_config

    # Workers end once they have waited long enough, and others are started: on a busy machine between two tasks too.
    # Once the time is up, or the caller stops, the results of other items are not used.
    warnings.filterwarnings("ignore", r"A worker stopped|\d+ tasks ", UserWarning)
    # An array is one file in memory for all workers.
    shared = np.frombuffer(pickled, np.uint8)
    how = {"n_jobs": jobs, "inner_max_num_threads": 1, "max_nbytes": _SHARED_FROM, "idle_worker_timeout": _PATIENCE}
    with _deaf_to_interrupts(), parallel_config("loky", **how):
        # Items that are handed out are finished: if time is limited, no worker has a second one waiting.
        parallel = Parallel(return_as="generator", pre_dispatch="2 * n_jobs" if until == inf else "n_jobs")
        in_time = takewhile(lambda _: monotonic() < until, items)
        outcomes = parallel(delayed(_outcome)(name, shared, until - monotonic(), item) for item in in_time)
    atexit.unregister(_end_workers)
    atexit.register(_end_workers)
    yield from outcomes


def _end_workers() -> None:
    """End idle workers, for which this process would wait otherwise."""
    from joblib.externals.loky import get_reusable_executor

    # Where too few file handles are left, there are none.
    with suppress(OSError):
        get_reusable_executor(reuse=True).shutdown()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Shield processes started here from signals to the whole group, such as Ctrl-C: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        # On Windows none can be held back.
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as of_loky

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        # Where these have to be started first, they unblock the others again, which they ignore.
        resource_tracker.ensure_running()
        of_loky.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_last_work: tuple[str, Work[Any, Any]] | None = None
"""In a worker: the work of its last task, by name."""


def _outcome(name: str, pickled: Any, seconds: float, item: Any) -> tuple[tuple[Any, ...], list[str]]:
    """Do an item in a worker, within ``seconds``."""
    import pickle

    global _last_work
    with Deadline(monotonic() + seconds):
        if _last_work is None or _last_work[0] != name:
            _last_work = None
            # A search for garbage in the work, which stays, takes longer than making it.
            gc.disable()
            try:
                work = pickle.loads(memoryview(pickled))()
                gc.freeze()
            finally:
                gc.enable()
        else:
            work = _last_work[1]
        _last_work = name, work
        before = len(work.assumed)
        try:
            result = work(item)
        except KubespreadError as error:
            result = error
        return (result,), list(islice(work.assumed, before, None))
    return (), []
