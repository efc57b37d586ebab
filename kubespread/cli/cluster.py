"""Where a command's cluster comes from: files, or the cluster of the kubeconfig."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubespread.cli.options.groups import OptionalClusterOptions, parse_duration
from kubespread.cli.streams import complain, stderr_is_terminal
from kubespread.cli.waiting import waiting
from kubespread.errors import NoClusterError, UsageError

if TYPE_CHECKING:
    from kubespread.cli.options.groups import ClusterOptions, EditedClusterOptions
    from kubespread.snapshot.snapshot import Snapshot


def open_cluster(options: ClusterOptions, *, quiet: bool) -> Snapshot:
    """The snapshot of the named files, else of the running cluster, with progress if a person waits.

    Its edits are parsed first, since they may be mistyped, and remembered in it. Objects that cannot be read are
    reported; an answer from the others ends with exit code 3.
    """
    edits = options.edits()
    return _opened(options, quiet=quiet).edited(*edits)


def open_cluster_if_any(options: EditedClusterOptions, *, is_needed: bool, quiet: bool) -> Snapshot | None:
    """The same where it ``is_needed`` or one is named, or where there has to be one; else options that say anything
    about it are refused. Raises UsageError.
    """
    if not isinstance(options, OptionalClusterOptions) or options.is_named:
        return open_cluster(options, quiet=quiet)
    if is_needed:
        try:
            return open_cluster(options, quiet=quiet)
        except NoClusterError as error:
            raise UsageError(f"{error}; manifests need no cluster: name files or directories") from None
    edits = (f"--{verb}" for verb, _ in options.typed())
    for option in (*edits, *options.reaching()):
        raise UsageError(f"{option} is for a cluster: name one with -S, --context or --live")
    return None


def _opened(options: ClusterOptions, *, quiet: bool) -> Snapshot:
    import kubespread

    if options.sources:
        # Refused though no request is made.
        parse_duration(options.request_timeout)
        with waiting(f"reading {', '.join(map(str, options.sources))}", quiet=quiet):
            snapshot = kubespread.load(*options.sources)
        for fault in snapshot.faults:
            complain(fault)
        return snapshot
    access = options.access()
    if quiet or not stderr_is_terminal():
        return kubespread.connect(access)
    from kubespread.views.progress import DownloadProgress

    with DownloadProgress() as progress:
        return kubespread.connect(access, progress)
