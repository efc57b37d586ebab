"""The cluster of an assistant's session: files are read once, a running cluster again when the last read is old."""

from __future__ import annotations

import time
from collections.abc import Callable

from kubespread.snapshot.snapshot import Snapshot


class Cluster:
    """Reads the cluster on first use, and again once the last read is older than ``max_age`` seconds, unless that is
    None. A failed read is retried by the next question.
    """

    def __init__(self, read: Callable[[], Snapshot], max_age: float | None) -> None:
        self._read, self._max_age = read, max_age
        self._cached: tuple[Snapshot, float] | None = None

    @property
    def is_kept(self) -> bool:
        """Whether it is read once and for all."""
        return self._max_age is None

    def snapshot(self) -> Snapshot:
        """The cluster as last read. Raises SnapshotError, UsageError and ManifestError."""
        now = time.monotonic()
        if self._cached is None or (self._max_age is not None and now - self._cached[1] > self._max_age):
            self._cached = None
            self._cached = self._read(), time.monotonic()
        return self._cached[0]
