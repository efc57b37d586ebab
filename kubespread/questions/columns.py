"""The columns of a snapshot: made once, however many questions are asked about it."""

from __future__ import annotations

from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.snapshot import Snapshot


def cluster_of(snapshot: Snapshot, version: KubeVersion) -> Cluster:
    """The cluster of ``snapshot`` without its edits, as a scheduler of this release counts its pods, for one answer.
    Raises SnapshotError for an amount that cannot be parsed.
    """
    made = snapshot.known.once(
        ("columns", str(version)),
        lambda: Cluster.of(snapshot.nodes, as_counted(snapshot.pods, version), snapshot.objects),
    )
    return made.fork()
