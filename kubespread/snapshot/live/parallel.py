"""Several downloads at once, each in bounded time; none keeps the program from exiting."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float | None, job: Callable[[], T]) -> T:
    """What ``job`` returns or raises. Raises TimeoutError when that takes longer, and leaves the job to itself."""
    if seconds is None:
        return job()
    done: SimpleQueue[tuple[list[T], BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            done.put(([job()], None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            done.put(([], error))

    threading.Thread(target=work, daemon=True).start()
    try:
        result, error = done.get(timeout=max(0.0, seconds))
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return result[0]


def in_parallel(jobs: Sequence[Callable[[], T]], workers: int) -> list[T]:
    """The results of ``jobs``, in order. The first error ends it, and the other jobs are abandoned.

    An executor would wait for its threads at exit, even after an interrupt.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, T | None, BaseException | None]] = SimpleQueue()
    for position in range(len(jobs)):
        waiting.put(position)

    def work() -> None:
        while True:
            try:
                position = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((position, jobs[position](), None))
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                done.put((position, None, error))
                return

    for _ in range(min(workers, len(jobs))):
        threading.Thread(target=work, daemon=True).start()
    results: dict[int, T] = {}
    while len(results) < len(jobs):
        position, result, error = done.get()
        if error is not None:
            raise error
        results[position] = result  # type: ignore[assignment]  # a job without error has a result
    return [results[position] for position in range(len(jobs))]
