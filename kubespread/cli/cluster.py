"""Where a command's cluster comes from: files, or the cluster of the kubeconfig."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kubespread.cli.stderr import complain

if TYPE_CHECKING:
    from kubespread.cli.options import ClusterOptions
    from kubespread.snapshot.snapshot import Snapshot


def open_cluster(options: ClusterOptions, *, quiet: bool) -> Snapshot:
    """The snapshot of the files given, without any of the running cluster, with progress on a terminal's standard
    error.

    Objects that cannot be read are said; the answer of the others ends with exit code 3.
    """
    import kubespread

    access = options.access()
    if options.sources:
        found = kubespread.load(*options.sources)
        for fault in found.faults:
            complain(fault)
        return found
    if quiet or not sys.stderr.isatty():
        return kubespread.connect(access)
    from kubespread.render.progress import DownloadProgress

    with DownloadProgress() as progress:
        return kubespread.connect(access, progress)
