"""``kubespread snapshot``: what scheduling needs of a cluster, as one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options import (
    DEFAULT_CHUNK_SIZE,
    DEFAULT_REQUEST_TIMEOUT,
    AsGroupOption,
    AsOption,
    ChunkSizeOption,
    ClusterOption,
    ContextOption,
    DebugOption,
    KubeconfigOption,
    QuietOption,
    RequestTimeoutOption,
    SnapshotOption,
    UserOption,
    parse_duration,
)
from kubespread.cli.output import note

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot


def snapshot(
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="A .json, .json.gz or .yaml file; '-' is JSON on standard output.")
    ] = "-",
    source: SnapshotOption = None,
    anonymize: Annotated[
        bool, typer.Option("--anonymize", help="Replace names and label values by pseudonyms that are scheduled the same.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when something could not be read.")] = False,
    context: ContextOption = None,
    kubeconfig: KubeconfigOption = None,
    cluster: ClusterOption = None,
    user: UserOption = None,
    as_user: AsOption = None,
    as_group: AsGroupOption = None,
    request_timeout: RequestTimeoutOption = DEFAULT_REQUEST_TIMEOUT,
    chunk_size: ChunkSizeOption = DEFAULT_CHUNK_SIZE,
    quiet: QuietOption = False,
    debug: DebugOption = False,  # noqa: ARG001 - read by main()
) -> int:
    """Save what scheduling needs of a cluster as one file that kubectl reads back.

    Only the fields that scheduling reads are in it: no environment, arguments, secrets or config maps, and of
    annotations only those that scheduling reads. The file is replaced whole or not at all.

    \b
    Examples:
      kubespread snapshot -o cluster.json.gz
      kubespread snapshot --context prod --anonymize -o prod.yaml
      kubespread snapshot -S must-gather.tar.gz -o cluster.json
    """
    from kubespread.snapshot.kubeconfig import Access
    from kubespread.snapshot.save import save

    timeout = parse_duration(request_timeout)
    access = Access(kubeconfig, context, cluster, user, as_user, tuple(as_group or ()), timeout, chunk_size)
    found = open_cluster([str(path) for path in source or ()], access, quiet=quiet)
    found = found.stamped(", ".join(map(str, source or ())))
    if anonymize:
        from kubespread.snapshot.anonymize import anonymize as pseudonymous

        found, _ = pseudonymous(found)
    save(found, output)
    if not quiet:
        _notes(found, output)
    return ExitCode.NO_CLUSTER if found.faults or (strict and found.origin.gaps) else ExitCode.YES


def _notes(found: Snapshot, output: str) -> None:
    for gap in found.origin.gaps:
        note(f"gap: {gap}")
    if output != "-":
        note(f"{output}: {len(found.nodes)} nodes, {len(found.pods)} pods")
