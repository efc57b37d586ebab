"""Where a command's cluster comes from: files, or the cluster of the kubeconfig."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubespread.cli.stderr import complain

if TYPE_CHECKING:
    from kubespread.snapshot.kubeconfig import Access
    from kubespread.snapshot.snapshot import Snapshot


def open_cluster(sources: Sequence[str], access: Access, *, quiet: bool) -> Snapshot:
    """The snapshot of ``sources``, without any of the running cluster, with progress on a terminal's standard error.

    Objects that cannot be read are said; the answer of the others ends with exit code 3.
    """
    if sources:
        import kubespread

        found = kubespread.load(*sources)
        for fault in found.faults:
            complain(fault)
        return found
    from kubespread.snapshot.live import load_cluster

    if quiet or not sys.stderr.isatty():
        return load_cluster(access)
    from kubespread.render.progress import DownloadProgress

    with DownloadProgress() as progress:
        return load_cluster(access, progress)
