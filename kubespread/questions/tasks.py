"""Independent parts of an answer, done one after another or handed to worker processes: the answer is the same.

A worker makes what it needs from the question and the snapshot, once, and then does one part after another.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from kubespread.errors import KubespreadError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Item = TypeVar("Item", contravariant=True)
Result = TypeVar("Result", covariant=True)
_STARTING = 1.0
"""Seconds that a worker takes to start and to import this package."""
_MOST_LOST = 2
"""Workers that may die before the rest is done without any."""
_PATIENCE = 10
"""Seconds that a worker waits for another task: no longer, since that is how it outlives a process that is killed."""
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


@dataclass(frozen=True, slots=True)
class Workers:
    """How many processes do the parts of an answer. Raises UsageError for less than one."""

    jobs: int | None = 1
    """1: this process alone. None: as many as there are cores, once what is left to do is worth starting them."""
    on_lost: Callable[[str], object] = field(default=warnings.warn, compare=False)
    """Called when a worker dies."""

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"jobs must be at least 1, not {self.jobs}")

    def results(
        self, work: Work[Item, Result], make: Callable[[], Work[Item, Result]], items: Sequence[Item], took: float
    ) -> Iterator[Result]:
        """What ``work`` gives for each of ``items``, in their order.

        ``make`` makes the same work, in another process, and took this one ``took`` seconds. Raises what it raises, for
        the first item for which it does.
        """
        since = monotonic()
        for number, item in enumerate(items):
            pace = (monotonic() - since) / number if number else 0.0
            if (jobs := self._worth(len(items) - number, pace, took)) > 1:
                yield from self._handed_out(work, make, items[number:], jobs)
                return
            yield work(item)

    def _worth(self, left: int, pace: float, took: float) -> int:
        """How many workers should do what is left, each part of which takes ``pace`` seconds."""
        if self.jobs is not None:
            return min(self.jobs, left)
        starting = _STARTING + 2 * took
        # On two cores, which save half. Below four times what starting takes, waiting is hardly shorter.
        if left * pace < 4 * starting or (os.cpu_count() or 1) == 1:
            return 1
        from joblib import cpu_count

        cores: int = cpu_count()
        return min(cores, left, _as_many_as_memory_holds())

    def _handed_out(
        self, work: Work[Item, Result], make: Callable[[], Work[Item, Result]], items: Sequence[Item], jobs: int
    ) -> Iterator[Result]:
        from concurrent.futures.process import BrokenProcessPool
        from hashlib import sha256

        import numpy as np

        pickled = pickle.dumps(make, pickle.HIGHEST_PROTOCOL)
        # As an array, which joblib shares between workers as one file in memory.
        name, made = sha256(pickled).hexdigest(), np.frombuffer(pickled, np.uint8)
        done, lost = 0, 0
        while done < len(items) and lost < _MOST_LOST:
            try:
                for result, assumed in _in_processes([(name, made, item) for item in items[done:]], jobs):
                    work.assumed.update(dict.fromkeys(assumed))
                    if isinstance(result, KubespreadError):
                        raise result
                    done += 1
                    yield result
            except BrokenProcessPool:
                lost += 1
                self.on_lost("a worker process died, perhaps for lack of memory: what it was doing is done again")
        yield from map(work, items[done:])


ALONE = Workers()


def _in_processes(tasks: Iterable[tuple[str, NDArray[np.uint8], Any]], jobs: int) -> Iterator[tuple[Any, list[str]]]:
    """The outcome of each task, in order. Raises BrokenProcessPool."""
    from joblib import Parallel, delayed, parallel_config

    with (
        _deaf_to_interrupts(),
        parallel_config(
            "loky", n_jobs=jobs, inner_max_num_threads=1, max_nbytes=_SHARED_FROM, idle_worker_timeout=_PATIENCE
        ),
    ):
        outcomes = Parallel(return_as="generator")(delayed(_outcome)(*task) for task in tasks)
    try:
        yield from outcomes
    finally:
        with warnings.catch_warnings():
            # Of results that nobody wants any more.
            warnings.simplefilter("ignore")
            outcomes.close()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What is started here never hears of Ctrl-C, which a terminal sends to all: this process ends it instead."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as of_loky

    # Where these have to be started first, they unblock interrupts again.
    resource_tracker.ensure_running()
    of_loky.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_works: dict[str, Any] = {}
"""In a worker: the work of its last task, by the name of what it is made from."""


def _outcome(name: str, made: NDArray[np.uint8], item: Any) -> tuple[Any, list[str]]:
    """In a worker: what the work gives for ``item``, an error included, and what it assumed for that."""
    if name not in _works:
        _works.clear()
        with _no_garbage():
            _works[name] = pickle.loads(made.data)()
    work = _works[name]
    before = len(work.assumed)
    try:
        result = work(item)
    except KubespreadError as error:
        result = error
    return result, list(islice(work.assumed, before, None))


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
    """Processes as large as this one in half of the machine's memory."""
    import resource
    import sys

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 // largest
