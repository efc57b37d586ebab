"""A sign of life on standard error, where a person waits there, and with -v what is known so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from kubespread.cli.streams import say, stderr_is_terminal

if TYPE_CHECKING:
    from kubespread.questions.scene import OnPart, Part

ANSWERING = "working on the answer"
_EVERY = 5.0
"""Seconds after which more is said with -v."""
_MOST_TOLD = 5

OnProgress = Callable[[int], None]


class Hearing(NamedTuple):
    """Whom an answer tells how far it is; None: nobody."""

    on_progress: OnProgress | None = None
    on_part: OnPart | None = None


@contextmanager
def waiting(doing: str = ANSWERING, *, quiet: bool, verbose: bool = False) -> Iterator[Hearing]:
    """Say after a second what is being done, for how long, and how much of it is done; nothing where standard error is
    no terminal. If ``verbose``, say there and elsewhere now and then what is known so far.
    """
    told = _Told(doing).on_part if verbose and not quiet else None
    if quiet or not stderr_is_terminal():
        yield Hearing(on_part=told)
        return
    from kubespread.views.progress import AnswerProgress

    with AnswerProgress(doing) as progress:

        def on_part(part: Part) -> None:
            progress.on_parts(part.number, part.total, part.seconds_left, part.doing)
            if told is not None:
                told(part)

        yield Hearing(progress.on_progress, on_part)


class _Told:
    """What is known so far, in lines that stay; nothing of an answer that takes a few seconds."""

    def __init__(self, doing: str) -> None:
        self._doing, self._next, self._known = doing, monotonic() + _EVERY, list[str]()

    def on_part(self, part: Part) -> None:
        if part.known:
            self._known.append(part.known)
        now = monotonic()
        if now < self._next or part.number == part.total:
            return
        from kubespread.views.progress import how_far

        say(f"{part.doing or self._doing}: {how_far(part.number, part.total, part.seconds_left)}")
        for known in self._known[:_MOST_TOLD]:
            say(f"  {known}")
        if len(self._known) > _MOST_TOLD:
            say(f"  and {len(self._known) - _MOST_TOLD:,} more like these")
        self._next = now + _EVERY
        self._known.clear()
