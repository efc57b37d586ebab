"""Where a command's cluster comes from: files, or the cluster of the kubeconfig."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubespread.cli.options import ClusterOptions
    from kubespread.snapshot.snapshot import Snapshot


def open_cluster(options: ClusterOptions, *, quiet: bool) -> Snapshot:
    """The snapshot of the files given, without any of the running cluster, with progress on a terminal's standard error."""
    import kubespread

    access = options.access()
    if options.sources:
        return kubespread.load(*options.sources)
    if quiet or not sys.stderr.isatty():
        return kubespread.connect(access)
    from kubespread.render.progress import DownloadProgress

    with DownloadProgress() as progress:
        return kubespread.connect(access, progress)
