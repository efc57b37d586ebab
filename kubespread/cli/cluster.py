"""Where a command's cluster comes from: files, or the cluster of the kubeconfig."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubespread.snapshot.live.kubeconfig import Access
    from kubespread.snapshot.snapshot import Snapshot


def open_cluster(sources: Sequence[str], access: Access, *, quiet: bool) -> Snapshot:
    """The snapshot of ``sources``, without any of the running cluster, with progress on a terminal's standard error."""
    if sources:
        import kubespread

        return kubespread.load(*sources)
    from kubespread.snapshot.live.loading import load_cluster

    if quiet or not sys.stderr.isatty():
        return load_cluster(access)
    from kubespread.render.progress import DownloadProgress

    with DownloadProgress() as progress:
        return load_cluster(access, progress)
