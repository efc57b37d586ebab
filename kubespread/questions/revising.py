"""A candidate made again with further fields set, as a search for what would help does many times."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.companions import with_companions
from kubespread.errors import ManifestError, UsageError
from kubespread.questions.remedies.revising import Revise, Revised
from kubespread.questions.resolving import Resolved
from kubespread.scheduler.cluster.cluster import Cluster


def reviser(asked: Resolved) -> Revise:
    """Makes the first of the candidates again; what was made once is kept."""
    known: dict[tuple[str, ...], Revised | None] = {(): _revised(asked.candidates[0])}

    def revise(settings: Sequence[str]) -> Revised | None:
        key = tuple(settings)
        if key not in known:
            try:
                known[key] = _revised(asked.revised(settings))
            except (ManifestError, UsageError):
                known[key] = None
        return known[key]

    return revise


def _revised(candidate: Candidate) -> Revised:
    def dressed(cluster: Cluster) -> Cluster:
        if not candidate.companions:
            return cluster
        return cluster.with_objects(with_companions(cluster.storage.in_objects(cluster.objects), candidate.companions))

    return Revised(candidate.pod, dressed)
