"""A cluster to ask about: from files, or a running one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kubespread.questions.editing import edited
from kubespread.questions.scheduler import Scheduler
from kubespread.snapshot.files.reader import load as load_files
from kubespread.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from kubespread.snapshot.live.connection import Progress
    from kubespread.snapshot.live.kubeconfig import Access

_DEFAULT = Scheduler()


def load(path: str | Path, *more: str | Path) -> Snapshot:
    """A cluster from files, directories and archives, together one snapshot; ``-`` is standard input.

    What one large file was decoded to is kept in the user's cache, ``$XDG_CACHE_HOME/kubespread``, by its content.

    Raises SnapshotError, UsageError and ManifestError.
    """
    paths = tuple(str(part) for part in (path, *more))
    return replace(load_files(paths), files=paths)


def connect(access: Access | None = None, on_progress: Progress | None = None) -> Snapshot:
    """A running cluster, read and never written to; without ``access`` that of the kubeconfig's current context.

    Raises SnapshotError, ManifestError and UsageError.
    """
    # TLS and threads, which no file needs.
    from kubespread.snapshot.live.connection import load_cluster
    from kubespread.snapshot.live.kubeconfig import Access

    return load_cluster(access or Access(), on_progress)


def after_edits(snapshot: Snapshot, scheduler: Scheduler = _DEFAULT) -> tuple[Snapshot, tuple[str, ...]]:
    """The cluster after its edits, to be saved, and notes on them.

    Questions about an edited snapshot make its edits themselves. Raises UsageError.
    """
    if snapshot.edits:
        return edited(snapshot, scheduler)
    # Without edits no release matters.
    return snapshot, tuple(scheduler.unreleased(snapshot.origin))
