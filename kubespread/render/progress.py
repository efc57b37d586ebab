"""How a download goes on, for a person who waits: one line on standard error, gone when it is over."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from kubespread.escaping import escaped

_PATIENCE = 1.0
_MIB = 2**20


class _Line:
    """One line on standard error that appears after a second; its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live = Live(
            get_renderable=lambda: Text(escaped(self._line())),
            console=Console(stderr=True),
            refresh_per_second=5,
            transient=True,
        )
        self._timer = threading.Timer(_PATIENCE, self._live.start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._live.stop()

    def _line(self) -> str:
        raise NotImplementedError


class DownloadProgress(_Line):
    """Pages, bytes and objects of a cluster."""

    def __init__(self) -> None:
        self._objects: dict[str, int] = {}
        self._pages = self._bytes = 0
        super().__init__()

    def bytes_came(self, size: int) -> None:
        with self._lock:
            self._bytes += size

    def objects_came(self, resource: str, count: int) -> None:
        with self._lock:
            self._pages += 1
            self._objects[resource] = self._objects.get(resource, 0) + count

    def _line(self) -> str:
        with self._lock:
            most = sorted(self._objects.items(), key=lambda item: -item[1])[:3]
            counts = ", ".join(f"{count} {resource}" for resource, count in most if count)
            return (
                f"reading the cluster: {self._pages} pages, {self._bytes / _MIB:.1f} "
                f"MiB{f', {counts}' if counts else ''}"
            )


class CountingProgress(_Line):
    """How much of something is done: ``placing replicas: 1,200``."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._done = 0
        super().__init__()

    def on_progress(self, done: int) -> None:
        with self._lock:
            self._done = done

    def _line(self) -> str:
        with self._lock:
            return f"{self._doing}: {self._done:,}"
