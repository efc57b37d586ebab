"""Deadlines of work. Whatever may go on for long checks its deadline each time round: for every pod that is made,
judged or placed, and every pass of a controller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from time import monotonic
from types import TracebackType
from typing import Self, TypeVar

T = TypeVar("T")
_NOTICED_WITHIN = 0.5


class OutOfTimeError(Exception):
    """Raised between two units of work, never within one: the unfinished result is lost, its input is whole."""


class Deadline:
    """Deadline at ``until``, as `monotonic` counts, after which work within it ends; another thread may advance it.

    It lies within the deadline around it: once that is over, the work of both ends.
    """

    def __init__(self, until: float) -> None:
        self.until = until

    def __enter__(self) -> Self:
        self._outer = _current.get()
        self._token = _current.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _traceback: TracebackType | None) -> bool:
        _current.reset(self._token)
        return kind is OutOfTimeError and monotonic() >= self.until

    def is_over(self) -> bool:
        return monotonic() >= self.until or (self._outer is not None and self._outer.is_over())


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def check() -> None:
    """Raises OutOfTimeError once the time is up."""
    deadline = _current.get()
    if deadline is not None and deadline.is_over():
        raise OutOfTimeError


def run_within(seconds: float, job: Callable[[], T]) -> T:
    """Run ``job`` in a thread and return its result, or raise its error.

    Raises TimeoutError when that takes longer, and abandons the job, which does not keep the program from exiting.
    """
    until = monotonic() + seconds
    results: SimpleQueue[tuple[list[T], BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            results.put(([job()], None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            results.put(([], error))

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            # In short waits: a signal that comes just before one is only noticed after it.
            result, error = results.get(timeout=max(0.0, min(_NOTICED_WITHIN, until - monotonic())))
        except Empty:
            if monotonic() >= until:
                raise TimeoutError from None
        else:
            break
    if error is not None:
        raise error
    return result[0]
