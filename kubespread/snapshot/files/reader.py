"""Clusters from files, directories and archives of any origin."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.api.kinds import KEPT
from kubespread.manifest.objects import NotAnObjectError
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.stream import read_objects
from kubespread.manifest.text import MAX_CLUSTER_BYTES, display_name, text_chunks, unchanged
from kubespread.snapshot.files.dumps import Recognized
from kubespread.snapshot.files.entries import Entry, archive_errors, entries
from kubespread.snapshot.snapshot import Snapshot, SnapshotBuilder, object_name

LIST_COMMAND = (
    "kubectl get nodes,pods,ns,svc,deploy,rs,sts,ds,rc,jobs,hpa,"
    "pvc,pv,sc,csinodes,csidrivers,volumeattachments,pdb,pc,limits,quota -A -o json > cluster.json"
)
"""All kinds that most questions need."""
NO_PODS = "no Pod objects: every node counts as empty"


def load(paths: Sequence[str]) -> Snapshot:
    """One snapshot of all ``paths``: files, directories, archives, ``-`` for standard input. Raises SnapshotError, and
    UsageError for a path that is empty.
    """
    if "" in paths:
        raise UsageError("the path of a snapshot is empty")
    builder = SnapshotBuilder()
    recognized = Recognized()
    with collector_paused():
        for path in paths:
            builder.begin_source()
            try:
                with archive_errors(display_name(path)):
                    for entry in entries(path):
                        recognized.see(entry.path)
                        _read_entry(entry, builder, recognized)
            except OSError as error:
                raise SnapshotError(f"{display_name(path)}: {error.strerror or error}") from error
            except MalformedError as error:
                raise SnapshotError(error.fault.describe(display_name(path))) from error
        for gap in recognized.gaps:
            builder.note_gap(gap)
        if not builder.has_pods:
            builder.note_gap(NO_PODS)
        snapshot = builder.build()
    if not snapshot.nodes and snapshot.faults:
        more = len(snapshot.faults) - 1
        raise SnapshotError(f"{snapshot.faults[0]}{f' (and {more} more)' if more else ''}")
    if not snapshot.nodes and not builder.nodes_listed:
        hint = recognized.hint or f"list them with: {LIST_COMMAND}"
        raise SnapshotError(f"{', '.join(map(display_name, paths))}: {_no_nodes(snapshot)}; {hint}")
    return snapshot


def _read_entry(entry: Entry, builder: SnapshotBuilder, recognized: Recognized) -> None:
    """One file that was asked for must be readable; of many, those that are not are named."""
    try:
        with unchanged(entry.file):
            _read_text(entry.name, text_chunks(entry.file, MAX_CLUSTER_BYTES, recognized.without_logs), builder)
    except NotAnObjectError:
        if entry.is_alone:
            raise
        builder.skip("(no Kubernetes object)")
    except MalformedError as error:
        if entry.is_alone:
            raise
        builder.note_unreadable(error.fault.describe(entry.name))


def _read_text(name: str, chunks: Iterator[bytes], builder: SnapshotBuilder) -> None:
    """Give every object of a text to ``builder``, and what is wrong with it by file, line and field.

    Raises MalformedError.
    """
    for item in read_objects(chunks):
        try:
            builder.receive(item)
        except DecodingError as error:
            line = item.line_of(error.path)
            place = name if line is None else f"{name}:{line}"
            builder.note_fault(f"{place}: {object_name(item.data)}: {error.path}: {error}")
        except MalformedError as error:
            builder.note_fault(error.fault.describe(name))


def _no_nodes(snapshot: Snapshot) -> str:
    counts = {**{row.kind: len(snapshot.of_kind(row)) for row in KEPT.values()}, **snapshot.skipped}
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"no Node among what was found ({kinds})" if kinds else "no Kubernetes objects found"


@contextmanager
def collector_paused() -> Iterator[None]:
    """Millions of new objects and no garbage: Python's collector would walk them over and over for nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
