"""A bound on how long something runs that does not depend on the machine: in calls of functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

MANY = 5_000_000
"""Calls, some seconds of them: a hundred times what an answer about a small cluster takes."""


class TooManyStepsError(BaseException):
    """It does not end, or would not for long; no handler of the program's own catches this."""


@contextmanager
def bounded_steps(most: int = MANY) -> Iterator[None]:
    """Raises TooManyStepsError in what makes more than ``most`` calls, of Python's functions and C's."""
    left = most

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal left
        if event in ("call", "c_call"):
            left -= 1
            if left < 0:
                sys.setprofile(None)
                raise TooManyStepsError(f"more than {most} calls")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
