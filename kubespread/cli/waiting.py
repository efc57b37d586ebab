"""A sign of life on standard error, where a person waits there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kubespread.cli.stderr import stderr_is_terminal

ANSWERING = "working on the answer"

OnProgress = Callable[[int], None]


@contextmanager
def waiting(doing: str = ANSWERING, *, quiet: bool) -> Iterator[OnProgress | None]:
    """Say after a second what is being done, for how long, and how much of it is done; nothing where standard
    error is no terminal.
    """
    if quiet or not stderr_is_terminal():
        yield None
        return
    from kubespread.views.progress import AnswerProgress

    with AnswerProgress(doing) as progress:
        yield progress.on_progress
