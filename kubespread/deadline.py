"""Until when something may be worked on. Whatever may go on for long asks each time round: every pod that is made,
judged or placed, every pass of a controller.
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
    """Raised between two things, never within one. What was being worked out is lost; what it began from is whole."""


class Deadline:
    """Deadline at ``until``, as `monotonic` counts, after which what is done within it is given up; another thread may
    make that sooner.

    It lies within the deadline of whoever asked for it: where that is over, all are given up.
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
    """Run ``job`` and return its result, or raise its error. Raises TimeoutError when that takes longer, and leaves the
    job to itself. It does not keep the program from exiting.
    """
    until = monotonic() + seconds
    done: SimpleQueue[tuple[list[T], BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            done.put(([job()], None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            done.put(([], error))

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            # In short waits: a signal that comes just before one is only noticed after it.
            result, error = done.get(timeout=max(0.0, min(_NOTICED_WITHIN, until - monotonic())))
        except Empty:
            if monotonic() >= until:
                raise TimeoutError from None
        else:
            break
    if error is not None:
        raise error
    return result[0]
