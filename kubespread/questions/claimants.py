"""The replicas of a workload that have claims of their own."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.replicas import replica_names
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import StatefulSet
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.world.store.claims import Replicas, replicas_with_claims


def claimants_of(candidate: Candidate, present: Sequence[Pod], cluster: Cluster) -> Replicas | None:
    """The replicas where each has claims of its own; a pod that is in the cluster already has those it has."""
    if candidate.is_stored or not cluster.has_claims:
        return None
    stateful_set = candidate.object if isinstance(candidate.object, StatefulSet) else None
    return replicas_with_claims(
        candidate.pod, lambda: replica_names(candidate.pod, present), cluster.objects, stateful_set
    )
