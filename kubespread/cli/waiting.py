"""A sign of life on standard error, where a person waits there."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext

ANSWERING = "working on the answer"


def waiting(doing: str = ANSWERING, *, quiet: bool) -> AbstractContextManager[object]:
    """Say after a second what is being done, and for how long; nothing where standard error is no terminal."""
    if quiet or not is_watched():
        return nullcontext()
    from kubespread.render.progress import WaitingProgress

    return WaitingProgress(doing)


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()
