"""Progress of an answer, for a person who waits: one line on standard error, removed when it is over."""

from __future__ import annotations

import threading
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kubespread.escaping import escape
from kubespread.wording import age

if TYPE_CHECKING:
    from rich.live import Live

_PATIENCE = 1.0
_MIB = 2**20


class _Line:
    """One line on standard error that appears after a second; its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._showing = threading.Lock()
        self._live: Live | None = None
        self._is_over = False
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._showing:
            self._is_over = True
            if self._live is not None:
                self._live.stop()

    def _show(self) -> None:
        # Imported only after a wait: Rich takes a quarter of the time that a short answer takes.
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with self._showing:
            if not self._is_over:
                self._live = Live(
                    get_renderable=lambda: Text(escape(self._line())),
                    console=Console(stderr=True),
                    refresh_per_second=5,
                    transient=True,
                )
                self._live.start()

    def _line(self) -> str:
        raise NotImplementedError


class DownloadProgress(_Line):
    """Pages, bytes and objects of a cluster."""

    def __init__(self) -> None:
        self._objects: dict[str, int] = {}
        self._pages = self._bytes = 0
        super().__init__()

    def page_came(self, resource: str, count: int, size: int) -> None:
        with self._lock:
            self._pages += 1
            self._bytes += size
            self._objects[resource] = self._objects.get(resource, 0) + count

    def _line(self) -> str:
        with self._lock:
            most = sorted(self._objects.items(), key=lambda item: -item[1])[:3]
            counts = ", ".join(f"{count:,} {resource}" for resource, count in most if count)
            return (
                f"reading the cluster: {self._pages} pages, {self._bytes / _MIB:.1f} "
                f"MiB{f', {counts}' if counts else ''}"
            )


class AnswerProgress(_Line):
    """Line with the current work, its progress and duration, and the remaining time of parts."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._completed = self._total = 0
        self._since = self._begun = monotonic()
        super().__init__()

    def on_progress(self, completed: int, total: int = 0) -> None:
        with self._lock:
            if total != self._total and total:
                # Another of the questions that an answer is made of.
                self._begun, self._total = (monotonic() if self._total else self._begun), total
            if total == self._total:
                self._completed = completed

    def _line(self) -> str:
        with self._lock:
            left = (monotonic() - self._begun) / max(1, self._completed) * (self._total - self._completed)
            far = how_far(self._completed, self._total, left) if self._total else f"{self._completed:,}"
            progress = f"{far}, " if self._completed else ""
            return f"{self._doing}: {progress}{monotonic() - self._since:.0f} s"


def how_far(completed: int, total: int, seconds_left: float) -> str:
    """``12 of 30, about 90 s left``."""
    return f"{completed:,} of {total:,}, about {age(round(seconds_left))} left"
