"""Sources of a command's cluster: files, or the cluster of the kubeconfig.

A sign of life on standard error, where a person waits there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kubespread.cli.options import access_of, edits_of, sources_of, typed_edits
from kubespread.cli.streams import complain, stderr_is_terminal
from kubespread.errors import NoClusterError, UsageError

if TYPE_CHECKING:
    from kubespread.cli.command import Typed
    from kubespread.questions.scene import OnPart
    from kubespread.snapshot.live.connection import OnPage
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.snapshot.snapshot import Snapshot

ANSWERING = "working on the answer"

OnProgress = Callable[[int], None]


class Hearing(NamedTuple):
    """Whom an answer tells how far it is; None: nobody."""

    on_progress: OnProgress | None = None
    on_part: OnPart | None = None


@contextmanager
def waiting(doing: str = ANSWERING, *, quiet: bool) -> Iterator[Hearing]:
    """Say after a second what is being done, for how long, and how much of it is done; nothing where standard error is
    no terminal.
    """
    if quiet or not stderr_is_terminal():
        yield Hearing()
        return
    from kubespread.views.progress import AnswerProgress

    with AnswerProgress(doing) as progress:
        yield Hearing(
            progress.on_progress, lambda part: progress.on_parts(part.number, part.total, part.seconds_left, part.doing)
        )


def open_cluster(typed: Typed, *, quiet: bool) -> Snapshot:
    """The snapshot of the named files, else of the running cluster, with progress if a person waits.

    Its edits are parsed first, since they may be mistyped, and remembered in it. Objects that cannot be read are
    reported; an answer from the others ends with exit code 3.
    """
    edits = edits_of(typed)
    sources = sources_of(typed)
    return (loaded(sources, quiet=quiet) if sources else _connected(typed, quiet=quiet)).edited(*edits)


def open_cluster_if_any(typed: Typed, *, is_needed: bool, quiet: bool) -> Snapshot | None:
    """The cluster where it ``is_needed`` or one is named, or where there has to be one; else options that say anything
    about it are refused. Raises UsageError.
    """
    if typed.get("live") is None or any(typed[name] for name in ("live", "snapshot", "context", "kubeconfig")):
        return open_cluster(typed, quiet=quiet)
    if is_needed:
        try:
            return open_cluster(typed, quiet=quiet)
        except NoClusterError as error:
            raise UsageError(f"{error}; manifests need no cluster: name files or directories") from None
    for verb, _ in typed_edits(typed):
        raise UsageError(f"--{verb} is for a cluster: name one with -S, --context or --live")
    return None


def loaded(sources: Sequence[str], *, quiet: bool) -> Snapshot:
    """The cluster in files, faults of which are reported."""
    import kubespread

    with waiting(f"reading {', '.join(sources)}", quiet=quiet):
        snapshot = kubespread.load(*sources)
    for fault in snapshot.faults:
        complain(fault)
    return snapshot


def _connected(typed: Typed, *, quiet: bool) -> Snapshot:
    import kubespread

    access, kubeconfig = access_of(typed.values), str(typed["kubeconfig"] or "")
    connect: Callable[[Access, OnPage | None], Snapshot] = typed.get("connect") or kubespread.connect
    if quiet or not stderr_is_terminal():
        return replace(connect(access, None), kubeconfig=kubeconfig)
    from kubespread.views.progress import DownloadProgress

    with DownloadProgress() as progress:
        return replace(connect(access, progress.page_came), kubeconfig=kubeconfig)
