"""How an answer comes along, for a person who waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kubespread.cli.stderr import stderr_is_terminal

OnProgress = Callable[[int], None]
Report = TypeVar("Report")


def with_progress(doing: str, ask: Callable[[OnProgress | None], Report], *, quiet: bool) -> Report:
    """What ``ask`` answers; on a terminal a line says meanwhile how much is done, unless it is ``quiet``."""
    if quiet or not stderr_is_terminal():
        return ask(None)
    from kubespread.render.progress import CountingProgress

    with CountingProgress(doing) as progress:
        return ask(progress.on_progress)
