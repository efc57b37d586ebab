"""Independent parts of an answer, done one after another or handed to worker processes: the answer is the same.

A worker makes what it needs from the question and the snapshot, once, and then does one part after another.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, takewhile
from math import inf
from time import monotonic, process_time
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from msgspec import Struct

from kubespread.deadline import Deadline
from kubespread.errors import EngineError, KubespreadError, UsageError

Item = TypeVar("Item", contravariant=True)
Result = TypeVar("Result", covariant=True)
T = TypeVar("T")
_STARTING = 1.0
"""Seconds that a worker takes to start and to import this package."""
_MOST_LOST = 2
"""Workers that may die before the rest is done without any."""
_PATIENCE = 10
"""Seconds that a worker waits for another task, no longer, since that is how it outlives a process that is killed; and
that a cluster may take to answer.
"""
DIED = "a worker died, perhaps for lack of memory: what it was doing is done again"
_ADDRESS = re.compile(r"(tcp://|tls://)?[^\s/:]+:\d{1,5}|(tcp://|tls://)?\[[\da-fA-F:.]+\]:\d{1,5}")
_SHARED_FROM = 100_000
"""Bytes from which a snapshot is one file for all workers, instead of a copy with every task."""


class Work(Protocol[Item, Result]):
    """Does the parts of one answer, each as if it were the only one: what it gives depends on the item alone."""

    @classmethod
    def of(cls, question: Any, scene: Any) -> Self:
        """Made of what is answered, the same in every process."""

    @property
    def assumed(self) -> dict[str, None]:
        """What was assumed so far where the cluster's source does not say."""

    def __call__(self, item: Item, /) -> Result: ...


class Made(NamedTuple):
    """What makes a work in another process."""

    name: str
    """A hash of the rest."""
    made: bytes
    versions: str


@dataclass(frozen=True, slots=True)
class Workers:
    """How many processes do the parts of an answer. Raises UsageError for less than one."""

    jobs: int | None = 1
    """1: this process alone. None: as many as there are cores, once what is left to do is worth starting them."""
    engine: str = ""
    """The address of a Dask scheduler, ``tcp://HOST:PORT``, whose workers do all parts instead."""
    on_lost: Callable[[str], object] = field(default=warnings.warn, compare=False)
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
        """What ``work`` gives for each of ``items``, in their order; of the first few where it is ``until`` by
        `monotonic` before the others are finished.

        ``make`` makes the same work, in another process, and took this one ``took`` seconds. Raises what it raises, for
        the first item for which it does.
        """
        # By the processor: a machine that is busy with others is slow, and has no cores for workers.
        since = process_time()
        for number, item in enumerate(items):
            pace = (process_time() - since) / number if number else 0.0
            if (jobs := self._worth(len(items) - number, pace, took)) > 1:
                yield from self._handed_out(work, make, items[number:], jobs, until)
                return
            finished = [*_in_turn(work, [item], until)]
            if not finished:
                return
            yield from finished

    def _worth(self, left: int, pace: float, took: float) -> int:
        """How many workers should do what is left, each part of which takes ``pace`` seconds."""
        if self.engine:
            return left
        if self.jobs is not None:
            return min(self.jobs, left)
        starting = _STARTING + 2 * took
        # On two cores, which save half. Below four times what starting takes, waiting is hardly shorter.
        if left * pace < 4 * starting or (os.cpu_count() or 1) == 1:
            return 1
        if (most := min(left, _as_many_as_memory_holds())) == 1:
            return 1
        from joblib import cpu_count

        cores: int = cpu_count()
        return min(cores, most)

    def _handed_out(
        self,
        work: Work[Item, Result],
        make: Callable[[], Work[Item, Result]],
        items: Sequence[Item],
        jobs: int,
        until: float,
    ) -> Iterator[Result]:
        # Imported by those who need them: few questions start workers.
        import pickle
        from concurrent.futures.process import BrokenProcessPool
        from hashlib import sha256

        made = pickle.dumps(make, pickle.HIGHEST_PROTOCOL)
        asked = Made(sha256(made).hexdigest(), made, _versions())
        done, lost, numbered = 0, 0, [*enumerate(items)]
        while done < len(items) and lost < _MOST_LOST and monotonic() < until:
            left = numbered[done:]
            outcomes = _in_cluster(asked, left, self, until) if self.engine else _in_processes(asked, left, jobs, until)
            try:
                for finished, assumed in outcomes:
                    work.assumed.update(dict.fromkeys(assumed))
                    if not finished:
                        return
                    if isinstance(finished[0], KubespreadError):
                        raise finished[0]
                    done += 1
                    yield from finished
            except BrokenProcessPool:
                lost += 1
                self.on_lost(DIED)
            except (OSError, UnboundLocalError, ImportError) as error:
                # Too few file handles. Where loky meets that while it starts a process, it fails anew in its cleanup.
                # A browser has no processes, and not all that starts them.
                fault = error.__context__ if isinstance(error, UnboundLocalError) else error
                if not isinstance(fault, OSError | ImportError):
                    raise
                lost = _MOST_LOST
                self.on_lost(f"no workers: {getattr(fault, 'strerror', '') or fault}; the rest is done without any")
        yield from _in_turn(work, items[done:], until)


def _in_turn(work: Work[Item, Result], items: Iterable[Item], until: float) -> Iterator[Result]:
    """What becomes of the first few, until one is not finished in time."""
    for item in _in_time(items, until):
        finished: tuple[Result, ...] = ()
        with Deadline(until):
            finished = (work(item),)
        if not finished:
            return
        yield from finished


def _in_time(items: Iterable[T], until: float) -> Iterator[T]:
    """Those that are asked for before it is ``until``."""
    return takewhile(lambda _: monotonic() < until, items)


ALONE = Workers()


_WorkerResult = tuple[tuple[Any, ...], list[str]]
"""What came of an item, an error included, or nothing once the time is up; and what was assumed for it."""
WorkerResults = Iterator[_WorkerResult]
"""In order."""


def _in_processes(asked: Made, items: Sequence[tuple[int, Any]], jobs: int, until: float) -> WorkerResults:
    """Raises BrokenProcessPool."""
    import numpy as np
    from joblib import parallel_config

    # Workers end once they have waited long enough, and others are started: on a busy machine between two tasks too.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor", UserWarning)
    with (
        _deaf_to_interrupts(),
        parallel_config(
            "loky", n_jobs=jobs, inner_max_num_threads=1, max_nbytes=_SHARED_FROM, idle_worker_timeout=_PATIENCE
        ),
    ):
        # An array is one file in memory for all workers.
        outcomes = _begun(asked, np.frombuffer(asked.made, np.uint8), items, until)
    yield from _ended(outcomes)


def _in_cluster(asked: Made, items: Sequence[tuple[int, Any]], workers: Workers, until: float) -> WorkerResults:
    """By a Dask cluster, which does again what a lost worker was doing. Raises EngineError and BrokenProcessPool."""
    import logging
    from concurrent.futures import CancelledError
    from concurrent.futures.process import BrokenProcessPool

    try:
        from distributed import Client, KilledWorker
        from distributed import __version__ as release
    except ImportError:
        raise EngineError("a Dask cluster takes packages that are missing: pip install 'kubespread[dask]'") from None
    from joblib import parallel_config

    for handler in logging.getLogger("distributed").handlers:
        # What matters of a lost connection, an interrupt among its causes, is said here.
        handler.setLevel(logging.CRITICAL)
    if not _ADDRESS.fullmatch(workers.engine):
        raise EngineError(
            f"{workers.engine}: expected the address of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT"
        )

    class Ours(Client):  # type: ignore[misc]  # distributed has no types
        def __del__(self) -> None:
            """One that never began would be waited for once more."""

    try:
        client = Ours(workers.engine, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # noqa: BLE001 - a scheduler of another release fails in a way of its own
        raise EngineError(
            f"{workers.engine}: no Dask scheduler that distributed {release} gets on with: {error}"
        ) from None
    with client:
        started = _checked_workers(client, workers.engine)
        try:
            with parallel_config("dask", client=client, scatter=[asked.made]) as configured:
                # For a single thread joblib would do everything here.
                cores = configured["backend"].effective_n_jobs
                configured["backend"].effective_n_jobs = lambda jobs: max(2, cores(jobs))
                outcomes = _begun(asked, asked.made, items, until)
            yield from _ended(outcomes)
            lost = started - {*client.nthreads()}
        except Exception as error:
            if client.status != "running":
                raise EngineError(f"{workers.engine}: the Dask scheduler went away") from None
            if isinstance(error, KilledWorker | CancelledError):
                raise BrokenProcessPool from error
            raise
        for _ in lost:
            workers.on_lost(DIED)


def _begun(asked: Made, made: Any, items: Sequence[tuple[int, Any]], until: float) -> Any:
    """joblib's generator of outcomes, by the backend that is configured; ``made`` is `Made.made`, or an array of it."""
    from joblib import Parallel, delayed

    # What is handed out is finished: where time is short, no worker has a second item waiting.
    parallel = Parallel(return_as="generator", pre_dispatch="2 * n_jobs" if until == inf else "n_jobs")
    return parallel(
        # Another machine has another clock.
        delayed(_outcome)(asked.name, made, asked.versions, until - monotonic(), *item)
        for item in _in_time(items, until)
    )


def _ended(outcomes: Any) -> WorkerResults:
    """WorkerResults that end where nobody wants the rest any more."""
    try:
        for outcome in outcomes:  # noqa: UP028 - `yield from` would close them outside of the finally, with a warning
            yield outcome
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()


def _checked_workers(client: Any, engine: str) -> set[str]:
    """The addresses of the cluster's workers. Raises EngineError where there are none, or one has other versions."""
    try:
        versions: dict[str, str] = client.run(_versions)
    except Exception as error:  # noqa: BLE001 - what cannot be loaded there comes back in a form of its own
        raise EngineError(f"{engine}: a worker has no kubespread like this one: {error}") from None
    if not versions:
        raise EngineError(f"{engine}: the Dask cluster has no workers")
    for worker, theirs in versions.items():
        _check_versions(theirs, _versions(), worker)
    return {*versions}


def _versions() -> str:
    """Of what has to be the same wherever parts of one answer are done."""
    import platform

    import msgspec
    import numpy as np

    from kubespread import __version__

    return (
        f"kubespread {__version__}, Python {platform.python_version()}, "
        f"msgspec {msgspec.__version__}, numpy {np.__version__}"
    )


def _check_versions(theirs: str, ours: str, worker: str) -> None:
    if theirs != ours:
        raise EngineError(f"the worker {worker} has {theirs}; the question comes from {ours}")


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What is started here never hears of signals that are sent to all, as Ctrl-C is by a terminal: this process ends
    it instead.
    """
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


class _Made(Struct):
    name: str
    work: Work[Any, Any]
    number: int
    """That of its last item. What it assumed for an item before that, it would not say again."""


_last: _Made | None = None
"""In a worker: the work of its last task."""
_one_by_one = threading.Lock()
"""A worker of a Dask cluster may have several threads, for one work."""


def _outcome(name: str, made: Any, versions: str, seconds: float, number: int, item: Any) -> _WorkerResult:
    """In a worker, within so many seconds."""
    import pickle
    import platform

    global _last
    with _one_by_one, Deadline(monotonic() + seconds):
        if _last is None or _last.name != name or _last.number >= number:
            # It may have joined the cluster since its workers were looked at.
            _check_versions(_versions(), versions, platform.node())
            _last = None
            with _no_garbage():
                _last = _Made(name, pickle.loads(memoryview(made))(), number)
        _last.number, work = number, _last.work
        before = len(work.assumed)
        try:
            result = work(item)
        except KubespreadError as error:
            result = error
        return (result,), list(islice(work.assumed, before, None))
    return (), []


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Without looking for garbage in what is kept anyway, now and later: that takes longer than to make it."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _as_many_as_memory_holds() -> int:
    """Processes as large as this one in half of the machine's memory; one where that is not told."""
    import sys

    try:
        import resource
    except ModuleNotFoundError:
        # On Windows, and in a browser.
        return 1

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 // largest
