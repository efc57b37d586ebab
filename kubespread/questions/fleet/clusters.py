"""The clusters of a fleet: files by patterns of their names, contexts of a kubeconfig by patterns of theirs."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from queue import Empty, Full, Queue, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import structs

from kubespread.deadline import check
from kubespread.errors import KubespreadError, UsageError
from kubespread.questions.editing import connect, load
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of

if TYPE_CHECKING:
    from kubespread.snapshot.edits.verb import Edit
    from kubespread.snapshot.live.kubeconfig import Access

_MAX_NAMED = 5
_AT_ONCE = 50
"""Running clusters that are waited for side by side: one that hangs or fails keeps the others from nothing."""
_AHEAD = 8
"""Clusters that are read and not asked yet."""
_LOOKS = 0.1
"""Seconds between two looks at the time, while none comes."""


@dataclass(frozen=True, slots=True)
class Member:
    """One cluster of a fleet, before anything is read of it."""

    name: str
    source: str | Snapshot | Access
    """The path of its file, directory or archive, what was read of it already, or how it is reached."""
    edits: tuple[Edit, ...] = ()
    """What is changed in it before the question."""

    def opened(self) -> Snapshot:
        """Raises SnapshotError, ManifestError and UsageError."""
        if isinstance(self.source, Snapshot):
            snapshot = self.source
        else:
            snapshot = load(self.source) if isinstance(self.source, str) else connect(self.source)
        return snapshot.edited(*self.edits)

    @property
    def is_running(self) -> bool:
        return not isinstance(self.source, str | Snapshot)

    @property
    def option(self) -> tuple[str, str]:
        """What names it to a command about one cluster."""
        return ("--context" if self.is_running else "-S", self.name)


def opened(clusters: Sequence[Member], until: float) -> Iterator[list[Member | tuple[Member, KubespreadError]]]:
    """Running clusters as they are read, with what was read of them or why there is nothing; each time those that have
    come. No further ones once it is ``until``, as `monotonic` counts.
    """
    reading, left = _Reading(clusters), len(clusters)
    try:
        while left and monotonic() < until:
            check()
            come = reading.come_within(max(0.0, min(_LOOKS, until - monotonic())))
            left -= len(come)
            if come:
                yield [_read(member, what) for member, what in come]
    finally:
        reading.is_over.set()


class _Reading:
    """Threads that read clusters, until nobody waits for more."""

    def __init__(self, clusters: Iterable[Member]) -> None:
        self._waiting = SimpleQueue[Member]()
        self._come = Queue[tuple[Member, Snapshot | BaseException]](_AHEAD)
        self.is_over = threading.Event()
        for member in clusters:
            self._waiting.put(member)
        for _ in range(min(_AT_ONCE, self._waiting.qsize())):
            threading.Thread(target=self._read, daemon=True).start()

    def come_within(self, seconds: float) -> list[tuple[Member, Snapshot | BaseException]]:
        """Those that have come, after so long at most."""
        try:
            come = [self._come.get(timeout=seconds)]
        except Empty:
            return []
        while not self._come.empty():
            come.append(self._come.get())
        return come

    def _read(self) -> None:
        with suppress(Empty):
            while not self.is_over.is_set():
                member = self._waiting.get_nowait()
                try:
                    what: Snapshot | BaseException = member.opened()
                except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                    what = error
                self._hand_over(member, what)

    def _hand_over(self, member: Member, what: Snapshot | BaseException) -> None:
        while not self.is_over.is_set():
            with suppress(Full):
                self._come.put((member, what), timeout=_LOOKS)
                return


def _read(member: Member, what: Snapshot | BaseException) -> Member | tuple[Member, KubespreadError]:
    if isinstance(what, Snapshot):
        return replace(member, source=what, edits=())
    if isinstance(what, KubespreadError):
        return member, what
    raise what


def members(clusters: Iterable[str | Path | Snapshot | Access]) -> list[Member]:
    """Whatever clusters are given as. Raises UsageError for a pattern that no file matches."""
    found: list[Member] = []
    for number, given in enumerate(clusters, 1):
        if isinstance(given, str | Path):
            found += (Member(path, path) for path in files([str(given)]))
        elif isinstance(given, Snapshot):
            found.append(Member(", ".join(given.files) or given.origin.source or f"cluster {number}", given))
        else:
            found.append(Member(given.context or "the current context", given))
    return found


def members_of(
    patterns: Iterable[str],
    named: Collection[str],
    access: Access,
    environment: Mapping[str, str],
    edits: tuple[Edit, ...] = (),
) -> list[Member]:
    """The files that ``patterns`` stand for, and the contexts that are ``named``, reached by ``access``. Raises
    UsageError where one stands for nothing, and ManifestError.
    """
    running = contexts(named, access, environment) if named else ()
    return [
        *(Member(path, path, edits) for path in files(patterns)),
        *(Member(str(access.context), access, edits) for access in running),
    ]


def files(patterns: Iterable[str]) -> list[str]:
    """What the patterns stand for, each once: ``fleet/*.json.gz``, with ``**`` for folders at any depth. Raises
    UsageError where nothing matches one.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        paths = matching(pattern)
        if not paths:
            raise UsageError(f"no file matches {pattern!r}")
        found |= dict.fromkeys(paths)
    return [*found]


def matching(pattern: str) -> list[str]:
    """The files that one pattern stands for, by name."""
    # A file may have a bracket in its name.
    return [pattern] if os.path.lexists(pattern) else sorted(glob(pattern, recursive=True))  # noqa: PTH207 - may be absolute


def doubled(access: Access, environment: Mapping[str, str], clusters: Iterable[Member]) -> Iterator[str]:
    """A sentence for each of the contexts whose name others have too, of which the kubeconfig's first is asked."""
    from kubespread.snapshot.live import kubeconfig

    counts = Counter(each.name for each in kubeconfig.contexts(access, environment))
    for member in clusters:
        if member.is_running and (count := counts[member.name]) > 1:
            yield f"context {member.name}: the first of {count} of this name"


def contexts(patterns: Iterable[str], access: Access, environment: Mapping[str, str]) -> Iterator[Access]:
    """How each context of the kubeconfig is reached that matches a pattern. Raises UsageError where none does, and
    ManifestError.
    """
    from kubespread.snapshot.live import kubeconfig

    known = sorted({each.name for each in kubeconfig.contexts(access, environment)})
    found: dict[str, None] = {}
    for pattern in patterns:
        named = [name for name in known if name == pattern or fnmatchcase(name, pattern)]
        if not named:
            has = some_of(known, _MAX_NAMED) or "none"
            raise UsageError(f"no context matches {pattern!r}; the kubeconfig has {has}")
        found |= dict.fromkeys(named)
    # Another cluster or user is not theirs.
    return (structs.replace(access, context=name) for name in found)
