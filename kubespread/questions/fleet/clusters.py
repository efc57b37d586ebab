"""The clusters of a fleet: files by patterns of their names, contexts of a kubeconfig by patterns of theirs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
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
_AT_ONCE = 20
"""Running clusters that are waited for side by side, or read and not asked yet."""
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
        return ("--context" if self.is_running else "-S", self.name)


def opened(clusters: Sequence[Member], until: float) -> Iterator[Member | tuple[Member, KubespreadError]]:
    """Running clusters as they are read, side by side, with what was read of them or why there is nothing. No further
    ones once it is ``until``, as `monotonic` counts.
    """
    slots, come, is_over = Semaphore(_AT_ONCE), SimpleQueue[tuple[Member, Snapshot | BaseException]](), Event()

    def read(member: Member) -> None:
        slots.acquire()
        if is_over.is_set():
            return
        try:
            come.put((member, member.opened()))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            come.put((member, error))

    for member in clusters:
        Thread(target=read, args=(member,), daemon=True).start()
    left = len(clusters)
    try:
        while left and monotonic() < until:
            check()
            with suppress(Empty):
                member, what = come.get(timeout=max(0.0, min(_LOOKS, until - monotonic())))
                left -= 1
                if isinstance(what, Snapshot):
                    yield replace(member, source=what, edits=())
                elif isinstance(what, KubespreadError):
                    yield member, what
                else:
                    raise what
                slots.release()
    finally:
        is_over.set()
        slots.release(max(1, left))


def members(clusters: Iterable[str | Path | Snapshot | Access]) -> list[Member]:
    """Members for clusters of any form. Raises UsageError for a pattern that no file matches."""
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
    """Files that the patterns stand for, each once: ``fleet/*.json.gz``, with ``**`` for folders at any depth. Raises
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


def contexts(patterns: Iterable[str], access: Access, environment: Mapping[str, str]) -> Iterator[Access]:
    """Ways to reach the contexts of the kubeconfig that match a pattern. Raises UsageError where none does, and
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
